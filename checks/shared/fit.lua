-- Small numerics that several checks need.
local fit = {}

-- Least squares: y = a + b x. Gives a, b and the residual's root mean square.
function fit.line(x, y)
    local n, sx, sy, sxx, sxy = #x, 0, 0, 0, 0
    for i = 1, n do
        sx, sy = sx + x[i], sy + y[i]
        sxx, sxy = sxx + x[i] * x[i], sxy + x[i] * y[i]
    end
    local b = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    local a, rest = (sy - b * sx) / n, 0
    for i = 1, n do
        rest = rest + (y[i] - a - b * x[i]) ^ 2
    end
    return a, b, math.sqrt(rest / n)
end

-- The exponent of a power law through points.
function fit.exponent(x, y)
    local lx, ly = {}, {}
    for i = 1, #x do
        lx[i], ly[i] = math.log(x[i]), math.log(y[i])
    end
    local _, b = fit.line(lx, ly)
    return b
end

-- Where a signal rises through zero, linear between samples.
function fit.rises(t, y)
    local out = {}
    for i = 2, #y do
        if y[i - 1] < 0 and y[i] >= 0 then
            out[#out + 1] = t[i - 1] + (t[i] - t[i - 1]) * -y[i - 1] / (y[i] - y[i - 1])
        end
    end
    return out
end

-- The mean time between such moments.
function fit.period(t, y)
    local r = fit.rises(t, y)
    return (r[#r] - r[1]) / (#r - 1)
end

-- y at a place between samples.
function fit.at(x, y, place)
    for i = 2, #x do
        if place <= x[i] then
            return y[i - 1] + (y[i] - y[i - 1]) * (place - x[i - 1]) / (x[i] - x[i - 1])
        end
    end
    return y[#y]
end

function fit.mean(y, from, to)
    local sum, n = 0, 0
    for i = from or 1, to or #y do
        sum, n = sum + y[i], n + 1
    end
    return sum / n
end

function fit.map(list, f)
    local out = {}
    for i = 1, #list do
        out[i] = f(list[i], i)
    end
    return out
end

return fit

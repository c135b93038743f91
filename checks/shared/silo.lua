-- A flat-bottomed silo in 2D that empties through a slot in the middle.
local silo = {}

silo.scene = [[
local D, h, mu = param("D", 0.2, "m"), param("h", 0.0125, "m"), param("mu", 0.5)
scene { dimension = 2, dx = h, fps = 50, frames = param("frames", 60) }
particles { material = material.sand { density = 1500, young = 1e6, friction_coefficient = mu },
            prestress = "k0", shape = box { min = {-0.5, 0}, max = {0.5, 1} } }
local contact = param("floor", "sticky")
for _, side in ipairs { -1, 1 } do
    local a, b = side * D / 2, side * 0.7
    collider { shape = box { min = {math.min(a, b), -0.1}, max = {math.max(a, b), 0} }, contact = contact }
    collider { shape = half_space { point = {0.5 * side, 0}, normal = {-side, 0} }, contact = "slip" }
end
sink { shape = half_space { point = {0, -0.15}, normal = {0, 1} } }
]]

-- What leaves per second, of `first` at the start, between two shares of what has gone, by the times at which they are reached; NaN when the second is not.
function silo.rate(d, from, to, first)
    local t0, t1
    for i = 2, #d.gone do
        if not t0 and d.gone[i] >= from then
            t0 = d.time_s[i - 1] + (d.time_s[i] - d.time_s[i - 1]) * (from - d.gone[i - 1]) / (d.gone[i] - d.gone[i - 1])
        end
        if not t1 and d.gone[i] >= to then
            t1 = d.time_s[i - 1] + (d.time_s[i] - d.time_s[i - 1]) * (to - d.gone[i - 1]) / (d.gone[i] - d.gone[i - 1])
        end
    end
    return t1 and (to - from) * first / (t1 - t0) or 0 / 0
end

return silo

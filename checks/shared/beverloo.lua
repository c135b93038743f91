-- Q = C (D - k)^n with n given: the line of Q^(1/n) over D. Gives C, k and the residual of Q relative to its mean.
local fit = shared "fit"
return function(D, Q, n)
    local root = fit.map(Q, function(q) return q ^ (1 / n) end)
    local a, b = fit.line(D, root)
    local sum, mean = 0, fit.mean(Q)
    for i = 1, #D do
        sum = sum + ((math.max(0, a + b * D[i])) ^ n - Q[i]) ^ 2
    end
    return b ^ n, -a / b, math.sqrt(sum / #D) / mean
end

check {
    id = "V-G1d",
    title = "Run-out and height of 2D columns",
    setup = "Half columns of aspect ratio a = H0/L0 from 0.5 to 8, friction 0.577 (30 degrees), at least 20 cells in height and width. Run-out from the 99.5 % quantile.",
    source = "[X][M hi] Lube 2005, Lajeunesse 2005: (L - L0)/L0 = 1.2 a for small, 1.9 a^(2/3) for large a",
    cost = "full", minutes = 0.8,
}
local collapse, fit = shared "collapse", shared "fit"
local reference = { [0.5] = 0.51, [1] = 1.08, [1.42] = 1.71, [2] = 2.64, [3] = 3.89, [5] = 5.38, [8] = 7.76 }
local list, out, law, height = { 0.5, 1, 1.42, 2, 3, 5, 8 }, {}, {}, {}
for i, a in ipairs(list) do
    local c = collapse.run({ a = a, mu = 0.577, cells = math.floor(20 * math.max(1, a) + 0.5), times = a > 3 and 8 or 10, per_time = 1 }, "a = " .. a)
    out[i] = (c.x995[#c.x995] - 1 / a) * a
    height[i] = c.height[#c.height] * a
    law[i] = a < 2.5 and 1.2 * a or 1.9 * a ^ (2 / 3)
    if a >= 1 then
        expect { what = "run-out / L0, a = " .. a, value = out[i], want = law[i], relative = 0.2,
                 source = "[X] within 20 % of the law (reference code " .. reference[a] .. ")" }
    end
end
expect { what = "exponent between a = 3 and 8", value = math.log(out[7] / out[5]) / math.log(8 / 3), band = { 0.6, 0.95 }, source = "[X] 2/3, accepted 0.6 to 0.95" }
local rises = 1
for i = 2, #height do
    rises = height[i] > height[i - 1] and rises or 0
end
expect { what = "height / L0 rises with a (1: yes)", value = rises, band = { 1, 1 }, source = "[X] all laws" }
plot { title = "Run-out", x = "a", y = "(L - L0) / L0", log_x = true, log_y = true,
       series = { { name = "measured", x = list, y = out, style = "points" }, { name = "experiments", x = list, y = law },
                  { name = "reference code", x = list, y = fit.map(list, function(a) return reference[a] end), style = "dashed" } } }
plot { title = "Height", x = "a", y = "H / L0", log_x = true, log_y = true,
       series = { { name = "measured", x = list, y = height, style = "points" },
                  { name = "0.65 a^0.4 (Lube)", x = list, y = fit.map(list, function(a) return 0.65 * a ^ 0.4 end) },
                  { name = "a^(1/3) (Lajeunesse)", x = list, y = fit.map(list, function(a) return a ^ (1 / 3) end) } } }

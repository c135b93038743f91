check {
    id = "V-G1",
    title = "Refining the grid moves a collapse towards a limit",
    setup = "The column of V-G1c with 16, 32 and 64 cells in its height.",
    source = "[A] a convergent method: halving h changes less each time",
    cost = "quick", minutes = 0.3,
}
local collapse, fit = shared "collapse", shared "fit"
local cells, out, height, front, series = { 16, 32, 64 }, {}, {}, {}, {}
for i, n in ipairs(cells) do
    local c = collapse.run({ cells = n, per_time = 2 }, n .. " cells")
    out[i], front[i] = c.x99[#c.x99], fit.at(c.t, c.x99, 2)
    -- by the volume within 0.3 H0 of the wall: the highest particle is as rough as its spacing
    height[i] = measure(c.run, "profile", { width = 0.3 * c.H0 }).solid_m[1] / c.H0
    note(string.format("%d cells: x_99 %.4f, x_99.5 %.4f, h(0) %.4f; x_99 at t = 2: %.4f.", n, out[i], c.x995[#c.x995], height[i], front[i]))
    local p = measure(c.run, "profile", {})
    series[i] = { name = n .. " cells", x = fit.map(p.place_m, function(v) return v / c.H0 end), y = fit.map(p.top_m, function(v) return v / c.H0 end) }
end
local function shrinks(what, v)
    expect { what = what .. ": second change over the first", value = math.abs(v[3] - v[2]) / math.abs(v[2] - v[1]), band = { 0, 1 }, source = "[A] below 1" }
end
shrinks("final run-out x_99", out)
shrinks("final height, mean over 0.3 H0 from the wall", height)
shrinks("x_99 at t = 2", front)
expect { what = "last change of the run-out", value = 100 * math.abs(out[3] / out[2] - 1), band = { 0, 4 }, unit = "%", source = "[R] solvers agree within 4 %" }
plot { title = "Heaps at the end", x = "x / H0", y = "height / H0", series = series }

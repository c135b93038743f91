check {
    id = "V-G1c",
    title = "Column collapse, a = 1.42, constant friction 0.48",
    setup = "Half a column, 0.324 m high, against a smooth wall on a rough floor; 28 cells high, 4 particles a cell, c dt / h = 0.3. "
        .. "Lengths in units of the height H0, times of sqrt(H0/g).",
    source = "[R] an independent explicit MPM and the nonsmooth solver sand6, which agree to about 1 %",
    cost = "quick", minutes = 0.1,
    why = "The front counts single particles; quantiles are the firmer numbers.",
}
local collapse, fit = shared "collapse", shared "fit"
local c = collapse.run { mu = 0.48 }

local reference = { t = { 1, 2, 3, 4 }, explicit = { 1.004, 1.753, 2.306, 2.493 }, sand6 = { 1.006, 1.761, 2.329, 2.496 } }
for i, t in ipairs(reference.t) do
    expect {
        what = "front / H0 at t = " .. t, value = fit.at(c.t, c.front, t), want = reference.sand6[i], relative = 0.04,
        source = "[R] sand6 (explicit reference " .. reference.explicit[i] .. "), solvers agree within 4 %",
    }
end
expect { what = "final x_99.5 / H0", value = c.x995[#c.x995], want = 2.25, absolute = 0.25,
         source = "[R] spread of the explicit reference over grids, splines and stiffness (2.324, sand6 2.365)" }
expect { what = "final h(0) / H0", value = c.height[#c.height], want = 0.645, absolute = 0.03,
         source = "[R] the same spread (0.634, sand6 0.630)" }
local without = collapse.run({ mu = 0.48, correction = false }, "without volume correction")
note(string.format("Without volume correction: front %.3f, x_99.5 %.3f (reference 2.642 and 2.414).",
                   without.front[#without.front], without.x995[#without.x995]))
plot {
    title = "Front and height at the wall", x = "t / sqrt(H0/g)", y = "length / H0",
    series = {
        { name = "front", x = c.t, y = c.front }, { name = "sand6 front", x = reference.t, y = reference.sand6, style = "points" },
        { name = "x_99.5", x = c.t, y = c.x995 }, { name = "h(0)", x = c.t, y = c.height },
    },
}
local p = measure(c.run, "profile", {})
plot {
    title = "The heap at the end", x = "x / H0", y = "height / H0",
    series = { { name = "surface", x = fit.map(p.place_m, function(v) return v / c.H0 end),
                 y = fit.map(p.top_m, function(v) return v / c.H0 end) } },
}

check {
    id = "V-C4",
    title = "Speed of a wave",
    setup = "The bar of V-C1 at rest, 200 cells; the wall at its end moves into it at 0.01 m/s from the start.",
    source = "[A] c^2 = (lambda + 2 mu) / rho: the step arrives at mid-bar after L / 2c",
    cost = "quick", minutes = 0.2,
    why = "The step is smeared over some cells; half its height is taken as its place.",
}
local bar, fit = shared "bar", shared "fit"
local c = bar.speed(1e6, 0.3, 1000)
local run = simulate { scene = bar.scene, set = { v0 = 0, step = 0.01, periods = 0.25, per_period = 400, cells = 200 } }
local t, v = {}, {}
for frame = 0, run.frames do
    local p = measure(run, "velocity", { frame = frame, width = 0.01 })
    t[#t + 1] = frame * 4 / c / 400
    v[#v + 1] = 0.5 * (fit.at(p.place_m, p.vx_m_s, 0.5) + fit.at(p.place_m, p.vx_m_s, 0.5)) - 0.005
end
local arrival = fit.rises(t, v)[1]
expect { what = "speed from the arrival at mid-bar", value = 0.5 / arrival, want = c, relative = 0.02, unit = "m/s", source = "[A] 36.69 m/s, 2 %" }
plot { title = "Velocity at mid-bar", x = "t c / L", y = "m/s",
       series = { { name = "measured", x = fit.map(t, function(s) return s * c end), y = fit.map(v, function(s) return s + 0.005 end) } } }

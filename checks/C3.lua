check {
    id = "V-C3",
    title = "The classical bar",
    setup = "L = 25 m, E = 100 Pa, rho = 1, nu = 0, v0 = 0.1 sin(pi x / 50), 50 cells, two periods.",
    source = "[M hi] axial vibration benchmark (Bardenhagen; cb-geo): v = (2 v0 / pi) cos(w t), w = (pi / 2L) sqrt(E/rho) = 0.62832",
    cost = "quick", minutes = 0.1,
}
local bar, fit = shared "bar", shared "fit"
local run = simulate { scene = bar.scene, set = { L = 25, young = 100, density = 1, poisson = 0, periods = 2 } }
local c = measure(run, "center", { all = true })
local exact, worst = {}, 0
for i = 1, c.rows do
    exact[i] = 0.2 / math.pi * math.cos(math.pi / 50 * 10 * c.time_s[i])
    if c.time_s[i] <= 10 then
        worst = math.max(worst, math.abs(c.vx_m_s[i] - exact[i]))
    end
end
note(string.format("Largest difference to the exact velocity within the first period: %.1f %% of the amplitude.", 100 * worst / (0.2 / math.pi)))
expect { what = "period", value = fit.period(c.time_s, c.vx_m_s), want = 10, relative = 0.02, unit = "s", source = "[M hi] T = 10 s, 2 %" }
local most = 0
for i = 30, 50 do
    most = math.max(most, c.vx_m_s[i])
end
expect { what = "amplitude after a period", value = most, want = 0.2 / math.pi, relative = 0.02, unit = "m/s", source = "[M hi] 2 v0 / pi, 2 %" }
plot { title = "Velocity of the centre of mass", x = "t [s]", y = "m/s",
       series = { { name = "measured", x = c.time_s, y = c.vx_m_s, style = "points" }, { name = "exact", x = c.time_s, y = exact } } }

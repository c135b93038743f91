check {
    id = "V-C1",
    title = "Period of a vibrating bar",
    setup = "L = 1 m in uniaxial strain, fixed and free, v = 0.1 sin(pi x / 2L), E 1 MPa, nu 0.3, rho 1000, c dt / h = 0.2, five periods; 25, 50 and 100 cells.",
    source = "[A] T = 4 L / c, c^2 = (lambda + 2 mu) / rho",
    cost = "quick", minutes = 0.2,
}
local bar, fit = shared "bar", shared "fit"
local T = 4 / bar.speed(1e6, 0.3, 1000)
local cells, off, series = { 25, 50, 100 }, {}, {}
local reference = { [25] = 1.0136, [50] = 1.0070, [100] = 1.0038 }
for i, n in ipairs(cells) do
    local run = simulate { scene = bar.scene, set = { cells = n }, name = n .. " cells" }
    local c = measure(run, "center", { all = true })
    off[i] = fit.period(c.time_s, c.vx_m_s) / T - 1
    note(string.format("%d cells: T / T0 = %.4f (reference code %.4f).", n, off[i] + 1, reference[n]))
    series[i] = { name = n .. " cells", x = fit.map(c.time_s, function(t) return t / T end), y = c.vx_m_s }
end
expect { what = "T / T0 at L/h = 50", value = off[2] + 1, band = { 0.985, 1.015 }, source = "[A] 1, accept 1.5 %; [R] 1.0070" }
expect { what = "order of the error in h", value = math.log(math.abs(off[1] / off[3])) / math.log(4), band = { 0.8, math.huge },
         source = "[A]+[R] at least 0.8" }
local cubic = simulate { scene = bar.scene, set = { order = "cubic" }, name = "cubic" }
local c = measure(cubic, "center", { all = true })
expect { what = "T / T0 at L/h = 50, cubic splines", value = fit.period(c.time_s, c.vx_m_s) / T, band = { 0.985, 1.015 },
         source = "[A] 1, accept 1.5 %; [R] 1.0102" }
plot { title = "Mean velocity", x = "t / T0", y = "m/s", series = series }

check {
    id = "V-G6i",
    title = "A heap comes to rest",
    setup = "The column of V-G1c, for twenty times sqrt(H0/g).",
    source = "eng. v_rms below 3e-3 sqrt(g H0) at t = 10 and 1e-3 at t = 20; the slowest 90 % move at most 0.05 h between 18 and 20",
    cost = "quick", minutes = 0.1,
}
local collapse, fit = shared "collapse", shared "fit"
local run = simulate { scene = collapse.scene, set = { times = 20, per_time = 1 } }
local unit = math.sqrt(9.81 * 0.324)
local early, late = measure(run, "rest", { frame = 10 }), measure(run, "rest", { frame = 20, since = 18 })
expect { what = "v_rms / sqrt(g H0) at t = 10", value = early.v_rms_m_s / unit, band = { 0, 3e-3 }, source = "eng." }
expect { what = "v_rms / sqrt(g H0) at t = 20", value = late.v_rms_m_s / unit, band = { 0, 1e-3 }, source = "eng." }
expect { what = "way of the slowest 90 % between 18 and 20, in cells", value = late.moved_m / (0.324 / 28), band = { 0, 0.05 }, source = "eng." }
local all = measure(run, "rest", { all = true })
plot { title = "Motion", x = "t / sqrt(H0/g)", y = "v_rms / sqrt(g H0)", log_y = true,
       series = { { name = "v_rms", x = fit.map(all.time_s, function(t) return t / math.sqrt(0.324 / 9.81) end), y = fit.map(all.v_rms_m_s, function(v) return v / unit end) } } }

check {
    id = "V-G1e-phi",
    title = "3D columns of three friction angles: slope, run-out, rest, roundness",
    setup = "Whole cylinders of radius 0.1 m = 10 cells and height 0.12 m, friction angles 25, 35 and 45 degrees, random samples, for twenty times sqrt(h/g).",
    source = "[S] Klar 2016, Fig. 13: steeper and shorter with the angle; eng. rest as in V-G6i, roundness as in V-G1e",
    cost = "full", minutes = 4,
}
local fit = shared "fit"
local scene = [[
local r, a = 0.1, 1.2
scene { dx = r / param("cells", 10), fps = 1 / math.sqrt(a * r / 9.81), frames = 20 }
particles { material = material.sand { density = 1500, friction_angle = param("angle", 35, "degrees") }, shape = cylinder { base = {0, 0, 0}, radius = r, height = a * r } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "sticky" }
]]
local before_slope, before_out, series = 0, math.huge, {}
local unit = math.sqrt(9.81 * 0.12)
for i, phi in ipairs { 25, 35, 45 } do
    local run = simulate { scene = scene, set = { angle = phi }, name = "phi = " .. phi }
    local slope = measure(run, "slope", { along = "r", from = 0.2, to = 0.8, quantile = 0.98 })
    local out = measure(run, "runout", { along = "r", quantile = 0.97 }).high_m / 0.1 - 1
    local name = ", phi = " .. phi
    if i > 1 then
        expect { what = "slope rises" .. name, value = slope.angle_deg - before_slope, band = { 0, math.huge }, unit = "degrees", source = "[S] Fig. 13" }
        expect { what = "run-out falls" .. name, value = before_out - out, band = { 0, math.huge }, unit = "r_i", source = "[S] Fig. 13" }
    end
    before_slope, before_out = slope.angle_deg, out
    note(string.format("phi = %d: slope %.1f degrees, run-out %.3f r_i (97 %% quantile).", phi, slope.angle_deg, out))
    local mass = measure(run, "center", {}).mass_kg
    expect { what = "mass over that of the cylinder, less 1" .. name, value = mass / (1500 * math.pi * 0.01 * 0.12) - 1, band = { -1e-9, 1e-9 }, source = "[A] exact" }
    local early, late = measure(run, "rest", { frame = 10 }), measure(run, "rest", { frame = 20, since = 18 })
    expect { what = "v_rms / sqrt(g H0) at t = 10" .. name, value = early.v_rms_m_s / unit, band = { 0, 3e-3 }, source = "eng. V-G6i" }
    expect { what = "v_rms / sqrt(g H0) at t = 20" .. name, value = late.v_rms_m_s / unit, band = { 0, 1e-3 }, source = "eng. V-G6i" }
    expect { what = "way of the slowest 90 % between 18 and 20, in cells" .. name, value = late.moved_m / (0.1 / 10), band = { 0, 0.05 }, source = "eng. V-G6i" }
    local round = measure(run, "roundness", {})
    expect { what = "standard deviation of the radius over 24 sectors" .. name, value = 100 * round.deviation, band = { 0, 1.5 }, unit = "%", source = "[S] V-G1e, 1.5 %" }
    expect { what = "fourfold part of the radius" .. name, value = 100 * round.cos4, band = { 0, 1 }, unit = "%", source = "[S] V-G1e, 1 %" }
    local p = measure(run, "profile", { along = "r", quantile = 0.98 })
    series[i] = { name = "phi = " .. phi, x = p.place_m, y = p.top_m }
end
plot { title = "Heaps", x = "r [m]", y = "height [m]", series = series }

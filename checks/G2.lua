check {
    id = "V-G2",
    title = "An endless slope begins to flow",
    setup = "A periodic layer, 8 cells long and 16 deep (0.1 m), on a rough base, friction 0.5; gravity is tilted. Acceleration of the mean velocity at 27 to 31 degrees.",
    source = "[A] flow with constant volume and coaxial stress: a = 0 at atan 0.5 = 26.57 degrees; at rest up to asin 0.5 = 30 degrees",
    cost = "quick", minutes = 0.6,
}
local fit = shared "fit"
local scene = [[
local angle, rate = param("angle", 27, "degrees"), param("rate", 0, "degrees/s")
scene {
    dimension = 2, dx = 0.00625, fps = 20, frames = param("frames", 60), settle = param("settle", 0, "s"),
    gravity = function(t)
        local a = math.rad(angle + rate * t)
        return 9.81 * math.sin(a), -9.81 * math.cos(a)
    end,
}
domain { min = {0, 0}, max = {0.05, 1}, periodic = {true, false} }
particles { material = material.sand { density = 1500, friction_coefficient = param("mu", 0.5) }, sampling = "lattice", jitter = 0,
            shape = box { min = {0, 0}, max = {0.05, 0.1} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "sticky" }
]]
local function flow(set, name)
    return measure(simulate { scene = scene, set = set, name = name }, "center", { all = true })
end
local angles, rates, series = { 27, 28, 29, 30, 31 }, {}, {}
for i, angle in ipairs(angles) do
    local c = flow({ angle = angle }, angle .. " degrees")
    local t, v = {}, {}
    for k = 1, c.rows do
        if c.time_s[k] >= 1 then
            t[#t + 1], v[#v + 1] = c.time_s[k], c.vx_m_s[k]
        end
    end
    local _, b = fit.line(t, v)
    rates[i] = b
    series[i] = { name = angle .. " degrees", x = c.time_s, y = c.vx_m_s }
end
local a, b = fit.line(angles, rates)
expect { what = "angle at which the acceleration vanishes", value = -a / b, want = math.deg(math.atan(0.5)), absolute = 0.5, unit = "degrees",
         source = "[A] 26.57 degrees, +-0.5; [R] 26.54" }
local reference = { 0.057, 0.183, 0.309, 0.434, 0.556 }
note("Accelerations " .. table.concat(fit.map(rates, function(r) return string.format("%.3f", r) end), ", ") .. " m/s^2 (reference code "
    .. table.concat(reference, ", ") .. ").")
-- at rest below
local rest = flow({ angle = 24, frames = 100, settle = 1 }, "24 degrees, after settling for 1 s")
local most = 0
for k = 2, rest.rows do
    most = math.max(most, math.abs(rest.vx_m_s[k]))
end
expect { what = "largest mean velocity at 24 degrees", value = 1000 * most, band = { 0, 2 }, unit = "mm/s", source = "[R] oscillates below 2 mm/s" }
expect { what = "way in 5 s at 24 degrees, in cells", value = math.abs(rest.x_m[rest.rows] - rest.x_m[2]) / 0.00625, band = { 0, 0.1 }, source = "[A] no net motion; 0.1 h allowed" }
-- a slow tilt from rest
local tilt = flow({ angle = 22, rate = 1, frames = 200, settle = 1 }, "tilting by 1 degree a second")
local start = math.huge
for k = tilt.rows, 1, -1 do
    if tilt.vx_m_s[k] > 0.1 * math.sqrt(9.81 * 0.1) then
        start = 22 + tilt.time_s[k]
    else
        break
    end
end
local slip = 0
for k = 1, tilt.rows do
    if 22 + tilt.time_s[k] <= 26.5 then
        slip = math.max(slip, tilt.vx_m_s[k])
    end
end
note(string.format("Tilted slowly it slips at about 25.7 degrees, to %.0f mm/s, and then keeps that speed up to 26.5 degrees: what the layer has stored as "
    .. "difference between its normal stresses (K0 below 1, and 1 when it flows) is let go at once. With ten times the stiffness the slip has 16 mm/s.", 1000 * slip))
expect { what = "angle at which it flows when tilted slowly, faster than 0.1 sqrt(g H)", value = start, band = { 26.1, 30.5 }, unit = "degrees", source = "[A] between atan and asin of 0.5" }
plot { title = "Mean velocity", x = "t [s]", y = "m/s", series = series }
plot { title = "Acceleration", x = "degrees", y = "m/s^2",
       series = { { name = "measured", x = angles, y = rates, style = "points" }, { name = "reference code", x = angles, y = reference, style = "dashed" },
                  { name = "line", x = { -a / b, 31 }, y = { 0, a + 31 * b } } } }

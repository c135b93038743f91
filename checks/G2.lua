check {
    id = "V-G2",
    title = "An endless slope begins to flow",
    setup = "A periodic layer, 8 cells long and 16 deep (0.1 m), on a rough base, friction 0.5; gravity is tilted. Acceleration of the mean velocity at 27 to 31 degrees; then a slow tilt with steps of 10 microseconds, a nineteenth of the default, with which the layer creeps: see the note.",
    source = "[A] flow with constant volume and coaxial stress: a = 0 at atan 0.5 = 26.57 degrees; at rest up to asin 0.5 = 30 degrees",
    cost = "quick", minutes = 0.4,
}
local fit = shared "fit"
local scene = [[
local angle, rate = param("angle", 27, "degrees"), param("rate", 0, "degrees/s")
scene {
    dimension = 2, dx = 0.00625, fps = 20, frames = param("frames", 60), settle = param("settle", 0, "s"), dt_max = param("dt", 1, "s"),
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
-- A slow tilt from rest. Steps are short here: with the longest stable ones creep below the angle of flow is fast enough to be taken for it.
local below = 0.002 -- what counts as no motion above
local function tilt(dt, name)
    local c = flow({ angle = 24, rate = 1, frames = 90, settle = 1, dt = dt }, name)
    local start, creep = math.huge, 0
    for k = c.rows, 1, -1 do
        if c.vx_m_s[k] <= below then
            break
        end
        start = 24 + c.time_s[k]
    end
    for k = 1, c.rows do
        if 24 + c.time_s[k] <= 26.05 then
            creep = math.max(creep, c.vx_m_s[k])
        end
    end
    return start, creep
end
local start, creep = tilt(1e-5, "tilting by 1 degree a second")
expect { what = "angle at which it starts when tilted slowly: faster than 2 mm/s from then on", value = start, band = { 26.1, 30.5 }, unit = "degrees",
         source = "[A] between atan and asin of 0.5; [R] 2 mm/s is what a layer at rest stays below" }
local long, longest = { 2e-5, 4e-5, 1 }, {}
for i, dt in ipairs(long) do
    local s, v = tilt(dt, "tilting, steps of " .. (dt < 1 and dt .. " s" or "the default length"))
    longest[i] = string.format("%.1f mm/s and starts at %.1f degrees with %s", 1000 * v, s, dt < 1 and string.format("%.0f microseconds", 1e6 * dt) or "the default (190)")
end
note(string.format("Before it flows the layer creeps, at a speed in proportion to the step: up to 26.05 degrees %.1f mm/s with steps of 10 microseconds, ", 1000 * creep) .. table.concat(longest, "; ") .. ".")
plot { title = "Mean velocity", x = "t [s]", y = "m/s", series = series }
plot { title = "Acceleration", x = "degrees", y = "m/s^2",
       series = { { name = "measured", x = angles, y = rates, style = "points" }, { name = "reference code", x = angles, y = reference, style = "dashed" },
                  { name = "line", x = { -a / b, 31 }, y = { 0, a + 31 * b } } } }

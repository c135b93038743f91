check {
    id = "V-M4",
    title = "Two balls swap velocities, and touch for as long as Hertz says",
    setup = "Elastic balls of R = 1 m = 10 dx hit each other with 1 % of the speed of sound, E = 1e6 Pa, Poisson's ratio 0.3, along x and along (1, 2, 3), no gravity; "
        .. "how long they touch is between 5 and 95 % of the change of velocity, as in Hertz' equation of motion.",
    source = "[A] momentum; Hertz 1882, 20 %; eng.: energy is never gained by more than 0.1 %, nine tenths of the speed come back",
    cost = "quick", minutes = 0.6,
}
local scene = [[
local oblique = param("oblique", false)
local n = oblique and {1 / math.sqrt(14), 2 / math.sqrt(14), 3 / math.sqrt(14)} or {1, 0, 0}
scene { dx = 0.1, fps = 200, frames = 130, gravity = {0, 0, 0}, precision = "double" }
local rubber = material.elastic { density = 1000, young = 1e6, poisson = 0.3 }
for i, side in ipairs {-1, 1} do
    particles { material = rubber, body = "ball " .. i, sampling = "lattice", jitter = 0,
                shape = sphere { center = {1.01 * side * n[1], 1.01 * side * n[2], 1.01 * side * n[3]}, radius = 1 },
                velocity = {-0.367 * side * n[1], -0.367 * side * n[2], -0.367 * side * n[3]} }
end
contact { friction = 0 }
]]
-- From 5 to 95 % of the change of velocity, where `speed(i)` is that of the first at time(i).
local function lasts(time, speed, count)
    local first, last, at = speed(1), speed(count), {}
    for i = 2, count do
        local before, now = (speed(i - 1) - first) / (last - first), (speed(i) - first) / (last - first)
        for k, share in ipairs {0.05, 0.95} do
            if at[k] == nil and now >= share then
                at[k] = time(i - 1) + (time(i) - time(i - 1)) * (share - before) / (now - before)
            end
        end
    end
    return at[2] - at[1]
end
local R, E, rho, v = 1, 1e6 / (2 * (1 - 0.3 ^ 2)), 1000, 2 * 0.367
local m = 0.5 * rho * 4 / 3 * math.pi * R ^ 3
local time, speed, deep, now = {}, {}, 0, v
for i = 1, 20000 do
    local dt = 5e-5
    now = now - dt * 4 / 3 * E * math.sqrt(R / 2) * math.max(0, deep) ^ 1.5 / m
    deep = deep + dt * now
    time[i], speed[i] = dt * i, now
end
local hertz = lasts(function(i) return time[i] end, function(i) return speed[i] end, #time)
for _, oblique in ipairs { false, true } do
    local along = oblique and "along (1, 2, 3)" or "along x"
    local run = simulate { scene = scene, set = { oblique = oblique }, name = along }
    local n = oblique and { 1 / math.sqrt(14), 2 / math.sqrt(14), 3 / math.sqrt(14) } or { 1, 0, 0 }
    local m, e = measure(run, "bodies", { all = true }), measure(run, "energy", { all = true })
    local frames, drift, most = m.rows / 2, 0, 0
    -- of the first relative to the second, along the way; two rows a frame
    local function apart(i)
        local a, b = 2 * i - 1, 2 * i
        return n[1] * (m.vx_m_s[a] - m.vx_m_s[b]) + n[2] * (m.vy_m_s[a] - m.vy_m_s[b]) + n[3] * (m.vz_m_s[a] - m.vz_m_s[b])
    end
    for i = 1, frames do
        for _, c in ipairs { "vx_m_s", "vy_m_s", "vz_m_s" } do
            local p = m[c][2 * i - 1] * m.mass_kg[2 * i - 1] + m[c][2 * i] * m.mass_kg[2 * i]
            local p0 = m[c][1] * m.mass_kg[1] + m[c][2] * m.mass_kg[2]
            drift = math.max(drift, math.abs(p - p0) / (0.367 * m.mass_kg[1]))
        end
        most = math.max(most, e.kinetic_J[i] + e.elastic_J[i])
    end
    expect { what = "change of momentum, " .. along, value = drift, band = { 0, 1e-12 }, unit = "1", source = "[A] none" }
    expect { what = "speed that comes back, " .. along, value = -apart(frames) / apart(1), band = { 0.8, 1 }, unit = "1", source = "eng.: 0.9 +- 0.1" }
    expect { what = "most energy over that at the start, " .. along, value = most / (e.kinetic_J[1] + e.elastic_J[1]), band = { 0, 1.001 }, unit = "1", source = "[A] 0.1 %" }
    expect { what = "time of contact, " .. along, value = lasts(function(i) return m.time_s[2 * i] end, apart, frames), want = hertz, relative = 0.2, unit = "s", source = "[A] Hertz, 20 %" }
end

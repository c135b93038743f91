check {
    id = "V-M3",
    title = "Three balls that one hits leave alike",
    setup = "Elastic balls, R = 1 m = 5 cells, three on a triangle of side 2.65 m, one falls at 3 m/s, friction 0.2, no gravity, E = 1e5 Pa; the triangle turned by 0, 10, 20 and 45 degrees against the grid; 27 particles a cell.",
    source = "Wretborn 2017, section 5.1: 1.4 % of speed and 3.1 % of height at 10 s there; exact: alike",
    cost = "quick", minutes = 0.6,
}
local scene = [[
local turn = param("turn", 0)
scene { dx = 0.2, fps = 10, frames = 14, gravity = {0, 0, 0}, precision = "double" }
local rubber = material.elastic { density = 1000, young = 1e5, poisson = 0.3 }
local function ball(name, center, velocity)
    particles { material = rubber, body = name, shape = sphere { center = center, radius = 1 }, velocity = velocity, sampling = "lattice", jitter = 0, spacing = 0.2 / 3 }
end
ball("falling", {0, 2.7, 0}, {0, -3, 0})
for i = 0, 2 do
    local angle, r = math.rad(120 * i + turn), 2.65 / math.sqrt(3)
    ball("resting " .. i, {r * math.cos(angle), 0, r * math.sin(angle)}, {0, 0, 0})
end
contact { friction = 0.2 }
]]
for _, turn in ipairs { 0, 10, 20, 45 } do
    local run = simulate { scene = scene, set = { turn = turn }, name = "turned by " .. turn }
    local m = measure(run, "bodies", { frame = 14 })
    local fast, slow, high, low = 0, math.huge, -math.huge, math.huge
    for i = 2, 4 do
        local v = math.sqrt(m.vx_m_s[i] ^ 2 + m.vy_m_s[i] ^ 2 + m.vz_m_s[i] ^ 2)
        local y = m.y_m[i] + m.vy_m_s[i] * 8.6
        fast, slow, high, low = math.max(fast, v), math.min(slow, v), math.max(high, y), math.min(low, y)
    end
    expect { what = "spread of speeds, turned by " .. turn, value = (fast - slow) / fast, band = { 0, 0.005 }, unit = "1", source = "half a per cent" }
    expect { what = "spread of heights at 10 s, turned by " .. turn, value = (high - low) / math.abs(low), band = { 0, 0.01 }, unit = "1", source = "one per cent" }
end

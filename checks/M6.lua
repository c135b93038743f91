check {
    id = "V-M6",
    title = "A body slides on a body",
    setup = "Elastic block of 8 x 4 cells on an elastic bed, both with velocities of their own, tilted by 30 degrees, friction 0.3, E = 1e6 Pa; "
        .. "the whole turned by 0, 30 and 45 degrees against the grid, particles at random places. Gravity comes on within 0.3 s; acceleration from 0.4 to 1.2 s.",
    source = "[A] a = g (sin 30 - 0.3 cos 30) = 2.3563 m/s^2, 3 %",
    cost = "quick", minutes = 0.1,
}
local scene = [[
local turn, mu = param("turn", 0), param("mu", 0.3)
local a, slope, g, h = math.rad(turn), math.rad(30), 9.81, 0.1
local function along(x, y) return math.cos(a) * x - math.sin(a) * y, math.sin(a) * x + math.cos(a) * y end
scene {
    dimension = 2, dx = h, fps = 20, frames = 24,
    gravity = function(t) local s = g * math.min(1, t / 0.3); return along(s * math.sin(slope), -s * math.cos(slope)) end,
}
local rubber = material.elastic { density = 1000, young = 1e6, poisson = 0.3 }
local function turned(shape) return turn == 0 and shape or move(shape, { rotation = { angle = turn } }) end
particles { material = rubber, body = "bed", shape = turned(box { min = {-0.6, -0.6}, max = {4.8, 0} }) }
particles { material = rubber, body = "block", shape = turned(box { min = {0, 0}, max = {0.8, 0.4} }) }
contact { friction = mu }
collider { shape = turned(half_space { point = {0, -0.4}, normal = {0, 1} }) }
]]
local function acceleration(turn, mu)
    local run = simulate { scene = scene, set = { turn = turn, mu = mu }, name = "turned by " .. turn .. ", friction " .. mu }
    local first, last = measure(run, "bodies", { frame = 8 }), measure(run, "bodies", { frame = 24 })
    local a = math.rad(turn)
    local function speed(m) return math.cos(a) * m.vx_m_s[2] + math.sin(a) * m.vy_m_s[2] end
    return (speed(last) - speed(first)) / 0.8
end
for _, turn in ipairs { 0, 30, 45 } do
    expect { what = "acceleration, turned by " .. turn, value = acceleration(turn, 0.3), want = 2.3563, relative = 0.03, unit = "m/s^2", source = "[A] 3 %" }
end
expect { what = "acceleration without friction", value = acceleration(0, 0), want = 4.905, relative = 0.03, unit = "m/s^2", source = "[A] 3 %" }
local rest = acceleration(0, 0.7)
expect { what = "acceleration with friction 0.7", value = math.abs(rest), band = { 0, 0.05 }, unit = "m/s^2", source = "[A] it sticks" }

check {
    id = "V-C13",
    title = "A bead on a curve",
    setup = "A single particle slides without friction from y = 1 m down a slope, here a quarter of a circle of radius 1 m "
        .. "(the inside of a disc), 100 cells to the radius. It starts on the wall, at the height of the circle's middle; its speed is taken where it passes the lowest point.",
    source = "[P] a test of the solver Matter: sqrt(2 g) = 4.4294 m/s, 0.1 %",
    cost = "quick", minutes = 0.1,
    why = "A particle is felt through nodes up to 1.5 cells away. One that starts beside the wall runs about a cell above it, on a circle that is smaller by that much, "
        .. "and falls less: about h / R / 2 of the speed.",
}
local fit = shared "fit"
local scene = [[
local h = 0.01
local x, y = -1 + param("gap", 0, "m"), 1
scene { dimension = 2, precision = "double", dx = h, fps = 200, frames = 160, dt_max = 1e-4, order = param("order", "quadratic") }
particles { material = material.elastic { density = 1000, young = 1e4 }, spacing = h, sampling = "lattice", jitter = 0,
            shape = box { min = {x - h / 2, y - h / 2}, max = {x + h / 2, y + h / 2} } }
collider { shape = invert(sphere { center = {0, 1}, radius = 1 }), contact = "slip" }
]]
local function speed(set, name)
    local c = measure(simulate { scene = scene, set = set, name = name }, "center", { all = true })
    local v = {}
    for i = 1, c.rows do
        v[i] = math.sqrt(c.vx_m_s[i] ^ 2 + c.vy_m_s[i] ^ 2)
    end
    return fit.at(c.x_m, v, 0), c, v
end
local want = math.sqrt(2 * 9.81)
local bottom, c, v = speed({}, "on the wall")
expect { what = "speed at the bottom", value = bottom, want = want, relative = 0.001, unit = "m/s", source = "[P] 4.4294 m/s, 0.1 %" }
expect { what = "speed at the bottom, cubic splines", value = speed({ order = "cubic" }, "cubic"), want = want, relative = 0.001, unit = "m/s", source = "[P] 4.4294 m/s, 0.1 %" }
local beside = speed({ gap = 0.015 }, "beside the wall")
note(string.format("One that starts a cell and a half from the wall has %.4f m/s, off by %.2f %%.", beside, 100 * (beside / want - 1)))
plot { title = "Speed", x = "t [s]", y = "m/s", series = { { name = "measured", x = c.time_s, y = v },
       { name = "sqrt(2 g (1 - y))", x = c.time_s, y = fit.map(c.y_m, function(y) return math.sqrt(2 * 9.81 * math.max(0, 1 - y)) end), style = "dashed" } } }

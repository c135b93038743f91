check {
    id = "V-G6c",
    title = "A block slides down an incline as Coulomb says",
    setup = "Elastic block 0.1 x 0.05 m on a plane of 24 degrees with friction tan 15 degrees for 5 s; and of 14 degrees, "
        .. "where it must stay. The plane lies along the grid; gravity is tilted instead.",
    source = "[A] x = (1/2) g (sin a - mu cos a) t^2; [P] a test of the solver Matter",
    cost = "quick", minutes = 0.1,
}
local scene = [[
local floor = 0.0125 * param("floor", 0, "cells")
local slope, rise = math.rad(param("slope", 24, "degrees")), param("rise", 0, "s")
scene {
    dimension = 2, precision = "double", dx = 0.0125, fps = 10, frames = 50, explicit = { contact_at = param("contact_at", "nodes") },
    gravity = function(t)
        local g = 9.81 * (t < rise and 0.5 - 0.5 * math.cos(math.pi * t / rise) or 1)
        return g * math.sin(slope), -g * math.cos(slope)
    end,
}
particles { material = material.elastic { density = 1000, young = 1e6 }, sampling = "lattice", jitter = 0,
            shape = box { min = {0, floor}, max = {0.1, floor + 0.05} } }
collider { shape = half_space { point = {0, floor}, normal = {0, 1} }, contact = "separate", friction = math.tan(math.rad(15)) }
]]
local slides = simulate { scene = scene, name = "slides" }
local c = measure(slides, "center", { all = true })
local want = 0.5 * 9.81 * (math.sin(math.rad(24)) - math.tan(math.rad(15)) * math.cos(math.rad(24)))
local t, x, law = {}, {}, {}
for i = 1, c.rows do
    t[i], x[i], law[i] = c.time_s[i], c.x_m[i] - c.x_m[1], want * c.time_s[i] ^ 2
end
expect { what = "way after 5 s", value = x[#x], want = law[#law], relative = 1e-3, unit = "m",
         source = "[A] 0.79438 t^2, 0.1 %" }
local stays = simulate { scene = scene, set = { slope = 14, rise = 1 }, name = "stays" }
local s = measure(stays, "center", { all = true })
expect { what = "creep below the angle of friction in 5 s, in cells", value = (s.x_m[s.rows] - s.x_m[1]) / 0.0125, band = { -0.1, 0.1 },
         source = "[A] none; 0.1 h allowed" }
for _, floor in ipairs { 0, 0.4 } do -- cells above a node
    local c = measure(simulate { scene = scene, set = { contact_at = "surface", floor = floor }, name = "surface, " .. floor }, "center", { all = true })
    expect { what = "way after 5 s, contact at the surface, floor " .. floor .. " cells above a node", value = c.x_m[c.rows] - c.x_m[1], want = law[#law], relative = 1e-3,
             unit = "m", source = "[A] 0.79438 t^2, 0.1 %" }
end
plot { title = "Way down the incline", x = "t [s]", y = "x [m]",
       series = { { name = "measured", x = t, y = x, style = "points" }, { name = "Coulomb", x = t, y = law } } }

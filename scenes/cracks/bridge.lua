-- A bridge of stone on two piers carries its own weight, until a boulder falls on it.
--
-- It is cut across into blocks and lengthwise into two courses. The blocks of the span fall, those on the piers stay.
--
-- What holds: repose render bridge-out --color strength   A lighter boulder: --set boulder=300

local size = param("size", {"quick", "paper"}, "paper: two thirds of the dx")
local boulder = param("boulder", 2400, "kg/m^3")
local strength = param("strength", 6e4, "Pa; its own weight needs about a third of it")
local dx = size == "paper" and 0.04 or 0.06

scene { title = "Bridge", dx = dx, fps = 48, frames = 72 }
camera { eye = {2.2, 1.7, 4.6}, look_at = {0, 0.75, 0}, fov = 34 }

local deck = box { min = {-1.5, 0.9, -0.25}, max = {1.5, 1.2, 0.25} }
particles {
    material = material.elastic { density = 2000, young = 5e6, poisson = 0.2, color = {0.62, 0.58, 0.52} },
    body = "bridge", shape = deck, sampling = "lattice", jitter = 0,
}
local cuts = { { point = {0, 1.05, 0}, normal = {0, 1, 0} } }
for x = -1.2, 1.21, 0.3 do
    cuts[#cuts + 1] = { point = {x, 0, 0}, normal = {1, 0, 0} }
end
fracture { body = "bridge", by = planes { list = cuts }, strength = {0.9 * strength, 1.1 * strength}, friction = 0.5 }
contact { friction = 0.5 }

for name, side in pairs { left = -1, right = 1 } do
    collider {
        name = name, contact = "separate", friction = 0.6, color = {0.45, 0.45, 0.48},
        shape = box { min = {side > 0 and 0.85 or -1.7, 0, -0.35}, max = {side > 0 and 1.7 or -0.85, 0.9, 0.35} },
    }
end
collider { name = "ground", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.6 }
rigid { name = "boulder", shape = sphere { center = {0.05, 2.0, 0}, radius = 0.22 }, density = boulder, velocity = {0, -3, 0}, friction = 0.5, color = {0.3, 0.3, 0.32} }

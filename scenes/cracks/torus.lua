-- A ring that is glued along its outer rim only flies into a wall at 10 m/s and comes apart.
--
-- After Wretborn, Armiento and Museth (2017): two halves, one above the other, and glue on the outer half of the cut; the
-- inner half is open from the start. Whole, it has about their 37 100 points.
--
-- Which glue holds: repose render torus-out --color strength

local size = param("size", {"quick", "paper"}, "paper: dx 0.029 m")
local strength = param("strength", 2e4, "Pa")
local dx = size == "paper" and 0.0292 or 0.05

scene { title = "Torus", dx = dx, fps = 240, frames = 48, gravity = {0, 0, 0} }
camera { eye = {-1.9, 1.3, 1.9}, look_at = {-0.1, 0, 0}, fov = 34 }

local major, minor = 0.375, 0.125
particles {
    material = material.elastic { density = 1000, young = 2e6, poisson = 0.3, color = {0.3, 0.5, 0.75} },
    body = "ring", velocity = {10, 0, 0}, sampling = "lattice", jitter = 0,
    shape = torus { center = {0, 0, 0}, axis = {0, 1, 0}, major = major, minor = minor },
}
fracture {
    body = "ring", by = plane { point = {0, 0, 0}, normal = {0, 1, 0} }, strength = strength,
    open = cylinder { base = {0, -1, 0}, radius = major, height = 2 },
}
contact { friction = 0.2 }
collider { name = "wall", shape = half_space { point = {0.6, 0, 0}, normal = {-1, 0, 0} }, contact = "separate", friction = 0.2 }

-- A membrane tosses sand: a sheet of triangles that deforms, read from twelve files that make one swing of 0.3 s.
-- What touches it feels the velocity of its vertices. The sheet is open at its rim.
--
-- What it is pushed with: repose measure trampoline-out forces

local size = param("size", {"quick", "paper"}, "paper: two thirds of the dx")
local dx = size == "paper" and 0.01 or 0.015 -- m

scene { title = "Sand on a trampoline", dx = dx, frames = 48 }
camera { eye = {1.45, 0.8, 1.95}, look_at = {0, 0.2, 0}, fov = 34 }

particles { material = material.sand {}, shape = cylinder { base = {0, 0.03, 0}, radius = 0.14, height = 0.09 } }
collider {
    name = "membrane", contact = "separate", friction = 0.4, color = {0.25, 0.33, 0.42},
    shape = mesh_sequence {
        files = "meshes/trampoline-%02d.obj", last = 11, fps = 40, start = 0.15, loop = true,
        thickness = 4 * dx,
    },
}
collider { name = "ground", shape = half_space { point = {0, -0.3, 0}, normal = {0, 1, 0} } }

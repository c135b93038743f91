-- A membrane tosses sand: a sheet of triangles that deforms, read from twelve files that make one swing of half a second.
-- What touches it feels the velocity of its vertices; it is 0.04 m thick, and open at its rim.
--
-- How it is pushed: repose measure trampoline-out forces

local dx = param("dx", 0.02, "m")

scene { title = "Sand on a trampoline", dx = dx, frames = 72 }
camera { eye = {1.1, 0.7, 1.5}, look_at = {0, 0.12, 0}, fov = 32 }

particles { material = material.sand {}, shape = cylinder { base = {0, 0.03, 0}, radius = 0.16, height = 0.14 } }
collider {
    name = "membrane", contact = "separate", friction = 0.4, color = {0.25, 0.33, 0.42},
    shape = mesh_sequence {
        files = "meshes/trampoline-%02d.obj", last = 11, fps = 24, start = 0.2, loop = true,
        thickness = 0.04,
    },
}
collider { name = "ground", shape = half_space { point = {0, -0.3, 0}, normal = {0, 1, 0} } }

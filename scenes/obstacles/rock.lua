-- Sand slides down a slope and round a rock that is a mesh of triangles.
local size = param("size", {"quick", "paper"}, "paper: 1.1 million grains")

scene { title = "Rock", dx = size == "paper" and 0.004 or 0.01, fps = 24, frames = 30 }
camera { eye = {0.95, 0.42, 0.75}, look_at = {0, 0.06, 0}, fov = 34 }

local slope = { rotation = { angle = -28 } }
collider {
    name = "slope", shape = move(half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, slope),
    contact = "separate", friction = 0.45,
}
collider {
    name = "rock", shape = move(mesh { file = "meshes/rock.obj", scale = 0.11 }, { position = {0.05, 0.02, 0} }),
    contact = "separate", friction = 0.5,
}
particles {
    material = material.sand { density = 1600, friction_angle = 30, yield_fit = "slope" },
    shape = move(box { min = {-0.5, 0, -0.15}, max = {-0.2, 0.1, 0.15} }, slope),
}
sink { shape = half_space { point = {0.7, 0, 0}, normal = {-1, 0, 0} } }   -- what runs away is gone

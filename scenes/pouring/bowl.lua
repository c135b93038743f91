-- Sand is poured into a bowl until it runs over the rim.
local size = param("size", {"quick", "paper"}, "paper: 1.1 million grains")

scene { title = "Bowl", dx = size == "paper" and 0.004 or 0.008, fps = 24, frames = 60 }
camera { eye = {0.25, 0.38, 0.75}, look_at = {0, 0.06, 0}, fov = 30 }

local wall = { {0, 0.016}, {0.05, 0.016}, {0.12, 0.05}, {0.16, 0.13} }
collider {
    name = "bowl", shape = revolve { profile = wall, thickness = 0.032, round = 0.02 },
    contact = "separate", friction = 0.3,
}
collider { name = "table", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.5 }

emitter {
    material = material.sand { density = 1600, friction_angle = 33, yield_fit = "slope" },
    shape = cylinder { base = {0.02, 0.35, 0}, radius = 0.05, height = 0.02 },
    velocity = {0, -1, 0}, stop = 1.1,
}

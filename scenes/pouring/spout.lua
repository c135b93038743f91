-- Sand runs out of a spout and builds a pile on a small table; what falls over the edge is gone.

local size = param("size", {"quick", "paper"}, "paper: 1.1 million grains")
local angle = param("friction_angle", 33, "degrees: inner friction")
local rate = param("rate", 8, "kg/s")

scene { title = "Spout", dx = size == "paper" and 0.004 or 0.012, fps = 24, frames = 60 }

emitter {
    name = "spout",
    material = material.sand { friction_angle = angle, yield_fit = "slope" },
    shape = sphere { center = {0, 0.5, 0}, radius = 0.04 },
    velocity = {0, -1, 0}, rate = rate,
}

collider {
    name = "table",
    shape = box { min = {-0.2, -0.06, -0.2}, max = {0.2, 0, 0.2} },
    contact = "separate", friction = 0.6,
}

sink { shape = half_space { point = {0, -0.4, 0}, normal = {0, 1, 0} } }

camera { eye = {0.75, 0.5, 1.1}, look_at = {0, 0.1, 0}, fov = 32 }

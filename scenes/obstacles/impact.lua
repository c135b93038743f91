-- A ball falls into a bed of sand and throws it up.
--
-- Blur it: repose render impact-out --frame 3 --shutter 0.3

local size = param("size", {"quick", "paper"}, "paper: 1.6 million grains")
local speed = param("speed", 10, "m/s")
local dx = param("dx", size == "paper" and 0.00625 or 0.0125, "m; half of it gives eight times the grains and takes sixteen times as long")

scene { title = "Impact", dx = dx, fps = 48, frames = 24 }
camera { eye = {0.45, 0.74, 1}, look_at = {0, 0.07, 0}, fov = 33 }

particles {
    material = material.sand { friction_angle = 30 },
    shape = cylinder { base = {0, 0, 0}, radius = 0.4, height = 0.1 },
}
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

-- it stops a little above the floor
collider {
    name = "ball", shape = sphere { center = {0, 0.25, 0}, radius = 0.09 },
    contact = "separate", friction = 0.3, color = {0.7, 0.25, 0.18},
    motion = function(t) return { position = {0, -math.min(speed * t, 0.15), 0} } end,
}

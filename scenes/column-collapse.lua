-- A column of dry sand is let go and spreads into a heap.
--
--   repose run column-collapse --set friction_angle=25

local angle = param("friction_angle", 35, "degrees: inner friction")
local height = param("height", 0.3, "m")
local dx = param("dx", 0.01, "m: halve it for finer sand, at sixteen times the work")

scene { title = "Column collapse", dx = dx, fps = 48, frames = 48 }

local sand = material.sand { friction_angle = angle }

particles {
    material = sand,
    shape = box { min = {-0.1, 0, -0.1}, max = {0.1, height, 0.1} },
    per_cell = 8,
}

-- the floor: sand that touches it stays
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

camera { eye = {0.6, 0.42, 0.85}, look_at = {0, 0.06, 0}, fov = 26 }

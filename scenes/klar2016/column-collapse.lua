-- A column of dry sand is let go and spreads into a heap.
--
-- Klar 2016, Fig. 13: how steep it stays follows from the friction angle.
--
--   repose run column-collapse --set friction_angle=25
--
-- The size of the paper has as many grains, in all and in a cell, and the frame rate of their Table 2.

local size = param("size", {"quick", "paper"}, "paper: 1.2 million grains")
local fine = size == "paper"
local angle = param("friction_angle", 35, "degrees: inner friction")
local height = param("height", 0.3, "m")
local dx = param("dx", fine and 0.0068 or 0.01, "m: halve it for finer sand, at sixteen times the work")

scene { title = "Column collapse", dx = dx, fps = fine and 120 or 48, frames = fine and 120 or 48 }

local sand = material.sand { friction_angle = angle }

particles {
    material = sand,
    shape = box { min = {-0.1, 0, -0.1}, max = {0.1, height, 0.1} },
    per_cell = fine and 32 or 8,
}

-- the floor: sand that touches it stays
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

camera { eye = {0.6, 0.42, 0.85}, look_at = {0, 0.06, 0}, fov = 26 }

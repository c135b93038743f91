-- A column of water is let go and runs along the floor, as Martin and Moyce had it run in 1952.
--
-- The front is measured by 99 of 100 particles: repose measure dam-break-out runout quantile=0.99
local size = param("size", {"quick", "paper"}, "quick: 16 cells a column; paper: 48, for a final picture")
local dx = param("dx", 0.05715 / (size == "paper" and 48 or 16), "m")

local a = 0.05715   -- the width of the column, 2.25 inches; it is twice as high
scene { title = "Dam break", dimension = 2, dx = dx, fps = 100, frames = 40, seed = 1 }
camera { eye = {0.33, 0.08, 1}, look_at = {0.33, 0.08, 0}, fov = 30 }

-- sound ten times as fast as the water: softer than real water, which nobody sees
local water = material.water { sound_speed = 10 * math.sqrt(9.81 * 2 * a) }
particles { material = water, shape = box { min = {0, 0}, max = {a, 2 * a} } }
collider { name = "floor", shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "slip" }
collider { name = "wall", shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }

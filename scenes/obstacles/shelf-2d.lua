-- A slice of sand falls off a shelf: small, runs in seconds, good for trying things out.
--
-- In 2D a vector has two numbers, and the slice is one metre thick.

local size = param("size", {"quick", "paper"}, "paper: 80 000 grains")

scene { title = "Falling off a shelf", dimension = 2, dx = size == "paper" and 0.002 or 0.01, fps = 48, frames = 72 }

local dry = material.sand { name = "dry", friction_angle = 30 }
local damp = material.sand { name = "damp", friction_angle = 38, cohesion = 300 }

-- two layers, the damp one on top
particles { material = dry, shape = box { min = {-0.4, 0.3}, max = {0, 0.4} } }
particles { material = damp, shape = box { min = {-0.4, 0.4}, max = {0, 0.5} } }

collider { name = "shelf", shape = box { min = {-0.6, 0.2}, max = {-0.1, 0.3} } }
collider { name = "wall", shape = half_space { point = {-0.5, 0}, normal = {1, 0} }, contact = "slip" }
collider { name = "floor", shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.5 }

-- a ball in the way
collider { name = "ball", shape = sphere { center = {0.05, 0.1}, radius = 0.06 }, contact = "separate", friction = 0.2 }

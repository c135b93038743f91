scene { dx = 0.02, frames = 24 }
local slope = half_space { point = {0, 0, 0}, normal = {0.3, 1, 0} }
collider { shape = slope, contact = "separate", friction = 0.4 }
particles { material = material.sand {}, shape = sphere { center = {0, 0.2, 0}, radius = 0.1 } }

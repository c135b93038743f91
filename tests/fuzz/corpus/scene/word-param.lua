local angle = param("friction_angle", 35, "degrees")   -- repose run … --set friction_angle=30
scene { dx = 0.02, frames = 48 }
local sand = material.sand { friction_angle = angle }
particles { material = sand, shape = box { min = {0, 0, 0}, max = {0.2, 0.2, 0.2} } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

scene { dx = 0.02, frames = 24 }
particles { material = material.sand {}, shape = sphere { center = {0, 0.5, 0}, radius = 0.1 } }
collider { shape = sphere { center = {0.05, 0.2, 0}, radius = 0.15 }, contact = "slip" }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

scene { dx = 0.02, frames = 48 }
particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.2, 0.4, 0.2} } }
probe { name = "foot", point = {0.1, 0.05, 0.1}, every = 0.005 }
probe { name = "gate", plane = { point = {0.25, 0, 0}, normal = {1, 0, 0} }, every = 0.005 }   -- how much runs to the right
probe { name = "grain", particle = 100, every = 0.01 }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

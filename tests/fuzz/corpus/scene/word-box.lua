scene { dx = 0.02, frames = 24 }
particles { material = material.sand {}, shape = box { min = {-0.1, 0.2, -0.1}, max = {0.1, 0.4, 0.1} } }
collider { shape = box { min = {-0.3, 0, -0.05}, max = {0.3, 0.1, 0.05} }, contact = "separate" }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

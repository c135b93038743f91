scene { dx = 0.02, frames = 24 }
camera { eye = {1, 0.6, 1.5}, look_at = {0, 0.1, 0}, fov = 25 }
particles { material = material.sand {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.1 } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

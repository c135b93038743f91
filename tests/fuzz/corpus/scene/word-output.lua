scene { dx = 0.02, frames = 1000 }
output { state = "latest" }   -- a long run: small frames, and it can still be resumed
particles { material = material.sand {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.1 } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

scene { dx = 0.02, frames = 1000 }
output { columns = {"velocity", "stress", "pressure"} }   -- small frames; state = "latest" makes small ones too
particles { material = material.sand {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.1 } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

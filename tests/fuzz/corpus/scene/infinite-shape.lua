scene { dx = 0.1, frames = 1 }
particles { material = material.sand {}, shape = half_space { point = {0,0,0}, normal = {0,1,0} } }

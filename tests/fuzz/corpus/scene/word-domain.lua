scene { dx = 0.0125, frames = 48 }
domain { min = {0, 0, 0}, max = {0.1, 1, 0.1}, periodic = {true, false, true} }   -- an endless layer
particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.1, 0.2, 0.1} } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

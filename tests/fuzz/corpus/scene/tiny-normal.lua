scene { dx = 0.1, frames = 1 }
collider { shape = half_space { point = {0,0,0}, normal = {1e-320,0,0} } }

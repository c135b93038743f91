scene { dx = 0.02, frames = 24 }
local jelly = material.elastic { density = 1000, young = 2e4, poisson = 0.4 }
particles { material = jelly, shape = box { min = {0, 0.1, 0}, max = {0.2, 0.3, 0.2} } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

scene { dx = 1e-300, frames = 1 }
particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} } }

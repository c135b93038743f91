scene { dx = 0.1, frames = 1 }
particles { material = material.sand {}, shape = sphere { center = {1e300,0,0}, radius = 1 } }

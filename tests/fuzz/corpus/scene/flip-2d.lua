scene { dx = 0.1, frames = 1, dimension = 2, transfer = { flip = 0.5 }, order = "cubic", precision = "double", cfl = 0.5, dt_max = 1e-3 }
particles { material = material.sand {}, shape = sphere { center = {0,0}, radius = 1 }, spacing = 0.05, velocity = {1,0}, velocity_gradient = {{0,1},{1,0}} }

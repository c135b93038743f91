scene { dimension = 2, dx = 0.1, frames = 1 }
local s = material.sand { friction_coefficient = 0.38, porosity = 0.4, inertial = { friction = 0.64, number = 0.3, grain = 1e-3, density = 2500 } }
particles { material = s, shape = box { min = {0, 0, 0}, max = {1, 1, 0} } }

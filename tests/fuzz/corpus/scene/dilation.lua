scene { dimension = 2, dx = 0.1, frames = 1 }
local s = material.sand { friction_angle = 35, dilation_angle = 10, dilation_limit = 0.05, hardening = false, cohesion = 10 }
particles { material = s, shape = box { min = {0, 0, 0}, max = {1, 1, 0} } }

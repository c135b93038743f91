scene { dimension = 3, dx = 0.1, frames = 1 }
local s = material.sand { friction_coefficient = 0.5, flow = "resting", dilation_angle = 5, volume_correction = false, cohesion = 10 }
particles { material = s, shape = box { min = {0, 0, 0}, max = {1, 1, 1} } }

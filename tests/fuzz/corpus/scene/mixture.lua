scene { method = "mixture", dimension = 2, dx = 0.1, frames = 1, mixture = { pressure = "none", saturation = "indicator", wetting = "rise_and_fall", drag_law = "paper" } }
local clay = material.sand { porosity = 0.5, drag = 1e5, cohesion = 100 }
local silt = material.sand { porosity = 0.45, permeability = 1e-12 }
local gravel = material.sand { porosity = 0.4, conductivity = 0.1 }
local mud = material.water { viscosity = 0.1, density = 1100, sound_speed = 10 }
particles { material = clay, shape = box { min = {0, 0, 0}, max = {0.5, 0.5, 0} } }
particles { material = silt, shape = box { min = {0.5, 0, 0}, max = {1, 0.5, 0} } }
particles { material = gravel, shape = box { min = {1, 0, 0}, max = {1.5, 0.5, 0} } }
particles { material = mud, within = gravel, shape = box { min = {1, 0, 0}, max = {1.5, 0.5, 0} } }
collider { shape = box { min = {0, -0.2, 0}, max = {0.5, 0.1, 0} }, permeable = true }

scene { method = "mixture", dimension = 2, dx = 0.1, frames = 1, mixture = { pressure = "both", drag_law = 3 } }
local a = material.sand { porosity = 0, drag = 0, permeability = 1, conductivity = 1e-12 }
local b = material.water { density = 900 }
particles { material = a, within = b, shape = box { min = {0, 0, 0}, max = {1, 1, 0} } }
particles { material = b, within = a, shape = box { min = {5, 0, 0}, max = {6, 1, 0} } }

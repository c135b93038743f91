scene { method = "mixture", dimension = 2, dx = 0.05, frames = 2,
        mixture = { pressure = "none", saturation = "indicator", wetting = "rise_and_fall", drag_law = "paper" } }
local open = material.sand { porosity = 0.45, permeability = 1e-9, cohesion = 200 }
local tight = material.sand { porosity = 0.3, drag = 1e6 }
local water = material.water { viscosity = 0.001, sound_speed = 12 }
particles { material = open, shape = box { min = {0, 0}, max = {0.5, 0.4} } }
particles { material = tight, shape = box { min = {0.5, 0}, max = {1, 0.4} } }
particles { material = water, within = open, shape = box { min = {0, 0}, max = {0.5, 0.3} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "slip", permeable = true }

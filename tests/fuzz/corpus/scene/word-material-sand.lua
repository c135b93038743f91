scene { dx = 0.02, frames = 24 }
local dry = material.sand { name = "dry", friction_angle = 30 }
local damp = material.sand { name = "damp", friction_angle = 38, cohesion = 200 }
local dense = material.sand { name = "dense", hardening = { h0 = 30, h1 = 3, h3 = 5 } }
for i, sand in ipairs { dry, damp, dense } do
    particles { material = sand, shape = sphere { center = {i, 0.2, 0}, radius = 0.2 } }
end
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

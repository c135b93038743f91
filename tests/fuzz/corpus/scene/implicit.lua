scene { method = "implicit", dimension = 2, dx = 0.1, frames = 1, implicit = { tolerance = 1e-4, newton = 8, krylov = 40, krylov_tolerance = 0.05 } }
particles { material = material.sand { cohesion = 10 }, shape = box { min = {0, 0}, max = {1, 1} }, prestress = "k0" }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.4 }

scene {
    method = "sph", dx = 0.04, frames = 2, dimension = 2,
    sph = { bilateral = true, clamp = "component", start = "cold", tolerance = 1e-4, iterations = 7, relaxation = 0.2,
            recovery = 0.1, viscosity = 1e-3, repulsion = 0, bonding = 1, debonding = 3 },
}
particles { material = material.sand { cohesion = 100 }, shape = box { min = {0, 0}, max = {0.2, 0.2} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.4 }

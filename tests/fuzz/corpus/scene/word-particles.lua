scene { dx = 0.02, frames = 24, gravity = {0, 0, 0} }
particles {
    material = material.sand {},
    shape = sphere { center = {0, 0, 0}, radius = 0.2 },
    per_cell = 27,
    velocity = function(x, y, z) return -3 * y, 3 * x, 0 end,   -- spins about z
}

-- An elastic ball flies into a castle of moist sand, slides on it and parts from it.
--
-- The ball has a velocity field of its own; in one field with the sand it would stick to it. Klar 2016 has
-- such a ball.
--
-- In one field: --set apart=false

local size = param("size", {"quick", "paper"}, "paper: half the dx")
local apart = param("apart", true, "the ball has a velocity field of its own")
local dx = param("dx", size == "paper" and 0.01 or 0.02, "m; half of it gives eight times the grains and takes sixteen times as long")

scene { title = "Ball and castle", dx = dx, fps = 48, frames = 36 }
camera { eye = {0.9, 0.75, 1.5}, look_at = {0, 0.15, 0}, fov = 34 }

local sand = material.sand { friction_angle = 35, cohesion = 300 }
local function tower(x, z)
    return cylinder { base = {x, 0, z}, radius = 0.07, height = 0.32 }
end
particles {
    material = sand,
    shape = union(
        box { min = {-0.2, 0, -0.2}, max = {0.2, 0.16, 0.2} },
        tower(-0.2, -0.2), tower(-0.2, 0.2), tower(0.2, -0.2), tower(0.2, 0.2),
        cylinder { base = {0, 0, 0}, radius = 0.09, height = 0.4 }),
}
particles {
    material = material.elastic { density = 1500, young = 5e5, color = {0.72, 0.2, 0.16} },
    body = apart and "ball" or "rest",
    shape = sphere { center = {-0.55, 0.28, 0.02}, radius = 0.1 }, velocity = {5, 0, 0},
}
contact { friction = 0.3 }
collider { name = "ground", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

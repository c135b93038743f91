-- Sand runs through the neck of a glass and piles up below.
local dx = param("dx", 0.006, "m; half of it gives eight times the grains and takes sixteen times as long")
local neck = param("neck", 0.045, "m, width of the opening")
local angle = param("friction_angle", 32, "degrees")

scene { title = "Hourglass", dx = dx, fps = 24, frames = 72 }
camera { eye = {0, 0.06, 1.1}, look_at = {0, -0.005, 0}, fov = 27 }

-- the glass: a line around which the wall lies, from the middle of the floor to that of the lid
local thick = 0.024
local r = neck / 2 + thick / 2
local line = {
    {0, -0.23}, {0.1, -0.23}, {0.1, -0.09}, {r, -0.01},
    {r, 0.01}, {0.1, 0.09}, {0.1, 0.23}, {0, 0.23},
}
collider {
    name = "glass", shape = revolve { profile = line, thickness = thick, round = 0.006 },
    contact = "separate", friction = 0.3,
}

-- softer than usual, which makes steps longer; its own weight presses it together by a hundredth
local sand = material.sand { density = 1600, young = 1e5, friction_angle = angle, yield_fit = "slope" }
local inside = offset(revolve { profile = line, round = 0.006 }, -thick / 2)
local slice = box { min = {-1, 0, -1}, max = {1, 0.13, 1} }
particles { material = sand, shape = intersect(inside, slice) }

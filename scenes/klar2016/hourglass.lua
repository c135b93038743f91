-- Sand runs through the neck of a glass and piles up below.
--
-- Klar 2016, Fig. 1. The size of the paper has the grid and the frame rate of their Table 2.

local size = param("size", {"quick", "paper"}, "paper: a million grains")
local fine = size == "paper"
local dx = param("dx", fine and 0.0025 or 0.006, "m; half of it gives eight times the grains and takes sixteen times as long")
local neck = param("neck", 0.045, "m, width of the opening")
local angle = param("friction_angle", 32, "degrees")

scene { title = "Hourglass", dx = dx, fps = fine and 48 or 24, frames = fine and 96 or 48 }
camera { eye = {0.25, 0.18, 1.4}, look_at = {0, -0.005, 0}, fov = 24 }

-- The glass: a line around which the wall lies, from the middle of the floor to that of the lid. An arc
-- in the neck keeps its distance from the corner of the line.
local thick, round = 0.024, 0.03
local wide, high, shoulder = 0.1, 0.23, 0.1
local function corner(r) return round * (math.sqrt(1 + ((wide - r) / shoulder) ^ 2) - 1) end
local r = (neck + thick) / 2
r = r - corner(r - corner(r))
local line = { {0, -high}, {wide, -high}, {wide, -shoulder}, {r, 0}, {wide, shoulder}, {wide, high}, {0, high} }
collider {
    name = "glass", look = "glass", shape = revolve { profile = line, thickness = thick, round = round },
    contact = "separate", friction = 0.3,
}

-- softer than usual, which makes steps longer; its own weight presses it together by a hundredth
local sand = material.sand { density = 1600, young = 1e5, friction_angle = angle, yield_fit = "slope" }
local inside = offset(revolve { profile = line, round = round }, -thick / 2)
local slice = box { min = {-1, 0, -1}, max = {1, 0.14, 1} }
particles { material = sand, shape = intersect(inside, slice) }

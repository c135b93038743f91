-- A box of sand is tilted until the sand gives way.
--
-- The box stays and gravity turns instead, which comes to the same thing and keeps the walls along the grid.

local size = param("size", {"quick", "paper"}, "paper: 1.6 million grains")
local steepest = param("steepest", 40, "degrees")
local speed = param("speed", 20, "degrees per second")

-- the tilt at a time, in radians: rises evenly, then stays
local function tilt(t)
    return math.rad(math.min(speed * t, steepest))
end

scene {
    title = "Tilting box",
    dx = size == "paper" and 0.0025 or 0.01, fps = 24, frames = 72,
    gravity = function(t)
        return 9.81 * math.sin(tilt(t)), -9.81 * math.cos(tilt(t)), 0
    end,
}

particles {
    material = material.sand { friction_angle = 33, yield_fit = "slope" },
    shape = box { min = {0, 0, 0}, max = {0.4, 0.08, 0.1} },
}

-- a rough floor that holds the sand, smooth walls that let it slide; two of them are not shown, to let the sun in
local hidden = { left = true, front = true }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
for name, wall in pairs {
    left  = half_space { point = {0, 0, 0}, normal = {1, 0, 0} },
    right = half_space { point = {0.4, 0, 0}, normal = {-1, 0, 0} },
    back  = half_space { point = {0, 0, 0}, normal = {0, 0, 1} },
    front = half_space { point = {0, 0, 0.1}, normal = {0, 0, -1} },
} do
    collider { name = name, shape = wall, contact = "slip", look = hidden[name] and "hidden" or "solid" }
end

camera { eye = {0.45, 0.35, 0.85}, look_at = {0.2, 0.03, 0.05}, fov = 26 }

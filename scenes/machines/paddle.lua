-- A paddle turns in a box of sand.
--
-- forces.csv has what it takes to turn it.

local size = param("size", {"quick", "paper"}, "paper: 1.4 million grains")

scene { title = "Paddle", dx = size == "paper" and 0.004 or 0.012, fps = 24, frames = 36 }

particles {
    material = material.sand { friction_angle = 33, yield_fit = "slope" },
    shape = box { min = {-0.25, 0, -0.1}, max = {0.25, 0.12, 0.1} },
}

-- walls reach into the floor, so that nothing slips through the joint; two are not shown, to let the sun in
local hidden = { left = true, front = true }
for name, wall in pairs {
    floor = half_space { point = {0, 0, 0}, normal = {0, 1, 0} },
    left  = half_space { point = {-0.25, 0, 0}, normal = {1, 0, 0} },
    right = half_space { point = {0.25, 0, 0}, normal = {-1, 0, 0} },
    back  = half_space { point = {0, 0, -0.1}, normal = {0, 0, 1} },
    front = half_space { point = {0, 0, 0.1}, normal = {0, 0, -1} },
} do
    collider { name = name, shape = wall, contact = "separate", friction = 0.4, look = hidden[name] and "hidden" or "solid" }
end

collider {
    name = "paddle",
    shape = box { min = {-0.03, 0.06, -0.07}, max = {0.03, 0.26, 0.07} },
    contact = "separate", friction = 0.3, color = {0.72, 0.2, 0.14},
    spin = { rate = 90, center = {0, 0.2, 0} },
}

camera { eye = {0.35, 0.55, 1}, look_at = {0, 0.05, 0}, fov = 30 }

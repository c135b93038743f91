-- A rubber ball with red marks in it falls into a basin of water.
local size = param("size", {"quick", "paper"}, "quick: a minute; paper: a million particles")
local dx = param("dx", size == "paper" and 0.0075 or 0.0175, "m")

scene { title = "Splash", dx = dx, fps = 48, frames = 48 }
camera { eye = {0.55, 0.75, 1.35}, look_at = {0, 0.1, 0}, fov = 30 }

local water = material.water { sound_speed = 25 }
local rubber = material.elastic { density = 700, young = 8e4, poisson = 0.4, color = {0.9, 0.75, 0.25} }
local ball = sphere { center = {0, 0.42, 0}, radius = 0.11 }

particles { material = water, shape = box { min = {-0.3, 0, -0.2}, max = {0.3, 0.16, 0.2} } }
particles { material = rubber, shape = ball, velocity = {0, -1.5, 0} }
-- marks weigh nothing and go along: three rings to see the ball turn
particles { material = material.tracer {},
    shape = intersect(subtract(offset(ball, 0.004), offset(ball, -0.006)),
                      union(box { min = {-1, 0.41, -1}, max = {1, 0.43, 1} },
                            box { min = {-0.01, 0, -1}, max = {0.01, 1, 1} })) }

for name, wall in pairs {
    floor = half_space { point = {0, 0, 0}, normal = {0, 1, 0} },
    left  = half_space { point = {-0.3, 0, 0}, normal = {1, 0, 0} },
    right = half_space { point = {0.3, 0, 0}, normal = {-1, 0, 0} },
    back  = half_space { point = {0, 0, -0.2}, normal = {0, 0, 1} },
    front = half_space { point = {0, 0, 0.2}, normal = {0, 0, -1} },
} do
    collider { name = name, shape = wall, contact = "slip", look = name == "floor" and "solid" or "hidden" }
end

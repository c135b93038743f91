-- A dam of sand holds back a lake that is too high for it: water runs over and through it, and takes it along.
-- After the breach of Pradhana Tampubolon and others (2017).
local size = param("size", {"quick", "paper"}, "quick: 2D; paper: a valley in 3D with about a million particles")
local paper = size == "paper"
local dx = param("dx", paper and 0.025 or 0.02, "m")
local conductivity = param("conductivity", 0.05, "m/s, of the sand")

scene { title = "Breach of a dam", method = "mixture", dimension = paper and 3 or 2, dx = dx, frames = 72, seed = 1 }

local sand = material.sand { density = 1600, friction_angle = 35, porosity = 0.4, conductivity = conductivity, cohesion = 200 }
local water = material.water { sound_speed = 25 }

-- the dam: slopes of 1 in 1.4, 0.6 m high, with a notch in its crest where it is in 3D
local width = 1.6
local function plane(x, y, nx, ny) return half_space { point = {x, y, 0}, normal = {nx, ny, 0} } end
local body = intersect(box { min = {1.0, 0, 0}, max = {3.2, 0.6, paper and width or 1} },
                       plane(1.0, 0, -0.6, 0.84), plane(3.0, 0, 0.6, 0.84))
if paper then
    body = subtract(body, box { min = {1.2, 0.5, 0.65}, max = {3.0, 0.8, 0.95} })
end
particles { material = sand, shape = body }
particles { material = water, shape = intersect(box { min = {0, 0, 0}, max = {1.86, 0.76, paper and width or 1} },
                                                invert(plane(1.0, 0, -0.6, 0.84))) }

collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.6 }
collider { name = "head", shape = half_space { point = {0, 0, 0}, normal = {1, 0, 0} }, contact = "slip", look = "hidden" }
collider { name = "tail", shape = half_space { point = {5.6, 0, 0}, normal = {-1, 0, 0} }, contact = "slip", look = "hidden" }
if paper then
    collider { name = "back", shape = half_space { point = {0, 0, 0}, normal = {0, 0, 1} }, contact = "slip", look = "hidden" }
    collider { name = "front", shape = half_space { point = {0, 0, width}, normal = {0, 0, -1} }, contact = "slip", look = "hidden" }
end
camera { eye = paper and {6.4, 2.6, 5.4} or {2.2, 0.8, 5.4}, look_at = paper and {2.5, 0.15, 0.7} or {2.2, 0.4, 0}, fov = 34 }

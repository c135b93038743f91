-- A box of damp sand is dropped on a wedge: with more cohesion its pieces are larger and go less far.
-- After the boxes on wedges of Pradhana Tampubolon and others (2017).
local size = param("size", {"quick", "paper"}, "paper: cells of half the width")
local dx = param("dx", size == "paper" and 0.005 or 0.01, "m")
local cohesion = param("cohesion", 200, "Pa; 0 runs off, 2000 stays in lumps")
scene { title = "A box on a wedge", method = "mixture", dimension = 2, dx = dx, fps = 48, frames = 72, seed = 1 }
local sand = material.sand { density = 1500, friction_angle = 35, cohesion = cohesion, young = 1e6 }
particles { material = sand, shape = box { min = {-0.2, 0.5, -1}, max = {0.2, 0.8, 1} } }
-- the wedge: what is below two slopes
collider { name = "wedge", shape = intersect(half_space { point = {0, 0.35, 0}, normal = {0.7, 0.714, 0} }, half_space { point = {0, 0.35, 0}, normal = {-0.7, 0.714, 0} },
           box { min = {-0.6, -0.1, -1}, max = {0.6, 0.4, 1} }), contact = "separate", friction = 0.4 }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.5 }
camera { eye = {0, 0.5, 4}, look_at = {0, 0.35, 0}, fov = 24 }

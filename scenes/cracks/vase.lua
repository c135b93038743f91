-- A vase falls on a stone in the sand and breaks into shards.
--
-- It is cut into cells about random sites, and glue on the cuts holds them until the stress is too much for it.
--
-- One shard from the other: repose render vase-out --color body

local size = param("size", {"quick", "paper"}, "paper: two thirds of the dx")
local pieces = param("pieces", 60, "shards")
local strength = param("strength", 3e4, "Pa")
local dx = size == "paper" and 0.012 or 0.018

scene { title = "Vase", dx = dx, fps = 60, frames = 30 }
camera { eye = {0.5, 0.55, 1.05}, look_at = {0, 0.16, 0}, fov = 30 }

particles { material = material.sand { friction_angle = 33, young = 3e5 }, shape = subtract(
    box { min = {-0.25, 0, -0.25}, max = {0.25, 0.06, 0.25} }, sphere { center = {0.02, 0.02, 0}, radius = 0.075 }) }
collider { name = "stone", shape = sphere { center = {0.02, 0.02, 0}, radius = 0.07 }, contact = "separate", friction = 0.4, color = {0.4, 0.4, 0.42} }

local fall = 0.13
particles {
    material = material.elastic { density = 1800, young = 2e6, poisson = 0.2, color = {0.25, 0.45, 0.6} },
    body = "vase", velocity = {0, -4, 0},
    shape = revolve { base = {0, fall, 0}, thickness = 2.6 * dx, round = 0.02, profile = {
        {0, 0}, {0.07, 0}, {0.12, 0.1}, {0.1, 0.2}, {0.06, 0.26}, {0.085, 0.31} } },
}
fracture { body = "vase", by = voronoi { count = math.floor(pieces), seed = 2 }, strength = { 0.8 * strength, 1.2 * strength } }
contact { friction = 0.4 }

collider { name = "ground", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
for name, wall in pairs {
    left = half_space { point = {-0.25, 0, 0}, normal = {1, 0, 0} }, right = half_space { point = {0.25, 0, 0}, normal = {-1, 0, 0} },
    back = half_space { point = {0, 0, -0.25}, normal = {0, 0, 1} }, front = half_space { point = {0, 0, 0.25}, normal = {0, 0, -1} },
} do
    collider { name = name, shape = wall, contact = "slip", look = "hidden" }
end

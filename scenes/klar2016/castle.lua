-- An elastic ball hits a castle of damp sand.
--
-- Klar 2016, Fig. 1: what the ball does not touch stands. In implicit steps, which stiffness does not bound.
--
--   repose run castle --method explicit     the same in short steps

local size = param("size", {"quick", "paper"}, "paper: 0.8 million grains")
local dx = size == "paper" and 0.006 or 0.018
local cohesion = param("cohesion", 1500, "Pa: 0 is dry sand")
local young = param("young", 3.537e5, "Pa, of sand and ball")

scene { title = "Castle", method = "implicit", dx = dx, fps = 60, frames = 48, dt_max = 2e-3 }

local sand = material.sand { friction_angle = 40, cohesion = cohesion, young = young }
local rubber = material.elastic { density = 1200, young = young, poisson = 0.4 }

local parts = { box { min = {-0.2, 0, -0.2}, max = {0.2, 0.05, 0.2} }, box { min = {-0.09, 0, -0.09}, max = {0.09, 0.24, 0.09} } }
for _, x in ipairs { -0.15, 0.15 } do
    for _, z in ipairs { -0.15, 0.15 } do
        table.insert(parts, cylinder { base = {x, 0, z}, radius = 0.06, height = 0.2 })
    end
    table.insert(parts, box { min = {x - 0.025, 0, -0.15}, max = {x + 0.025, 0.12, 0.15} })
    table.insert(parts, box { min = {-0.15, 0, x - 0.025}, max = {0.15, 0.12, x + 0.025} })
end
particles { material = sand, shape = union(table.unpack(parts)), prestress = "k0" }

particles {
    material = rubber, velocity = {-6, 0.4, -2},
    shape = sphere { center = {0.55, 0.13, 0.2}, radius = 0.07 },
}

collider { name = "ground", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

camera { eye = {0.55, 0.5, 0.95}, look_at = {0, 0.08, 0}, fov = 32 }

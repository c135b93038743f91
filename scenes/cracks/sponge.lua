-- A sponge is torn apart: it opens along the cut that it was given.
--
-- After Wretborn, Armiento and Museth (2017), who have 35 301 points and three ways to tear them: as it comes, along a
-- slant, and along a zigzag. Whole, this one has 41 x 41 x 21 points between its heads,
-- less the notch that the tear begins at.
--
-- As it comes: --set cut=none   Where it broke, and when: sponge-out/cracks.csv

local size = param("size", {"quick", "paper"}, "paper: half the dx, eight times the points")
local cut = param("cut", {"zigzag", "slant", "none"}, "what it is cut by")
local fine = size == "paper"
local dx = fine and 0.02 or 0.04

scene { title = "Sponge", dx = dx, fps = 48, frames = 54, gravity = {0, 0, 0} }
camera { eye = {0.7, 0.2, 2}, look_at = {0, 0, 0}, fov = 40 }

local neck, head = 0.205, 0.33
particles {
    material = material.elastic { density = 300, young = 1e5, poisson = 0.2, color = {0.93, 0.76, 0.3} },
    body = "sponge", sampling = "lattice", jitter = 0, spacing = dx / 2,
    shape = subtract(box { min = {-neck, -neck, -0.105}, max = {neck, neck, 0.105} },
        box { min = {-0.3, -0.02, -0.2}, max = {-0.15, 0.02, 0.2} }),
}
-- it has grown into two stiff heads
for _, up in ipairs {1, -1} do
    particles {
        material = material.elastic { density = 300, young = 1e6, poisson = 0.2, color = {0.5, 0.33, 0.2} },
        body = "sponge", sampling = "lattice", jitter = 0, spacing = dx / 2,
        shape = box { min = {-0.35, up > 0 and neck or -head, -0.105}, max = {0.35, up > 0 and head or -neck, 0.105} },
    }
end
local strength = {4e3, 5e3}
if cut == "zigzag" then
    fracture { body = "sponge", strength = strength,
        by = zigzag { point = {-0.02, 0, 0}, normal = {0, 1, 0}, along = {1, 0, 0}, tooth = 0.08 } }
elseif cut == "slant" then
    fracture { body = "sponge", strength = strength, by = plane { point = {-0.16, 0, 0}, normal = {-0.35, 1, 0} } }
end

-- jaws below the upper head and above the lower one, which go apart
local function gently(t) return 0.16 * t * t / (0.5 + t) end
for name, at in pairs { ["upper left"] = {-1, 1}, ["upper right"] = {1, 1}, ["lower left"] = {-1, -1}, ["lower right"] = {1, -1} } do
    local side, up = at[1], at[2]
    collider {
        name = name, contact = "separate", friction = 0.5, color = {0.4, 0.42, 0.46},
        shape = box { min = {side > 0 and neck + 0.01 or -0.42, up > 0 and 0.04 or -neck, -0.16},
            max = {side > 0 and 0.42 or -neck - 0.01, up > 0 and neck or -0.04, 0.16} },
        motion = function(t) return { position = {0, up * gently(t), 0} } end,
    }
end

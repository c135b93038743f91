-- An avalanche runs into a town of blocks that may topple and be carried away, by smoothed particles.
--
-- After Alduan and Otaduy 2011, Fig. 1 (180 thousand grains, 60 rigid objects).
--
--   repose run avalanche --set blocks=60

local size = param("size", {"quick", "paper"}, "paper: 180 thousand grains and 60 blocks")
local paper = size == "paper"
local dx = param("dx", paper and 0.045 or 0.09, "m: the support of a grain, two spacings")
local blocks = param("blocks", paper and 60 or 24, "of the town")
local angle = param("angle", 42, "degrees of the slope")

scene { title = "An avalanche", method = "sph", dx = dx, fps = 30, frames = 75 }

-- the slope ends at x = 0, in a plain
local s, c = math.sin(math.rad(angle)), math.cos(math.rad(angle))
local width = 1.2
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.5 }
collider { shape = half_space { point = {0, 0, 0}, normal = {s, c, 0} }, contact = "separate", friction = 0.35 }
for side = -1, 1, 2 do
    collider { shape = half_space { point = {0, 0, side * width}, normal = {0, 0, -side} }, contact = "slip", look = "hidden" }
end

-- a slab on the slope: 1.6 m along it and 0.4 m deep
particles {
    material = material.sand { friction_angle = 30 },
    shape = move(box { min = {-2.6, 0, -width}, max = {-1.0, 0.4, width} }, { rotation = { angle = -angle } }),
}

-- rows of blocks, tall ones behind
local across = 6
for i = 0, blocks - 1 do
    local row, column = i // across, i % across
    local x = 0.45 + 0.3 * row
    local z = (column - 0.5 * (across - 1)) * 0.38 + (row % 2 == 0 and 0.04 or -0.04)
    local tall = 0.22 + 0.05 * ((3 * row + 5 * column) % 4)
    rigid {
        name = "block " .. i + 1,
        shape = box { min = {x, 0.001, z - 0.08}, max = {x + 0.14, tall, z + 0.08} },
        density = 700, friction = 0.4,
        color = ({ {0.75, 0.42, 0.3}, {0.82, 0.74, 0.6}, {0.5, 0.55, 0.62} })[1 + (row + 2 * column) % 3],
    }
end

camera { eye = {3.9, 2.0, 3.1}, look_at = {0.1, 0.35, 0}, fov = 38 }

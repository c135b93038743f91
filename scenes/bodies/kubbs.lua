-- Wooden blocks fall on a mound and come to rest: each has a velocity of its own, and they touch.
--
-- After Wretborn, Armiento and Museth (2017); whole, it has their 98 blocks of 72 030 particles.
--
-- Who is who: repose render kubbs-out --color body

local size = param("size", {"quick", "paper"}, "quick: 18 blocks of fewer particles; paper: 98")
local drop = param("drop", 0.4, "m; how high the lowest blocks begin above the top of the mound")
local whole = size == "paper"

scene { title = "Kubbs", dx = whole and 0.04 or 0.05, fps = 24, frames = whole and 240 or 72 }
camera { eye = {2.9, 2.7, 4.2}, look_at = {0, 0.1, 0.1}, fov = 34 }

local wood = material.elastic { density = 500, young = 1e6, poisson = 0.3, color = {0.76, 0.6, 0.42} }
local mound = intersect(sphere { center = {0, -1.2, 0}, radius = 1.5 }, half_space { point = {0, 0.6, 0}, normal = {0, 1, 0} })
collider { name = "mound", shape = mound, contact = "separate", friction = 0.6, color = {0.45, 0.52, 0.38} }
collider { name = "ground", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.6 }

local across, high = whole and 7 or 3, 2
local number = 0
for y = 0, high - 1 do
    for i = 1, across do
        for k = 1, across do
            number = number + 1
            local x, z = 0.19 * (i - (across + 1) / 2), 0.19 * (k - (across + 1) / 2)
            local base = 0.3 + drop + 0.34 * y
            particles { -- 7 x 15 x 7 of them, when whole
                material = wood, body = "kubb " .. number,
                shape = box { min = {x - 0.075, base, z - 0.075}, max = {x + 0.075, base + 0.3, z + 0.075} },
                spacing = whole and 0.0205 or 0.025, sampling = "lattice", jitter = 0,
            }
        end
    end
end
contact { friction = 0.4 }

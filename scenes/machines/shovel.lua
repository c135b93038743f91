-- A shovel on an arm: two hinges with motors drive it into a heap, fill it and lift what it holds.
local size = param("size", {"quick", "paper"}, "paper: eight times the grains")

local fine = size == "paper"
local dx = fine and 0.01 or 0.02
scene { title = "A shovel on an arm", dx = dx, frames = 96, fps = 24 }

particles {
    material = material.sand { density = 1600, young = 3e5, friction_angle = 34 },
    shape = box { min = {0.2, 0, 0}, max = {0.8, 0.26, 0.3} },
    prestress = "k0",
}

-- a bucket: half a tube with two cheeks, open to the front
local bx, by, bz = 0.03, 0.19, 0.15
local outer = cylinder { base = {bx, by, bz - 0.11}, axis = {0, 0, 1}, radius = 0.15, height = 0.22 }
local inner = cylinder { base = {bx, by, bz - 0.06}, axis = {0, 0, 1}, radius = 0.1, height = 0.12 }
local front = box { min = {bx + 0.02, by - 0.4, bz - 0.3}, max = {bx + 0.4, by + 0.4, bz + 0.3} }
rigid {
    name = "bucket", density = 1500, friction = 0.3, color = {0.85, 0.6, 0.1},
    shape = subtract(outer, inner, front),
}
rigid {
    name = "arm", density = 700, friction = 0.3, color = {0.4, 0.42, 0.46},
    shape = capsule { a = {bx, by + 0.16, bz}, b = {bx, by + 0.62, bz}, radius = 0.04 },
}
collider {
    name = "mast", contact = "separate", look = "solid", color = {0.3, 0.32, 0.35},
    shape = union(
        box { min = {bx - 0.46, 0, bz - 0.05}, max = {bx - 0.36, by + 0.72, bz + 0.05} },
        box { min = {bx - 0.46, by + 0.62, bz - 0.05}, max = {bx + 0.05, by + 0.72, bz + 0.05} }),
}

-- degrees per second: the arm drives the bucket forwards into the heap, the bucket turns up with what it
-- holds, and the arm lifts it, with the bucket level
local function through(t, keys)
    for i = #keys, 1, -1 do
        if t >= keys[i][1] then return keys[i][2] end
    end
    return 0
end
joint {
    kind = "hinge", a = "arm", b = "mast", at = {bx, by + 0.62, bz},
    speed = function(t) return through(t, { {0, 20}, {1.5, 5}, {2.8, 30}, {3.8, 0} }) end, strength = 400,
}
joint {
    kind = "hinge", a = "bucket", b = "arm", at = {bx, by + 0.14, bz},
    speed = function(t) return through(t, { {0, 0}, {1.5, 42}, {2.8, -30}, {3.8, 0} }) end, strength = 120,
}

for _, wall in ipairs { { {0, 0, 0}, {0, 1, 0} }, { {0, 0, 0}, {0, 0, 1} }, { {0, 0, 0.3}, {0, 0, -1} }, { {0.8, 0, 0}, {-1, 0, 0} } } do
    collider { shape = half_space { point = wall[1], normal = wall[2] }, contact = "separate", friction = 0.4, look = "hidden" }
end
camera { eye = {1.1, 1.35, 2.1}, look_at = {0.25, 0.38, 0.15}, fov = 36 }

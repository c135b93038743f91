-- An elastic brush is drawn over sand by its shaft: its bristles bend, and spring back once it is lifted.
--
-- After Wretborn, Armiento and Museth (2017), who have 3603 points in the brush and 230 913 in the sand; at the
-- size of the paper it has 4752 and 230 410. The shaft holds the bristles in sockets and goes where the script says.
--
-- Who is who: repose render brush-out --color body

local size = param("size", {"quick", "paper"}, "paper: dx 0.01 m, 230 410 grains")
local speed = param("speed", 0.4, "m/s, of the shaft")
local fine = size == "paper"
local dx = fine and 0.01 or 0.02

scene { title = "Brush", dx = dx, fps = 24, frames = 36 }
camera { eye = {0.55, 0.5, 0.95}, look_at = {0, 0.06, 0}, fov = 32 }

particles {
    material = material.sand { friction_angle = 33, young = 3e5 },
    shape = box { min = {-0.3, 0, -0.3}, max = {0.3, 0.08, 0.3} },
}

-- three rows of bristles, each a body of its own: bent ones slide on each other
local hair = material.elastic { density = 1000, young = 1e6, poisson = 0.1, color = {0.25, 0.3, 0.55} }
-- the shaft holds them in sockets: the layer of cells at its face alone would let them tear off
local low, high, half, apart, from, socket = 0.085, 0.21, 0.01, 0.06, -0.16, 0.04
local sockets = {}
for n = 0, 8 do
    local x, z = from + apart * (n % 3 - 1), apart * (n // 3 - 1)
    particles {
        material = hair, body = "bristle " .. n + 1, spacing = dx / 2, sampling = "lattice", jitter = 0,
        shape = box { min = {x - half, low, z - half}, max = {x + half, high + socket, z + half} },
    }
    sockets[n + 1] = box { min = {x - half, high - socket, z - half}, max = {x + half, high + socket, z + half} }
end
contact { friction = 0.3 }

-- down into the sand, along it, and up again
local sink, down, way = 0.04, 0.25, 0.32
local function gently(s)
    s = math.min(math.max(s, 0), 1)
    return s * s * (3 - 2 * s)
end
collider {
    name = "shaft", contact = "sticky", color = {0.5, 0.36, 0.22},
    shape = subtract(box { min = {from - 0.09, high, -0.09}, max = {from + 0.09, high + 0.09, 0.09} }, table.unpack(sockets)),
    motion = function(t)
        local along = math.min(speed * math.max(t - down, 0), way)
        local up = gently((t - down - way / speed) / down)
        return { position = { along, 2 * sink * up - sink * gently(t / down), 0 } }
    end,
}
collider { name = "ground", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
for name, wall in pairs {
    left  = half_space { point = {-0.3, 0, 0}, normal = {1, 0, 0} },
    right = half_space { point = {0.3, 0, 0}, normal = {-1, 0, 0} },
    back  = half_space { point = {0, 0, -0.3}, normal = {0, 0, 1} },
    front = half_space { point = {0, 0, 0.3}, normal = {0, 0, -1} },
} do
    collider { name = name, shape = wall, contact = "slip", look = "hidden" }
end

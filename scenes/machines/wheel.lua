-- A driven wheel with grousers crosses a bed of sand and digs itself in before it climbs out of its rut.
--
-- A carriage that may slide forwards and sink carries it, and the motor has only so much torque.

local size = param("size", {"quick", "paper"}, "paper: eight times the grains")
local torque = param("torque", 12, "N m")

local fine = size == "paper"
local dx = fine and 0.01 or 0.02
scene { title = "A wheel with a motor", dx = dx, frames = 72, fps = 24, elastic_share = 0.8 }

particles {
    material = material.sand { density = 1600, young = 3e5, friction_angle = 33 },
    shape = box { min = {0, 0, 0}, max = {1.2, 0.12, 0.24} },
    prestress = "k0",
}

local x, y, z, r = 0.2, 0.29, 0.12, 0.12
local wheel = cylinder { base = {x, y, z - 0.06}, axis = {0, 0, 1}, radius = r, height = 0.12 }
local parts = { wheel }
for i = 0, 7 do
    local blade = box { min = {-0.02, r - 0.02, -0.06}, max = {0.02, r + 0.035, 0.06} }
    parts[#parts + 1] = move(blade, { position = {x, y, z}, rotation = { axis = {0, 0, 1}, angle = 45 * i } })
end

rigid { name = "wheel", shape = union(table.unpack(parts)), density = 900, friction = 0.6, color = {0.75, 0.35, 0.15} }
rigid {
    name = "carriage", mass = 4, friction = 0.3, color = {0.35, 0.42, 0.5},
    shape = union(
        box { min = {x - 0.1, y + 0.2, z - 0.095}, max = {x + 0.1, y + 0.28, z + 0.095} },
        box { min = {x - 0.025, y - 0.025, z - 0.095}, max = {x + 0.025, y + 0.21, z - 0.065} },   -- a fork
        box { min = {x - 0.025, y - 0.025, z + 0.065}, max = {x + 0.025, y + 0.21, z + 0.095} }),
}
-- the carriage slides along the bed on a rail that itself rises and sinks
rigid { name = "rail", mass = 1, look = "hidden", shape = box { min = {x - 0.05, y + 0.4, z - 0.05}, max = {x + 0.05, y + 0.45, z + 0.05} } }
joint { kind = "slider", a = "rail", at = {x, y + 0.42, z}, axis = {0, 1, 0} }
joint { kind = "slider", a = "carriage", b = "rail", at = {x, y + 0.24, z}, axis = {1, 0, 0}, range = { min = 0, max = 0.75 } }
joint { kind = "hinge", a = "wheel", b = "carriage", at = {x, y, z}, speed = -120, strength = torque }

for _, wall in ipairs {
    { {0, 0, 0}, {0, 1, 0} }, { {0, 0, 0}, {1, 0, 0} }, { {1.2, 0, 0}, {-1, 0, 0} },
    { {0, 0, 0}, {0, 0, 1} }, { {0, 0, 0.24}, {0, 0, -1} },
} do
    collider {
        shape = half_space { point = wall[1], normal = wall[2] }, contact = "separate", friction = 0.4,
        look = "hidden",
    }
end
camera { eye = {0.8, 0.75, 1.9}, look_at = {0.6, 0.2, 0.12}, fov = 34 }

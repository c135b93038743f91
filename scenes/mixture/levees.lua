-- Four levees hold back the same water: of open or tight sand, dry or damp.
-- Open sand fails at its foot, where water comes out; tight sand keeps dry longer; damp sand keeps its slope until water has taken its cohesion.
-- After the levees of Pradhana Tampubolon and others (2017).
local size = param("size", {"quick", "paper"}, "paper: cells of half the width")
local dx = param("dx", size == "paper" and 0.0125 or 0.025, "m")
local tight = param("tight", 0.02, "m/s")
local open = param("open", 0.2, "m/s")
local damp = param("cohesion", 300, "Pa, of the damp ones")

scene { title = "Levees", method = "mixture", dimension = 2, dx = dx, fps = 24, frames = 96, seed = 1 }

local water = material.water { sound_speed = 20 }
local long, high = 2, 0.32
local kinds = {
    { name = "open, dry", conductivity = open, cohesion = 0, x = 0, y = 0 },
    { name = "open, damp", conductivity = open, cohesion = damp, x = long + 0.1, y = 0 },
    { name = "tight, dry", conductivity = tight, cohesion = 0, x = 0, y = 0.9 },
    { name = "tight, damp", conductivity = tight, cohesion = damp, x = long + 0.1, y = 0.9 },
}
for _, kind in ipairs(kinds) do
    local x, y = kind.x, kind.y
    local sand = material.sand { name = kind.name, density = 1600, friction_angle = 40, porosity = 0.4, conductivity = kind.conductivity, cohesion = kind.cohesion }
    local function side(at, nx) return half_space { point = {x + at, y, 0}, normal = {nx, 0.77, 0} } end
    local levee = intersect(box { min = {x + 0.4, y, -1}, max = {x + 1.5, y + high, 1} }, side(0.42, -0.64), side(1.26, 0.64))
    particles { material = sand, shape = levee }
    particles { material = water, shape = intersect(box { min = {x, y, -1}, max = {x + 0.84, y + high - 0.03, 1} }, invert(side(0.42, -0.64))) }
    collider { name = kind.name .. " floor", shape = box { min = {x - 0.1, y - 0.1, -1}, max = {x + long, y, 1} }, contact = "separate", friction = 0.6 }
    collider { name = kind.name .. " wall", shape = box { min = {x - 0.1, y, -1}, max = {x, y + 0.5, 1} }, contact = "slip" }
    -- what has run through is gone
    sink { shape = box { min = {x + long, y - 0.5, -1}, max = {x + long + 0.1, y + 0.4, 1} } }
end
camera { eye = {2, 0.65, 5.5}, look_at = {2, 0.65, 0}, fov = 22 }

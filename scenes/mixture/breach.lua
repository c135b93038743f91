-- A dam of sand with a low middle holds back too much of a lake: water breaks through, and takes the sand along.
-- After the breach of Pradhana Tampubolon and others (2017).
local size = param("size", {"quick", "paper"}, "quick: 2D; paper: a valley in 3D with about a million particles")
local paper = size == "paper"
local dx = param("dx", paper and 0.025 or 0.02, "m")
local conductivity = param("conductivity", 0.1, "m/s, of the sand")

scene { title = "Breach of a dam", method = "mixture", dimension = paper and 3 or 2, dx = dx, fps = 30, frames = 60, seed = 1 }

local sand = material.sand { density = 1600, friction_angle = 33, porosity = 0.4, conductivity = conductivity }
local water = material.water { sound_speed = 20, color = {0.30, 0.55, 0.62} }

-- slopes of 1 in 1.3; in 3D the crest falls to 0.2 m in the middle, at 30 degrees, so that it stays until water comes
local head, foot, crest, lake, width = -0.2, 1, 0.5, 0.8, 1.6
local function slope(x, nx) return half_space { point = {x, 0, 0}, normal = {nx, 0.79, 0} } end
local upstream, downstream = slope(foot, -0.61), slope(foot + 1.5, 0.61)
local function bank(z, nz) return half_space { point = {0, 0.2, z}, normal = {0, -0.86, nz} } end
local dam = intersect(box { min = {foot, 0, 0}, max = {foot + 1.5, crest, paper and width or 1} }, upstream, downstream)
if paper then
    dam = subtract(dam, intersect(box { min = {foot, 0.2, 0}, max = {foot + 1.5, 1, width} }, bank(0.7, -0.51), bank(0.9, 0.51)))
end
particles { material = sand, shape = dam }
particles { material = water, shape = intersect(box { min = {head, 0, 0}, max = {foot + 0.64, lake, paper and width or 1} }, invert(upstream)) }

collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.5 }
collider { name = "head", shape = half_space { point = {head, 0, 0}, normal = {1, 0, 0} }, contact = "slip", look = "hidden" }
if paper then
    collider { name = "back", shape = half_space { point = {0, 0, 0}, normal = {0, 0, 1} }, contact = "slip", look = "hidden" }
    collider { name = "front", shape = half_space { point = {0, 0, width}, normal = {0, 0, -1} }, contact = "slip", look = "hidden" }
end
-- what has run through is gone
sink { shape = half_space { point = {4.6, 0, 0}, normal = {-1, 0, 0} } }
camera { eye = paper and {4.1, 1.35, 3.3} or {1.9, 0.6, 5}, look_at = paper and {1.75, 0.24, 0.75} or {1.9, 0.35, 0}, fov = paper and 28 or 34 }

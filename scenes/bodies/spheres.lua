-- One ball hits three that rest on a triangle: each has a velocity of its own, and all three leave alike.
--
-- After Wretborn, Armiento and Museth (2017), their first test.
--
-- How alike: repose measure spheres-out bodies

local size = param("size", {"quick", "paper"}, "paper: half the dx")
local turn = param("turn", 0, "degrees, of the triangle against the grid")
local dx = param("dx", size == "paper" and 0.1 or 0.2, "m; the radius of a ball is 1 m")

scene { title = "One ball into three", dx = dx, fps = 12, frames = 36, gravity = {0, 0, 0} }
camera { eye = {7, 4, 13}, look_at = {0, -0.7, 0}, fov = 38 }

local rubber = material.elastic { density = 1000, young = 1e5, poisson = 0.3 }
local function ball(name, center, velocity)
    particles {
        material = rubber, body = name, shape = sphere { center = center, radius = 1 },
        velocity = velocity, sampling = "lattice", jitter = 0, spacing = dx / 3,
    }
end

ball("falling", {0, 2.7, 0}, {0, -3, 0})
local radius = 2.65 / math.sqrt(3)
for i = 0, 2 do
    local angle = math.rad(120 * i + turn)
    ball("resting " .. i + 1, {radius * math.cos(angle), 0, radius * math.sin(angle)}, {0, 0, 0})
end
contact { friction = 0.2 }

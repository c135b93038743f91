-- A ball is thrown into a box of sand: what a liquid, sand that may part, and sand that rubs make of it.
--
-- Alduan and Otaduy 2011, Fig. 2. A liquid that cannot part (bilateral) closes behind the ball; what may part is thrown
-- up; with friction a crater stays.
--
--   repose run ball-into-box --set kind=unilateral

local kind = param("kind", {"friction", "unilateral", "bilateral"}, "what resists: see above")
local size = param("size", {"quick", "paper"}, "paper: 61 thousand grains")
local dx = param("dx", size == "paper" and 0.0375 or 0.06, "m: the support of a grain, two spacings")
local speed = param("speed", 4, "m/s of the ball")

scene { title = "Ball into a box", method = "sph", dx = dx, fps = 48, frames = 48, sph = { bilateral = kind == "bilateral" } }

particles {
    material = material.sand { friction_angle = kind == "friction" and 35 or 3 },
    shape = box { min = {-0.5, 0, -0.5}, max = {0.5, 0.4, 0.5} },
}

local function wall(point, normal)
    collider { shape = half_space { point = point, normal = normal }, contact = "separate", friction = 0.3 }
end
wall({0, 0, 0}, {0, 1, 0})
wall({-0.5, 0, 0}, {1, 0, 0})
wall({0.5, 0, 0}, {-1, 0, 0})
wall({0, 0, -0.5}, {0, 0, 1})
wall({0, 0, 0.5}, {0, 0, -1})

-- it comes to rest half in the sand
local depth = 0.35
collider {
    name = "ball",
    shape = sphere { center = {0, 0.75, 0}, radius = 0.15 },
    contact = "separate", friction = 0.3,
    motion = function(t)
        return { position = {0, -math.min(speed * t, depth), 0} }
    end,
}

camera { eye = {0, 1.5, 2.3}, look_at = {0, 0.25, 0}, fov = 42 }

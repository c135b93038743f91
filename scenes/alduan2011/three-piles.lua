-- Three columns that differ only in their inner friction are let go side by side.
--
-- Alduan and Otaduy 2011, Fig. 3. The angle is that of plane strain; a pile that collapsed is flatter than it, here
-- about half as steep, and as much with --method explicit.
--
--   repose run three-piles --set size=paper

local size = param("size", {"quick", "paper"}, "paper: 50 thousand grains")
local dx = param("dx", size == "paper" and 0.038 or 0.05, "m: the support of a grain, two spacings")

scene { title = "Three piles", method = "sph", dx = dx, fps = 24, frames = 60 }

for i, angle in ipairs { 15, 25, 35 } do
    particles {
        material = material.sand { name = angle .. " degrees", friction_angle = angle, yield_fit = "plane_strain" },
        shape = cylinder { base = {1.9 * (i - 2), 0, 0}, height = 0.5, radius = 0.27 },
    }
end

-- the floor: sand that touches it stays
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

camera { eye = {0, 0.8, 5.4}, look_at = {0, 0.1, 0}, fov = 38 }

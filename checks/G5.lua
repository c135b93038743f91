check {
    id = "V-G5",
    title = "Volume is kept when sand is turned over",
    setup = "Closed box of 0.2 x 0.3 m with smooth walls, filled to 0.2 m, friction 0.5; gravity changes sign every second, 20 cells wide, 4 particles a cell, c dt / h = 0.3. "
        .. "Depth is the 98 % quantile from the floor of the moment. And a block that bursts apart and lands.",
    source = "[R] reference code with and without volume correction",
    cost = "quick", minutes = 0.3,
}
local fit = shared "fit"
local scene = [[
local E, nu, rho, sampling = 3.537e5, 0.3, 1500, param("sampling", "lattice")
local c = math.sqrt(E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)) / rho)
scene {
    dimension = 2, dx = 0.01, fps = 20, frames = 100, dt_max = 0.3 * 0.01 / c,
    gravity = function(t) return 0, math.floor(t) % 2 == 0 and -9.81 or 9.81 end,
}
particles { material = material.sand { density = rho, young = E, poisson = nu, friction_coefficient = param("mu", 0.5), volume_correction = param("correction", true) },
            sampling = sampling, jitter = sampling == "lattice" and 0 or nil, shape = box { min = {0, 0}, max = {0.2, 0.2} } }
for i = 0, 1 do
    local s = 1 - 2 * i
    collider { shape = half_space { point = {0.2 * i, 0}, normal = {s, 0} }, contact = "separate" }
    collider { shape = half_space { point = {0, 0.3 * i}, normal = {0, s} }, contact = "separate" }
end
]]
local function flips(correction, sampling)
    local run = simulate { scene = scene, set = { correction = correction, sampling = sampling }, name = (correction and "with correction" or "without") .. ", " .. sampling }
    local depth, densest = {}, 0
    for flip = 0, 4 do
        local frame = 20 * (flip + 1)
        local r = measure(run, "runout", { along = "y", quantile = 0.98, frame = frame })
        local start = measure(run, "runout", { along = "y", quantile = 0.98, frame = 0 })
        depth[flip] = (flip % 2 == 0 and r.high_m or 0.3 - r.low_m) / start.high_m
    end
    for frame = 0, 100, 5 do
        densest = math.max(densest, measure(run, "volume", { frame = frame }).densest)
    end
    return depth, densest
end
local with
for _, sampling in ipairs { "poisson", "lattice" } do
    local densest
    with, densest = flips(true, sampling)
    expect { what = "depth / initial after the first flip, " .. sampling, value = with[1], band = { 0.97, 1.12 }, source = "[R] 1.08" }
    expect { what = "depth / initial after the fourth, " .. sampling, value = with[4], band = { 0.97, 1.28 }, source = "[R] 1.19" }
    expect { what = "fullest cell over its seeded count, " .. sampling, value = densest, band = { 0, 2.5 }, source = "eng. no cell above 2.5" }
end
local without = flips(false, "lattice")
expect { what = "without correction, after the first flip", value = without[1], band = { 1.4, math.huge }, source = "[R] 1.48: the box is full" }
plot { title = "Depth after flips", x = "flip", y = "over the initial depth",
       series = { { name = "with correction", x = { 0, 1, 2, 3, 4 }, y = { with[0], with[1], with[2], with[3], with[4] } },
                  { name = "reference", x = { 0, 1, 2, 3, 4 }, y = { 1.01, 1.08, 1.12, 1.16, 1.19 }, style = "points" },
                  { name = "without", x = { 0, 1, 2, 3, 4 }, y = { without[0], without[1], without[2], without[3], without[4] } },
                  { name = "reference without", x = { 0, 1, 2, 3, 4 }, y = { 1.01, 1.48, 1.48, 1.48, 1.48 }, style = "points" } } }

local burst = [[
scene { dimension = 2, dx = 0.01, fps = 20, frames = 60 }
-- flies apart evenly at 10 per second, and up
particles { material = material.sand { density = 1500, friction_coefficient = param("mu", 0.5) }, shape = box { min = {-0.1, 0.3}, max = {0.1, 0.5} },
            velocity = {0, -4 + 1.5}, velocity_gradient = { {10, 0}, {0, 10} } }
for i = 0, 1 do
    collider { shape = half_space { point = {0.4 * (2 * i - 1), 0}, normal = {1 - 2 * i, 0} }, contact = "separate" }
end
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate" }
]]
local run = simulate { scene = burst, name = "a block bursts apart and lands" }
local r = measure(run, "runout", { along = "y", quantile = 0.98 })
local p = measure(run, "profile", { width = 0.04 })
local solid, top, n = 0.2 * 0.2 / 0.8, 0, 0
for i = 1, p.rows do
    if p.particles[i] > 0 then
        top, n = top + p.top_m[i], n + 1
    end
end
expect { what = "layer of a burst block over its solid height", value = top / n / solid, band = { 0.9, 1.9 }, source = "eng. 0.9 to 1.9" }
expect { what = "the same from the 98 % quantile of all", value = r.high_m / solid, band = { 0.9, 1.9 }, source = "eng. 0.9 to 1.9" }

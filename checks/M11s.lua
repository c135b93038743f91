check {
    id = "V-M11s",
    title = "Ten blocks stand",
    setup = "Ten elastic blocks of 6 x 4 cells on each other, each with a velocity of its own, friction 0.5, E = 1e7 Pa, particles on a lattice; after settling, five seconds.",
    source = "[R] contact by gap: 0.2 to 2 mm/s where contact by shared nodes has 35",
    cost = "quick", minutes = 0.2,
}
local scene = [[
scene { dimension = 2, dx = 0.1, fps = 10, frames = 50, settle = 2, precision = "double" }
local rubber = material.elastic { density = 1000, young = 1e7, poisson = 0.3 }
for i = 1, 10 do
    particles { material = rubber, body = "block " .. i, sampling = "lattice", jitter = 0,
                shape = box { min = {0, 0.4 * (i - 1)}, max = {0.6, 0.4 * i} } }
end
contact { friction = 0.5 }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.5 }
]]
local run = simulate { scene = scene, name = "ten blocks" }
local last = measure(run, "bodies", { frame = 50 })
local most = 0
for i = 1, last.rows do
    most = math.max(most, last.rms_m_s[i])
end
expect { what = "largest speed of a block after 5 s", value = 1000 * most, band = { 0, 2 }, unit = "mm/s", source = "[R] 2 mm/s" }
expect { what = "sag of the top block", value = (3.8 - last.y_m[last.rows]) / 0.1, band = { 0, 0.25 }, unit = "cells", source = "a quarter of a cell" }

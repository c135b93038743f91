check {
    id = "V-W6",
    title = "Water seeps as Darcy says",
    setup = "Water sinks through sand that a filter holds, without end; two places between nodes, two steps, 2D and 3D.",
    source = "[A] q = n v is the conductivity, where water moves under its weight alone",
    cost = "quick", minutes = 0.3,
}
local scene = [[
local dim, dx, off, share, k = param("dim", 2), param("dx", 0.05), param("off", 0), param("share", 0.8), param("k", 1e-3)
scene { method = "mixture", dimension = dim, precision = "double", dx = dx, fps = 100, frames = 20, elastic_share = share }
local o, w = off * dx, 8 * dx
local all = box { min = {o, o, 0}, max = {o + w, o + w, 4 * dx} }
domain { min = {o, o, 0}, max = {o + w, o + w, 4 * dx}, periodic = {true, true, dim == 3} }
local sand = material.sand { density = 1500, porosity = 0.4, conductivity = k }
particles { material = sand, shape = all, sampling = "lattice", jitter = 0 }
particles { material = material.water {}, shape = all, within = sand, sampling = "lattice", jitter = 0 }
collider { shape = box { min = {-1, -1, -1}, max = {3, 3, 3} }, permeable = true }
]]
for _, row in ipairs {
    { "2D", {} }, { "2D, half the cell", { dx = 0.025 } }, { "2D, gravel", { k = 0.05 } }, { "2D, silt", { k = 1e-6 } },
    { "2D, short steps", { share = 0.3 } }, { "3D", { dim = 3 } }, { "3D, half the cell", { dim = 3, dx = 0.025 } },
} do
    local run = simulate { scene = scene, set = row[2], name = row[1] }
    local c = measure(run, "center", { species = "water" })
    expect { what = row[1] .. ": flux over the conductivity", value = -0.4 * c.vy_m_s / (row[2].k or 1e-3), want = 1, relative = 0.005, source = "[A] 0.5 %" }
end

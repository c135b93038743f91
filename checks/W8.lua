check {
    id = "V-W8",
    title = "A bed of sand under water at rest",
    setup = "2D and 3D, 0.8 m of saturated sand under 0.2 m of water, sides periodic, floor frictionless at several places between nodes. "
        .. "Weight comes on within 1 s. Between 0.2 and 0.6 m.",
    source = "[A] grains carry their weight less that of the water they displace, water its own",
    cost = "full", minutes = 2,
}
local fit = shared "fit"
local scene = [[
local dim, cells, off, share = param("dim", 2), param("cells", 16), param("off", 0), param("share", 0.8)
local k, rho = param("k", 0.1, "m/s"), param("rho", 1500, "kg/m^3")
local dx = 0.8 / cells
local o, w = off * dx, 8 * dx
scene { method = "mixture", dimension = dim, precision = "double", dx = dx, fps = 5, frames = 15, elastic_share = share,
        gravity = function(t) return { 0, -9.81 * (t < 1 and 0.5 - 0.5 * math.cos(math.pi * t) or 1), dim == 3 and 0 or nil } end }
domain { min = {0, -1, 0}, max = {w, 2, 4 * dx}, periodic = {true, false, dim == 3} }
local sand = material.sand { density = rho, porosity = 0.4, conductivity = k, young = 1e6 }
local water = material.water { bulk_modulus = 1e6 }
local bed = box { min = {0, o, 0}, max = {w, o + 0.8, 4 * dx} }
particles { material = sand, shape = bed, sampling = "lattice", jitter = 0 }
particles { material = water, shape = bed, within = sand, sampling = "lattice", jitter = 0 }
particles { material = water, shape = box { min = {0, o + 0.8, 0}, max = {w, o + 1, 4 * dx} }, sampling = "lattice", jitter = 0 }
collider { shape = half_space { point = {0, o, 0}, normal = {0, 1, 0} }, contact = "slip" }
]]
local rows = {
    { "floor at a node", { off = 0 } }, { "0.3 of a cell above one", { off = 0.3 } }, { "half a cell above one", { off = 0.5 } },
    { "0.3, short steps", { off = 0.3, share = 0.3 } }, { "0.3, half the cells", { off = 0.3, cells = 32 } },
    { "0.3, heavy sand", { off = 0.3, rho = 1800, k = 0.03 } }, { "3D, 0.3", { dim = 3, off = 0.3, cells = 12 } },
}
local function inside(s, o)
    local x, y = {}, {}
    for i = 1, s.rows do
        if s.place_m[i] - o > 0.2 and s.place_m[i] - o < 0.6 then
            x[#x + 1], y[#y + 1] = s.place_m[i], -s.yy_Pa[i]
        end
    end
    local _, slope = fit.line(x, y)
    return -slope
end
for _, row in ipairs(rows) do
    local set = row[2]
    local o = (set.off or 0) * 0.8 / (set.cells or 16)
    local run = simulate { scene = scene, set = set, name = row[1] }
    local rest = measure(run, "rest", { species = "water", since = run.frames - 1 })
    expect { what = row[1] .. ": effective stress over depth", value = inside(measure(run, "stress", { along = "y", species = "solid" }), o),
             want = ((set.rho or 1500) - 600) * 9.81, relative = 0.01, unit = "Pa/m", source = "[A] 1 %" }
    -- water at 6 kPa is denser by as much over its modulus of 1 MPa
    expect { what = row[1] .. ": pore pressure over depth", value = inside(measure(run, "stress", { along = "y", species = "water" }), o),
             want = 9810 * 1.006, relative = 0.02, unit = "Pa/m", source = "[A] 2 %" }
    expect { what = row[1] .. ": speed of the water", value = 1000 * rest.v_rms_m_s, band = { 0, 2 }, unit = "mm/s", source = "eng. at rest" }
end

check {
    id = "V-W7",
    title = "A plug of sand sinks in water",
    setup = "0.3 m of sand in 1 m of water without end to the sides, conductivity 0.02 m/s; weight comes on within 0.5 s, since water rings. What sinks pushes water up through it. Sand at the lower face "
        .. "is loose and falls faster, up to k (rho - (1 - n) rho_w) / (n^2 rho_w) alone: only the upper third is looked at.",
    source = "[A] k (rho - (1 - n) rho_w) / rho_w",
    cost = "quick", minutes = 0.5,
}
local scene = [[
local cells, off, share, rho = param("cells", 20), param("off", 0), param("share", 0.8), param("rho", 1500)
local dx = 1 / cells
local o, w = off * dx, 8 * dx
scene { method = "mixture", dimension = 2, precision = "double", dx = dx, fps = 10, frames = 10, elastic_share = share,
        gravity = function(t) return { 0, -9.81 * (t < 0.5 and 0.5 - 0.5 * math.cos(2 * math.pi * t) or 1) } end }
domain { min = {0, -1, 0}, max = {w, 2, 1}, periodic = {true, false, false} }
local sand = material.sand { density = rho, porosity = 0.4, conductivity = 0.02 }
local water = material.water { bulk_modulus = 4e6 }
local plug = box { min = {0, o + 0.5}, max = {w, o + 0.8} }
local function pool(from, to) return box { min = {0, o + from}, max = {w, o + to} } end
particles { material = sand, shape = plug, sampling = "lattice", jitter = 0 }
particles { material = water, shape = plug, within = sand, sampling = "lattice", jitter = 0 }
particles { material = water, shape = pool(0, 0.5), sampling = "lattice", jitter = 0 }
particles { material = water, shape = pool(0.8, 1), sampling = "lattice", jitter = 0 }
collider { shape = half_space { point = {0, o}, normal = {0, 1} }, contact = "slip" }
]]
for _, row in ipairs {
    { "floor at a node", {} }, { "0.3 of a cell above one", { off = 0.3 } }, { "0.3, short steps", { off = 0.3, share = 0.3 } },
    { "0.3, more cells", { off = 0.3, cells = 30 } }, { "heavy sand", { rho = 2000 } },
} do
    local run = simulate { scene = scene, set = row[2], name = row[1] }
    local species, before, after = column(run, "species", 0), column(run, "position", 5), column(run, "position", run.frames)
    local first, sum, count = column(run, "position", 0), 0, 0
    local o = (row[2].off or 0) / (row[2].cells or 20)
    for i = 1, #species do
        local _, y = first(i)
        if species(i) == 0 and y > o + 0.7 then
            local _, y0 = before(i)
            local _, y1 = after(i)
            sum, count = sum + y0 - y1, count + 1
        end
    end
    expect { what = row[1] .. ": speed of its upper third from 0.5 to 1 s", value = 1000 * sum / count / 0.5,
             want = 1000 * 0.02 * ((row[2].rho or 1500) - 600) / 1000, relative = 0.1, unit = "mm/s", source = "[A], eng. 10 %" }
end

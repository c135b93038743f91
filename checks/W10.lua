check {
    id = "V-W10",
    title = "How high wet sand stands, and how long it hangs",
    setup = "Slender columns of sand with a cohesion of 1 kPa and 30 degrees on a rough floor, and blocks that hang from a ceiling, 2D.",
    source = "[A] unconfined strength 2 c tan(45 + phi/2) over rho g: 0.235 m; in tension 2 c tan(45 - phi/2): 78.5 mm",
    cost = "full", minutes = 2,
    why = "A floor that holds a column's foot adds (w / 2) tan(45 + phi/2) to the height, a ceiling (w / 2) tan(45 - phi/2): what is wide stands higher.",
}
local scene = [[
local kind, H, cells, off = param("kind", "stand"), param("H", 0.2, "m"), param("cells", 10), param("off", 0)
local w = param("w", 0.05, "m")
local dx = w / cells
local o = off * dx
scene { method = "mixture", dimension = 2, dx = dx, fps = 20, frames = 30, elastic_share = param("share", 0.8),
        gravity = function(t) return { 0, -9.81 * math.min(1, t / 0.5) } end }
local sand = material.sand { density = 1500, friction_angle = 30, cohesion = 1224.7, young = 2e6 }
local up = kind == "hang" and -1 or 1
particles { material = sand, shape = box { min = {o, up > 0 and o or o - H}, max = {o + w, up > 0 and o + H or o} } }
collider { shape = half_space { point = {0, o}, normal = {0, up} }, contact = "sticky" }
]]

for _, row in ipairs {
    { "stand", 0.235, 0.05, 10, {} }, { "stand", 0.235, 0.05, 10, { off = 0.3 } }, { "stand", 0.235, 0.05, 10, { off = 0.3, share = 0.3 } },
    { "hang", 0.0785, 0.02, 6, {} }, { "hang", 0.0785, 0.02, 6, { share = 0.3 } },
} do
    local kind, critical = row[1], row[2]
    local least, most = kind == "stand" and 0.8 or 0.85, kind == "stand" and 1.3 or 1.15
    for _, share in ipairs { least, most } do
        local set = { kind = kind, H = share * critical, w = row[3], cells = row[4], off = row[5].off or 0, share = row[5].share or 0.8 }
        local run = simulate { scene = scene, set = set, name = string.format("%s %.4f, %g of a cell off, share %g", kind, set.H, set.off, set.share) }
        local c = measure(run, "center", { all = true })
        local fell = (c.y_m[1] - c.y_m[c.rows]) / set.H
        expect { what = string.format("%s at %g of the height, %g of a cell off a node, steps of %g: way down over the height", kind, share, set.off, set.share), value = fell,
                 band = share == least and { -0.01, 0.02 } or { 0.1, 1e9 }, source = share == least and "[A] stays" or "[A] falls" }
    end
end

check {
    id = "V-W8t",
    title = "Saturated sand consolidates as Terzaghi says",
    setup = "1 m of saturated sand on a frictionless floor gets its weight within 0.16 s; sides periodic, drained at the top. The excess of pore pressure, in "
        .. "proportion to depth at first, drains, and the sand settles, by what its volume says.",
    source = "[A] Terzaghi's series for that excess, with c_v = k/(rho g) / (1/M + n/K)",
    cost = "full", minutes = 3,
    why = "Near the end c_v hangs on the last percent of the settlement, and a floor between nodes adds as much.",
}
local scene = [[
local dim, cells, off, share = param("dim", 2), param("cells", 16), param("off", 0), param("share", 0.8)
local dx = 1 / cells
local o, w = off * dx, 8 * dx
scene { method = "mixture", dimension = dim, precision = "double", dx = dx, fps = 25, frames = 86, elastic_share = share,
        gravity = function(t) return { 0, -9.81 * (t < 0.16 and 0.5 - 0.5 * math.cos(math.pi * t / 0.16) or 1), dim == 3 and 0 or nil } end }
domain { min = {0, -1, 0}, max = {w, 2, 4 * dx}, periodic = {true, false, dim == 3} }
local sand = material.sand { density = 1500, porosity = 0.4, conductivity = 0.002, young = 1e6 }
local bed = box { min = {0, o, 0}, max = {w, o + 1, 4 * dx} }
particles { material = sand, shape = bed, sampling = "lattice", jitter = 0 }
particles { material = material.water { bulk_modulus = 4e6 }, shape = bed, within = sand, sampling = "lattice", jitter = 0 }
collider { shape = half_space { point = {0, o, 0}, normal = {0, 1, 0} }, contact = "slip" }
]]
local M, K, n, g, k = 1e6 * 0.7 / (1.3 * 0.4), 4e6, 0.4, 9.81, 0.002
local cv = k / (1000 * g) / (1 / M + n / K)
-- the share of the settlement that comes with time, where the excess was in proportion to depth; and when it is reached
local function U(T)
    local sum = 0
    for m = 0, 60 do
        local a = (2 * m + 1) * math.pi / 2
        sum = sum + 4 * (m % 2 == 0 and 1 or -1) / a ^ 3 * math.exp(-a * a * T)
    end
    return 1 - sum
end
local function T_of(u)
    local low, high = 0, 5
    for _ = 1, 60 do
        local mid = 0.5 * (low + high)
        if U(mid) < u then low = mid else high = mid end
    end
    return 0.5 * (low + high)
end
-- what comes at once, while water and grains share the weight by their stiffnesses, and all of it
local start, final = 1900 * g / (2 * (K / n + M)), 900 * g / (2 * M)
local lines = {}
for _, row in ipairs {
    { "floor at a node", { off = 0 } }, { "0.3 of a cell above one", { off = 0.3 } }, { "at a node, short steps", { share = 0.5 } }, { "3D, at a node", { dim = 3, cells = 12 } },
} do
    local run = simulate { scene = scene, set = row[2], name = row[1] }
    local v = measure(run, "volume", { species = "solid", all = true })
    local function drained(frame) return (1 - v.solid_m3[frame + 1] / v.rest_m3[frame + 1] - start) / (final - start) end
    local x, y = {}, {}
    for frame = 3, run.frames, 3 do
        x[#x + 1], y[#y + 1] = (frame / 25 - 0.08) * cv, drained(frame)
    end
    lines[#lines + 1] = { name = row[1], x = x, y = y, style = "points" }
    for _, at in ipairs { { 0.1, 0.15 }, { 0.2, 0.15 }, { 0.5, 0.05 }, { 0.8, 0.05 } } do
        local frame = math.floor(25 * (at[1] / cv + 0.08) + 0.5)
        local T = (frame / 25 - 0.08) * cv
        expect { what = string.format("%s: c_v over Terzaghi's at T = %.1f", row[1], at[1]), value = T_of(drained(frame)) / T, want = 1,
                 relative = at[2], source = string.format("[A] Terzaghi, %g %%", 100 * at[2]) }
    end
end
local x, y = {}, {}
for i = 1, 90 do
    x[i], y[i] = i / 100, U(i / 100)
end
lines[#lines + 1] = { name = "Terzaghi", x = x, y = y }
plot { title = "Consolidation", x = "T", y = "share of the settlement", series = lines }

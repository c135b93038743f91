check {
    id = "V-W1",
    title = "Water at rest",
    setup = "1 m of water, sides periodic, floor frictionless at several places between nodes, modulus 1.4 MPa, gamma 7, 2D. Weight comes on within 2 s.",
    source = "[A] p = rho g (H - X), J = (1 + p / k)^(-1 / gamma): the top settles by 3.440 mm",
    cost = "full", minutes = 1,
    why = "Nodes at a floor see water on one side only, and at the surface rows of particles find their places slowly: strain of the two rows at either end is wrong.",
}
local fit = shared "fit"
local scene = [[
local cells, off, share = param("cells", 20), param("off", 0), param("share", 0.8)
local dx = 1 / cells
local o, w = off * dx, 8 * dx
scene { method = "mixture", dimension = 2, precision = "double", dx = dx, fps = 5, frames = 20, elastic_share = share,
        gravity = function(t) return { 0, -9.81 * (t < 2 and 0.5 - 0.5 * math.cos(math.pi * t / 2) or 1) } end }
domain { min = {0, -1, 0}, max = {w, 2, 1}, periodic = {true, false, false} }
particles { material = material.water { bulk_modulus = 1.4e6 }, sampling = "lattice", jitter = 0, shape = box { min = {0, o}, max = {w, o + 1} } }
collider { shape = half_space { point = {0, o}, normal = {0, 1} }, contact = "slip" }
]]
for _, row in ipairs {
    { "floor at a node", {} }, { "0.3 of a cell above one", { off = 0.3 } }, { "0.3, short steps", { off = 0.3, share = 0.3 } }, { "0.3, half the cells", { off = 0.3, cells = 40 } },
} do
    local cells = row[2].cells or 20
    local o = (row[2].off or 0) / cells
    local run = simulate { scene = scene, set = row[2], name = row[1] }
    local s = measure(run, "stress", { along = "y" })
    local x, y = {}, {}
    for i = 1, s.rows do
        if s.place_m[i] - o > 0.2 and s.place_m[i] - o < 0.9 then
            x[#x + 1], y[#y + 1] = s.place_m[i], -s.yy_Pa[i]
        end
    end
    local at_floor, slope = fit.line(x, y)
    expect { what = row[1] .. ": pressure over depth", value = -slope, want = 9810, relative = 0.01, unit = "Pa/m", source = "[A] 1 %" }
    expect { what = row[1] .. ": pressure at the floor, from the line", value = at_floor + slope * o, want = 9810, relative = 0.01, unit = "Pa", source = "[A] 1 %" }
    local v = measure(run, "volume", {})
    expect { what = row[1] .. ": settlement that the volume stands for", value = 1000 * (1 - v.solid_m3 / v.rest_m3), want = 3.4398, relative = 0.03, unit = "mm", source = "[A] 3 %" }
    local before, after, sum, count = column(run, "position", 0), column(run, "position", run.frames), 0, 0
    for i = 1, #before do
        local _, y0 = before(i)
        local _, y1 = after(i)
        if y0 - o > 1 - 0.5 / cells then
            sum, count = sum + y0 - y1, count + 1
        end
    end
    expect { what = row[1] .. ": settlement of the top", value = 1000 * sum / count, want = 3.4398, absolute = 0.02, unit = "mm", source = "[A] 3.440" }
end

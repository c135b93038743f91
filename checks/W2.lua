check {
    id = "V-W2",
    title = "A dam of water breaks",
    setup = "A column a = 57.15 mm wide and 2a high, 16 cells in a, runs out over a smooth floor; sound at 20 sqrt(g a). The front is the 99 % quantile. 2D, two places of "
        .. "the column and two steps, and a slice of 3D.",
    source = "[X] Martin and Moyce 1952, n^2 = 2, 2.25 in",
    cost = "full", minutes = 3,
    why = "Simulations run 5 to 15 % fast: the experiment has a gate and friction.",
}
local fit = shared "fit"
local scene = [[
local dim, cells, off, share = param("dim", 2), param("cells", 16), param("off", 0), param("share", 0.8)
local a = 0.05715
local dx, o = a / cells, off * a / cells
scene { method = "mixture", dimension = dim, dx = dx, fps = 20 * math.sqrt(2 * 9.81 / a), frames = 100, elastic_share = share }
domain { min = {-1, -1, 0}, max = {2, 1, 4 * dx}, periodic = {false, false, dim == 3} }
particles { material = material.water { sound_speed = 20 * math.sqrt(9.81 * a) }, shape = box { min = {o, o, 0}, max = {o + a, o + 2 * a, 4 * dx} } }
collider { shape = half_space { point = {0, o, 0}, normal = {0, 1, 0} }, contact = "slip" }
collider { shape = half_space { point = {o, 0, 0}, normal = {1, 0, 0} }, contact = "slip" }
]]
local T = { 0.832, 1.219, 1.997, 2.547, 3.345, 4.034, 4.418 }
local Z = { 1.217, 1.474, 2.292, 2.995, 4.134, 4.944, 5.881 }
local lines = { { name = "Martin and Moyce", x = T, y = Z, style = "points" } }
for _, row in ipairs {
    { "2D", {} }, { "2D, 0.3 of a cell off the nodes", { off = 0.3 } }, { "2D, short steps", { share = 0.3 } },
    { "2D, more cells", { cells = 24 } }, { "3D", { dim = 3, cells = 12 } },
} do
    local run = simulate { scene = scene, set = row[2], name = row[1] }
    local o = (row[2].off or 0) / (row[2].cells or 16)
    local r = measure(run, "runout", { all = true, along = "x", quantile = 0.99 })
    local x, y = {}, {}
    for i = 1, r.rows do
        x[i], y[i] = (i - 1) / 20, r.high_m[i] / 0.05715 - o
    end
    lines[#lines + 1] = { name = row[1], x = x, y = y }
    -- a gate that opens slowly shifts all of it: by 0.25 at most
    local worst = 0
    for i = 1, #T do
        local z = fit.map({ T[i], T[i] - 0.25 }, function(t) return y[math.floor(20 * t + 1.5)] end)
        local off = math.max(0, z[2] - Z[i], Z[i] - z[1]) / Z[i]
        note(string.format("%s, T = %.3f: front %.3f, seen %.3f", row[1], T[i], z[1], Z[i]))
        worst = math.max(worst, math.min(off, math.abs(z[1] / Z[i] - 1)))
    end
    expect { what = row[1] .. ": front off by, or by more than a shift of 0.25 explains", value = worst, band = { 0, 0.12 }, source = "[X] 12 %" }
    expect { what = row[1] .. ": greatest speed of the front over sqrt(2 g a)", value = (y[#y] - y[#y - 20]) , band = { 0, 2 }, source = "[A] Ritter" }
    local s = measure(run, "volume", { all = true })
    local rest, most = s.rest_m3[1], 0
    for i = 1, s.rows do
        most = math.max(most, math.abs(s.solid_m3[i] / rest - 1))
    end
    expect { what = row[1] .. ": volume off by", value = 100 * most, band = { 0, 1 }, unit = "%", source = "[S] V-W15, 1 %" }
end
plot { title = "Front", x = "t sqrt(2 g / a)", y = "x / a", series = lines }

check {
    id = "V-G1e",
    title = "Run-out of 3D cylinders",
    setup = "Quarter cylinders of aspect ratio 0.6, 1.2, 2.5 and 5 and of radius 0.1 m on a rough floor, friction tan 30 degrees, at least 16 cells in radius and height, c dt / h = 0.3; "
        .. "run-out from the 99.5 % quantile after six times sqrt(h/g), twice what they take to stop.",
    source = "[X][M hi] Lube 2004: (r - r_i)/r_i = 1.24 a below 1.7, 1.6 a^(1/2) above; at rest after 3 sqrt(h/g)",
    cost = "full", minutes = 5,
    why = "All run-outs lie within their bands; tall columns grow too fast with a: 11 % short of the law at 2.5, 12 % beyond it at 5. With the longest stable steps it is the same (0.81), so is it for "
        .. "other quantiles (0.81 from that of 97 %). The likely cause is that friction here does not rise with the rate of shear as that of grains does: the taller a column the faster it flows, and other codes with constant friction "
        .. "overshoot for tall columns, too. At rest such a heap is three cells thick on average, so the grid has a share in it. Lajeunesse 2005 has the bend at a = 3; with it the law gives 0.63 between 2.5 and 5. "
        .. "Low columns depend on cells in the height: with 16 in the radius at a = 0.6 and at 1.2 their exponent is 1.16.",
}
local fit = shared "fit"
local scene = [[
local a, r, cells, times = param("a", 1.2), 0.1, param("cells", 16), 6
local E, nu, rho = 3.537e5, 0.3, 1500
local c = math.sqrt(E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)) / rho)
scene { dx = r / cells, fps = 1 / math.sqrt(a * r / 9.81), frames = times, dt_max = 0.3 * r / cells / c }
local quarter = intersect(cylinder { base = {0, 0, 0}, radius = r, height = a * r }, box { min = {0, 0, 0}, max = {r, a * r, r} })
particles { material = material.sand { density = rho, young = E, poisson = nu, friction_coefficient = math.tan(math.rad(30)) }, shape = quarter }
collider { shape = half_space { point = {0, 0, 0}, normal = {1, 0, 0} }, contact = "slip" }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 0, 1} }, contact = "slip" }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "sticky" }
]]
local list, out, law = { 0.6, 1.2, 2.5, 5 }, {}, {}
for i, a in ipairs(list) do
    local run = simulate { scene = scene, set = { a = a, cells = math.ceil(16 / math.min(1, a)) }, name = "a = " .. a }
    local r = measure(run, "runout", { along = "r", all = true })
    out[i] = r.high_m[r.rows] / 0.1 - 1
    note(string.format("a = %.1f: %.3f at t = 4, %.3f at 5, %.3f at 6; the law says %.3f.", a, r.high_m[5] / 0.1 - 1, r.high_m[6] / 0.1 - 1, out[i], a < 1.7 and 1.24 * a or 1.6 * a ^ 0.5))
    law[i] = a < 1.7 and 1.24 * a or 1.6 * a ^ 0.5
    expect { what = "run-out / r_i, a = " .. a, value = out[i], band = { 0.6 * law[i], 1.25 * law[i] }, want = law[i], source = "[X] -40 to +25 % (eng.)" }
end
expect { what = "exponent between a = 2.5 and 5", value = math.log(out[4] / out[3]) / math.log(2), want = 0.5, absolute = 0.12, source = "[X] 1/2, +-0.12 (eng.)" }
expect { what = "exponent between a = 0.6 and 1.2", value = math.log(out[2] / out[1]) / math.log(2), want = 1, absolute = 0.12, source = "[X] 1, +-0.12 (eng.)" }
plot { title = "Run-out", x = "a", y = "(r - r_i) / r_i", log_x = true, log_y = true,
       series = { { name = "measured", x = list, y = out, style = "points" }, { name = "Lube 2004", x = list, y = law } } }

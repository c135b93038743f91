check {
    id = "V-G4c",
    title = "Beverloo's exponent in 3D",
    setup = "A quarter of a box with sand (friction 0.4) and a square hole of 9 to 19 cells in its floor, its rim halfway between nodes. The box is three times as wide as the hole, at least 36 cells, the sand 2.4 times as "
        .. "deep, at least 24 cells. Rates are those while the volume that has left grows from D^3 to 2 D^3: the same moment of the flow for all holes. Holes are square because the grid sees a "
        .. "round one as a stair: those of 11.75 and 12 cells have the same nodes and let the same through.",
    source = "[X][M hi] Beverloo: W = C rho sqrt(g) (D - k)^(5/2), for square holes with their side as the (hydraulic) diameter; Daviet 2016: k about two cells",
    cost = "full", minutes = 4.5,
}
local silo, fit, beverloo = shared "silo", shared "fit", shared "beverloo"
local h = 0.05 / 36
local scene = [[
local h, cells, half, deep = 0.05 / 36, param("cells", 12), param("half", 18), param("deep", 24)
local side = half * h
scene { dx = h, fps = 200, frames = param("frames", 60) }
particles { material = material.sand { density = 1500, young = 1e5, friction_coefficient = 0.4 },
            prestress = "k0", shape = box { min = {0, 0, 0}, max = {side, deep * h, side} } }
local plate = box { min = {-0.01, -3 * h, -0.01}, max = {side + 0.01, 0, side + 0.01} }
local hole = box { min = {-0.02, -0.01, -0.02}, max = {cells * h / 2, 0.01, cells * h / 2} }
collider { shape = subtract(plate, hole), contact = "sticky" }
for i = 0, 1 do
    collider { shape = half_space { point = {side * i, 0, 0}, normal = {1 - 2 * i, 0, 0} }, contact = "slip" }
    collider { shape = half_space { point = {0, 0, side * i}, normal = {0, 0, 1 - 2 * i} }, contact = "slip" }
end
sink { shape = half_space { point = {0, -6 * h, 0}, normal = {0, 1, 0} } }
]]
local D, Q = {}, {}
for i, cells in ipairs { 9, 11, 13, 15, 17, 19 } do
    D[i] = cells * h
    local half, deep = math.max(18, math.ceil(1.5 * cells)), math.max(24, math.ceil(2.4 * cells))
    local run = simulate { scene = scene, set = { cells = cells, half = half, deep = deep, frames = cells > 9 and 46 or 56 }, name = cells .. " cells" }
    local volume = 4 * half ^ 2 * deep * h ^ 3
    Q[i] = silo.rate(measure(run, "discharge", { all = true }), D[i] ^ 3 / volume, 2 * D[i] ^ 3 / volume, volume)
end
note("Q / (sqrt(g) D^(5/2)): " .. table.concat(fit.map(Q, function(q, i) return string.format("%.4f", q / math.sqrt(9.81) / D[i] ^ 2.5) end), ", ") .. ".")
local C, k, rest = beverloo(D, Q, 2.5)
expect { what = "residual of the fit", value = 100 * rest, band = { 0, 3 }, unit = "%", source = "eng. at most 3 %" }
expect { what = "k / h", value = k / h, band = { 1, 4.5 }, source = "eng. 1 to 4.5 (lab: 1.4 grains)" }
for _, n in ipairs { 2.1, 2.9 } do
    local _, _, other = beverloo(D, Q, n)
    expect { what = "residual with exponent " .. n .. " over that with 2.5", value = other / rest, band = { 2, math.huge }, source = "eng. at least twice as bad" }
end
note(string.format("C = %.3f, for a round hole by its area %.3f (Beverloo 0.58, for which no band is given).", C / math.sqrt(9.81), math.pi / 4 * C / math.sqrt(9.81)))
plot { title = "Rate over hole", x = "D [m]", y = "m^3/s", log_x = true, log_y = true, series = { { name = "measured", x = D, y = Q, style = "points" },
       { name = "fit", x = D, y = fit.map(D, function(v) return C * (v - k) ^ 2.5 end) } } }

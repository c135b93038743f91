check {
    id = "V-G4c",
    title = "Beverloo's exponent in 3D",
    setup = "A quarter of a box of 36 x 36 cells with sand (friction 0.4) 2.4 times as deep as the hole is wide, at least 24 cells, and a round hole of 8 to 20 cells in its floor. "
        .. "Rates are those while the volume that has left grows from D^3 to 2 D^3: the same moment of the flow for all holes.",
    source = "[X][M hi] Beverloo: W = C rho sqrt(g) (D - k)^(5/2); Daviet 2016's silo: 50 x 50 mm",
    cost = "full", minutes = 6,
}
local silo, fit, beverloo = shared "silo", shared "fit", shared "beverloo"
local h = 0.05 / 36
local scene = [[
local h, cells, deep = 0.05 / 36, param("cells", 12), param("deep", 24)
scene { dx = h, fps = 200, frames = param("frames", 60) }
particles { material = material.sand { density = 1500, young = 1e5, friction_coefficient = 0.4 },
            prestress = "k0", shape = box { min = {0, 0, 0}, max = {18 * h, deep * h, 18 * h} } }
local plate = box { min = {-0.01, -3 * h, -0.01}, max = {0.035, 0, 0.035} }
collider { shape = subtract(plate, cylinder { base = {0, -0.01, 0}, radius = cells * h / 2, height = 0.02 }), contact = "sticky" }
for i = 0, 1 do
    collider { shape = half_space { point = {0.025 * i, 0, 0}, normal = {1 - 2 * i, 0, 0} }, contact = "slip" }
    collider { shape = half_space { point = {0, 0, 0.025 * i}, normal = {0, 0, 1 - 2 * i} }, contact = "slip" }
end
sink { shape = half_space { point = {0, -6 * h, 0}, normal = {0, 1, 0} } }
]]
local D, Q = {}, {}
for i, cells in ipairs { 8, 10, 12, 16, 20 } do
    D[i] = cells * h
    local deep = math.max(24, math.floor(2.4 * cells + 0.5))
    local run = simulate { scene = scene, set = { cells = cells, deep = deep, frames = cells > 10 and 60 or 75 }, name = cells .. " cells" }
    local volume = 36 * 36 * deep * h ^ 3
    Q[i] = silo.rate(measure(run, "discharge", { all = true }), D[i] ^ 3 / volume, 2 * D[i] ^ 3 / volume, volume)
end
local C, k, rest = beverloo(D, Q, 2.5)
expect { what = "residual of the fit", value = 100 * rest, band = { 0, 3 }, unit = "%", source = "eng. at most 3 %" }
expect { what = "k / h", value = k / h, band = { 1, 4.5 }, source = "eng. 1 to 4.5 (lab: 1.4 grains)" }
for _, n in ipairs { 2.1, 2.9 } do
    local _, _, other = beverloo(D, Q, n)
    expect { what = "residual with exponent " .. n .. " over that with 2.5", value = other / rest, band = { 2, math.huge }, source = "eng. at least twice as bad" }
end
note(string.format("C = %.3f (Beverloo 0.58).", C / math.sqrt(9.81)))
plot { title = "Rate over hole", x = "D [m]", y = "m^3/s", log_x = true, log_y = true, series = { { name = "measured", x = D, y = Q, style = "points" },
       { name = "fit", x = D, y = fit.map(D, function(v) return C * (v - k) ^ 2.5 end) } } }

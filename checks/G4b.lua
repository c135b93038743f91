check {
    id = "V-G4b",
    title = "Beverloo's law in 2D",
    setup = "The silo of V-G4a with slots of 8, 12, 16, 20, 24 and 32 cells. Q = C sqrt(g) (D - k)^(3/2). "
        .. "Rates are those while the area that has left grows from D^2 to 2 D^2: the same moment of the flow for all slots.",
    source = "[R] reference code C = 1.37, k = 3.6 h; Daviet k about 2 cells; [P] Basilisk mu(I) 1.50; Staron 2012 about 1.4",
    cost = "full", minutes = 0.5,
}
local silo, fit, beverloo = shared "silo", shared "fit", shared "beverloo"
local h = 0.0125
local D, Q = {}, {}
for i, cells in ipairs { 8, 12, 16, 20, 24, 32 } do
    D[i] = cells * h
    local run = simulate { scene = silo.scene, set = { D = D[i], frames = 50 }, name = cells .. " cells" }
    Q[i] = silo.rate(measure(run, "discharge", { all = true }), D[i] ^ 2, 2 * D[i] ^ 2, 1)
end
local C, k, rest = beverloo(D, Q, 1.5)
expect { what = "residual of the fit", value = 100 * rest, band = { 0, 3 }, unit = "%", source = "[R] at most 3 %" }
expect { what = "k / h", value = k / h, band = { 1, 4.5 }, source = "[R] 1 to 4.5 (3.6)" }
expect { what = "C", value = C / math.sqrt(9.81), band = { 1.1, 1.6 }, source = "[R] 1.1 to 1.6 (1.37)" }
for _, n in ipairs { 1.1, 1.9 } do
    local _, _, other = beverloo(D, Q, n)
    expect { what = "residual with exponent " .. n .. " over that with 1.5", value = other / rest, band = { 2, math.huge }, source = "eng. at least twice as bad" }
end
note("Q / (sqrt(g) D^(3/2)): " .. table.concat(fit.map(Q, function(q, i) return string.format("%.3f", q / math.sqrt(9.81) / D[i] ^ 1.5) end), ", ")
    .. " (reference for 12, 16, 24, 32 cells: 0.81, 0.94, 1.10, 1.15).")
local x, y = {}, {}
for i = 1, 40 do
    x[i] = k + i * (0.42 - k) / 40
    y[i] = C * (x[i] - k) ^ 1.5
end
plot { title = "Rate over slot", x = "D [m]", y = "m^2/s", series = { { name = "measured", x = D, y = Q, style = "points" }, { name = "fit", x = x, y = y } } }

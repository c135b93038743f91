check {
    id = "V-C9",
    title = "The explicit limit on the step",
    setup = "The bar of V-C1 with c dt / h = 0.3, 0.5, 0.6, 1.0 and 1.5, five periods; the solver's own limit is switched off.",
    source = "eng. stable up to 0.5; by 1.5 the energy grows by more than 10 % a period",
    cost = "quick", minutes = 0.2,
}
local bar = shared "bar"
local growth = {}
for _, courant in ipairs { 0.3, 0.5, 0.6, 1.0, 1.5 } do
    local run = simulate { scene = bar.scene, set = { courant = courant, per_period = 40 }, name = "c dt / h = " .. courant, may_fail = true }
    local e = measure(run, "energy", { all = true })
    local most = 0
    for i = 1, e.rows do
        most = math.max(most, (e.kinetic_J[i] + e.elastic_J[i]) / e.kinetic_J[1])
    end
    growth[courant] = run.failure and math.huge or most
    note(string.format("c dt / h = %.1f: energy at most %.4g of that at the start%s.", courant, most, run.failure and ", then the run ended" or ""))
end
expect { what = "largest energy over that at the start, 0.3", value = growth[0.3], band = { 0, 1.02 }, source = "eng. bounded (the swing of V-C2 allowed)" }
expect { what = "the same, 0.5", value = growth[0.5], band = { 0, 1.02 }, source = "eng. bounded" }
expect { what = "the same after five periods, 1.5", value = growth[1.5], band = { 1.1 ^ 5, math.huge }, source = "eng. growth above 10 % a period" }

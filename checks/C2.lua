check {
    id = "V-C2",
    title = "Energy of a vibrating bar",
    setup = "The bar of V-C1 with 50 cells. Energy is kinetic plus elastic, the rotation that APIC carries left out.",
    source = "[R] a reference code with the same transfers",
    cost = "quick", minutes = 0.1,
}
local bar, fit = shared "bar", shared "fit"
local per = 40
local function energy(transfer)
    local run = simulate { scene = bar.scene, set = { transfer = transfer, per_period = per }, name = transfer }
    local e = measure(run, "energy", { all = true })
    local out = { t = {}, e = {} }
    for i = 1, e.rows do
        out.t[i], out.e[i] = (i - 1) / per, (e.kinetic_J[i] + e.elastic_J[i]) / e.kinetic_J[1]
    end
    -- once per period, in the mean over the five
    out.loss = (out.e[1 + 5 * per] / out.e[1]) ^ 0.2 - 1
    return out
end
local apic, pic, flip = energy "apic", energy "pic", energy "flip"
expect { what = "APIC, change per period", value = 100 * apic.loss, band = { -0.5, 0 }, unit = "%", source = "[R] -0.17 %, accept 0 to -0.5 %" }
-- within a period, about the straight line from period to period
local swing = 0
for i = 1, 5 * per do
    local k = (i - 1) // per
    local a, b = apic.e[1 + k * per], apic.e[1 + (k + 1) * per]
    swing = math.max(swing, math.abs(apic.e[i] - a - (b - a) * ((i - 1) / per - k)))
end
expect { what = "APIC, swing inside a period", value = 100 * swing, band = { 0, 0.5 }, unit = "%", source = "[R] 0.3 %, envelope 0.5 %" }
expect { what = "PIC, change per period", value = 100 * pic.loss, want = -22, absolute = 4, unit = "%",
         source = "[R] -22 %; +-4 eng." }
expect { what = "FLIP 0.95 lies between PIC and no loss", value = 100 * flip.loss, band = { 100 * pic.loss, 0 }, unit = "%", source = "[R] in between" }
plot { title = "Kinetic and elastic energy over that at the start", x = "t / T", y = "",
       series = { { name = "APIC", x = apic.t, y = apic.e }, { name = "FLIP 0.95", x = flip.t, y = flip.e }, { name = "PIC", x = pic.t, y = pic.e } } }

check {
    id = "V-G4a",
    title = "A 2D silo empties at a constant rate",
    setup = "1 x 1 m, slot of 0.2 m = 16 cells, friction 0.5, E 1 MPa, rough floor, smooth walls, 25 600 particles. And other frictions, and none.",
    source = "[R] reference code; Daviet and Bertails-Descoubes 2016, section 7.2; [A] a frictionless silo is a clepsydra",
    cost = "quick", minutes = 0.6,
}
local silo, fit = shared "silo", shared "fit"
local unit = math.sqrt(9.81) * 0.2 ^ 1.5
local run = simulate { scene = silo.scene, set = { frames = 80 }, name = "friction 0.5" }
local d = measure(run, "discharge", { all = true })
local early, late = silo.rate(d, 0.10, 0.175, 1), silo.rate(d, 0.175, 0.25, 1)
expect { what = "change of the rate between 10 and 25 % discharged", value = 100 * math.abs(late / early - 1), band = { 0, 5 }, unit = "%", source = "[R] at most 5 %" }
expect { what = "Q / (sqrt(g) D^(3/2))", value = silo.rate(d, 0.10, 0.25, 1) / unit, band = { 0.85, 1.0 }, source = "[R] 0.90 to 0.95; -+0.05 eng." }
local rates = { [0.5] = silo.rate(d, 0.05, 0.2, 1) / unit }
for _, mu in ipairs { 0.3, 0.4, 0.6 } do
    local r = simulate { scene = silo.scene, set = { mu = mu, frames = 60 }, name = "friction " .. mu }
    rates[mu] = silo.rate(measure(r, "discharge", { all = true }), 0.05, 0.2, 1) / unit
end
for _, pair in ipairs { { 0.3, 0.4 }, { 0.4, 0.5 }, { 0.5, 0.6 } } do
    expect { what = string.format("rate at friction %.1f less that at %.1f", pair[1], pair[2]), value = rates[pair[1]] - rates[pair[2]], band = { 0, math.huge },
             source = "[S] Daviet 2016, Fig. 12: falls with friction" }
end
local water = simulate { scene = silo.scene, set = { mu = 0, floor = "slip", frames = 60 }, name = "no friction" }
local w = measure(water, "discharge", { all = true })
expect { what = "no friction: Q(39 %) / Q(15 %)", value = silo.rate(w, 0.36, 0.42, 1) / silo.rate(w, 0.12, 0.18, 1), want = 0.85, relative = 0.04,
         source = "[A] Torricelli, sqrt(0.61/0.85) = 0.847; [R] 0.846; 4 %" }
plot { title = "Discharge", x = "t [s]", y = "share that has gone",
       series = { { name = "friction 0.5", x = d.time_s, y = d.gone }, { name = "no friction", x = w.time_s, y = w.gone } } }
plot { title = "Rate over friction", x = "friction", y = "Q / (sqrt(g) D^(3/2))",
       series = { { name = "measured", x = { 0.3, 0.4, 0.5, 0.6 }, y = { rates[0.3], rates[0.4], rates[0.5], rates[0.6] } } } }

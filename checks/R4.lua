check {
    id = "V-R4",
    title = "Bodies lie still on and in sand of methods nonsmooth and sph, too",
    setup = "The disc of V-R2, 0.02 to 10 times as dense as sand, by the methods whose loops lead bodies.",
    source = "eng.: as V-R2, but for how far one sinks that lies on a bed, which settles without elasticity",
    cost = "full", minutes = 2,
    why = "In method sph a disc of a fiftieth of the density, buried, rises by 0.2 cells within 5 s, at less than 1 mm/s.",
}
local lies = shared "rest"
for _, method in ipairs { "nonsmooth", "sph" } do
    for _, ratio in ipairs { 0.1, 1, 10 } do
        lies(ratio, "on", { method = method })
    end
    lies(0.02, "in", { method = method })
end

check {
    id = "V-T5",
    title = "A block that turns keeps its energy",
    setup = "An elastic block of 8 x 8 cells, E = 10 MPa, turns freely at 2 rad/s for 20 s; there is no gravity, and what \"steady\" keeps fades in 0.1 s. "
        .. "Then 5 s at 6 rad/s, with short steps, and with T = 0.02 and 0.5 s.",
    source = "[A] energy is conserved",
    cost = "quick", minutes = 0.5,
}
local scene = [[
local transfer, fade, spin = param("transfer", "steady"), param("fade", 0.1, "s"), param("spin", 2, "rad/s")
scene {
    dimension = 2, precision = "double", dx = 0.125, fps = 1, frames = param("frames", 20), gravity = {0, 0},
    elastic_share = param("share", 0.8),
    transfer = transfer == "flip" and { flip = 0.95 } or transfer == "steady" and { steady = fade } or transfer,
}
particles { material = material.elastic { density = 1000, young = 1e7 }, sampling = "lattice", jitter = 0,
            shape = box { min = {-0.5, -0.5}, max = {0.5, 0.5} }, velocity = function(x, y) return -spin * y, spin * x end }
]]
local function loss(set, name)
    local e = measure(simulate { scene = scene, set = set, name = name }, "energy", { all = true })
    local n = e.rows
    return 1 - (e.kinetic_J[n] + e.elastic_J[n]) / (e.kinetic_J[1] + e.elastic_J[1])
end
for _, transfer in ipairs { "apic", "flip", "steady" } do
    local lost = loss({ transfer = transfer }, transfer)
    note(string.format("%s: loses %.2g of its energy in 20 s.", transfer, lost))
    if transfer == "steady" then
        expect { what = "loss in 20 s", value = lost, band = { -1e-3, 1e-3 }, source = "[A] 0; 1e-3" }
    end
end
for name, set in pairs {
    ["at 6 rad/s"] = { spin = 6 }, ["with steps of 0.2"] = { share = 0.2 }, ["T = 0.02 s"] = { fade = 0.02 }, ["T = 0.5 s"] = { fade = 0.5 },
} do
    set.frames = 5
    expect { what = "loss in 5 s, " .. name, value = loss(set, name), band = { -1e-3, 1e-3 }, source = "[A] 0; 1e-3" }
end

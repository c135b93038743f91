check {
    id = "V-T3",
    title = "A silo empties as fast with short steps",
    setup = "The silo of V-G4a with half as many cells (a slot of 8): share that has gone after 0.9 s, with steps of 0.8, 0.4 and 0.2 of the longest stable one, and with 10 times stiffer sand.",
    source = "[A] a limit of small steps exists",
    cost = "full", minutes = 1.5,
}
local transfers = shared "transfers"
local scene = transfers.said .. [[
local D, h = 0.2, 0.025
scene { dimension = 2, dx = h, fps = 10, frames = 9, transfer = transfer, elastic_share = param("share", 0.8) }
particles { material = material.sand { density = 1500, young = param("young", 1e6), friction_coefficient = 0.5 },
            prestress = "k0", shape = box { min = {-0.5, 0}, max = {0.5, 1} } }
for _, side in ipairs { -1, 1 } do
    local a, b = side * D / 2, side * 0.7
    collider { shape = box { min = {math.min(a, b), -0.1}, max = {math.max(a, b), 0} }, contact = "sticky" }
    collider { shape = half_space { point = {0.5 * side, 0}, normal = {-side, 0} }, contact = "slip" }
end
sink { shape = half_space { point = {0, -0.15}, normal = {0, 1} } }
]]
for _, transfer in ipairs(transfers.names) do
    local rows = {}
    for k, set in ipairs { { share = 0.8 }, { share = 0.4 }, { share = 0.2 }, { young = 1e7 } } do
        set.transfer = transfer
        rows[k] = 100 * measure(simulate { scene = scene, set = set, name = transfer .. " " .. k }, "discharge", {}).gone
    end
    note(string.format("%s: %s %% gone after 0.9 s with steps of 0.8, 0.4, 0.2, and with 10 times stiffer sand.", transfer, transfers.list(rows, "%.2f")))
    if transfer == "steady" then
        expect { what = "spread over steps and stiffness", value = transfers.spread(rows), band = { 0, 4 }, unit = "%", source = "[A] none; 4 % for grains" }
    end
end

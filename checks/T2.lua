check {
    id = "V-T2",
    title = "Run-out does not depend on the step",
    setup = "The column of V-G1c, a = 1.42, friction 0.48: steps of 0.8, 0.4 and 0.2 of the longest stable one, and 10 times stiffer sand; and a = 3 with friction 0.55. x_99.5 after 6 sqrt(H0/g).",
    source = "[A] a limit of small steps exists",
    cost = "full", minutes = 1.5,
}
local transfers = shared "transfers"
local scene = transfers.said .. [[
local H0 = 0.324
scene {
    dimension = 2, dx = H0 / param("cells", 28), transfer = transfer, elastic_share = param("share", 0.8),
    fps = 1 / math.sqrt(H0 / 9.81), frames = 6,
}
particles { material = material.sand { density = 1500, friction_coefficient = param("mu", 0.48), young = param("young", 3.537e5) },
            sampling = "lattice", jitter = 0, shape = box { min = {0, 0}, max = {H0 / param("a", 1.42), H0} } }
collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "sticky" }
]]
local function runout(set, name)
    return measure(simulate { scene = scene, set = set, name = name }, "runout", { quantile = 0.995 }).high_m / 0.324
end
local cases = { { a = 1.42, mu = 0.48 }, { a = 3, mu = 0.55 } }
for _, transfer in ipairs(transfers.names) do
    for i, case in ipairs(cases) do
        local rows = {}
        for k, set in ipairs { { share = 0.8 }, { share = 0.4 }, { share = 0.2 }, { young = 3.537e6 } } do
            set.transfer, set.a, set.mu = transfer, case.a, case.mu
            rows[k] = runout(set, string.format("%s, a = %g, %d", transfer, case.a, k))
        end
        note(string.format("%s, a = %g: x_99.5 / H0 = %s with steps of 0.8, 0.4, 0.2, and with 10 times stiffer sand.", transfer, case.a,
                           transfers.list(rows, "%.3f")))
        if transfer == "steady" then
            expect { what = string.format("spread of x_99.5 over steps and stiffness, a = %g", case.a), value = transfers.spread(rows), band = { 0, 4 }, unit = "%",
                     source = "[A] none; 4 % for grains that end elsewhere" }
            if i == 1 then
                expect { what = "x_99.5 / H0", value = rows[1], want = 2.365, absolute = 0.12, source = "[R] sand6 2.365, explicit reference 2.324" }
            end
        end
    end
end

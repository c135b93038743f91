check {
    id = "V-T1",
    title = "An endless slope flows as fast with short steps",
    setup = "The layer of V-G2 at 30 degrees, friction 0.5, 16 cells deep: steps of 0.8, 0.4 and 0.2 of the longest stable one, and 10 times stiffer sand. "
        .. "Then other depths, slopes and floors. Acceleration of the mean velocity from 1 to 3 s, over the exact one.",
    source = "[A] g (sin a - mu cos a), where volume is constant and stress coaxial",
    cost = "full", minutes = 1.5,
    why = "What is missing is the wall's: with the floor half a cell off its nodes, or with finer cells, more of it is there.",
}
local transfers, fit = shared "transfers", shared "fit"
local scene = transfers.said .. [[
local angle, cells = math.rad(param("angle", 30, "degrees")), param("cells", 16)
local h = 0.1 / cells
scene {
    dimension = 2, dx = h, fps = 20, frames = 60, transfer = transfer, elastic_share = param("share", 0.8),
    gravity = {9.81 * math.sin(angle), -9.81 * math.cos(angle)},
}
domain { min = {0, 0}, max = {8 * h, 1}, periodic = {true, false} }
particles { material = material.sand { density = 1500, friction_coefficient = param("mu", 0.5), young = param("young", 3.537e5) },
            sampling = "lattice", jitter = 0, shape = box { min = {0, 0}, max = {8 * h, 0.1} } }
collider { shape = half_space { point = {0, param("floor", 0) * h}, normal = {0, 1} }, contact = "sticky" }
]]
local function share(set, name)
    local c = measure(simulate { scene = scene, set = set, name = name }, "center", { all = true })
    local t, v = {}, {}
    for k = 1, c.rows do
        if c.time_s[k] >= 1 then
            t[#t + 1], v[#v + 1] = c.time_s[k], c.vx_m_s[k]
        end
    end
    local _, a = fit.line(t, v)
    local angle = math.rad(set.angle or 30)
    return 100 * a / (9.81 * (math.sin(angle) - (set.mu or 0.5) * math.cos(angle)))
end
for _, transfer in ipairs(transfers.names) do
    local rows, names = {}, { "steps of 0.8", "steps of 0.4", "steps of 0.2", "10 times stiffer" }
    for i, set in ipairs { { share = 0.8 }, { share = 0.4 }, { share = 0.2 }, { young = 3.537e6 } } do
        set.transfer = transfer
        rows[i] = share(set, transfer .. ", " .. names[i])
        if transfer == "steady" then
            expect { what = "acceleration over the exact one, " .. names[i], value = rows[i], band = { 90, 105 }, unit = "%",
                     source = "[A] 100 %; 90 % until walls are sharper than cells" }
        end
    end
    note(string.format("%s: %s %% of the exact acceleration with steps of 0.8, 0.4, 0.2, and with 10 times stiffer sand.", transfer,
                       transfers.list(rows, "%.1f")))
end
for name, set in pairs {
    ["24 cells deep"] = { cells = 24 }, ["the floor 0.3 cells higher"] = { floor = 0.3 }, ["35 degrees, friction 0.6"] = { angle = 35, mu = 0.6 },
} do
    expect { what = "acceleration over the exact one, " .. name, value = share(set, name), band = { 90, 105 }, unit = "%",
             source = "[A] 100 %; 90 % until walls are sharper than cells" }
end

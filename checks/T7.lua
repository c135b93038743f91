check {
    id = "V-T7",
    title = "Both transfers with both laws of flow",
    setup = "The slope of V-T1 (friction 0.5, 30 degrees, 16 cells deep), the column of V-T2, the silo of V-T3, the turned columns of V-T4 and layers at 24 degrees after 0.3 s at 30 degrees: "
        .. "`transfer` \"apic\" and \"steady\", each with `flow` \"paper\" and \"resting\".",
    source = "[A] a limit of small steps exists; at rest below atan 0.5 = 26.57 degrees",
    cost = "full", minutes = 4,
    why = "A turned floor is stairs of nodes that stick. Layers of 64 cells creep: stress along them falls to 0.85 to 0.9 of that across, and there sand yields at 24 degrees.",
}
local transfers, fit = shared "transfers", shared "fit"
local sand = [[
local sand = material.sand { density = 1500, friction_coefficient = param("mu", 0.5), young = param("young", 3.537e5), flow = param("flow", "paper") }
]]
local slope = sand .. [[
local angle, kick, cells = param("angle", 30, "degrees"), param("kick", 0, "s at 30 degrees"), param("cells", 16)
local h = 0.1 / cells
scene {
    dimension = 2, dx = h, fps = 20, frames = param("frames", 60), transfer = param("transfer", "apic"), elastic_share = param("share", 0.8),
    gravity = function(t)
        local a = math.rad(t < kick and 30 or angle)
        return 9.81 * math.sin(a), -9.81 * math.cos(a)
    end,
}
domain { min = {0, 0}, max = {8 * h, 1}, periodic = {true, false} }
particles { material = sand, sampling = "lattice", jitter = 0, shape = box { min = {0, 0}, max = {8 * h, 0.1} } }
collider { shape = half_space { point = {0, param("floor", 0) * h}, normal = {0, 1} }, contact = "sticky" }
]]
local column_scene = sand .. [[
local H0, turn = 0.324, math.rad(param("turn", 0, "degrees"))
local c, s = math.cos(turn), math.sin(turn)
scene {
    dimension = 2, dx = H0 / 28, transfer = param("transfer", "apic"), elastic_share = param("share", 0.8),
    fps = 1 / math.sqrt(H0 / 9.81), frames = param("frames", 6), gravity = {9.81 * s, -9.81 * c},
}
local settled = turn == 0 -- as V-T2 has it; the others as V-T4
particles { material = sand, sampling = settled and "lattice" or nil, jitter = settled and 0 or nil,
            shape = move(box { min = {0, 0}, max = {H0 / 1.42, H0} }, { rotation = { angle = math.deg(turn) } }) }
collider { shape = half_space { point = {0, 0}, normal = {c, s} }, contact = "slip" }
collider { shape = half_space { point = {0, 0}, normal = {-s, c} }, contact = "sticky" }
]]
local silo = sand .. [[
local D = 0.2
scene { dimension = 2, dx = 0.025, fps = 10, frames = 9, transfer = param("transfer", "apic"), elastic_share = param("share", 0.8) }
particles { material = sand, prestress = "k0", shape = box { min = {-0.5, 0}, max = {0.5, 1} } }
for _, side in ipairs { -1, 1 } do
    local a, b = side * D / 2, side * 0.7
    collider { shape = box { min = {math.min(a, b), -0.1}, max = {math.max(a, b), 0} }, contact = "sticky" }
    collider { shape = half_space { point = {0.5 * side, 0}, normal = {-side, 0} }, contact = "slip" }
end
sink { shape = half_space { point = {0, -0.15}, normal = {0, 1} } }
]]
local function center(set, name)
    return measure(simulate { scene = slope, set = set, name = name }, "center", { all = true })
end
local function share_of_exact(set, name)
    local c, t, v = center(set, name), {}, {}
    for k = 1, c.rows do
        if c.time_s[k] >= 1 then
            t[#t + 1], v[#v + 1] = c.time_s[k], c.vx_m_s[k]
        end
    end
    local _, a = fit.line(t, v)
    return 100 * a / (9.81 * (math.sin(math.rad(30)) - 0.5 * math.cos(math.rad(30))))
end
local function fastest(set, name)
    local c, most = center(set, name), 0
    for k = 1, c.rows do
        if c.time_s[k] >= 3 then
            most = math.max(most, 1000 * math.abs(c.vx_m_s[k]))
        end
    end
    return most
end
local function runout(set, name)
    local run = simulate { scene = column_scene, set = set, name = name }
    local x, along = column(run, "position", run.frames), {}
    local c, s = math.cos(math.rad(set.turn or 0)), math.sin(math.rad(set.turn or 0))
    for i = 1, #x do
        local a, b = x(i)
        along[i] = c * a + s * b
    end
    table.sort(along)
    return along[math.ceil(0.995 * #along)] / 0.324
end
local steps = { { share = 0.8 }, { share = 0.4 }, { share = 0.2 }, { young = 10 } }
local function rows_of(measured, young, base, name)
    local rows = {}
    for i, step in ipairs(steps) do
        local set = { share = step.share, young = young * (step.young or 1) }
        for k, v in pairs(base) do
            set[k] = v
        end
        rows[i] = measured(set, name .. ", " .. i)
    end
    return rows
end
for _, transfer in ipairs { "apic", "steady" } do
    for _, flow in ipairs { "paper", "resting" } do
        local name, asked = transfer .. ", " .. flow, transfer == "steady" and flow == "resting"
        local function base(more)
            more.transfer, more.flow = transfer, flow
            return more
        end
        local rows = rows_of(share_of_exact, 3.537e5, base {}, name .. ", slope")
        local high = share_of_exact(base { floor = 0.3 }, name .. ", floor 0.3 cells higher")
        note(string.format("%s: slope %s %% of exact with steps of 0.8, 0.4, 0.2, 10 times stiffer; %.1f %% with the floor 0.3 cells higher.", name, transfers.list(rows, "%.1f"), high))
        for i = 1, asked and 4 or 0 do
            expect { what = "acceleration over the exact one, steady and resting, case " .. i, value = rows[i], band = { 90, 105 }, unit = "%",
                     source = "[A] 100 %; 90 % until walls are sharper than cells" }
        end
        rows = rows_of(runout, 3.537e5, base { mu = 0.48 }, name .. ", column")
        note(string.format("%s: x_99.5 / H0 = %s likewise.", name, transfers.list(rows, "%.3f")))
        if asked then
            expect { what = "spread of x_99.5, steady and resting", value = transfers.spread(rows), band = { 0, 4 }, unit = "%", source = "[A] none; 4 % for grains that end elsewhere" }
        end
        rows = rows_of(function(set, run_name)
            return 100 * measure(simulate { scene = silo, set = set, name = run_name }, "discharge", {}).gone
        end, 1e6, base {}, name .. ", silo")
        note(string.format("%s: silo %s %% gone likewise.", name, transfers.list(rows, "%.2f")))
        if asked then
            expect { what = "spread of what has gone, steady and resting", value = transfers.spread(rows), band = { 0, 4 }, unit = "%", source = "[A] none; 4 % for grains" }
        end
        local turned = {}
        for i, turn in ipairs { 1e-9, 15, 30, 45 } do
            turned[i] = runout(base { mu = 0.48, turn = turn, frames = 4 }, string.format("%s, turned by %.0f", name, turn))
        end
        note(string.format("%s: x_99.5 / H0 = %s turned by 0, 15, 30, 45 degrees.", name, transfers.list(turned, "%.3f")))
        for i = 2, asked and 4 or 0 do
            expect { what = string.format("turned by %d degrees over upright, steady and resting", 15 * (i - 1)), value = turned[i] / turned[1], want = 1, relative = 0.04, source = "[A] 1; 4 %" }
        end
        local still, kicked = {}, {}
        for i, cells in ipairs { 16, 32, 64 } do
            still[i] = fastest(base { angle = 24, cells = cells, frames = 80 }, string.format("%s, %d cells", name, cells))
            kicked[i] = fastest(base { angle = 24, cells = cells, frames = 80, kick = 0.3 }, string.format("%s, %d cells after a kick", name, cells))
            if asked then
                expect { what = string.format("mean velocity at 24 degrees from 3 s on, steady and resting, %d cells", cells), value = still[i], band = { 0, cells < 64 and 2 or 5 }, unit = "mm/s",
                         source = "[A] rest below 26.57 degrees; [R] 2 and 5 mm/s" }
            end
        end
        note(string.format("%s: at 24 degrees %s mm/s with 16, 32, 64 cells not settled, %s after a kick.", name, transfers.list(still, "%.3g"), transfers.list(kicked, "%.3g")))
    end
end

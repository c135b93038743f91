check {
    id = "V-K2",
    title = "Plates, holes, grips and beads at walls between nodes",
    setup = "Colliders that act at their surface (explicit.contact_at), 2D. Sand on plates of 0.5 to 4 cells, at four places; a block on a plane when gravity turns round; a silo with a slot of 7 to "
        .. "8.1 cells in steps of 0.05 (nodes: 0.1); the bead of V-C13. Contact at nodes for comparison.",
    source = "[A] nothing passes a plate, g, sqrt(2 g); eng. what does not depend on the grid's place",
    cost = "quick", minutes = 1.5,
    why = "All of a bead's few nodes are held at more places than they can follow, so that it rubs where nothing should.",
}
local fit = shared "fit"
local plate = [[
local h = 0.01
local thick, off = param("thick", 1) * h, param("off", 0) * h
scene { dimension = 2, dx = h, fps = 10, frames = 3, explicit = { contact_at = "surface" } }
for i = 0, 1 do
    collider { shape = half_space { point = {0.16 * i, 0}, normal = {1 - 2 * i, 0} }, contact = "slip" }
end
collider { shape = box { min = {-0.05, off - thick}, max = {0.21, off} }, contact = "separate", friction = 0.4 }
particles { material = material.sand { density = 1500 }, shape = box { min = {0, off}, max = {0.16, off + 0.1} } }
]]
for _, thick in ipairs { 0.5, 1, 2, 4 } do
    local through = 0
    for _, off in ipairs { 0, 0.25, 0.5, 0.75 } do
        local run = simulate { scene = plate, set = { thick = thick, off = off }, name = "plate of " .. thick .. " cells, off " .. off }
        local at = column(run, "position", run.frames)
        for i = 1, #at do
            local _, y = at(i)
            through = through + (y < (off - thick / 2) * 0.01 and 1 or 0)
        end
    end
    expect { what = "particles through a plate of " .. thick .. " cells", value = through, band = { 0, 0 }, source = "[A] none" }
end
local block = [[
local h, off = 0.01, param("off", 0)
scene { dimension = 2, precision = "double", dx = h, fps = 50, frames = 12, explicit = { contact_at = "surface" },
        gravity = function(t) return 0, t < 0.1 and -9.81 or 9.81 end }
particles { material = material.elastic { density = 1000, young = 1e6 }, sampling = "lattice", jitter = 0, shape = box { min = {0, off * h}, max = {0.08, (off + 4) * h} } }
collider { shape = half_space { point = {0, off * h}, normal = {0, 1} }, contact = "separate", friction = 0.3 }
]]
for _, off in ipairs { 0, 0.3, 0.7 } do
    local c = measure(simulate { scene = block, set = { off = off }, name = "lifted, off " .. off }, "center", { all = true })
    local t, v = {}, {}
    for i = 1, c.rows do
        if c.time_s[i] > 0.1 then
            t[#t + 1], v[#v + 1] = c.time_s[i], c.vy_m_s[i]
        end
    end
    local _, a = fit.line(t, v)
    expect { what = "acceleration away from the plane, off " .. off, value = a, want = 9.81, relative = 0.005, unit = "m/s^2", source = "[A] g; 0.5 % eng." }
end
local silo = [[
local h, D = 0.01, param("D", 7) * 0.01
scene { dimension = 2, dx = h, fps = 20, frames = 16, explicit = { contact_at = param("at", "surface") } }
for i = -1, 1, 2 do
    collider { shape = half_space { point = {0.14 * i, 0}, normal = {-i, 0} }, contact = "slip" }
    collider { shape = box { min = {i < 0 and -0.3 or D / 2, -0.04}, max = {i < 0 and -D / 2 or 0.3, 0} }, contact = "separate", friction = 0.4 }
end
particles { material = material.sand { density = 1500, young = 1e5, friction_coefficient = 0.4 }, prestress = "k0", shape = box { min = {-0.14, 0}, max = {0.14, 0.35} } }
sink { shape = half_space { point = {0, -0.12}, normal = {0, 1} } }
]]
for _, at in ipairs { "nodes", "surface" } do
    local last, worst, rates, step = nil, 0, {}, at == "nodes" and 0.1 or 0.05
    for i = 0, at == "nodes" and 11 or 22 do
        local D = 7 + i * step
        local run = simulate { scene = silo, set = { D = D, at = at }, name = "slot of " .. D .. " cells, " .. at }
        local d = measure(run, "discharge", { all = true })
        local t, m = {}, {}
        for k = 1, d.rows do
            if d.time_s[k] > 0.3 then
                t[#t + 1], m[#m + 1] = d.time_s[k], d.mass_kg[k]
            end
        end
        local _, rate = fit.line(t, m)
        rates[#rates + 1] = string.format("%.1f", rate)
        -- of what the slot's width itself changes: D^1.5
        worst = last and math.max(worst, math.abs(rate / last / (D / (D - step)) ^ 1.5 - 1)) or 0
        last = rate
    end
    note(at .. ": rates of slots of 7.0 to 8.1 cells " .. table.concat(rates, ", ") .. " kg/s per metre.")
    if at == "surface" then
        expect { what = "largest step of the rate between slots that differ by 0.05 cells", value = 100 * worst, band = { 0, 5 }, unit = "%", source = "eng. 5 %" }
    end
end
local bead = [[
local h = 0.01
scene { dimension = 2, precision = "double", dx = h, fps = 200, frames = 160, dt_max = 1e-4, explicit = { contact_at = "surface" } }
particles { material = material.elastic { density = 1000, young = 1e4 }, spacing = h, sampling = "lattice", jitter = 0,
            shape = box { min = {-1 - h / 2, 1 - h / 2}, max = {-1 + h / 2, 1 + h / 2} } }
collider { shape = invert(sphere { center = {0, 1}, radius = 1 }), contact = "slip" }
]]
local c = measure(simulate { scene = bead, name = "bead" }, "center", { all = true })
local v = {}
for i = 1, c.rows do
    v[i] = math.sqrt(c.vx_m_s[i] ^ 2 + c.vy_m_s[i] ^ 2)
end
expect { what = "speed of a bead at the bottom", value = fit.at(c.x_m, v, 0), want = math.sqrt(2 * 9.81), relative = 0.001, unit = "m/s", source = "[P] 4.4294 m/s, 0.1 %" }

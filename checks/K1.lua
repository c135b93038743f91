check {
    id = "V-K1",
    title = "Walls between nodes",
    setup = "Colliders that act at their surface (explicit.contact_at), 2D. An elastic block on a plane turned by 17 and 30 degrees, friction 0.2, at two places; a periodic layer of sand, 16 cells "
        .. "deep, on a rough floor at 30 degrees. The same with contact at nodes, for comparison.",
    source = "[A] a = g (sin - mu cos); eng. what does not depend on the grid's place",
    cost = "quick", minutes = 0.5,
    why = "The layer's acceleration is what the transfer leaves of it, and a floor 0.75 cells off its node takes 1.5 % less than others.",
}
local fit = shared "fit"
local block = [[
local h, off, turned = 0.0125, param("off", 0), param("turned", 17, "degrees")
scene { dimension = 2, precision = "double", dx = h, fps = 20, frames = 10, explicit = { contact_at = param("at", "surface") } }
local function place(s) return move(s, { rotation = { angle = -turned }, position = { 0, off * h } }) end
particles { material = material.elastic { density = 1000, young = 1e6 }, shape = place(box { min = {0, 0}, max = {0.1, 0.05} }) }
collider { shape = place(half_space { point = {0, 0}, normal = {0, 1} }), contact = "separate", friction = param("friction", 0.2) }
]]
for _, at in ipairs { "nodes", "surface" } do
    for _, turned in ipairs { 17, 30 } do
        for _, off in ipairs { 0, 0.35 } do
            local c = measure(simulate { scene = block, set = { at = at, off = off, turned = turned }, name = "block, " .. at .. ", " .. turned .. " degrees, off " .. off }, "center", { all = true })
            local a, t, v = math.rad(turned), {}, {}
            for i = 3, c.rows do
                t[#t + 1], v[#v + 1] = c.time_s[i], c.vx_m_s[i] * math.cos(a) - c.vy_m_s[i] * math.sin(a)
            end
            local _, slope = fit.line(t, v)
            local want = 9.81 * (math.sin(a) - 0.2 * math.cos(a))
            if at == "surface" then
                expect { what = "acceleration at " .. turned .. " degrees, off " .. off, value = slope, want = want, relative = 0.005, unit = "m/s^2", source = "[A] Coulomb, 0.5 %" }
            else
                note(string.format("Nodes, %d degrees, off %.2f: %.4f of Coulomb's.", turned, off, slope / want))
            end
        end
    end
end

local layer = [[
local h, off = 0.00625, param("off", 0)
scene { dimension = 2, dx = h, fps = 20, frames = 30, explicit = { contact_at = param("at", "surface") },
        gravity = { 9.81 * math.sin(math.rad(30)), -9.81 * math.cos(math.rad(30)) } }
domain { min = {0, -0.1}, max = {8 * h, 1}, periodic = {true, false} }
particles { material = material.sand { density = 1500, friction_coefficient = 0.5 }, sampling = "lattice", jitter = 0, prestress = "k0",
            shape = box { min = {0, off * h}, max = {8 * h, (16 + off) * h} } }
collider { shape = half_space { point = {0, off * h}, normal = {0, 1} }, contact = "sticky" }
]]
for _, at in ipairs { "nodes", "surface" } do
    local least, most, text = math.huge, 0, {}
    for i, off in ipairs { 0, 0.25, 0.5, 0.75 } do
        local c = measure(simulate { scene = layer, set = { at = at, off = off }, name = "layer, " .. at .. ", off " .. off }, "center", { all = true })
        local t, v = {}, {}
        for k = 1, c.rows do
            if c.time_s[k] >= 0.5 then
                t[#t + 1], v[#v + 1] = c.time_s[k], c.vx_m_s[k]
            end
        end
        local _, a = fit.line(t, v)
        a = a / (9.81 * (math.sin(math.rad(30)) - 0.5 * math.cos(math.rad(30))))
        least, most, text[i] = math.min(least, a), math.max(most, a), string.format("%.3f", a)
    end
    note("Layer, " .. at .. ", off 0, 1/4, 1/2, 3/4: " .. table.concat(text, ", ") .. " of g (sin - mu cos).")
    if at == "surface" then
        expect { what = "spread of a layer's acceleration over places of the floor", value = (most - least) / most, band = { 0, 0.01 }, source = "eng. 1 %" }
    end
end

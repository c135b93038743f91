check {
    id = "V-G2w",
    title = "A soaked slope begins to flow at half the angle",
    setup = "As V-G2, friction 0.5, with all pores full of water that goes along the slope. Weight comes on within 0.3 s, then the layer is tilted. Acceleration of the sand's mean velocity at 15 to 19 degrees, and rest at 11.",
    source = "[A] safety is (rho - (1 - n) rho_w) / (rho + n rho_w) of that of a dry slope: flow from atan(0.5 * 900 / 1900) = 13.3 degrees",
    cost = "full", minutes = 2,
}
local fit = shared "fit"
local scene = [[
local angle, off, share = math.rad(param("angle", 15, "degrees")), param("off", 0), param("share", 0.8)
local dx = 0.00625
local o = off * dx
scene {
    method = "mixture", dimension = 2, dx = dx, fps = 20, frames = 30, elastic_share = share,
    gravity = function(t)
        local a, g = t < 0.3 and 0 or angle, t < 0.3 and 9.81 * (0.5 - 0.5 * math.cos(math.pi * t / 0.3)) or 9.81
        return g * math.sin(a), -g * math.cos(a)
    end,
}
domain { min = {0, -1}, max = {0.05, 1}, periodic = {true, false} }
local sand = material.sand { density = 1500, friction_coefficient = 0.5, porosity = 0.4, conductivity = 0.01, young = 2e5 }
local layer = box { min = {0, o}, max = {0.05, o + 0.1} }
particles { material = sand, shape = layer, sampling = "lattice", jitter = 0 }
particles { material = material.water { bulk_modulus = 2e5 }, shape = layer, within = sand, sampling = "lattice", jitter = 0 }
collider { shape = half_space { point = {0, o}, normal = {0, 1} }, contact = "sticky" }
]]
for _, row in ipairs { { "base at nodes", {} }, { "0.3 of a cell above, short steps", { off = 0.3, share = 0.5 } } } do
    local angles, rates = { 15, 17, 19 }, {}
    local function flow(angle)
        return measure(simulate { scene = scene, set = { angle = angle, off = row[2].off or 0, share = row[2].share or 0.8 }, name = row[1] .. ", " .. angle .. " degrees" },
                       "center", { all = true, species = "solid" })
    end
    for i, angle in ipairs(angles) do
        local c = flow(angle)
        local t, v = {}, {}
        for k = 1, c.rows do
            if c.time_s[k] >= 0.7 then
                t[#t + 1], v[#v + 1] = c.time_s[k], c.vx_m_s[k]
            end
        end
        local _, b = fit.line(t, v)
        rates[i] = b
    end
    local a, b = fit.line(angles, rates)
    note(row[1] .. ": accelerations " .. table.concat(fit.map(rates, function(r) return string.format("%.3f", r) end), ", ") .. " m/s^2")
    expect { what = row[1] .. ": angle at which the acceleration vanishes", value = -a / b, want = math.deg(math.atan(0.5 * 900 / 1900)), absolute = 1, unit = "degrees",
             source = "[A], eng. 1 degree" }
    local rest = flow(11)
    expect { what = row[1] .. ": mean velocity at 11 degrees", value = 1000 * math.abs(rest.vx_m_s[rest.rows]), band = { 0, 2 }, unit = "mm/s", source = "[A] at rest" }
end

check {
    id = "V-G6h",
    title = "Sand at rest between smooth walls",
    setup = "The column of V-C5 filled with sand: friction 0.5 (inside yield) and 0.3 (yields sideways). Weight comes on within 4 s. And sand that starts with prestress k0: its particles are laid out "
        .. "at their volume at rest while they are compressed, so that the force over the area that they take is their stress times J.",
    source = "[A] vertical stress rho g (H - z); sideways K0 = nu / (1 - nu) = 0.4286 inside yield (friction at least 0.40 in 2D), else (1 - mu)/(1 + mu)",
    cost = "quick", minutes = 0.1,
}
local fit = shared "fit"
local scene = [[
local rise = param("rise", 4, "s")
scene {
    dimension = 2, dx = 0.025, fps = 10, frames = param("frames", 60),
    gravity = function(t) return 0, -9.81 * (t < rise and 0.5 - 0.5 * math.cos(math.pi * t / rise) or 1) end,
}
particles { material = material.sand { density = 2200, friction_coefficient = param("mu", 0.5), young = 3.537e5 }, sampling = "lattice", jitter = 0,
            prestress = param("prestress", "none"), shape = box { min = {0, 0}, max = {0.2, 1} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "slip", name = "floor" }
collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip", name = "left" }
collider { shape = half_space { point = {0.2, 0}, normal = {-1, 0} }, contact = "slip", name = "right" }
]]
local function rest(set, name, K)
    local run = simulate { scene = scene, set = set, name = name }
    local s = measure(run, "stress", { along = "y", width = 0.025 })
    local x, v, h, worst = {}, {}, {}, 0
    for i = 3, s.rows - 2 do
        local stress = -s.yy_Pa[i] * (set.prestress and math.exp(s.ln_J[i]) or 1)
        x[#x + 1], v[#v + 1], h[#h + 1] = s.place_m[i], stress, s.xx_Pa[i] / s.yy_Pa[i]
        worst = math.max(worst, math.abs(stress / (2200 * 9.81) - (1 - s.place_m[i])))
    end
    local a, b = fit.line(x, v)
    expect { what = name .. ": stress at the base from the line through rows", value = a, want = 2200 * 9.81, relative = 0.02, unit = "Pa", source = "[A] rho g H, 2 %" }
    expect { what = name .. ": worst row, off by (of rho g H)", value = worst, band = { 0, 0.02 }, source = "[A] rho g (H - z), 2 %" }
    expect { what = name .. ": horizontal over vertical stress", value = fit.mean(h, 1, #h // 2), want = K, relative = 0.02, source = "[A] " .. string.format("%.4f", K) .. ", 2 %" }
    return run, x, v, h
end
local _, x, v, h = rest({}, "friction 0.5", 0.3 / 0.7)
rest({ mu = 0.3 }, "friction 0.3", 0.7 / 1.3)
local run = rest({ prestress = "k0", rise = 0, frames = 10 }, "prestress k0", 0.3 / 0.7)
local r = measure(run, "rest", { all = true })
local most = 0
for i = 1, r.rows do
    most = math.max(most, r.v_rms_m_s[i])
end
expect { what = "prestress k0: largest v_rms in the first second over sqrt(g H)", value = most / math.sqrt(9.81), band = { 0, 3e-3 }, source = "eng. the bound of V-G6i for sand at rest" }
plot { title = "Stress at rest, friction 0.5", x = "z [m]", y = "Pa",
       series = { { name = "vertical", x = x, y = v, style = "points" }, { name = "rho g (H - z)", x = x, y = fit.map(x, function(z) return 2200 * 9.81 * (1 - z) end) } } }

check {
    id = "V-G4j",
    title = "Janssen: walls carry sand",
    setup = "2D bin 0.1 m wide, 16 cells, wall friction 0.5, sand 0.1, 0.2, 0.4 and 0.8 m high, friction 0.5; weight comes on within 2 s. The base feels what walls do not carry.",
    source = "[A] Janssen: sigma = rho g l (1 - exp(-z/l)), l = W / (2 K mu_w)",
    cost = "quick", minutes = 0.4,
}
local fit = shared "fit"
local scene = [[
local z, friction = param("z", 0.4, "m"), param("friction", 0.5)
scene { dimension = 2, dx = 0.00625, fps = 10, frames = 30,
        gravity = function(t) return 0, -9.81 * (t < 2 and 0.5 - 0.5 * math.cos(math.pi * t / 2) or 1) end }
particles { material = material.sand { density = 1500, friction_coefficient = 0.5 }, shape = box { min = {0, 0}, max = {0.1, z} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "slip", name = "base" }
for i = 0, 1 do
    collider { shape = half_space { point = {0.1 * i, 0}, normal = {1 - 2 * i, 0} }, contact = "separate", friction = friction }
end
]]
local function base(z, friction)
    local run = simulate { scene = scene, set = { z = z, friction = friction }, name = "z = " .. z .. ", wall friction " .. friction }
    local f = measure(run, "wall", { all = true, collider = "base" })
    return -fit.mean(f.force_y_N, f.rows - 5, f.rows) / 0.1
end
local z, sigma = { 0.1, 0.2, 0.4, 0.8 }, {}
for i = 1, 4 do
    sigma[i] = base(z[i], 0.5)
end
expect { what = "sigma(0.8) / sigma(0.4)", value = sigma[4] / sigma[3], band = { 0, 1.30 }, source = "[A] at most 1.30 (hydrostatic 2.0)" }
-- K from the least squares over the four
local best, K = math.huge, 0
for k = 0.1, 2, 0.002 do
    local l, sum = 0.1 / (2 * k * 0.5), 0
    for i = 1, 4 do
        sum = sum + (1500 * 9.81 * l * (1 - math.exp(-z[i] / l)) / sigma[i] - 1) ^ 2
    end
    if sum < best then
        best, K = sum, k
    end
end
expect { what = "K of the fit", value = K, band = { 0.35, 1.0 }, source = "[A] 0.35 to 1.0" }
expect { what = "without wall friction, base over rho g z at 0.4 m", value = base(0.4, 0) / (1500 * 9.81 * 0.4), want = 1, relative = 0.02, source = "[A] hydrostatic, 2 %" }
plot { title = "Pressure at the base", x = "height of the sand [m]", y = "Pa",
       series = { { name = "measured", x = z, y = sigma, style = "points" }, { name = "hydrostatic", x = { 0, 0.4 }, y = { 0, 1500 * 9.81 * 0.4 }, style = "dashed" },
                  { name = string.format("Janssen, K = %.2f", K), x = z, y = fit.map(z, function(v) local l = 0.1 / K return 1500 * 9.81 * l * (1 - math.exp(-v / l)) end) } } }

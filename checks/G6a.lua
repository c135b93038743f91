check {
    id = "V-G6a",
    title = "Slow repose: walls are lifted off a heap",
    setup = "Sand 0.2 m wide and high between smooth walls on a rough floor, 80 cells; walls rise at 0.02 sqrt(g L), L = 0.1 m. Friction angles 25, 35, 45 degrees "
        .. "(2D: friction sin phi). Slope between 30 and 70 % of the height, both sides, when the walls have left and the heap is at rest.",
    source = "[A] between atan(0.9 mu) and asin(mu), rising with phi",
    cost = "full", minutes = 7,
    why = "Coarse grids make flat heaps: at 45 degrees 31.3 with 32 cells in the width, 32.4 with 64 and 33.0 with 80. Walls that rise at 0.05 sqrt(g L), the most that counts as slow, cost "
        .. "a degree (31.7 with 80 cells); 0.01 instead of 0.02 changes nothing, nor do thinner walls. Shorter steps help on a coarse grid (32.3 with 32 cells and a fifth of the step).",
}
local fit = shared "fit"
local scene = [[
local speed = 0.02 * math.sqrt(9.81 * 0.1)
scene { dimension = 2, dx = 0.2 / param("cells", 80), fps = 2, frames = 20 }
particles { material = material.sand { density = 1500, friction_angle = param("angle", 35, "degrees") },
            prestress = "k0", shape = box { min = {-0.1, 0}, max = {0.1, 0.2} } }
for _, side in ipairs { -1, 1 } do
    collider { shape = box { min = {side > 0 and 0.1 or -0.15, 0}, max = {side > 0 and 0.15 or -0.1, 0.5} }, contact = "separate", velocity = {0, speed} }
end
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "sticky" }
]]
local before, series = 0, {}
for i, phi in ipairs { 25, 35, 45 } do
    local run = simulate { scene = scene, set = { angle = phi }, name = "phi = " .. phi }
    local sum = 0
    for _, side in ipairs { "left", "right" } do
        sum = sum + measure(run, "slope", { side = side, from = 0.3, to = 0.7 }).slope / 2
    end
    local mu = math.sin(math.rad(phi))
    local angle = math.deg(math.atan(sum))
    expect { what = "slope, phi = " .. phi, value = angle, band = { math.deg(math.atan(0.9 * mu)), math.deg(math.asin(mu)) }, unit = "degrees",
             source = "[A] atan(0.9 mu) to asin(mu), mu = sin phi" }
    if i > 1 then
        expect { what = "steeper than the one before, phi = " .. phi, value = angle - before, band = { 0, math.huge }, unit = "degrees", source = "[S] Klar 2016, Fig. 13" }
    end
    before = angle
    local p = measure(run, "profile", {})
    series[i] = { name = "phi = " .. phi, x = p.place_m, y = p.top_m }
end
plot { title = "Heaps", x = "x [m]", y = "height [m]", series = series }

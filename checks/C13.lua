check {
    id = "V-C13",
    title = "A bead on a curve",
    setup = "A single particle slides without friction from y = 1 m down a slope, here a quarter of a circle of radius 1 m "
        .. "(the inside of a disc), 800 cells to the radius; for comparison 100 and 200.",
    source = "[P] a test of the solver Matter: sqrt(2 g) = 4.4294 m/s, 0.1 %",
    cost = "quick", minutes = 0.1,
    why = "A particle is felt through nodes: those up to 1.5 cells away, and contact begins when they reach the surface. The bead "
        .. "then runs about a cell above it, on a circle that is smaller by that much, and falls less: about h / R / 2 of the speed.",
}
local scene = [[
local h = 1 / param("cells", 100)
scene { dimension = 2, precision = "double", dx = h, fps = 100, frames = 80 }
-- the bead touches the wall at y = 1, at the height of the centre
particles { material = material.elastic { density = 1000 }, spacing = h, sampling = "lattice", jitter = 0,
            shape = box { min = {-1 + h, 1 - h / 2}, max = {-1 + 2 * h, 1 + h / 2} } }
collider { shape = invert(sphere { center = {0, 1}, radius = 1 }), contact = "slip" }
]]
for _, cells in ipairs { 100, 200, 800 } do
    local run = simulate { scene = scene, set = { cells = cells }, name = cells .. " cells" }
    local c = measure(run, "center", { all = true })
    local low, at = math.huge, 1
    for i = 1, c.rows do
        if c.y_m[i] < low then
            low, at = c.y_m[i], i
        end
    end
    local speed = 0
    for i = math.max(1, at - 3), math.min(c.rows, at + 3) do
        speed = math.max(speed, math.sqrt(c.vx_m_s[i] ^ 2 + c.vy_m_s[i] ^ 2))
    end
    if cells == 800 then
        expect { what = "speed at the bottom", value = speed, want = math.sqrt(2 * 9.81), relative = 0.001, unit = "m/s", source = "[P] 4.4294 m/s, 0.1 %" }
    end
    note(string.format("%d cells: %.4f m/s, off by %.2f %%.", cells, speed, 100 * (speed / math.sqrt(2 * 9.81) - 1)))
end

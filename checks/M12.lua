check {
    id = "V-M12",
    title = "A sponge tears where it was cut",
    setup = "The scene sponge, 41 x 41 x 21 points or half as many along each axis between two heads that are pulled apart: along a zigzag and along a slant.",
    source = "[S] Wretborn 2017, section 5.4: it follows the cut; eng.: 95 % of the glue breaks, 95 % of each piece stays together",
    cost = "quick", minutes = 1,
}
for _, cut in ipairs { "zigzag", "slant" } do
    local run = simulate { scene = "sponge", set = { cut = cut }, name = "cut: " .. cut }
    local p, s = measure(run, "pieces", { frame = run.frames }), measure(run, "stats", { all = true })
    local debris, all = 0, 0
    for i = 1, p.rows do
        debris, all = math.max(debris, p.debris[i] / p.particles[i]), all + p.particles[i]
    end
    local glue = s.particles[1] + s.removed[1] - all
    expect { what = "share of the glue that broke, " .. cut, value = s.removed[s.rows] / glue, band = { 0.95, 1 }, unit = "1", source = "eng.: 95 %" }
    expect { what = "largest share of a piece that left it, " .. cut, value = debris, band = { 0, 0.05 }, unit = "1", source = "eng.: 5 %" }
end

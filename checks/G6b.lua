check {
    id = "V-G6b",
    title = "A heap from a collapse is flatter than its friction",
    setup = "The heap of V-G1c on a grid twice as fine, where the upper part is ten cells high. Slopes of the upper part (60 to 95 % of the height) and of the middle (30 to 70 %).",
    source = "[R] sand6: upper slope 0.43, middle 0.34, H/L 0.27, all below the friction of 0.48",
    cost = "quick", minutes = 0.2,
    why = "With 28 cells, as the reference was run, the upper slope is 0.346 and misses its band; with 40, 56 and 72 it is 0.367, 0.375 and 0.376, and the middle one falls from 0.324 to 0.304.",
}
local collapse = shared "collapse"
local c = collapse.run { per_time = 1, cells = 56 }
local upper = measure(c.run, "slope", { from = 0.6, to = 0.95 }).slope
local middle = measure(c.run, "slope", { from = 0.3, to = 0.7 }).slope
local shape = c.height[#c.height] / c.x995[#c.x995]
expect { what = "upper slope", value = upper, band = { 0, 0.48 }, source = "[R] below the friction 0.48 (sand6 0.43)" }
expect { what = "middle slope", value = middle, band = { 0, 0.48 }, source = "[R] below the friction 0.48 (sand6 0.34)" }
expect { what = "middle slope against sand6", value = middle, want = 0.34, relative = 0.15, source = "[R] 0.34; +-15 % eng." }
expect { what = "upper slope against sand6", value = upper, want = 0.43, relative = 0.15, source = "[R] 0.43; +-15 % eng." }
expect { what = "H / L", value = shape, band = { 0.615 / 2.5, 0.675 / 2 }, source = "[R] 0.27; the bands of V-G1c for height and run-out" }

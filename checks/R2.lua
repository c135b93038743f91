check {
    id = "V-R2",
    title = "Bodies of any weight lie still on and in sand",
    setup = "A disc of R = 3 dx, a square and a frame (a box with a hole), 0.02 to 10 times as dense as sand, on or under 0.3 m of sand of 30 degrees, 2D, for 5 s; "
        .. "some shifted or turned against the grid.",
    source = "eng.: nothing jumps. With impulses in turn a buried light body leaves within 15 ms",
    cost = "full", minutes = 1,
}
local lies = shared "rest"
for _, place in ipairs { "on", "in" } do
    for _, ratio in ipairs { 0.1, 0.3, 1, 3, 10 } do
        lies(ratio, place)
    end
end
lies(0.02, "in")
lies(0.02, "in", { shift = 0.37 })
lies(0.02, "in", { what = "frame" })
lies(10, "in", { what = "frame" })
lies(0.1, "on", { what = "square", shift = 0.37 })
lies(10, "on", { what = "square", shift = 0.37 })
lies(10, "on", { turn = 25 })

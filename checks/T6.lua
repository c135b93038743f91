check {
    id = "V-T6",
    title = "A scene 100 times as large is 10 times as slow",
    setup = "The column of V-G1c as it is, and with 100 times the lengths and stiffness and 10 times the time; double precision.",
    source = "[A] nothing in it has a unit but gravity and density",
    cost = "quick", minutes = 0.3,
}
local transfers = shared "transfers"
local scene = transfers.said .. [[
local times = param("times", 1)
local H0 = 0.324 * times
scene { dimension = 2, precision = "double", dx = H0 / 14, transfer = transfer, fps = 1 / math.sqrt(H0 / 9.81), frames = 4 }
particles { material = material.sand { density = 1500, friction_coefficient = 0.48, young = 3.537e5 * times },
            sampling = "lattice", jitter = 0, shape = box { min = {0, 0}, max = {H0 / 1.42, H0} } }
collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "sticky" }
]]
local function look(times)
    local run = simulate { scene = scene, set = { times = times }, name = times .. " times" }
    local out = {}
    for frame = 1, run.frames do
        local r, c = measure(run, "runout", { frame = frame, quantile = 0.9 }), measure(run, "center", { frame = frame })
        out[#out + 1] = r.high_m / (0.324 * times)
        out[#out + 1] = c.y_m / (0.324 * times)
    end
    return out
end
local small, large = look(1), look(100)
local worst = 0
for i = 1, #small do
    worst = math.max(worst, math.abs(large[i] / small[i] - 1))
end
expect { what = "largest difference of places and heights", value = worst, band = { 0, 1e-3 }, source = "[A] 0; rounding decides where single grains end" }
note(string.format("The largest difference is %.2g.", worst))

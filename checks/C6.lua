check {
    id = "V-C6",
    title = "Bulk modulus between platens",
    setup = "A block of 1 x 1 m, 40 cells a side, 4 particles a cell; four smooth plates come in until each way is 10 % shorter, "
        .. "at 50 mm/s instead of the printed 1 mm/s (0.14 % of the speed of sound). The pressure is what the plates feel.",
    source = "[P] a test of the solver Matter: -p / ln J = K; the Hencky law gives K = lambda + mu for the Kirchhoff pressure p J in 2D",
    cost = "quick", minutes = 0.2,
    why = "A plate acts on nodes: its place is known to a fraction of a cell.",
}
local fit = shared "fit"
local scene = [[
local v = param("v", 0.05, "m/s")
scene { dimension = 2, precision = "double", dx = 0.025, fps = 20, frames = 20, gravity = {0, 0} }
particles { material = material.elastic { density = 1000, young = 1e6, poisson = 0.3 }, sampling = "lattice", jitter = 0,
            shape = box { min = {-0.5, -0.5}, max = {0.5, 0.5} } }
for i = 0, 3 do
    local x, y = math.floor(math.cos(i * math.pi / 2) + 0.5), math.floor(math.sin(i * math.pi / 2) + 0.5)
    collider { shape = half_space { point = {0.5 * x, 0.5 * y}, normal = {-x, -y} }, contact = "slip", velocity = {-v * x, -v * y}, name = "plate" .. i }
end
]]
local run = simulate { scene = scene }
local K = 1e6 / (2 * (1 + 0.3) * (1 - 2 * 0.3)) -- lambda + mu
-- volume ratio of the inner part, where no plate cuts a stencil; forces are means over a frame, so it is, too
local function ratio(frame)
    local s = measure(run, "stress", { frame = frame, width = 0.1 })
    return fit.mean(s.ln_J, 3, s.rows - 2)
end
local J, p = {}, {}
for frame = 1, run.frames do
    local sum = 0
    for i = 0, 3 do
        local f = measure(run, "wall", { frame = frame, collider = "plate" .. i })
        sum = sum + math.abs(i % 2 == 0 and f.force_x_N or f.force_y_N)
    end
    J[frame] = 0.5 * (ratio(frame) + ratio(frame - 1))
    p[frame] = sum / 4 / math.exp(0.5 * J[frame])
end
local n = run.frames
expect { what = "-p J / ln J at the end", value = -p[n] * math.exp(J[n]) / J[n], want = K, relative = 0.03, unit = "Pa", source = "[P] K within 3 %" }
note(string.format("ln J at the end is %.4f; from the way of the plates it should be %.4f. The difference is %.2f cells a side: where material "
    .. "begins to feel a moving plate depends on where the plate is between nodes.", ratio(n), 2 * math.log(0.9), (math.exp(0.5 * ratio(n)) - 0.9) / 2 / 0.025))
plot { title = "Kirchhoff pressure on the plates", x = "-ln J", y = "Pa",
       series = { { name = "measured", x = fit.map(J, function(v) return -v end), y = fit.map(p, function(v, i) return v * math.exp(J[i]) end), style = "points" },
                  { name = "K ln J", x = { 0, -J[n] }, y = { 0, -K * J[n] } } } }

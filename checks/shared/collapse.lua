-- A column of sand against a smooth wall collapses over a rough floor, in 2D.
local collapse = {}

collapse.scene = [[
local a = param("a", 1.42, "height over width")
local H0 = param("H0", 0.324, "m")
local cells = param("cells", 28, "in the height")
local mu = param("mu", 0.48, "shear over normal stress at yield")
local times = param("times", 10, "of sqrt(H0 / g)")
local per_time = param("per_time", 4, "frames")
local young, courant = param("young", 3.537e5, "Pa"), param("courant", 0.3, "c dt / h")
local c = math.sqrt(young * 0.7 / (1.3 * 0.4) / 1500) -- Poisson's ratio is 0.3
scene {
    title = "Column collapse", dimension = 2, dx = H0 / cells,
    fps = per_time / math.sqrt(H0 / 9.81), frames = times * per_time,
    order = param("order", "quadratic"), cfl = 0.3, dt_max = courant * H0 / cells / c,
}
local sand = material.sand {
    density = 1500, young = young, poisson = 0.3, friction_coefficient = mu,
    volume_correction = param("correction", true), flow = param("flow", "paper"),
}
particles {
    material = sand, shape = box { min = {0, 0}, max = {H0 / a, H0} },
    sampling = "lattice", jitter = 0, per_cell = param("per_cell", 4),
}
collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "sticky" }
]]

-- Fronts and heights in units of the column's height, and the run itself.
function collapse.run(set, name)
    local H0 = set.H0 or 0.324
    local run = simulate { scene = collapse.scene, set = set, name = name }
    local out = { run = run, H0 = H0, t = {}, front = {}, x995 = {}, x99 = {}, height = {} }
    local most = measure(run, "runout", { all = true, quantile = 0.995 })
    local x99 = measure(run, "runout", { all = true, quantile = 0.99 })
    for i = 1, most.rows do
        out.t[i] = most.time_s[i] / math.sqrt(H0 / 9.81)
        out.front[i], out.x995[i], out.x99[i] = most.most_m[i] / H0, most.high_m[i] / H0, x99.high_m[i] / H0
        out.height[i] = collapse.height(run, i - 1) / H0
    end
    return out
end

-- The surface at the wall: the highest particle of the first two cells, and half a spacing.
function collapse.height(run, frame)
    local p = measure(run, "profile", { frame = frame })
    local cell = p.place_m[2] - p.place_m[1]
    return math.max(p.top_m[1], p.top_m[2]) + 0.25 * cell
end

return collapse

check {
    id = "V-C8",
    title = "A manufactured solution: order of the method",
    setup = "u_k = A sin(pi X_k) sin(c pi t) with A = 0.02, kept up by a field of accelerations: in a periodic square of 2 x 2 m, where "
        .. "nothing but the method itself shows, and in the unit square between smooth walls, where the same u vanishes. "
        .. "The error is the root mean square of the displacement over particles, the largest within a period.",
    source = "[A] derived for the Hencky law: b_k = u_k'' - (2 mu + lambda - tau_k) / (rho F_k^2) dF_k/dX_k",
    cost = "quick", minutes = 0.5,
    why = "Between walls the order is 1: a node behind a smooth wall gets normal velocity 0 where the solution, mirrored, has minus that of "
        .. "the node in front. Splines then carry an eighth of the neighbour's velocity to the wall, and material acts as if the wall were "
        .. "h/8 further back. Splines that are modified at boundaries (Steffen, Kirby and Berzins 2008) would mend it for walls along the grid.",
}
local scene = [[
local walls = param("walls", false)
local n, courant = param("cells", 16), param("courant", 0.1, "c dt / h")
local A, E, nu, rho = param("A", 0.02, "m"), 1e6, 0.3, 1000
local mu, lambda = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
local c = math.sqrt((lambda + 2 * mu) / rho)
local pi, sin, cos, log = math.pi, math.sin, math.cos, math.log
-- where the point that is at x at that moment began
local function start(x, s)
    local X = x
    for _ = 1, 30 do
        local step = (X + A * s * sin(pi * X) - x) / (1 + A * s * pi * cos(pi * X))
        X = X - step
        if step * step < 1e-26 then break end
    end
    return X
end
scene {
    dimension = 2, precision = "double", dx = 1 / n, gravity = {0, 0}, fps = 8 * c / 2, frames = 8, order = param("order", "quadratic"),
    dt_max = courant / n / c, explicit = { contact_at = param("contact_at", "nodes") }, transfer = param("flip", false) and { flip = 1 } or "apic",
    acceleration = function(t, x, y)
        local s = sin(c * pi * t)
        local X, Y = start(x, s), start(y, s)
        local F, G = 1 + A * pi * s * cos(pi * X), 1 + A * pi * s * cos(pi * Y)
        local both = lambda * log(F * G)
        local function b(X, F)
            local tau = 2 * mu * log(F) + both
            local u, dF = A * sin(pi * X) * s, -A * pi * pi * sin(pi * X) * s
            return -c * c * pi * pi * u - (2 * mu + lambda - tau) / (rho * F * F) * dF
        end
        return b(X, F), b(Y, G)
    end,
}
particles {
    material = material.elastic { density = rho, young = E, poisson = nu },
    shape = box { min = {0, 0}, max = walls and {1, 1} or {2, 2} },
    sampling = "lattice", jitter = 0,
    velocity = function(x, y) return A * sin(pi * x) * c * pi, A * sin(pi * y) * c * pi end,
}
if not walls then domain { min = {0, 0}, max = {2, 2}, periodic = {true, true} } end
for i = 0, walls and 1 or -1 do
    collider { shape = half_space { point = {i, i}, normal = {1 - 2 * i, 0} }, contact = "slip" }
    collider { shape = half_space { point = {i, i}, normal = {0, 1 - 2 * i} }, contact = "slip" }
end
]]
local function error_of(set)
    local A = 0.02
    local run = simulate { scene = scene, set = set, name = set.cells .. " cells, c dt / h = " .. set.courant .. (set.order and ", " .. set.order or "")
        .. (set.walls and ", walls" or "") .. (set.contact_at and ", " .. set.contact_at or "") }
    local before, worst = column(run, "position", 0), 0
    for frame = 1, run.frames do
        local now, sum = column(run, "position", frame), 0
        local s = A * math.sin(math.pi * 2 * frame / 8)
        for i = 1, #now do
            local X, Y = before(i)
            local x, y = now(i)
            local dx, dy = x - X - s * math.sin(math.pi * X), y - Y - s * math.sin(math.pi * Y)
            if not set.walls then -- the nearest image
                dx, dy = dx - 2 * math.floor(dx / 2 + 0.5), dy - 2 * math.floor(dy / 2 + 0.5)
            end
            sum = sum + dx * dx + dy * dy
        end
        worst = math.max(worst, math.sqrt(sum / #now))
    end
    return worst, run
end
-- steps that shrink with h^2, so that the order in space shows
local fit = shared "fit"
for _, case in ipairs { { "quadratic" }, { "cubic" }, { "quadratic", true }, { "quadratic", true, "surface" } } do
    local h, e, what = {}, {}, case[1] .. (case[2] and " between walls" or "") .. (case[3] and ", contact at the " .. case[3] or "")
    for i, n in ipairs { 8, 12, 16, 24 } do
        h[i], e[i] = 1 / n, error_of { cells = n, courant = 0.2 * 8 / n, order = case[1], walls = case[2], contact_at = case[3] }
    end
    expect { what = "order in h, " .. what, value = fit.exponent(h, e), band = { 1.7, math.huge }, source = "[A] at least 1.7" }
    plot { title = "Error of the displacement, " .. what, x = "h [m]", y = "m", log_x = true, log_y = true,
           series = { { name = "measured", x = h, y = e, style = "points" }, { name = "order 2", x = h, y = fit.map(h, function(v) return e[1] * (v / h[1]) ^ 2 end), style = "dashed" } } }
end
-- on one grid, differences between step lengths are what the step does; with FLIP, because what APIC and PIC lose in a transfer does
-- not shrink with the step
local function apart(one, other)
    local sum = 0
    for frame = 1, one.frames do
        local a, b = column(one, "position", frame), column(other, "position", frame)
        for i = 1, #a do
            local x, y = a(i)
            local X, Y = b(i)
            local dx, dy = x - X, y - Y
            sum = sum + (dx - 2 * math.floor(dx / 2 + 0.5)) ^ 2 + (dy - 2 * math.floor(dy / 2 + 0.5)) ^ 2
        end
    end
    return math.sqrt(sum)
end
local function order_in_dt(flip)
    local runs = {}
    for i, courant in ipairs { 0.4, 0.2, 0.1 } do
        local _
        _, runs[i] = error_of { cells = 12, courant = courant, flip = flip }
    end
    return math.log(apart(runs[1], runs[2]) / apart(runs[2], runs[3])) / math.log(2)
end
expect { what = "order in dt, FLIP", value = order_in_dt(true), band = { 0.7, math.huge }, source = "[A] at least 1 (symplectic Euler); 0.3 less eng." }
note(string.format("With APIC the differences between step lengths go with dt^%.2f: what a transfer loses does not shrink with the step.", order_in_dt(false)))

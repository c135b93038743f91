check {
    id = "V-C5",
    title = "An elastic column under its own weight",
    setup = "H = 1 m between frictionless walls, rho 2200, E 353.7 kPa, nu 0.3. Weight comes on within 4 s, so that little is "
        .. "left to swing. The Hencky law in uniaxial strain has an exact solution with Lambert's W.",
    source = "[A] sigma = -rho g (H - X) and ln F = -W(rho g (H - X)/M), M = lambda + 2 mu",
    cost = "quick", minutes = 0.2,
    why = "Within a stencil of the floor and of the surface nodes see only part of the material that they stand for; the mean over rows is right.",
}
local fit = shared "fit"
local scene = [[
scene {
    dimension = 2, precision = "double", dx = 0.025, fps = 10, frames = 60,
    gravity = function(t) return 0, -9.81 * (t < 4 and 0.5 - 0.5 * math.cos(math.pi * t / 4) or 1) end,
}
particles { material = material.elastic { density = 2200, young = 3.537e5, poisson = 0.3 }, sampling = "lattice", jitter = 0,
            shape = box { min = {0, 0}, max = {0.2, 1} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "slip", name = "floor" }
collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }
collider { shape = half_space { point = {0.2, 0}, normal = {-1, 0} }, contact = "slip" }
]]
local run = simulate { scene = scene }
local H, rho, g, E, nu = 1, 2200, 9.81, 3.537e5, 0.3
local M = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu))
local function lambert(z)
    local w = z
    for _ = 1, 50 do
        w = w - (w * math.exp(w) - z) / (math.exp(w) * (1 + w))
    end
    return w
end
-- settlement of the top: H less the integral of F
local sum, n = 0, 20000
for i = 1, n do
    sum = sum + math.exp(-lambert(rho * g * (H - (i - 0.5) * H / n) / M)) * H / n
end
-- particles lie half a spacing below the surface: extrapolate with F there, which is 1
local before, after = column(run, "position", 0), column(run, "position", run.frames)
local top, count = 0, 0
for i = 1, #before do
    local _, y0 = before(i)
    local _, y1 = after(i)
    if y0 > H - 0.0125 then
        top, count = top + y0 - y1, count + 1
    end
end
expect { what = "settlement of the top", value = 1000 * top / count, want = 1000 * (H - sum), relative = 0.02, unit = "mm",
         source = "[A] 21.694 mm (linear theory 22.664)" }
-- the stress over the starting height, of rows that no boundary cuts
local s = measure(run, "stress", { along = "y", width = 0.025 })
local x, measured, exact, worst, cut = {}, {}, {}, 0, 0
for i = 1, s.rows do
    x[i], measured[i], exact[i] = s.place_m[i], -s.yy_Pa[i], rho * g * (H - s.place_m[i])
    local off = math.abs(measured[i] - exact[i]) / (rho * g * H)
    if i > 2 and i < s.rows - 1 then
        worst = math.max(worst, off)
    else
        cut = math.max(cut, off)
    end
end
note(string.format("The two rows at the floor and at the surface are left out above: their nodes see only part of the material that they stand for. They are off by up to %.2f.", cut))
expect { what = "worst stress of a row of cells, two at each end left out, off by (of rho g H)", value = worst, band = { 0, 0.02 },
         source = "[A] rho g (H - X), 2 %" }
local inside, line = {}, {}
for i = 3, s.rows - 2 do
    inside[#inside + 1], line[#line + 1] = s.place_m[i], -s.yy_Pa[i]
end
local a, b = fit.line(inside, line)
expect { what = "stress at the base, from the line through the rows", value = a, want = rho * g * H, relative = 0.02, unit = "Pa",
         source = "[A] 21 582 Pa" }
local f = measure(run, "wall", { collider = "floor" })
expect { what = "force on the floor over the weight", value = -f.force_y_N / (rho * g * H * 0.2), want = 1, relative = 0.02,
         source = "[A] equilibrium" }
plot { title = "Vertical stress", x = "X [m]", y = "Pa",
       series = { { name = "measured", x = x, y = measured, style = "points" }, { name = "exact", x = x, y = exact } } }

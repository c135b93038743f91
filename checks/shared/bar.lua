-- An elastic bar between smooth walls (uniaxial strain), fixed at one end and free at the other, starts in its slowest mode.
local bar = {}

bar.scene = [[
local L, cells = param("L", 1, "m"), param("cells", 50, "in the length")
local E, nu, rho = param("young", 1e6, "Pa"), param("poisson", 0.3), param("density", 1000, "kg/m^3")
local v0, step = param("v0", 0.1, "m/s"), param("step", 0, "m/s: the end moves at once")
local periods, per_period = param("periods", 5), param("per_period", 40, "frames")
local courant = param("courant", 0.2, "c dt / h")
local transfer = param("transfer", "apic")
local h = L / cells
local c = math.sqrt(E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)) / rho)
scene {
    dimension = 2, precision = "double", dx = h, gravity = {0, 0}, order = param("order", "quadratic"),
    fps = per_period * c / (4 * L), frames = periods * per_period,
    transfer = transfer == "flip" and { flip = 0.95 } or transfer,
    dt_max = courant * h / c, elastic_share = 10,
}
particles {
    material = material.elastic { density = rho, young = E, poisson = nu },
    shape = box { min = {0, 0}, max = {L, 4 * h} }, sampling = "lattice", jitter = 0,
    velocity = function(x) return v0 * math.sin(math.pi * x / (2 * L)), 0 end,
}
if step == 0 then
    collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }
else
    collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip", velocity = {step, 0} }
end
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "slip" }
collider { shape = half_space { point = {0, 4 * h}, normal = {0, -1} }, contact = "slip" }
]]

function bar.speed(E, nu, rho)
    return math.sqrt(E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)) / rho)
end

return bar

check {
    id = "V-M15",
    title = "A block of 200 pieces falls, breaks, and comes to rest",
    setup = "An elastic block of 1 x 0.85 x 0.8 m = 20 x 17 x 16 dx (E = 5e5 Pa, 1000 kg/m^3) of 200 Voronoi cells, particles on a lattice, glue of 6 to 9 kPa, falls 0.6 m on a floor; "
        .. "friction 0.5 among pieces and on the floor, 8 s. Momentum in flight also in double precision with 30 pieces and dx = 0.1 m.",
    source = "[A] momentum; eng.: at rest means 2 cm/s, nobody is lost; the account of energy closes within 2 %",
    cost = "full", minutes = 10,
    why = "Pieces that lie in the heap rest (0.1 mm/s); lone ones of five cells, whose corners the floor's nodes do not see, roll and rock on it for long.",
}
local scene = [[
local pieces, strength = param("pieces", 200), param("strength", 6e3)
local dx = param("dx", 0.05)
scene { dx = dx, fps = 25, frames = param("frames", 200), precision = param("precision", {"single", "double"}) }
output { energy = true }
particles { material = material.elastic { density = 1000, young = 5e5 }, body = "block", sampling = "lattice", jitter = 0,
            shape = box { min = {-0.5, 0.6, -0.4}, max = {0.5, 1.45, 0.4} } }
fracture { body = "block", by = voronoi { count = pieces, seed = 4 }, strength = {strength, 1.5 * strength}, friction = 0.5 }
contact { friction = 0.5 }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.5 }
]]
-- the first frames are flight: it touches after 0.35 s
local function drift(s)
    local worst = 0
    for i = 1, s.rows do
        if s.time_s[i] > 0 and s.time_s[i] < 0.3 then
            worst = math.max(worst, math.abs(s.momentum_y_kg_m_s[i] / (-9.81 * s.time_s[i] * s.mass_kg[i]) - 1))
        end
    end
    return worst
end
local twice = simulate { scene = scene, set = { precision = "double", frames = 8, pieces = 30, dx = 0.1 }, name = "in double precision" }
expect { what = "momentum in flight over m g t, less one, in double precision", value = drift(measure(twice, "stats", { all = true })), band = { 0, 1e-12 }, unit = "1", source = "[A] exact to rounding" }
local run = simulate { scene = scene, name = "200 pieces" }
local s, e, m = measure(run, "stats", { all = true }), measure(run, "energy", { all = true }), measure(run, "bodies", { frame = run.frames })
expect { what = "momentum in flight over m g t, less one", value = drift(s), band = { 0, 1e-5 }, unit = "1", source = "eng.: what steps of gravity round off in single precision, as without a cut" }
local particles, fast, sum, mass = 0, 0, 0, 0
for i = 1, m.rows do
    particles, mass = particles + m.particles[i], mass + m.mass_kg[i]
    sum, fast = sum + m.mass_kg[i] * m.rms_m_s[i] ^ 2, math.max(fast, m.rms_m_s[i])
end
local glue, removed = s.particles[1] + s.removed[1] - particles, s.removed[s.rows]
note(string.format("%d particles, %d of glue, of which %d broke", particles, glue, removed))
expect { what = "particles", value = particles, want = 40 * 34 * 32, absolute = 0, source = "nobody is lost" }
expect { what = "share of the glue that broke", value = removed / glue, band = { 0.1, 1 }, unit = "1", source = "eng.: it breaks" }
expect { what = "root of the mean square of all speeds at the end", value = 100 * math.sqrt(sum / mass), band = { 0, 2 }, unit = "cm/s", source = "eng.: 2 cm/s" }
expect { what = "fastest piece at the end", value = 100 * fast, band = { 0, 10 }, unit = "cm/s", source = "eng.: 10 cm/s" }
local start, gap, gain = nil, 0, 0
for i = 1, e.rows do
    local there = e.total_J[i] + e.affine_J[i]
    local lost = e.plastic_J[i] + e.contact_J[i] + e.friction_J[i] + e.transfer_J[i] + e.stepping_J[i] - e.brought_J[i]
    start = start or there + lost
    gap = math.max(gap, math.abs(there + lost - start))
    gain = math.max(gain, there - start)
end
local fall = 9.81 * mass * 0.6
expect { what = "what the account of energy leaves open, of the energy of the fall", value = gap / fall, band = { 0, 0.02 }, unit = "1", source = "eng.: 2 %" }
expect { what = "most energy gained, of that of the fall", value = gain / fall, band = { -1, 0.001 }, unit = "1", source = "[A] none" }

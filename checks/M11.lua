check {
    id = "V-M11",
    title = "98 kubbs come to rest on a mound",
    setup = "The scene kubbs at the size of the paper: 98 wooden blocks of 15 x 30 x 15 cm, 72 030 particles with dx = 4 cm, dropped from 0.4 m on a mound, friction 0.4, for 10 s.",
    source = "[S] Wretborn 2017, section 5.2: they come to rest; eng.: 2 cm/s, no particle lost, nobody half a cell within the ground",
    cost = "full", minutes = 40,
}
local run = simulate { scene = "kubbs", set = { size = "paper" }, name = "98 kubbs" }
local all = measure(run, "bodies", { frame = run.frames })
local fast, sum, blocks, particles = 0, 0, 0, 0
for i = 1, all.rows do
    if all.body[i] > 0 then
        fast, sum = math.max(fast, all.rms_m_s[i]), sum + all.mass_kg[i] * all.rms_m_s[i] ^ 2
        blocks, particles = blocks + 1, particles + all.particles[i]
    end
end
local mass = 0
for i = 1, all.rows do
    mass = mass + all.mass_kg[i]
end
local points, low = column(run, "position", run.frames), math.huge
for i = 1, #points do
    local x, y, z = points(i)
    low = math.min(low, y)
end
expect { what = "blocks", value = blocks, want = 98, absolute = 0, source = "[S]" }
expect { what = "particles", value = particles, want = 72030, absolute = 0, source = "[S]" }
expect { what = "root of the mean square of all speeds after 10 s", value = 100 * math.sqrt(sum / mass), band = { 0, 2 }, unit = "cm/s", source = "eng.: 2 cm/s" }
expect { what = "fastest block after 10 s", value = 100 * fast, band = { 0, 5 }, unit = "cm/s", source = "eng.: 5 cm/s" }
expect { what = "deepest particle below the ground", value = -low / 0.04, band = { -1, 0.5 }, unit = "cells", source = "eng.: half a cell" }

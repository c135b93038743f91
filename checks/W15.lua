check {
    id = "V-W15",
    title = "Water keeps its volume",
    setup = "A column of 0.1 by 0.2 m breaks in a closed tank 0.4 m wide and sloshes for 2 s, alone and over a bed of sand; sound 30 m/s. 2D, default sampling and precision.",
    source = "[S] the volume that J stands for drifts by 1 % at most",
    cost = "full", minutes = 2,
    why = "J follows the divergence at particles and knows nothing of how they lie; in spray it may rise up to what the grid sees as density.",
}
local scene = [[
local cells, off, share, bed = param("cells", 10), param("off", 0), param("share", 0.8), param("bed", false)
local dx = 0.1 / cells
local o = off * dx
local ground = bed and 0.1 or 0
scene { method = "mixture", dimension = 2, dx = dx, fps = 20, frames = 40, elastic_share = share }
local function wall(x, y, nx, ny) collider { shape = half_space { point = {x, y}, normal = {nx, ny} }, contact = "slip" } end
wall(o, o, 1, 0) wall(o + 0.4, o, -1, 0) wall(o, o, 0, 1)
if bed then particles { material = material.sand { conductivity = 0.02 }, shape = box { min = {o, o}, max = {o + 0.4, o + 0.1} } } end
particles { material = material.water { sound_speed = 30 }, shape = box { min = {o, o + ground}, max = {o + 0.1, o + 0.2 + ground} } }
]]
for _, row in ipairs { { "at nodes", {} }, { "0.3 of a cell off", { off = 0.3 } }, { "at nodes, short steps", { share = 0.3 } }, { "at nodes, more cells", { cells = 16 } },
                       { "over sand", { bed = true } }, { "over sand, 0.3 of a cell off", { bed = true, off = 0.3 } } } do
    local run = simulate { scene = scene, set = row[2], name = row[1] }
    local v = measure(run, "volume", { all = true, species = "water" })
    local most, last = 0, 0
    for i = 1, v.rows do
        most = math.max(most, math.abs(v.solid_m3[i] / v.rest_m3[i] - 1))
        last = last + (i > v.rows - 5 and v.solid_m3[i] / v.rest_m3[i] - 1 or 0) / 5
    end
    note(string.format("%s: at most %.2f %% on the way, where spray has J above 1 and no pressure", row[1], 100 * most))
    expect { what = row[1] .. ": volume off in the last quarter of a second", value = 100 * last, band = { -1, 1 }, unit = "%", source = "[S] 1 %" }
end

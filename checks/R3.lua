check {
    id = "V-R3",
    title = "Spheres of any weight lie still on and in sand",
    setup = "A sphere of R = 3 dx, 0.02 to 10 times as dense as sand, on or under 0.2 m of sand of 30 degrees in a box of 0.44 x 0.44 m, 3D, off the grid by 0.31, 0.17 and 0.43 cells, for 5 s.",
    source = "eng.: as V-R2, in 3D",
    cost = "full", minutes = 4,
}
local scene = [[
local ratio, place = param("ratio", 1), param("place", {"on", "in"})
local dx, W, H, R = 0.02, 0.44, 0.2, 0.06
scene { dx = dx, fps = 25, frames = 125 }
rigid { name = "body", density = 1500 * ratio, friction = 0.5,
        shape = sphere { center = {W / 2 + 0.31 * dx, place == "on" and H + R or 0.11 + 0.17 * dx, W / 2 + 0.43 * dx}, radius = R } }
particles { material = material.sand { density = 1500, young = 4e5, friction_angle = 30 }, shape = box { min = {0, 0, 0}, max = {W, H, W} }, prestress = "k0" }
for _, w in ipairs { { {0, 0, 0}, {0, 1, 0} }, { {0, 0, 0}, {1, 0, 0} }, { {W, 0, 0}, {-1, 0, 0} }, { {0, 0, 0}, {0, 0, 1} }, { {0, 0, W}, {0, 0, -1} } } do
    collider { shape = half_space { point = w[1], normal = w[2] }, contact = "separate", friction = 0.3 }
end
]]
local function lies(ratio, place)
    local name = place .. " sand, ratio " .. ratio
    local run = simulate { scene = scene, set = { ratio = ratio, place = place }, name = name }
    local b = measure(run, "body", { name = "body", all = true })
    local rise, late = 0, 0
    for i = 1, b.rows do
        rise = math.max(rise, b.y_m[i] - b.y_m[1])
        late = b.time_s[i] > 2.5 and math.max(late, math.sqrt(b.velocity_x_m_s[i] ^ 2 + b.velocity_y_m_s[i] ^ 2 + b.velocity_z_m_s[i] ^ 2)) or late
    end
    expect { what = "highest rise in cells, " .. name, value = rise / 0.02, band = { 0, 0.1 }, source = "eng.: a tenth of a cell" }
    expect { what = "fastest after 2.5 s, " .. name, value = late, band = { 0, 0.02 }, unit = "m/s", source = "eng.: 20 mm/s, what falls by 20 micrometres have" }
    if ratio < 1 then
        expect { what = "how far it has sunk in cells, " .. name, value = (b.y_m[1] - b.y_m[b.rows]) / 0.02, band = { -0.1, 0.1 }, source = "eng.: a tenth of a cell" }
    end
end
for _, ratio in ipairs { 0.1, 1, 10 } do
    lies(ratio, "on")
    lies(ratio, "in")
end
lies(0.02, "in")

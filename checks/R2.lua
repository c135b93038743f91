check {
    id = "V-R2",
    title = "Bodies of any weight lie still on and in sand",
    setup = "A disc of R = 3 dx, a square and a frame (a box with a hole), 0.02 to 10 times as dense as sand, on or under 0.3 m of sand of 30 degrees, 2D, for 5 s; "
        .. "some shifted or turned against the grid.",
    source = "eng.: nothing jumps. With impulses in turn a buried light body leaves within 15 ms",
    cost = "full", minutes = 1,
}
local scene = [[
local ratio, place, what = param("ratio", 1), param("place", {"on", "in"}), param("what", {"disc", "square", "frame"})
local shift, turn, dx, W, H, R = param("shift", 0), param("turn", 0), 0.02, 0.8, 0.3, 0.06
local a = math.rad(turn)
scene { dimension = 2, dx = dx, fps = 25, frames = 125, gravity = {9.81 * math.sin(a), -9.81 * math.cos(a)} }
local function placed(shape) return move(shape, { position = {shift * dx, 0.37 * shift * dx}, rotation = { angle = turn } }) end
local x, y = W / 2, place == "on" and H + R or 0.18
local function square(w, h) return box { min = {x - w, y - h}, max = {x + w, y + h} } end
local shape = what == "disc" and sphere { center = {x, y}, radius = R } or what == "square" and square(R, R)
    or subtract(square(1.3 * R, R), square(0.4 * R, 0.4 * R))
rigid { name = "body", shape = placed(shape), density = 1500 * ratio, friction = 0.5 }
particles { material = material.sand { density = 1500, young = 4e5, friction_angle = 30 }, shape = placed(box { min = {0, 0}, max = {W, H} }),
            prestress = turn == 0 and "k0" or "none" }
for _, w in ipairs { { {0, 0}, {0, 1} }, { {0, 0}, {1, 0} }, { {W, 0}, {-1, 0} } } do
    collider { shape = placed(half_space { point = w[1], normal = w[2] }), contact = "separate", friction = 0.3 }
end
]]
local function lies(ratio, place, set)
    set = set or {}
    set.ratio, set.place = ratio, place
    local name = (set.what or "disc") .. " " .. place .. " sand, ratio " .. ratio .. (set.turn and ", turned" or "") .. (set.shift and ", shifted" or "")
    local run = simulate { scene = scene, set = set, name = name }
    local b = measure(run, "body", { name = "body", all = true })
    local rise, late = 0, 0
    for i = 1, b.rows do
        rise = math.max(rise, b.y_m[i] - b.y_m[1])
        late = b.time_s[i] > 2.5 and math.max(late, math.sqrt(b.velocity_x_m_s[i] ^ 2 + b.velocity_y_m_s[i] ^ 2)) or late
    end
    expect { what = "highest rise in cells, " .. name, value = rise / 0.02, band = { 0, 0.1 }, source = "eng.: a tenth of a cell" }
    expect { what = "fastest after 2.5 s, " .. name, value = late, band = { 0, 0.02 }, unit = "m/s", source = "eng.: 20 mm/s, what falls by 20 micrometres have" }
    if ratio < 1 then
        expect { what = "how far it has sunk in cells, " .. name, value = (b.y_m[1] - b.y_m[b.rows]) / 0.02, band = { -0.1, 0.1 }, source = "eng.: a tenth of a cell" }
    end
end
for _, place in ipairs { "on", "in" } do
    for _, ratio in ipairs { 0.1, 0.3, 1, 3, 10 } do
        lies(ratio, place)
    end
end
lies(0.02, "in")
lies(0.02, "in", { shift = 0.37 })
lies(0.02, "in", { what = "frame" })
lies(10, "in", { what = "frame" })
lies(0.1, "on", { what = "square", shift = 0.37 })
lies(10, "on", { what = "square", shift = 0.37 })
lies(10, "on", { turn = 25 })

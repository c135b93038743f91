-- A rigid body on or in a bed of sand for 5 s: does it lie still?
local scene = [[
local ratio, place, what = param("ratio", 1), param("place", {"on", "in"}), param("what", {"disc", "square", "frame"})
local shift, turn, method, W, H, R = param("shift", 0), param("turn", 0), param("method", "explicit"), 0.8, 0.3, 0.06
local dx = method == "sph" and 0.03 or 0.02
local a = math.rad(turn)
scene { method = method, dimension = 2, dx = dx, fps = 25, frames = 125, gravity = {9.81 * math.sin(a), -9.81 * math.cos(a)} }
local function placed(shape) return move(shape, { position = {shift * dx, 0.37 * shift * dx}, rotation = { angle = turn } }) end
local x, y = W / 2, place == "on" and H + R or 0.18
local function square(w, h) return box { min = {x - w, y - h}, max = {x + w, y + h} } end
local shape = what == "disc" and sphere { center = {x, y}, radius = R } or what == "square" and square(R, R)
    or subtract(square(1.3 * R, R), square(0.4 * R, 0.4 * R))
rigid { name = "body", shape = placed(shape), density = 1500 * ratio, friction = 0.5 }
local grains, bed = material.sand { density = 1500, young = 4e5, friction_angle = 30 }, placed(box { min = {0, 0}, max = {W, H} })
if method ~= "explicit" then bed = subtract(bed, placed(shape)) end
particles { material = grains, shape = bed, prestress = method == "explicit" and turn == 0 and "k0" or "none", per_cell = method == "nonsmooth" and 16 or nil }
for _, w in ipairs { { {0, 0}, {0, 1} }, { {0, 0}, {1, 0} }, { {W, 0}, {-1, 0} } } do
    collider { shape = placed(half_space { point = w[1], normal = w[2] }), contact = "separate", friction = 0.3 }
end
]]
local function lies(ratio, place, set)
    set = set or {}
    set.ratio, set.place = ratio, place
    local name = (set.what or "disc") .. " " .. place .. " sand, ratio " .. ratio .. (set.turn and ", turned" or "") .. (set.method and ", " .. set.method or "") .. (set.shift and ", shifted" or "")
    local run = simulate { scene = scene, set = set, name = name }
    local b = measure(run, "body", { name = "body", all = true })
    local rise, late = 0, 0
    for i = 1, b.rows do
        rise = math.max(rise, b.y_m[i] - b.y_m[1])
        late = b.time_s[i] > 2.5 and math.max(late, math.sqrt(b.velocity_x_m_s[i] ^ 2 + b.velocity_y_m_s[i] ^ 2)) or late
    end
    expect { what = "highest rise in cells, " .. name, value = rise / 0.02, band = { 0, 0.1 }, source = "eng.: a tenth of a cell" }
    expect { what = "fastest after 2.5 s, " .. name, value = late, band = { 0, 0.02 }, unit = "m/s", source = "eng.: 20 mm/s, what falls by 20 micrometres have" }
    if ratio < 1 and (place == "in" or set.method == nil) then -- a bed without elasticity settles under what lies on it
        expect { what = "how far it has sunk in cells, " .. name, value = (b.y_m[1] - b.y_m[b.rows]) / 0.02, band = { -0.1, 0.1 }, source = "eng.: a tenth of a cell" }
    end
end
return lies

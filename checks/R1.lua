check {
    id = "V-R1",
    title = "A disc floats at the height of Archimedes",
    setup = "A rigid disc of R = 8 dx (0.16 m) in sand without friction, 1 m wide and 0.5 m deep, 2D, that starts as deep as it should float; density ratios 0.2 to 0.9, "
        .. "the trough shifted against the grid and turned by 30 degrees, other stiffness, half the cells. Heights are means from 0.6 to 1.2 s, above a surface that follows "
        .. "from sand beside it, with the density that sand has then.",
    source = "[A] the mass that it displaces is its own; 5 % of its depth",
    cost = "full", minutes = 1,
    why = "Sand without friction is never quite still, and loses a per cent or two of its volume within a second. Of a disc that is nearly under (0.9) two cells stand out, which sand covers in part: it lies 8 % too deep, with half the cells 5 %.",
}
local scene = [[
local ratio, shift, turn, dx, young = param("ratio", 0.5), param("shift", 0), param("turn", 0), param("dx", 0.02), param("young", 4e5)
local above = param("above", 0)
local W, H, R, a = 1, 0.5, 0.16, math.rad(turn)
scene { dimension = 2, precision = "double", dx = dx, fps = 50, frames = 60, gravity = {9.81 * math.sin(a), -9.81 * math.cos(a)} }
local function placed(shape) return move(shape, { position = {shift * dx, 0.37 * shift * dx}, rotation = { angle = turn } }) end
rigid { name = "disc", shape = placed(sphere { center = {W / 2, H + above}, radius = R }), density = 1500 * ratio, friction = 0 }
particles { material = material.sand { density = 1500, young = young, friction_angle = 0 }, shape = placed(box { min = {0, 0}, max = {W, H} }),
            prestress = turn == 0 and "k0" or "none" }
for _, w in ipairs { { {0, 0}, {0, 1} }, { {0, 0}, {1, 0} }, { {W, 0}, {-1, 0} } } do
    collider { shape = placed(half_space { point = w[1], normal = w[2] }), contact = "separate", friction = 0 }
end
]]
local W, H, R = 1, 0.5, 0.16
-- The area of the disc below a surface that its middle is `above`.
local function below(above)
    if math.abs(above) >= R then
        return above > 0 and 0 or math.pi * R * R
    end
    return R * R * math.acos(above / R) - above * math.sqrt(R * R - above * above)
end
local function afloat(ratio)
    local low, high = -R, R
    for _ = 1, 60 do
        local middle = 0.5 * (low + high)
        if below(middle) > ratio * math.pi * R * R then low = middle else high = middle end
    end
    return low
end
local function depth(name, ratio, set)
    set.ratio, set.above = ratio, afloat(ratio)
    local run = simulate { scene = scene, set = set, name = name }
    local b, a = measure(run, "body", { name = "disc", all = true }), math.rad(set.turn or 0)
    local dx, shift = set.dx or 0.02, set.shift or 0
    local height, n = 0, 0
    for i = 1, b.rows do
        if b.time_s[i] > 0.6 then
            local x, y = b.x_m[i] - shift * dx, b.y_m[i] - 0.37 * shift * dx
            height, n = height - math.sin(a) * x + math.cos(a) * y, n + 1
        end
    end
    height = height / n
    -- twice the mean height of sand away from the disc
    local points, sum, count = column(run, "position", run.frames), 0, 0
    for i = 1, #points do
        local x, y = points(i)
        x, y = x - shift * dx, y - 0.37 * shift * dx
        local u, v = math.cos(a) * x + math.sin(a) * y, -math.sin(a) * x + math.cos(a) * y
        if math.abs(u - W / 2) > 1.3 * R and u > 0.02 and u < W - 0.02 then
            sum, count = sum + v, count + 1
        end
    end
    local surface = 2 * sum / count
    -- what is beside it was H deep and W wide less what the disc took
    local density = (W * H - below(afloat(ratio))) / (W * surface - below(height - surface))
    return (R - height + surface) / (R - afloat(ratio / density))
end
local function floats(name, ratio, set)
    expect { what = "depth over that of Archimedes, " .. name, value = depth(name, ratio, set or {}), want = 1, relative = 0.05, source = "[A] 5 %" }
end
for _, ratio in ipairs { 0.2, 0.35, 0.5, 0.7, 0.9 } do
    floats("density ratio " .. ratio, ratio)
end
floats("ratio 0.35, shifted by 0.3 cells", 0.35, { shift = 0.3 })
floats("ratio 0.7, shifted by 0.5 cells", 0.7, { shift = 0.5 })
floats("ratio 0.5, turned by 30 degrees", 0.5, { turn = 30 })
floats("ratio 0.5, three times as stiff", 0.5, { young = 1.2e6 })
floats("ratio 0.35, half the cells", 0.35, { dx = 0.01 })

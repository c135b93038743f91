check {
    id = "V-T4",
    title = "A column collapses alike, however it lies on the grid",
    setup = "The column of V-G1c with everything turned by 15, 30 and 45 degrees against the grid: walls, floor, gravity and sand. x_99.5 along the floor after 4 sqrt(H0/g).",
    source = "[A] space has no axes",
    cost = "full", minutes = 1.5,
    why = "A turned floor is stairs of nodes that stick.",
}
local transfers = shared "transfers"
local scene = transfers.said .. [[
local H0, turn = 0.324, math.rad(param("turn", 0, "degrees"))
local c, s = math.cos(turn), math.sin(turn)
scene {
    dimension = 2, dx = H0 / 28, transfer = transfer, fps = 1 / math.sqrt(H0 / 9.81), frames = 4, gravity = {9.81 * s, -9.81 * c},
}
particles { material = material.sand { density = 1500, friction_coefficient = 0.48 },
            shape = move(box { min = {0, 0}, max = {H0 / 1.42, H0} }, { rotation = { angle = math.deg(turn) } }) }
collider { shape = half_space { point = {0, 0}, normal = {c, s} }, contact = "slip" }
collider { shape = half_space { point = {0, 0}, normal = {-s, c} }, contact = "sticky" }
]]
local function runout(transfer, turn)
    local run = simulate { scene = scene, set = { transfer = transfer, turn = turn }, name = transfer .. ", " .. turn .. " degrees" }
    local x, along = column(run, "position", run.frames), {}
    local c, s = math.cos(math.rad(turn)), math.sin(math.rad(turn))
    for i = 1, #x do
        local a, b = x(i)
        along[i] = c * a + s * b
    end
    table.sort(along)
    return along[math.ceil(0.995 * #along)] / 0.324
end
for _, transfer in ipairs(transfers.names) do
    local rows = {}
    for i, turn in ipairs { 0, 15, 30, 45 } do
        rows[i] = runout(transfer, turn)
        if transfer == "steady" and i > 1 then
            expect { what = string.format("x_99.5 turned by %d degrees, over the upright one", turn), value = rows[i] / rows[1], want = 1, relative = 0.04, source = "[A] 1; 4 %" }
        end
    end
    note(string.format("%s: x_99.5 / H0 = %s at 0, 15, 30 and 45 degrees.", transfer, transfers.list(rows, "%.3f")))
end

check {
    id = "V-W14",
    title = "Cohesive boxes on a wedge",
    setup = "A box of 0.4 by 0.3 m falls on a wedge of 45 degrees, with cohesions of 0, 200 and 2000 Pa, 2D; the wedge at nodes and between them, two steps.",
    source = "[S] with cohesion what is left goes less far and stands higher",
    cost = "full", minutes = 2,
}
local scene = [[
local cohesion, off, share = param("cohesion", 200, "Pa"), param("off", 0), param("share", 0.8)
local dx = 0.0125
local o = off * dx
scene { method = "mixture", dimension = 2, dx = dx, fps = 20, frames = 30, elastic_share = share, seed = 1 }
local function plane(x, y, nx, ny) return half_space { point = {x, y}, normal = {nx, ny} } end
particles { material = material.sand { density = 1500, friction_angle = 35, cohesion = cohesion, young = 1e6 }, shape = box { min = {o - 0.2, o + 0.45}, max = {o + 0.2, o + 0.75} } }
collider { shape = intersect(plane(o, o + 0.35, 1, 1), plane(o, o + 0.35, -1, 1)), contact = "separate", friction = 0.4 }
collider { shape = plane(0, o, 0, 1), contact = "separate", friction = 0.5 }
]]
for _, row in ipairs { { "at nodes", {} }, { "0.3 of a cell off, short steps", { off = 0.3, share = 0.4 } } } do
    local way, height = {}, {}
    for i, cohesion in ipairs { 0, 200, 2000 } do
        local run = simulate { scene = scene, set = { cohesion = cohesion, off = row[2].off or 0, share = row[2].share or 0.8 }, name = row[1] .. ", " .. cohesion .. " Pa" }
        way[i] = measure(run, "runout", { quantile = 0.95 }).high_m
        -- of what lies beside the wedge
        local x, tall = column(run, "position", run.frames), 0
        local o = 0.0125 * (row[2].off or 0)
        for k = 1, #x do
            local a, b = x(k)
            tall = math.max(tall, math.abs(a - o) > 0.36 and b - o or 0)
        end
        height[i] = tall
        note(string.format("%s, %g Pa: 95 %% within %.3f m, %.3f m high beside the wedge", row[1], cohesion, way[i], tall))
    end
    for i = 2, 3 do
        local what = string.format("%s, %s instead of %s Pa", row[1], i == 2 and 200 or 2000, i == 2 and 0 or 200)
        expect { what = what .. ": run-out over that before", value = way[i] / way[i - 1], band = { 0, 1 }, source = "[S] less" }
        expect { what = what .. ": height over that before", value = height[i] / height[i - 1], band = { 1, 100 }, source = "[S] more" }
    end
end

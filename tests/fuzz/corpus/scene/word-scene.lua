scene {
    title = "A tilting slice", dimension = 2, dx = 0.01, fps = 48, frames = 96,
    gravity = function(t)
        local a = math.rad(math.min(30, 20 * t))
        return -9.81 * math.sin(a), -9.81 * math.cos(a)
    end,
}
particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.3, 0.1} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }

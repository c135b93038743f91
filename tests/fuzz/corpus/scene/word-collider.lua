scene { dx = 0.02, frames = 48 }
particles { material = material.sand {}, shape = box { min = {-0.2, 0, -0.1}, max = {0.2, 0.2, 0.1} } }
collider {
    name = "plough",
    shape = box { min = {-0.4, 0.02, -0.1}, max = {-0.3, 0.3, 0.1} },
    contact = "separate", friction = 0.3,
    motion = function(t)
        return { position = {0.2 * t, 0, 0}, rotation = { axis = {0, 0, 1}, angle = 5 * t } }
    end,
}
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }

scene { dx = 0.1, frames = 1 }
particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {1, 0.4, 1} } }
rigid { name = "ball", shape = sphere { center = {0.5, 0.8, 0.5}, radius = 0.2 }, density = 2500, velocity = {0, -2, 0},
        spin = { axis = {1, 0, 0}, rate = 360 }, contact = "slip", friction = 0.3, restitution = 0.5 }
rigid { shape = subtract(box { min = {2, 0, 0}, max = {3, 1, 1} }, box { min = {2.3, 0.3, -1}, max = {2.7, 0.7, 2} }), mass = 3,
        force = function(t) return 1, -t, 0 end, torque = {0, 0, 2}, look = "glass", color = {1, 0, 0} }
rigid { name = "sticks", contact = "sticky", shape = move(cylinder { base = {0, 0, 0}, axis = {0, 1, 0}, radius = 0.2, height = 1 },
        { position = {5, 0, 0}, rotation = { axis = {1, 1, 0}, angle = 30 } }), density = 1, torque = function(t) return 0, 0, t end }
collider { shape = half_space { point = {0, -1, 0}, normal = {0, 1, 0} } }

scene { dx = 0.1, frames = 2 }
local m = material.sand {}
local hole = sphere { center = {0, 0.5, 0}, radius = 0.1 }
collider { name = "arm", shape = sphere { center = {2, 0, 0}, radius = 0.3 }, spin = { rate = 90, axis = {0, 1, 0} } }
rigid { name = "can", shape = sphere { center = {4, 0, 0}, radius = 0.3 }, density = 100 }
emitter { material = m, shape = hole, velocity = {0, -1, 0}, attach = "arm" }
emitter { material = m, shape = hole, velocity = {0, -1, 0}, attach = "can", spin = { rate = 10 } }
emitter { material = m, shape = hole, velocity = {0, -1, 0}, mouth_velocity = {1, 0, 0}, rate = 1e-3 }
emitter { material = m, shape = hole, velocity = {0, -1, 0}, motion = function(t) return { position = {t, 0, 0} } end }
emitter { material = m, shape = hole, velocity = {0, -1, 0}, between = "linear",
          keys = {{ time = 0 }, { time = 1, position = {1, 0, 0}, rotation = { angle = 90 } }} }

scene { dx = 0.1, frames = 1 }
rigid { name = "a", mass = 1, shape = sphere { center = {0, 0, 0}, radius = 1 } }
joint { kind = "hinge", a = "a", b = "a", at = {0, 0, 0}, axis = {0, 0, 0} }
joint { kind = "slider", a = "a", b = "nobody", at = {0, 1e300, 0}, range = { min = 1, max = -1 }, speed = 0 / 0, strength = -1 }
joint { kind = "weld", a = 3 }
joint { kind = "fixed", a = "a", at = {0, 0, 0}, speed = function(t) return "fast" end, strength = 1e308 }

scene { dimension = 2, dx = 0.1, frames = 2 }
rigid { name = "wheel", shape = sphere { center = {0, 0.5}, radius = 0.3 }, density = 800 }
rigid { name = "fork", shape = box { min = {-0.1, 1}, max = {0.1, 1.3} }, mass = 2 }
rigid { name = "load", shape = box { min = {-0.1, 1.3}, max = {0.1, 1.6} }, mass = 2 }
collider { name = "rail", shape = box { min = {-9, 3}, max = {9, 3.2} }, velocity = {0.1, 0} }
joint { kind = "hinge", a = "wheel", b = "fork", at = {0, 0.5}, speed = -180, strength = 5 }
joint { kind = "slider", a = "fork", b = "rail", at = {0, 1.2}, axis = {0, 1, 0}, range = { min = -0.2, max = 0.1 } }
joint { kind = "fixed", a = "load", b = "fork", at = {0, 1.3} }
joint { kind = "hinge", a = "rail", b = "load", at = {0, 2}, speed = function(t) return 90 * t end }

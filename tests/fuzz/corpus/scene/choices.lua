local size = param("size", {"quick", "fine"}, "how fine")
scene { dimension = 2, dx = size == "fine" and 0.05 or 0.1, frames = 1 }
particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.3, 0.3} } }

scene { dx = 0.1, frames = 2 }
particles { material = material.elastic {}, body = "bar", shape = box { min = {0, 0, 0}, max = {1, 1, 1} } }
particles { material = material.elastic {}, body = "bar.1", shape = box { min = {2, 0, 0}, max = {3, 1, 1} } }
fracture { body = "bar", by = sphere { center = {0.5, 0.5, 0.5}, radius = 1e-9 }, strength = {1e300, 1e301}, open = plane { point = {0, 0, 0}, normal = {1, 0, 0} } }

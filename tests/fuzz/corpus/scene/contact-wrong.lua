scene { dimension = 2, dx = 0.1, frames = 1 }
local m = material.elastic {}
particles { material = m, body = "a", shape = sphere { center = {0, 0}, radius = 0.5 } }
particles { material = m, body = "b", shape = sphere { center = {0.2, 0}, radius = 0.5 } }
emitter { material = m, body = "c", shape = box { min = {3, 3}, max = {4, 4} }, velocity = {0, -1} }
contact { bodies = {"a", "nobody"}, friction = 0.1, contact = "separate", normals = "regression", gap = false }
contact { bodies = {"b", "a"}, contact = "sticky", friction = 1 }
contact { impulses = "pairs" }

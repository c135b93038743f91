-- Bodies that break, in every way there is.
scene { dimension = 2, dx = 0.1, frames = 2 }
local rubber = material.elastic { density = 1000, young = 1e5 }
local function block(name, x)
  particles { material = rubber, body = name, shape = box { min = {x, 0}, max = {x + 0.8, 0.8} } }
end
block("one", 0) block("two", 1) block("three", 2) block("four", 3) block("five", 4)
fracture { body = "one", by = plane { point = {0.4, 0.4}, normal = {1, 0.2} }, strength = {1e3, 2e3} }
fracture { body = "two", by = planes { list = {{ point = {1.4, 0}, normal = {1, 0}, strength = 5 }, { point = {0, 0.4}, normal = {0, 1} }} }, strength = 1e3, shear = 500, friction = 0.3 }
fracture { body = "three", by = zigzag { point = {2, 0.4}, normal = {0, 1}, along = {1, 0}, tooth = 0.2 }, strength = 100, criterion = "paper" }
fracture { body = "four", by = voronoi { count = 5, seed = 2 }, strength = 1e3, open = sphere { center = {3.4, 0.4}, radius = 0.2 } }
fracture { body = "five", by = voronoi { points = {{4.1, 0.1}, {4.7, 0.3}, {4.4, 0.7}} }, strength = 1e3, spacing = 0.02, seed = 9, softening = 0.01 }
contact { bodies = {"one", "two"}, friction = 0.2 }
contact { bodies = {"one.1", "two.3"}, friction = 0.4 }

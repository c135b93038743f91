scene { dx = 0.1, frames = 1 }
local s = sphere { center = {0, 0, 0}, radius = 1 }
pcall(rigid, { shape = s })
rigid { name = "a", mass = 1e-300, shape = move(s, { scale = 1e-6 }), velocity = {1e300, 0, 0} }
rigid { name = "a", density = 1 / 0, shape = subtract(s, s), restitution = -1, friction = 0 / 0 }
rigid { mass = 0, density = 0, shape = invert(s) }
rigid { mass = 1, shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, force = function(t) return {} end }

local n = 0
scene { dx = 1, frames = 1, gravity = function(t) n = n + 1 return 0, n, 0 end }

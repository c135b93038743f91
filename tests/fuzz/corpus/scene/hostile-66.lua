scene { dx = 1, frames = 1, gravity = function() while true do pcall(error) end end }

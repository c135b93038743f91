scene { dx = 1, frames = 1, gravity = function() local s = 'x' while true do s = s .. s end end }

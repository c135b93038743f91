while true do param('p' .. math.random(1 << 60), 1) end

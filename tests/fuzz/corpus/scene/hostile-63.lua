while true do print('x') end

while true do local s = sphere { center = {0,0,0}, radius = 1 } end

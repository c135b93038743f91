local t = {} for i = 1, 2e5 do t['k' .. i] = i end while true do for k in pairs(t) do break end end

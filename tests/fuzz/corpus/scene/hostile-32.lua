local t = {} for i = 1, 1e6 do t[i] = i end local k while true do k = next(t, k) end

local t = {} for i = 1, 1e6 do t[i] = -i end table.sort(t) table.sort(t, function() return true end)

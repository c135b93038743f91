table.insert(setmetatable({}, {__len = function() return 1 << 53 end, __index = function() end, __newindex = function() end}), 1, 1)

print(setmetatable({}, {__tostring = function() return 1 end}))

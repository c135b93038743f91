local t = {} t.__index = t setmetatable(t, t) local x = t.y

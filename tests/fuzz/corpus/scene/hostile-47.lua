local t = {} for i = 1, 300 do t = setmetatable({}, {__eq = function(a, b) return a == b end}) end return t == setmetatable({}, getmetatable(t))

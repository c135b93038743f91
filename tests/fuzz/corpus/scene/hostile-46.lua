local t = setmetatable({}, {__index = function(t, k) return t[k] end}) local x = t.y

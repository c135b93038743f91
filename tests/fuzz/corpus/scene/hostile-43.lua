local t = setmetatable({}, {}) getmetatable(t).__tostring = tostring tostring(t)

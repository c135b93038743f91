setmetatable(_G, {})

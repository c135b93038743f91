for k, v in pairs(_G) do _G[k] = nil end

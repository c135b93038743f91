for k, v in pairs(_G) do rawset(_G, k, false) end scene = nil

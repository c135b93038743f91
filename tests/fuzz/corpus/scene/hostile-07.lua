repeat local ok = pcall(error, 'x') until false

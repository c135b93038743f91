getmetatable(_G).__index = nil

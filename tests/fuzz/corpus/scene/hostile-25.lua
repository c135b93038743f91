while true do table.unpack({}, 1, 9e5) end

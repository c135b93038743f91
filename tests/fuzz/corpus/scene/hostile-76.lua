local t = table.pack(table.unpack({}, 1, 9e5)) while true do t = table.pack(table.unpack(t, 1, 9e5)) end

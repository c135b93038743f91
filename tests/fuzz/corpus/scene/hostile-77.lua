string.char(table.unpack({}, 1, 9e5))

select(-1, table.unpack({}, 1, 9e5))

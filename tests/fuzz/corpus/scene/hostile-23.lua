table.unpack({}, 1, 1 << 53)

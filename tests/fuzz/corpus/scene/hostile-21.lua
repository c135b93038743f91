table.concat({}, '', 1, 1 << 53)

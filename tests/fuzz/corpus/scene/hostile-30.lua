table.sort({1, 2, 3}, pcall) table.sort({1, 2, 3}, error)

string.format(('%s'):rep(1e6), 1)

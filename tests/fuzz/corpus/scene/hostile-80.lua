error(('x'):rep(1e8))

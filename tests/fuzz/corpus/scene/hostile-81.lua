scene { [('x'):rep(1e7)] = 1 }

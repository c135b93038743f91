('x'):rep(1e5):find(('x-'):rep(1e5))

local x = _G[('x'):rep(1e7)]

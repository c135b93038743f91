tonumber(('9'):rep(1e8))

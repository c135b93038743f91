local s = (''):rep(1 << 62)

local s = ('x'):rep(5e7) local u = ('x'):rep(5e7) while true do local b = s == u end

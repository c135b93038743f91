local s = ('x'):rep(1e8) while true do local u = s:upper() end

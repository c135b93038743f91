local s = ('x'):rep(1e7) while true do local t = s .. s end

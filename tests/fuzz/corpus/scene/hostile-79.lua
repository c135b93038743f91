assert(false, setmetatable({}, {__name = ('x'):rep(1e7)}))

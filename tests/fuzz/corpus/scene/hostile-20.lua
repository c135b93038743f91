local t = setmetatable({}, {__index = table.concat, __len = rawlen}) table.concat(t, '', 1, 1 << 53)

local a = {} a[a] = a for k in pairs(a) do end

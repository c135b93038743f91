return load('while true do end')()

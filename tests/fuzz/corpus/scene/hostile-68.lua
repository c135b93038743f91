local function f() return f() + 1 end scene { dx = 1, frames = 1, gravity = f }

scene { dx = 1, frames = 1, seed = 3 }
for i = 1, 9 do print(math.random(i), math.random()) end

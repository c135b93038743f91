rawget(sphere { center = {0,0,0}, radius = 1 }, 1)

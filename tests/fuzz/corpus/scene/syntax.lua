scene { dx = 1 frames = 2 }

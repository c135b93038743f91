scene { dx = 0.1, framse = 1 }

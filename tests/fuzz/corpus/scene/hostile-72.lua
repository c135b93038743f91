scene { dx = 1, frames = 1, gravity = scene }

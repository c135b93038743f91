scene { dx = 0.1, frames = 2 }
collider { shape = mesh_sequence { files = "meshes/trampoline-%02d.obj", first = 0, last = 11, fps = 24, start = 0.1, loop = true, thickness = 0.05, scale = 1, up = "z" } }

// Colliders, and pieces of bodies that may break, as meshes in a run's folder.
#pragma once

#include "io/folder.h"
#include "sim/world.h"

// Into shapes/ of the folder. Wants particles to be in their pages.
rp_result rp_world_write_shapes(const rp_world *world, const rp_folder *folder);

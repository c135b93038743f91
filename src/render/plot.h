// Diagrams of a frame in place of its picture.
#pragma once

#include "render/canvas.h"
#include "render/show.h"

// The stresses of one material along their own axes, with the cone on which it yields: as a cone
// in the space of the three (a wedge in the plane of two, in 2D), and as shear over pressure.
// Colours are those of the cases. The quantity of `render` must be the pressure.
rp_result rp_plot_yield(const rp_render *render, const char *path, rp_canvas *canvas);

// What the colours mean, and when it was, written into a picture.
#pragma once

#include "render/canvas.h"
#include "render/quantity.h"

// How much of the width it takes, at the right [pixels].
float rp_legend_width(int width, int height, const rp_quantity *q);
void rp_legend_draw(rp_canvas *canvas, const rp_quantity *q);
// "t = 0.25 s", with as many digits as tell two frames apart.
void rp_legend_time(double time, double fps, char out[64]);
void rp_legend_stamp(rp_canvas *canvas, double time, double fps);

// Lines, discs and words on a picture, for legends and plots. Pixels are sRGB bytes from the top;
// places are in pixels, y downwards.
#pragma once

#include <stdbool.h>

typedef struct rp_canvas {
    int width, height;
    unsigned char *rgb;
} rp_canvas;

typedef struct rp_ink {
    unsigned char r, g, b;
    float opacity; // 0 to 1
} rp_ink;

void rp_canvas_fill(rp_canvas *c, float x0, float y0, float x1, float y1, rp_ink ink);
void rp_canvas_line(rp_canvas *c, float x0, float y0, float x1, float y1, float width, rp_ink ink);
void rp_canvas_disc(rp_canvas *c, float x, float y, float radius, rp_ink ink);

// Words, with their first letter at x and their baseline at y. `size` is the height of a capital;
// a ^ raises the digits behind it, as in m^3.
void rp_canvas_text(rp_canvas *c, float x, float y, float size, rp_ink ink, const char *text);
float rp_canvas_text_width(float size, const char *text);

// The step between the marks of an axis: 1, 2 or 5 times a power of ten, about `marks` of them.
double rp_canvas_step(double range, int marks);
// The smallest such step whose numbers stand apart by a letter along an axis of that many pixels,
// with at most five of them. `size` is the height of a capital.
double rp_canvas_apart(double low, double high, float pixels, float size);
// A number with no more digits than a step needs: 0.25, 12, 3e-5.
void rp_canvas_number(double value, double step, char out[24]);

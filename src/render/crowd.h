// The particles of one picture: read from a frame or given, before they go onto the stage.
#pragma once

#include "repose/render.h"

#define RP_FARTHEST 1e9 // particles beyond are left out [m]

typedef struct rp_crowd {
    double (*point)[3];        // [m]
    float (*velocity)[3];      // [m/s]; NULL while the shutter is quick
    float *radius;             // [m]; NULL: all alike
    float *volume;             // that each stands for [m^3]; NULL: nobody asks
    unsigned char (*color)[3]; // sRGB
    size_t count, room;
    bool flat; // a 2D world, best seen from the front
} rp_crowd;

rp_result rp_crowd_open(rp_crowd *crowd, int64_t room, bool flat, bool moving);
void rp_crowd_free(rp_crowd *crowd);
// @return the place for what else is known of it, or SIZE_MAX when it is nowhere and was left out
size_t rp_crowd_add(rp_crowd *crowd, const double x[3]);

// Bounds; of a metre around the origin when there is nobody.
void rp_crowd_bounds(const rp_crowd *crowd, double lower[3], double upper[3]);
// A radius that makes sand look closed, from the distance between neighbours [m].
double rp_crowd_radius(const rp_crowd *crowd);
// The same from the volume of a particle [m].
double rp_radius_of_volume(double volume, int dimension);

// Which of three shades a grain has: 0 as most, 1 dark, 2 light; and what it makes of a colour.
// @param color sRGB, 0 to 1; NULL: that of sand
int rp_grain_shade(uint64_t id);
void rp_shade_color(const double *color, int shade, unsigned char rgb[3]);

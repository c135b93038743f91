// Points as small lit spheres on a light ground, seen by a pinhole camera.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct vec {
    double x, y, z;
} vec;

typedef struct view {
    int width, height; // of the picture [pixels]
    vec eye, look;     // camera and what it looks at [m]; y is up
    double fov;        // vertical [degrees]
    double radius;     // of each point [m]
    bool flat;         // a 2D world, best seen and lit from the front
} view;

/// A radius that makes sand look closed, from the distance between neighbours [m].
double fitting_radius(const vec *points, size_t count);

/// Set eye and look so that all points are in the picture, seen from a little above or, when flat,
/// from the front. Wants the other fields to be set.
void frame_points(const vec *points, size_t count, view *v);

/// The middle of the points' bounding box.
vec middle_of(const vec *points, size_t count);

/// Draw into rgb[height][width][3], which is sRGB.
/// @return false when there is not enough memory
bool draw_points(const vec *points, size_t count, const view *v, unsigned char *rgb);

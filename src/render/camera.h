// Where the camera stands, in metres, and how it gets there when nobody says.
#pragma once

#include "repose/base.h"

typedef struct rp_camera {
    int width, height;         // of the picture [pixels]
    double eye[3], look[3];    // [m]
    double fov;                // from bottom to top [rad]
    double lower[3], upper[3]; // what there is to see [m]
    bool z_up;                 // else y is
    bool parallel;             // all looks go the same way: nothing leans or shrinks with distance
    double free_right;         // share of the width that is kept free for a legend
} rp_camera;

// Unit vectors; up is as near to y, or z, as it can be.
typedef struct rp_axes {
    double right[3], up[3], forward[3];
} rp_axes;
rp_axes rp_camera_axes(const double eye[3], const double look[3], bool z_up);

// Set eye and look so that the points are in the picture: seen from a little above, or straight
// from the front when flat. Wants the rest to be set.
// @param loose of the first so many, a few in a thousand may be left out
// @param radius of every point [m]
// @return RP_ERR_MEMORY
rp_result rp_camera_aim(rp_camera *camera, const double (*point)[3], size_t loose, size_t count,
                        double radius, bool flat);

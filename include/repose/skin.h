// SPDX-License-Identifier: Apache-2.0
// The surface of water, from its particles: smooth where it is calm, a drop where one flies alone,
// flat where it stands at a wall. To look at, and for other programs; nothing is measured on it.
#pragma once

#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A half-space that keeps water out: what lies below its plane.
typedef struct rp_skin_wall {
    double point[3], normal[3]; ///< [m]; a unit vector that points to the water
    double over;                ///< how far the surface reaches into it, so that no gap is seen [m]
} rp_skin_wall;

/// A triangle of something solid that water may lie against, counter-clockwise from outside [m]:
/// water goes on behind it for about three spacings, so that no gap is seen. Nothing is cut off.
typedef struct rp_skin_face {
    double corner[3][3];
} rp_skin_face;

/// Particles, all arrays the caller's, needed while rp_skin_open() runs.
typedef struct rp_skin_crowd {
    const double (*point)[3];   ///< [m], finite
    const float (*velocity)[3]; ///< [m/s]; NULL: nobody asks
    const float *volume;        ///< that each stands for, pores of sand included [m^3]; in 2D [m^2]
    int64_t count;
} rp_skin_crowd;

typedef struct rp_skin_def {
    rp_skin_crowd water, sand; ///< sand hides what is between its grains
    double spacing;            ///< of water's particles where they are dense [m]
    double voxel;              ///< of the grid that it is made on, 0.3 to 1 spacings [m]; 0: 0.75
    bool flat;                 ///< a 2D world: a slab, two spacings thick
    const rp_skin_wall *wall;
    int walls;
    const rp_skin_face *face;
    int faces;
    int threads;     ///< 0: as many as the process may use
    uint32_t cookie; ///< filled in by rp_default_skin_def()
} rp_skin_def;
RP_API rp_skin_def rp_default_skin_def(void);

typedef struct rp_skin rp_skin;

/// The same particles give the same bits, on any number of threads.
/// @param[out] skin released with rp_skin_close(); NULL on failure
RP_API rp_result rp_skin_open(const rp_skin_def *def, rp_skin **skin);
RP_API void rp_skin_close(rp_skin *skin);

/// Its triangles. Closed, but for what its particles leave open between them.
/// @param[out] surface released with rp_surface_free()
/// @param[out] velocity [vertices][3] [m/s], released with free(); may be NULL, and is set to NULL
/// where water came without velocities
RP_API rp_result rp_skin_surface(const rp_skin *skin, rp_surface *surface, float (**velocity)[3]);

/// The share of space around a place that is water: 0 to 1, or a little more.
RP_API double rp_skin_wetness(const rp_skin *skin, const double x[3]);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Previews: a quick picture of particles, drawn as small lit spheres on a light ground.
//
//     rp_preview_def def = rp_default_preview_def();       // change what differs, then
//     rp_preview_frame("heap.hdf", &def, "heap.png");
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_preview_def {
    int width, height;         ///< of the picture [pixels], 1 to 8192
    bool has_eye, has_look;    ///< false: so that all particles are in the picture
    double eye[3], look_at[3]; ///< where the camera stands and what it looks at [m]; y is up
    double fov;                ///< how much it sees from bottom to top [rad]
    double radius;             ///< of a grain [m]; 0: from the distance between neighbours
    uint32_t cookie;           ///< filled in by rp_default_preview_def()
} rp_preview_def;

/// 1280 x 720 pixels, 30 degrees, the rest from the particles.
RP_API rp_preview_def rp_default_preview_def(void);

/// Draw particles. A 2D world is seen from the front, a 3D world from a little above. With only an
/// eye given, the camera looks at the middle of the particles; with only a place to look at, it
/// keeps its direction and distance. Particles that are not at a finite place, or more than 1e9 m
/// away, are left out; where there is none, the picture shows empty ground.
/// @param position [count][3] [m]; in 2D the third component is ignored
/// @param id [count], decides the colour of each grain; NULL: its index does
/// @param dimension 2 or 3
/// @param[out] rgb [height][width][3], sRGB, from the top; untouched on failure
RP_API rp_result rp_preview_points(const double *position, const uint64_t *id, int64_t count,
                                   int dimension, const rp_preview_def *def, unsigned char *rgb);

/// The same for the particles of a frame, into a PNG file: to PNG.tmp, then renamed, so that `png`
/// is whole or as it was.
/// @param frame see frame.h
RP_API rp_result rp_preview_frame(const char *frame, const rp_preview_def *def, const char *png);

#ifdef __cplusplus
}
#endif

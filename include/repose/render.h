// SPDX-License-Identifier: Apache-2.0
// Pictures of runs, by path tracing: every particle is a matte sphere under a sun and a sky,
// colliders stand around as the scene says, and the picture is a PNG file in sRGB.
//
//     rp_render_def def = rp_default_render_def();          // change what differs, then
//     rp_render_open("heap-out", &def, &render);            // chooses camera and colours for all
//     frames rp_render_frame(render, 12, "heap.png");
//
// The same def and the same run give the same bytes, on any number of threads.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_render_def {
    int width, height; ///< of the picture [pixels], 1 to 8192
    int samples;       ///< of a pixel, 1 to 65536; 0: 64, for a preview 2
    bool preview;      ///< the same view in a tenth of the time: grainy, with less bounced light
    bool has_eye, has_look;    ///< false: as the scene says, else so that all frames are seen
    double eye[3], look_at[3]; ///< where the camera stands and what it looks at [m]; y is up
    double fov; ///< how much it sees from bottom to top [rad]; 0: as the scene says, or 30 degrees
    double radius;   ///< of a grain [m]; 0: from the volume that it stands for
    int threads;     ///< 0: as many as the process may use
    uint32_t cookie; ///< filled in by rp_default_render_def()
} rp_render_def;

/// 1280 x 720 pixels; the rest from the run.
RP_API rp_render_def rp_default_render_def(void);

/// What all pictures of a run have in common.
typedef struct rp_render rp_render;

/// @param path the folder of a run, or a frame
/// @param[out] render released with rp_render_close(); NULL on failure
RP_API rp_result rp_render_open(const char *path, const rp_render_def *def, rp_render **render);
RP_API void rp_render_close(rp_render *render);

/// A picture of a frame: to PNG.tmp, then renamed, so that `png` is whole or as it was. Several
/// threads may make pictures of one rp_render at once; each then works alone.
/// @param frame its number; of a single frame -1 will do, and of a run that is the last one
RP_API rp_result rp_render_frame(const rp_render *render, int64_t frame, const char *png);

/// Particles that come from elsewhere. A 2D world is seen from the front, a 3D world from a little
/// above. With only an eye given, the camera looks at the middle of the particles; with only a
/// place to look at, it keeps its direction and distance. Particles that are not at a finite place,
/// or more than 1e9 m away, are left out; where there is none, the picture shows empty ground.
/// @param position [count][3] [m]; in 2D the third component is ignored
/// @param id [count], decides the colour of each grain; NULL: its index does
/// @param dimension 2 or 3
/// @param[out] rgb [height][width][3], sRGB, from the top; untouched on failure
RP_API rp_result rp_render_points(const double *position, const uint64_t *id, int64_t count,
                                  int dimension, const rp_render_def *def, unsigned char *rgb);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Pictures of runs, by path tracing: every particle is a matte sphere under a sun and a sky,
// water a surface that refracts, colliders stand around as the scene says, and the picture is a PNG
// file in sRGB.
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

/// What a picture shows.
typedef enum rp_plot {
    RP_PLOT_NONE,  ///< the particles themselves
    RP_PLOT_YIELD, ///< their principal stresses, with the cone on which sand yields
} rp_plot;

typedef struct rp_render_def {
    int width, height; ///< of the picture [pixels], 1 to 8192
    int samples;       ///< of a pixel, 1 to 65536; 0: 64, for a preview 1
    bool preview; ///< the same view in a tenth of the time: one ray to the sun, the sky guessed
    bool z_up;    ///< z points up, not y; of the run in a folder its scene says
    bool has_eye, has_look;    ///< false: as the scene says, else so that all frames are seen
    double eye[3], look_at[3]; ///< where the camera stands and what it looks at [m]
    double fov; ///< how much it sees from bottom to top [rad]; 0: as the scene says, or 30 degrees
    bool droplets;  ///< water as spheres, as all else; false: as a surface, unless colours are data
    double radius;  ///< of a grain [m]; 0: from the volume that it stands for
    double shutter; ///< for how much of the time between two frames it is open, 0 to 1
    /// What particles are coloured by: "grains" (the colours of sand), "speed", "pressure",
    /// "smooth_pressure", "case" (of the return mapping), "material", "body", "height", "id", a
    /// column, or a component of one such as "velocity.y" or "stress.xy". NULL: grains. Copied.
    const char *color;
    bool has_range;  ///< false: what most particles of the run have
    double range[2]; ///< of the colours, in the quantity's unit; refused where they are no numbers
    bool legend;     ///< what the colours mean, at the right; grains have none
    bool stamp;      ///< the simulated time, below
    rp_plot plot;
    int threads; ///< 0: as many as the process may use
    /// Asked now and then, by any of the threads: once it says true, and goes on to say so,
    /// pictures and movies end with RP_ERR_STOPPED and leave nothing half-written. NULL: they go
    /// on.
    bool (*stop)(void *context);
    void *stop_context;
    uint32_t cookie; ///< filled in by rp_default_render_def()
} rp_render_def;

/// 1280 x 720 pixels, a quick shutter, grains of sand, a legend; the rest from the run.
RP_API rp_render_def rp_default_render_def(void);

/// What all pictures of a run have in common.
typedef struct rp_render rp_render;

/// @param path the folder of a run, or a frame
/// @param[out] render released with rp_render_close(); NULL on failure
RP_API rp_result rp_render_open(const char *path, const rp_render_def *def, rp_render **render);
RP_API void rp_render_close(rp_render *render);

/// What was given or chosen for all pictures of a run: for whoever shows it otherwise, and wants
/// the same view and the same colours.
typedef struct rp_render_view {
    int width, height;         ///< of a picture [pixels]
    double eye[3], look_at[3]; ///< [m]
    double fov;                ///< from bottom to top [rad]
    bool parallel;   ///< no perspective: as large everywhere as a lens would show it at look_at
    bool has_range;  ///< the colours stand for numbers
    double range[2]; ///< of them
} rp_render_view;
RP_API void rp_render_get_view(const rp_render *render, rp_render_view *out);

/// A picture of a frame: to PNG.tmp, then renamed, so that `png` is whole or as it was. Several
/// threads may make pictures of one rp_render at once; each then works alone.
/// @param frame its number; of a single frame -1 will do, and of a run that is the last one
RP_API rp_result rp_render_frame(const rp_render *render, int64_t frame, const char *png);

/// Which frame a picture would show, and when it was.
/// @param[in,out] frame as for rp_render_frame(); its number afterwards
/// @param[out] time [s]
RP_API rp_result rp_render_which(const rp_render *render, int64_t *frame, double *time);

/// Which frames a movie shows, and how fast.
typedef struct rp_movie_def {
    int64_t first, last; ///< -1 as the last: the run's last
    int64_t every;       ///< show each frame, each second one, ...
    double fps;          ///< of the movie; 0: as fast as it happened
    /// Called when a picture is finished, by one thread at a time; may be NULL.
    void (*progress)(void *context, int64_t done, int64_t frames);
    void *context;
    uint32_t cookie; ///< filled in by rp_default_movie_def()
} rp_movie_def;
RP_API rp_movie_def rp_default_movie_def(void);

/// A movie (H.264 in MP4) of a run, by the ffmpeg program. Pictures go to NAME.frames beside
/// NAME.mp4; those that are there already and show the same are kept. The movie is whole or as it
/// was.
/// Pictures that are finished stay when it is stopped.
/// @return RP_ERR_FILE when there is no ffmpeg, before anything is drawn, or when it fails
RP_API rp_result rp_render_movie(const rp_render *render, const rp_movie_def *def, const char *mp4);

/// Particles that come from elsewhere. A 2D world is seen straight from the front, without
/// perspective unless fov alone or an eye elsewhere is given, a 3D world from a little above. With
/// only an eye given, the camera looks at the middle of the particles; with only a place to look
/// at, it keeps its direction and distance. Particles that are not at a finite place, or more than
/// 1e9 m away, are left out; where there is none, the picture shows empty ground.
/// @param position [count][3] [m]; in 2D the third component is ignored
/// @param id [count], decides the colour of each grain; NULL: its index does
/// @param dimension 2 or 3
/// @param[out] rgb [height][width][3], sRGB, from the top; untouched on failure
RP_API rp_result rp_render_points(const double *position, const uint64_t *id, int64_t count,
                                  int dimension, const rp_render_def *def, unsigned char *rgb);

/// One of the three colours of sand, as the id of a grain draws it: amber, brown or white.
/// @param[out] rgb sRGB
RP_API void rp_grain_color(uint64_t id, unsigned char rgb[3]);
/// The same for a material with a colour of its own: that one, a darker or a lighter one.
/// @param color sRGB, 0 to 1
RP_API void rp_grain_tint(const double color[3], uint64_t id, unsigned char rgb[3]);

#ifdef __cplusplus
}
#endif

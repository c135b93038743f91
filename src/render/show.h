// What all pictures of a run have in common, and the steps from a folder to one of them:
// survey.c looks at the whole run and chooses what was left open, reading.c turns a frame into a
// crowd, render.c takes the picture.
#pragma once

#include "render/pool.h"
#include "render/props.h"
#include "render/quantity.h"
#include "render/shot.h"
#include "repose/render.h"

enum { RP_SHOW_PATH = 8192 };

struct rp_render {
    rp_render_def def;
    char *path, *color; // of the run or the frame; what def.color says
    rp_record *record;  // NULL: a single frame
    rp_shot shot;
    rp_quantity quantity;
    double fps;
};

// One frame while it is read.
typedef struct rp_reading {
    rp_reader *reader;
    const rp_frame_info *info;
    rp_batch batch;
    double *number; // the quantity's, of those in the batch
} rp_reading;

// @param want of a batch, besides what the quantity wants
rp_result rp_reading_begin(const rp_render *render, const char *path, unsigned want, rp_reading *r);
void rp_reading_end(rp_reading *r);
// A batch at most, and their numbers.
rp_result rp_reading_at(const rp_render *render, rp_reading *r, int64_t first, int64_t count);

// The particles of a frame, with their colours, radii and, for an open shutter, velocities; water
// apart where it is to be a surface.
rp_result rp_show_read(const rp_render *render, const char *path, rp_crowd *crowd, rp_pool *water);

// The path of a frame; -1 is the last one, and becomes its number.
rp_result rp_show_find(const rp_render *render, int64_t *frame, char path[RP_SHOW_PATH]);

// Choose view, ground and the range of colours.
rp_result rp_show_survey(rp_render *render);
// The view that shows all of the crowd, of which the first `grains` are particles, and then what
// the def wants of it.
rp_result rp_show_view(const rp_render_def *def, const rp_crowd *crowd, size_t grains,
                       double radius, rp_camera *camera);

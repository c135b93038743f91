// Where pictures of the run are taken from, and what their colours range over: asked of those who
// make pictures, so that a page shows the same view in the same colours. All of it belongs to one
// thread.
#pragma once

#include "view/frames.h"

// A look at the whole run takes its time; of each colour the last one is kept.
typedef struct rp_aim {
    int64_t generation, last; // of the run, and its last frame then
    char color[RP_COLOR_BYTES];
    rp_parcel parcel;
} rp_aim;

typedef struct rp_aims {
    rp_aim aim[8];
    int next; // the one that is replaced
} rp_aims;

void rp_aims_end(rp_aims *a);

// @param f whose run it is
// @param color as rp_render_def.color; view and range are those of pictures without a legend
// @return RP_ERR_FILE where there is no frame yet, or one that leads out of the folder
rp_result rp_aims_send(rp_aims *a, const rp_frames *f, const char *color, rp_parcel *out);

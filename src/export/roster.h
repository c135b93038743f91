// Who is in any of the frames of an export, once and for all: for formats whose readers interpolate
// between frames row by row. A particle that is not in a frame, for it is not yet born or gone,
// lies still where it is first or was last seen, and has no size.
#pragma once

#include "export/job.h"

typedef struct rp_roster {
    uint64_t *id;   // upward
    int64_t *first; // index of the first frame of the job that has each
    int64_t count;
    bool changes;   // some frame lacks some of them
    rp_cargo known; // each as it was seen last, or will be first; only where it changes
} rp_roster;

rp_result rp_roster_make(const rp_job *job, rp_roster *out);
void rp_roster_free(rp_roster *roster);
// Makes room in the cargo for all who are missing. Frames come one after the other.
rp_result rp_roster_fill(rp_roster *roster, rp_cargo *cargo);

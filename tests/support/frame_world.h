// Small worlds for tests of frames: sand and rubber that fly apart, in any dimension and precision.
#pragma once

#include "repose/frame.h"

#include <hdf5.h>

typedef enum frame_world_kind {
    FRAME_EMPTY,   // no particles at all
    FRAME_UNBORN,  // all particles wait for the first step
    FRAME_CALM,    // some steps taken, nothing pending
    FRAME_PENDING, // some steps taken, births and deaths pending
    FRAME_KINDS,
} frame_world_kind;

// @param size of the boxes of sand and rubber [cells]
// ends the program when it cannot be made
rp_world *frame_world(int dimension, rp_precision precision, int order, frame_world_kind kind,
                      double size);

typedef struct frame_state {
    void *data;
    size_t size;
} frame_state;

frame_state frame_world_save(const rp_world *world);

// Frames that the writer does not make: one without a column, and one with another column of that
// name in its place or besides, a row per particle. Sealed again; ends the program when it fails.
void frame_drop_column(const char *path, const char *name);
void frame_put_column(const char *path, const char *name, hid_t type, int comps, const void *rows);

// Small worlds for tests of frames: sand and rubber that fly apart, in any dimension and precision.
#pragma once

#include "repose/frame.h"

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

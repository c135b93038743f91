// What a page may ask for: a JSON object of at most a few kilobytes, such as
//
//     {"want": "frame", "frame": 12, "color": "speed"}
//
// It comes from a network, so nothing is taken that is not expected: every key of a message is
// known, is there once and holds what it should, or the whole is refused with a sentence.
#pragma once

#include "repose/view.h"

enum { RP_MESSAGE_BYTES = 16384, RP_COLOR_BYTES = 64 };

typedef enum rp_want {
    RP_WANT_FRAME,  // frame, color
    RP_WANT_PICK,   // frame, color, from, along, spread, plane: the first that a ray meets
    RP_WANT_FOLLOW, // frame, color, id: that one
    RP_WANT_VIEW,   // color: where pictures of the run are taken from, and the range of that colour
    RP_WANT_ORDER,  // pause, resume, stop, start
} rp_want;

typedef struct rp_message {
    rp_want want;
    int64_t frame;
    char color[RP_COLOR_BYTES];
    double from[3], along[3]; // of the ray [m], a unit vector
    double spread;            // how far beside the ray a particle may be, per metre of distance
    double plane[4];          // what is on the side n.x > d of it is hidden; 0: all is seen
    uint64_t id;
    rp_view_order order;
} rp_message;

// @param text need not end with a 0
// @return RP_ERR_ARGUMENT and a sentence; `out` then holds nothing to be used
rp_result rp_message_parse(const char *text, size_t size, rp_message *out);

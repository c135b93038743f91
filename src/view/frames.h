// Frames as pages get them: places and colours in 16 bits, kept for those who come back to them.
// All of it belongs to one thread.
#pragma once

#include "view/lattice.h"
#include "view/message.h"
#include "view/parcel.h"

#include "repose/colors.h"
#include "repose/record.h"

#include <sys/stat.h>

enum { RP_VIEW_CLIENTS = 16, RP_STRAYS = 256 };

// A particle that is far from all others.
typedef struct rp_stray {
    int64_t row; // among those that have codes
    double place[3];
} rp_stray;

// The codes of one frame: of places, three for each particle, or of what they are coloured by.
typedef struct rp_sheet {
    int users;
    struct rp_sheet *next; // in the cache, the one used last comes first
    int64_t frame;
    dev_t device; // which file it was, and how old
    ino_t inode;
    struct timespec written;
    char color[RP_COLOR_BYTES]; // empty: places
    rp_lattice lattice[3];
    rp_blob *codes;
    int64_t count; // particles that have codes: all, or one in every `step`
    int64_t step;
    // of places
    rp_frame_info info;
    double radius;             // of a particle [m]
    double box[2][3];          // least and largest place, but for strays [m]
    rp_stray stray[RP_STRAYS]; // have no codes: a lattice that reached them would be coarse
    int strays;
    // of colours
    rp_colors_info colors;
    double low, high;          // what most particles have
    char palette[6 * 256 + 1]; // of grains and classes: hexadecimal, six digits each
} rp_sheet;

typedef struct rp_frames {
    char folder[4096];
    int64_t generation;      // of the run: pages are told, and take none of an earlier one
    const rp_record *record; // may be NULL, and belongs to somebody else
    size_t room, used;       // bytes
    int64_t most;            // particles; what is above is thinned out
    rp_sheet *first;
    // what each client has; asked for anew, only what differs is sent
    struct {
        uint64_t serial;
        rp_sheet *places, *colors;
    } has[RP_VIEW_CLIENTS];
} rp_frames;

void rp_frames_end(rp_frames *f);
// Another folder, or another run in the same one.
void rp_frames_forget(rp_frames *f);

// A frame for a client.
// @param slot 0 to RP_VIEW_CLIENTS - 1; serial: another one has nothing yet
rp_result rp_frames_send(rp_frames *f, int slot, uint64_t serial, int64_t frame, const char *color,
                         rp_parcel *out);
// The state of a particle: RP_WANT_PICK or RP_WANT_FOLLOW. When there is none, the parcel says so.
rp_result rp_frames_particle(rp_frames *f, const rp_message *message, rp_parcel *out);

// null where a number is not finite, which JSON cannot say
json_t *rp_json_number(double value);
json_t *rp_json_triple(const double x[3]);

// What particles are coloured by: grains of sand, a number of each, or what they belong to.
#pragma once

#include "render/stress.h"
#include "repose/frame.h"
#include "repose/record.h"

typedef enum rp_quantity_kind {
    RP_QUANTITY_GRAINS,  // the three colours of sand
    RP_QUANTITY_NUMBERS, // along a ramp of colours
    RP_QUANTITY_CLASSES, // whole numbers, a colour each
} rp_quantity_kind;

typedef struct rp_quantity {
    rp_quantity_kind kind;
    enum {
        RP_FROM_COLUMN,
        RP_FROM_PRESSURE,
        RP_FROM_CASE,
        RP_FROM_BODY,
    } source;
    char name[64], unit[32]; // for the legend
    char column[64];
    int comps, comp;  // of the column; -1: its length
    double low, high; // of the ramp
    bool has_range;   // they were given
    int classes;      // that were seen; the legend shows them
    char label[8][40];
    rp_yield *yield; // of each material
    int materials;
} rp_quantity;

// @param name as a user writes it: grains, speed, pressure, case, material, body, height, id, a
// column, or a component of one such as velocity.y
// @param record may be NULL
rp_result rp_quantity_choose(rp_quantity *q, const char *name, const rp_record *record,
                             const rp_frame *example);
void rp_quantity_free(rp_quantity *q);

// The numbers of some particles.
// @param scratch [count][16]
rp_result rp_quantity_read(const rp_quantity *q, const rp_frame *frame, const rp_frame_group *group,
                           int groups, int64_t first, int64_t count, double *scratch, double *out);

// The colour of a number; of a grain, whose number is its id.
void rp_quantity_color(const rp_quantity *q, double value, unsigned char rgb[3]);

// Components of a frame's column; 0: it has none of that name.
int rp_column_comps(const rp_frame *frame, const char *name);

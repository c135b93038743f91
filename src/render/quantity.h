// What particles are coloured by: grains of sand, a number of each, or what they belong to.
#pragma once

#include "render/stress.h"
#include "repose/reader.h"

typedef enum rp_quantity_kind {
    RP_QUANTITY_GRAINS,  // the three colours of sand
    RP_QUANTITY_NUMBERS, // along a ramp of colours
    RP_QUANTITY_CLASSES, // whole numbers, a colour each
} rp_quantity_kind;

typedef struct rp_quantity {
    rp_quantity_kind kind;
    bool is_case;            // of the return mapping; all else the reader knows by name
    char name[64], unit[32]; // for the legend
    bool length;             // cannot be negative
    double low, high;        // of the ramp
    bool has_range;          // they were given
    int classes;             // that the legend shows; 0: those that are seen
    char label[8][40];
    const rp_record *record; // may be NULL
    rp_yield *yield;         // of each material
    int materials;
} rp_quantity;

// @param name as a user writes it: grains, speed, pressure, smooth_pressure, case, material, body,
// height, id, a column, or a component of one such as velocity.y
rp_result rp_quantity_choose(rp_quantity *q, const char *name, const rp_reader *example);
void rp_quantity_free(rp_quantity *q);

// What batches must want for it, besides whatever else is wanted of them.
unsigned rp_quantity_wants(const rp_quantity *q);
// The numbers of the particles of a batch. That of a grain stands for one of three shades, and for
// the material where that has a colour.
rp_result rp_quantity_read(const rp_quantity *q, rp_reader *reader, const rp_batch *batch,
                           double *out);
// The colour of a number.
void rp_quantity_color(const rp_quantity *q, double value, unsigned char rgb[3]);

// The mean of a number over the particles around a place: to the nodes of the grid by quadratic
// splines and back, as particles and grid exchange everything else. Particles within three cells
// count, most of all those within one.
#pragma once

#include "repose/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RP_SMOOTH_SIDE = 4, RP_SMOOTH_NODES = 64 }; // of a block of nodes

typedef struct rp_smooth_block {
    int32_t at[3];
    bool used;
    double weight[RP_SMOOTH_NODES], sum[RP_SMOOTH_NODES];
} rp_smooth_block;

// Blocks by a hash of their places. Sums at a node are in the order of particles, whatever the
// order of blocks.
typedef struct rp_smooth {
    int dim;
    double dx;
    rp_smooth_block *block;
    size_t size, used; // places in all, a power of two; places taken
} rp_smooth;

// @param dx grid spacing [m]
void rp_smooth_open(rp_smooth *smooth, int dim, double dx);
void rp_smooth_close(rp_smooth *smooth);
// One particle. What is nowhere, or has no weight, is left out.
rp_result rp_smooth_add(rp_smooth *smooth, const double x[3], double weight, double value);
// The mean around a place; 0 where nothing is near.
double rp_smooth_at(const rp_smooth *smooth, const double x[3]);

// From particles to nodes, by cells.
#pragma once

#include "kernel/tile.h"

// A run: particles of one cell, one after the other, that are summed before the arena gets them.
// Runs go on from tile to tile, so that sums do not depend on where tiles are cut.
typedef struct run {
    cell_rows sum;
    lane_int at; // of the cell in the arena; -1: nothing yet
} run;

static const run no_run = {.at = -1};

RP_INLINE void run_end(lane_int at, const cell_rows *sum, real *arena)
{
    if (at >= 0) {
        cell_add(arena + at, sum);
    }
}

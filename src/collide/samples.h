// Contact at samples of the surfaces of colliders, docs/theory.md (W1) to (W4).
//
// Nodes behind a wall hold velocities that nobody can see: they are extrapolated from free ones,
// and what particles put there is folded back by the transpose. What a wall does is a number of
// impulses at places of its surface, spread by the splines of that place; all of them are found
// together, by projected Gauss-Seidel in the order of keys, which starts from the last step's.
#pragma once

#include "collide/body.h"
#include "collide/touches.h"

enum { RP_SAMPLE_SWEEPS = 60 }; // at most

// A sample that was awake in the last step: its impulse is where the next step starts. State.
typedef struct rp_warm {
    uint64_t key;  // of collider and cell
    int64_t place; // in the cell
    double impulse[3];
} rp_warm;

typedef struct rp_samples {
    rp_buffer warm; // rp_warm, by key and place
    rp_local warms;
} rp_samples;

void rp_samples_free(rp_samples *samples, const rp_allocator *a);

// Contact of all nodes with colliders that stand still. Before it the grid has velocities after
// forces, and in RP_CH_IMPULSE those before them.
// @param set [sets] whose particles wake samples
// @param body [colliders]: gets what nodes give up
// @param[out] unsettled what the last sweep changed, of all impulses; 0: they have settled
rp_result rp_samples_solve(rp_samples *samples, const rp_touches *t, int colliders,
                           const rp_grid *grid, const rp_set *set, int sets, rp_body *body,
                           rp_scratch *scratch, double *unsettled);

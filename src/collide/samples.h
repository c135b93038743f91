// Contact at samples of the surfaces of colliders, docs/theory.md (W1) to (W4).
//
// Nodes behind a wall hold velocities that nobody can see: they are extrapolated from free ones,
// and what particles put there is folded back by the transpose. What a wall does is a number of
// impulses at places of its surface, spread by the splines of that place; all of them are found
// together, by projected Gauss-Seidel, which starts from the last step's.
//
// Places belong to the collider: they are counted in cells of its own frame, worked out when a
// particle first comes near, and move along with it.
#pragma once

#include "collide/behind.h"
#include "collide/body.h"

enum { RP_SAMPLE_SWEEPS = 60 }; // at most

// A sample that was awake in the last step: its force is where the next step starts. State.
typedef struct rp_warm {
    uint64_t key;  // of collider and cell
    int64_t place; // in the cell
    double force[3];
    double mass; // that its impulses have to move [kg]
} rp_warm;

typedef struct rp_samples {
    rp_buffer warm; // rp_warm
    rp_local warms;
    // what follows is not saved: it can be worked out again
    rp_behind behind;
    rp_buffer table; // open addressing: (collider, cell) -> number of its cell
    size_t table_size;
    rp_buffer cell, face;
    int32_t cells, faces;
    int colliders; // that they are of
    uint32_t turn; // of the step
    rp_buffer woken, awake, sample, term, node, rest, slave;
} rp_samples;

void rp_samples_free(rp_samples *samples, const rp_allocator *a);

typedef struct rp_sample_report {
    int sweeps;
    double unsettled; // what the last sweep changed of velocities at samples, r.m.s. [m/s]
    double share;     // the same, of what walls change there
    bool settled;
} rp_sample_report;

// Contact of all nodes with colliders. Before it the grid has velocities after forces, and in
// RP_CH_IMPULSE those before them.
// @param set [sets] whose particles wake samples
// @param body [colliders]: gets what nodes give up
rp_result rp_samples_solve(rp_samples *samples, const rp_collider *collider, int colliders,
                           const rp_grid *grid, const rp_set *set, int sets, double dt,
                           rp_body *body, rp_scratch *scratch, rp_sample_report *report);

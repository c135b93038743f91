// What several solvers need in the same way.
#pragma once

#include "solver/solver.h"

// Books the time since *since for a stage, by its place in rp_solver.stage; the next one begins.
void rp_stage_done(rp_step *step, int stage, double *since);

// Sorts the species that want it, and builds the grid where pages have changed: without ranks.
rp_result rp_sort_and_build(rp_step *step);

// A node lighter than this share of the lightest particle carries no velocity: f / m diverges
// there, while what it would give back to particles vanishes [kg].
double rp_least_node_mass(const rp_step *step);

// The share of what particles have and nodes have not that they keep in the step, docs/theory.md
// (14) and (14b).
double rp_kept_share(const rp_step *step);

// sqrt(gravity / dx) at the start of the step [1/s]: the clock of sand that comes to rest.
double rp_fall_rate(const rp_step *step);

// What the field of accelerations adds to the velocity of every node in the step [m/s], before
// anything changes. A script has one thread.
// @param[out] out [node page][node], of the step's scratch memory; NULL: there is no field
rp_result rp_find_push(const rp_step *step, double (**out)[3]);

// What so much mass was given when its velocity changed by `push`, among other things.
// @param v that it had meanwhile [m/s]
static inline void rp_drive_add(rp_drive *drive, int dim, double mass, const double push[3],
                                const double v[3])
{
    for (int a = 0; a < dim; a++) {
        drive->momentum[a] += mass * push[a];
        drive->energy += mass * push[a] * v[a];
    }
}

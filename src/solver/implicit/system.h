// The balance of momentum at the nodes at the end of a step, and how it changes with their
// velocities (docs/theory.md, (I1) to (I4)).
//
// Unknowns are the velocities of the nodes that carry mass, in double: `dim` numbers of each, nodes
// in key order. Whatever is summed is summed in an order of its own, so that nothing here depends
// on the number of threads.
#pragma once

#include "core/nodes.h"
#include "model/linear_law.h"
#include "solver/solver.h"

enum { RP_CH_BALANCE = RP_CH_OWN }; // quads that products scatter into and gather from

// Nodes of a page among the numbered ones.
typedef struct rp_system_page {
    uint32_t first, count;
} rp_system_page;

typedef struct rp_system {
    const rp_step *step;
    double dt; // of this try [s]
    const rp_linear_law *law[RP_MATERIAL_KINDS];
    rp_node_numbers *numbers;
    int64_t length;                // of vectors
    rp_system_page *page;          // [node page]
    double *mass;                  // [node]
    double *root;                  // its square root
    double *before;                // velocities as they were scattered
    double *push;                  // accelerations from outside
    rp_lanes linear[RP_SET_LIMIT]; // of particles
    double *det;                   // [page of particles]
} rp_system;

// After P2G and the kernel `velocity` without a push: numbers nodes, and takes memory of the step.
// @param numbers kept from step to step
// @param field what a field of accelerations adds in step->dt, or NULL
rp_result rp_system_begin(rp_system *system, rp_node_numbers *numbers, const rp_step *step,
                          double (*field)[3]);

// M (v - before - dt push) + dt sum_p V tau A^-T grad w: what is missing for the velocities v to be
// those at the end of the step. Keeps the linearisation there.
// @return the least det A of any particle; where it is not positive the rest means nothing
double rp_system_residual(rp_system *system, const double *v, double *out);

// Its change for a change u of the velocities, where the last residual was taken.
void rp_system_product(rp_system *system, const double *u, double *out);

// From a vector to the first numbers of the nodes of a channel of quads, 0 where nodes have none.
void rp_system_spread(const rp_system *system, int channel, const double *x);

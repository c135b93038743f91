// Stress around a page of glue, as a mean over the particles of each body, or the forces that they
// put on nodes of the grid.
#pragma once

#include "collide/glue.h"

enum {
    RP_SMEAR_AROUND = 4,                     // nodes beyond those of the block
    RP_SMEAR_SIDE = 8 + 2 * RP_SMEAR_AROUND, // along the longest side
    RP_SMEAR_NODES = RP_SMEAR_SIDE * RP_SMEAR_SIDE * (4 + 2 * RP_SMEAR_AROUND),
    RP_SMEAR_BODIES = 64, // around a page; what more there are have no say
};

typedef double rp_eight_doubles __attribute__((vector_size(64), aligned(16)));

typedef struct rp_smear {
    const rp_glue_job *job;
    const rp_page *page;               // of glue
    double from[3], step;              // the first node, and from one to the next [cells]
    int side[3];                       // how many nodes
    double lower[3], upper[3];         // where particles count [cells]
    int body[RP_SMEAR_BODIES], bodies; // fields, in the order in which they came
    int room;                          // bodies that there is memory for
    double modulus;                    // of the stiffest particle around [Pa]
    rp_eight_doubles
        *sum; // [body][node]: a volume and the stress with it; or a force and a gradient of mass
    struct rp_law_lanes *lanes;
} rp_smear;

// Memory for the most bodies that there are around any page of glue.
rp_result rp_smear_begin(rp_smear *smear, const rp_glue_job *job, int bodies);
// How many bodies may be around a page, at most.
int rp_smear_room(const rp_glue_job *job, const rp_page *page);
// Everybody around a page of glue that glue which is due asks for.
// @param forces those on nodes of the grid, not stress
void rp_smear_around(rp_smear *smear, const rp_page *page, bool forces);
// The place of a body among those around; -1: it is not there.
int rp_smear_body(const rp_smear *smear, int field);
static inline size_t rp_smear_nodes(const rp_smear *m)
{
    return (size_t)(m->side[0] * m->side[1] * m->side[2]);
}
// The mean Cauchy stress of two bodies around a place. @param[out] alone: one of them is not there.
// @return false: there is nothing
bool rp_smear_stress(const rp_smear *smear, const double x[3], int b, int d, double out[3][3],
                     bool *alone);

// Nodes of the lattice of forces that a particle of the grid's splines reaches: number, weight,
// slopes [1/cell].
typedef struct rp_smear_reach {
    int count, node[64];
    double weight[64], slope[64][3];
} rp_smear_reach;
void rp_smear_find(const rp_smear *smear, const double x[3], rp_smear_reach *out);

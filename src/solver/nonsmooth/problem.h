// The friction problem of a step: find stresses lambda at points and velocities u at nodes with
//
//     u = u* + M^-1 B^T lambda + what walls add,     gamma = B u + k,     (gamma, lambda) in the
//     law
//
// (docs/theory.md, section 20), where sand is thick for lambda + thick gamma_T instead of lambda,
// and where it is cohesive with lambda less its glue in the equation of motion. Stress points are
// cells, which see the velocities of their corners, or nodes, which see those of the 3^d nodes
// around them, each through a vector b: the sum over particles of V grad N_j, for nodes times N_i.
//
// The velocity in a cell is linear along each axis, so that its corners can move by turns without
// any mean rate: the cell bends. The rate of shear that this causes at the corners is as good as
// any other, and the ways to bend, one in 2D and four in 3D for each component of the velocity, are
// further components of lambda_T and gamma_T of a cell. (Without them friction was too low: sand
// sheared in every other cell, and pressure in the cells between.)
//
// All is in units in which a cell, the acceleration of gravity and the density of the sand are 1.
//
// Points of a page that have no node in common, those of one colour, lie side by side in chunks of
// eight: rates are summed point by point, since a link (16 bytes: vector and node) leads to the
// velocity and inverse mass of a node (32 bytes) in one load each, and then the law is solved for
// eight points at once. Pages of one colour have no node in common, either, so that they run in
// parallel: the same bits for any number of threads.
#pragma once

#include "collide/contact.h"
#include "core/layout.h"

enum {
    RP_CHUNK = 8,         // points side by side
    RP_LINKS_MOST = 27,   // nodes that a point sees
    RP_COLOURS_MOST = 27, // of pages: two an axis, three where space repeats after an odd number
    RP_OFF_MOST = 3,      // shears that walls can take from a point
    RP_ANDERSON_MOST = 5, // steps back that the acceleration looks
    RP_SUMS = 2 * RP_ANDERSON_MOST + 1,
};

typedef struct rp_friction_link {
    float b[3];
    uint32_t node;
} rp_friction_link;

// What a wall asks of a node, in the units of the problem. Its change of the node's velocity is the
// entry `at` of the velocities; where it holds the node (RP_STICKY), what the node had without it.
typedef struct rp_friction_grip {
    uint32_t node, at;
    uint16_t collider;
    rp_contact contact;
    double friction, distance, normal[3], velocity[3];
} rp_friction_grip;

typedef struct rp_friction_problem {
    int dim, links, size; // nodes that a point sees, components of its stress
    double dt;
    rp_local pages, nodes, points, chunks, grips;
    rp_local *page_chunk; // [pages + 1] first chunk of each
    rp_local *page_grip;  // [pages + 1]
    rp_local *page_node;  // [pages + 1]
    rp_friction_grip *grip;
    rp_local *in_colour; // [pages] by colour
    rp_local colour[RP_COLOURS_MOST + 1];
    // [1 + nodes + grips][4]: velocity, and inverse mass times dt. Entry 0 is a node that is not
    // there; behind the nodes come the changes that grips make
    double *u;
    double *start; // the same before any stress
    // [chunk]
    uint8_t *lanes;         // points that it has
    uint32_t *point;        // [8] node of each point, from 1; 0: none
    rp_friction_link *link; // [8][links]
    double *lambda;         // [size][8]
    float *bulk;            // [8] volume of a cell's particles; NULL: points are nodes
    // [size (size + 1) / 2][8] of W by rows, from the diagonal on; NULL: nobody needs it
    float *block;
    double *per;            // [2][8] stress per rate: pressure, shear
    double *mu, *k, *scale; // [8]
    double *thick;          // [8] stress per rate that there is besides friction
    double *glue;           // [8] pressure that stays outside of the law: of it lambda has too much
    int32_t *off_at;        // entry of `off`; -1: none
    // [entry][RP_OFF_MOST][size][8] shears that a point on a wall without friction cannot have, as
    // unit vectors that are at right angles to each other, or 0
    double *off;
} rp_friction_problem;

static inline size_t rp_friction_velocities(const rp_friction_problem *f)
{
    return 1 + (size_t)f->nodes + (size_t)f->grips;
}
static inline size_t rp_friction_stresses(const rp_friction_problem *f)
{
    return (size_t)f->chunks * (size_t)f->size * RP_CHUNK;
}

// A particle as the assembly reads it.
typedef struct rp_grain {
    double at[3]; // in its cell
    double volume, mass, friction;
    double faster, rate; // friction that rate adds at most, and the rate of half of it
    double shear;        // its rate
    double glue;         // pressure to the tip of its cone
    double velocity[3];
    double slope[9]; // of the velocity, [component * dim + axis]
} rp_grain;

// Particles in the cells around a node page: eight (four in 2D) blocks, this one and those before.
typedef struct rp_grains {
    const rp_grain *grain;
    const uint32_t *cell[8]; // of the block at -x -y -z (bits of the index): [cells + 1] first
                             // grain; NULL: nobody is there
} rp_grains;

// What particles add up to at a node.
typedef struct rp_node_sum {
    double mass, momentum[3];
    double volume, friction, faster, rate, shear, glue; // all but the first times volume
} rp_node_sum;

// The vectors that Anderson's acceleration remembers.
typedef struct rp_anderson {
    int window, used, newest;
    bool grow;                   // there is a difference to note
    double *x, *g, *u;           // what the last sweeps began with and came to
    float *f;                    // their difference
    float *df[RP_ANDERSON_MOST]; // how those changed
    double *dg[RP_ANDERSON_MOST], *du[RP_ANDERSON_MOST];
    double weight[RP_ANDERSON_MOST];
} rp_anderson;

typedef struct rp_friction_kernels {
    int dim, isa;
    // sums at the nodes of a block
    void (*sum)(const rp_grains *from, rp_node_sum *out);
    // the vectors of one node, [links][3]
    void (*vectors)(const rp_grains *from, const int at[3], double *out);
    // those of a cell, [corners][3], bits of a corner: x y z; and what its particles add up to, but
    // for momentum
    void (*corners)(const rp_grains *from, const int at[3], double *out, rp_node_sum *sum);
    // blocks, scales and steps of a page's points
    void (*measure)(const rp_friction_problem *f, rp_local page);
    // add all stresses of a page to the velocities
    void (*apply)(const rp_friction_problem *f, rp_local page);
    // forth and back over a page; `exact`: each point is solved for, not stepped
    void (*sweep)(const rp_friction_problem *f, rp_local page, bool exact);
    // walls of a page have their say
    void (*grip)(const rp_friction_problem *f, rp_local page);
    // sum over the points of a page, and the point that is worst
    double (*residual)(const rp_friction_problem *f, const double *lambda, const double *u,
                       rp_local page, double *worst);
    // sums over the stresses of a page: of f f, then of f df and of the newest df with all df
    void (*compare)(const rp_friction_problem *f, const rp_anderson *a, rp_local page,
                    double sums[RP_SUMS]);
    // go on from the weighted past: stresses and velocities of a page
    void (*mix)(const rp_friction_problem *f, const rp_anderson *a, rp_local page);
} rp_friction_kernels;

const rp_friction_kernels *rp_friction_kernels_find(int dim, int isa);

typedef struct rp_friction_wish {
    double tolerance;
    int sweeps; // at most
    bool accelerate, exact;
    bool largest; // the residual is the largest one, not the mean
    int threads;
    // walls whose velocities depend on what they are given are told of it after each pair of
    // sweeps;
    // @return are they still far from where they go? NULL: there are none
    bool (*lead)(void *context);
    void *context;
} rp_friction_wish;

typedef struct rp_friction_outcome {
    int sweeps;
    double residual;
    rp_local worst_page; // of the point whose residual is largest or no number
    uint32_t worst;      // its place there, from 1; 0: all is well
} rp_friction_outcome;

// Solve from the stresses there are. `memory` hands out what it needs, see rp_friction_bytes().
rp_friction_outcome rp_friction_solve(rp_friction_problem *f, const rp_friction_kernels *k,
                                      const rp_friction_wish *wish, void *memory);
size_t rp_friction_bytes(const rp_friction_problem *f);
// Add all stresses to the velocities.
void rp_friction_apply(rp_friction_problem *f, const rp_friction_kernels *k, int threads);

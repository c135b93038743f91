// The transfers the slow and obvious way, in double, straight from docs/theory.md (5) to (16): no
// pages, no base nodes, no rows. The spline is a piecewise polynomial of the distance, and every
// particle asks every node anywhere near it. Shares no code with src/kernel.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// N(t) at a distance of t cells, and dN/dt per cell. At a kink the derivative is the one to the
// right.
double mpm_spline(int order, double t);
double mpm_slope(int order, double t);

// Gradients by the affine fit, theory (45) and (46), instead of the derivatives of the splines: of
// this reference and of test beds. test_each_variant() walks both.
extern bool mpm_affine;

typedef struct mpm_particle {
    long double x[3]; // [cells], so that a grid line is a whole number however far away it is
    double v[3], C[3][3];
    double tau[3][3]; // Kirchhoff stress [Pa]
    double mass, volume;
    int field;
} mpm_particle;

// What reached a node. `reach` and `size` are what bounds on rounding are made of: the sums of the
// absolute values of all that was added, before and after it was multiplied by weights.
typedef struct mpm_sum {
    double value, reach, size;
} mpm_sum;

typedef struct mpm_node {
    mpm_sum mass, momentum[3], impulse[3];
    int particles; // that reach it
    double v[3];   // after mpm_velocity(), or what a test says
    bool seen;     // for tests that tick nodes off
} mpm_node;

// Nodes by their global index, in a box around the particles. On a periodic axis the box is one
// period.
typedef struct mpm_grid {
    int dim, order;
    double h;          // [m]
    int32_t period[3]; // [cells], 0 for an open axis
    int32_t lower[3], size[3];
    int64_t nodes;
    mpm_node *node;
} mpm_grid;

// Room for all that these particles reach, and one cell more. False when there is no memory.
bool mpm_grid_init(mpm_grid *grid, int dim, int order, double h, const int32_t period[3],
                   const mpm_particle *p, int count);
void mpm_grid_free(mpm_grid *grid);

// NULL outside of the box.
mpm_node *mpm_at(const mpm_grid *grid, const int32_t index[3]);
// The index of node n of the box.
void mpm_index(const mpm_grid *grid, int64_t n, int32_t index[3]);

// (8), (9) and dt times (10), for the particles of one field.
void mpm_p2g(mpm_grid *grid, const mpm_particle *p, int count, int field, double dt);
// (11): nodes of no more than `least` mass stand still.
void mpm_velocity(mpm_grid *grid, const double push[3], double least);

typedef struct mpm_gathered {
    double v[3];       // sum w v_i
    double grad[3][3]; // d v_i / d x_j [1/s], (16)
    double C[3][3];    // (15)
    double mass;       // sum w m_i [kg]
    double speed;      // largest |component of v_i| in reach
    double heaviest;   // largest m_i in reach
} mpm_gathered;

void mpm_g2p(const mpm_grid *grid, const mpm_particle *p, mpm_gathered *out);

// Calls visit() for the nodes that may reach a particle: the node, its weight and gradient [1/m],
// and how far it is [m]. Nodes outside of the box are left out.
void mpm_visit(const mpm_grid *grid, const mpm_particle *p,
               void (*visit)(void *ctx, mpm_node *node, double w, const double dw[3],
                             const double r[3]),
               void *ctx);

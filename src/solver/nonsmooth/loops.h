// One step of rigid grains, room by room: grains.c adds particles up, walls.c knows what they
// touch, points.c sets up the friction problem, warm.c keeps stresses for the next step, and
// nonsmooth.c leads through it. Functions of a (context, page, thread) are loops over pages.
#pragma once

#include "core/nodes.h"
#include "solver/common.h"
#include "solver/led.h"
#include "solver/nonsmooth/nonsmooth.h"
#include "solver/nonsmooth/problem.h"

#include <math.h>

typedef enum solver_choice { ANDERSON, GAUSS_SEIDEL } solver_choice;

typedef enum norm_choice { NORM_L2, NORM_MAX } norm_choice;

typedef enum stress_choice { STRESS_CELL, STRESS_NODE } stress_choice;

typedef struct options {
    stress_choice stress;
    solver_choice solver;
    norm_choice norm;
    double tolerance;
    double sweeps, substeps;
    double viscosity, debonding;
} options;

// What bounds the next step, and what is counted: state.
typedef struct record {
    double speed;  // [m/s]
    double missed; // steps that ended above their tolerance
} record;

typedef struct nonsmooth_state {
    const rp_allocator *allocator;
    record record;
    rp_buffer warm;
    rp_local warms;
    double fps, pull; // [1/s], of the world's gravity [m/s^2]
    rp_walls walls;   // not saved: what it holds can be worked out again
    rp_node_numbers numbers;
} nonsmooth_state;

// What a step works with. Lengths in cells, times in `time`, densities in `density`.
typedef struct loops {
    rp_step *step;
    nonsmooth_state *state;
    const rp_friction_kernels *k;
    int set;                           // of the loop over particle pages
    double h, time, density, pressure; // units: [m], [s], [kg/m^3], [Pa]
    double push[3];                    // what gravity adds in the step, in cells over time
    double least;                      // mass of a node that counts [kg]
    rp_grain *grain;                   // [slot], sets one after the other
    uint32_t *cell;                    // [particle page][cells + 1]
    size_t first_grain[RP_SET_LIMIT];
    size_t first_page[RP_SET_LIMIT];
    rp_node_sum *sum;   // [node page][node]
    double (*field)[3]; // [node page][node]: what the field of accelerations adds [m/s]; or NULL
    double (*room)[8];  // [node page][node]: its hat outside of walls, by cells around
    double (*smooth)[3][3]; // [node page][node]: ways out of walls without friction that it is on
    double *dropped;        // [node page]
    rp_page_report *report; // [particle page]
    rp_touches touches;
    rp_constraint *list; // [thread][most] of a page
    int32_t list_most;
    uint32_t (*near)[RP_NEAR];      // [node page] node pages around
    uint32_t *inside[RP_SET_LIMIT]; // [node page] particle page of the same block, or RP_NO_PAGE
    bool cells;                     // are stress points, not nodes
    size_t *place;                  // [node number]: page * nodes + node
    rp_friction_problem f;
    rp_led led;              // free bodies
    struct loops_hold *hold; // grips of theirs, in key order
    int64_t holds;
} loops;

enum { NODES_MOST = 256, CUBE_MOST = 10 * 10 * 10, STRESS_MOST = 18 };

static inline double size_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline double mass_unit(const loops *l)
{
    return l->density * (l->f.dim == 3 ? l->h * l->h * l->h : l->h * l->h);
}

static inline bool counts(const rp_set *set) { return rp_set_has_mass(set); }

static inline double real_of(const rp_set *set, rp_column_id column, rp_local slot, int comp)
{
    const void *at = rp_set_at(set, column, slot, comp);
    return set->layout.precision == RP_SINGLE ? (double)*(const float *)at : *(const double *)at;
}

static inline void write_node(const rp_grid *grid, rp_local page, int n, int comp, double value)
{
    void *nodes = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    if (grid->layout.precision == RP_SINGLE) {
        ((float *)nodes)[n * RP_QUAD + comp] = (float)value;
    } else {
        ((double *)nodes)[n * RP_QUAD + comp] = value;
    }
}

// ---- grains.c ----

// Particles of the set `l->set`, cell by cell; page of particles.
void rp_loops_grains(void *context, int64_t page, int thread);
// Mass, momentum and volume of a page's nodes; the masses also where colliders look for them.
void rp_loops_sums(void *context, int64_t page, int thread);
// The particles of one set around a node page.
rp_grains rp_loops_around(const loops *l, int set, rp_local page);
void rp_loops_add(rp_node_sum *to, const rp_node_sum *from, int nodes);

// ---- walls.c ----

// How many grips a page has, how much room its nodes have, and what their walls do to shear.
void rp_loops_walls(void *context, int64_t page, int thread);
// Velocities before any stress, and who holds them.
void rp_loops_start(void *context, int64_t page, int thread);
// What colliders get; uses up the velocities.
void rp_loops_give(loops *l);

// ---- bodies.c ----

// After rp_loops_start().
rp_result rp_loops_bodies_begin(loops *l);
// Free bodies go on by what nodes have given them. @return is any still far from where it goes?
bool rp_loops_bodies_answer(void *context);
// After the solve: nodes that bodies press go along with what the last answer has changed.
void rp_loops_bodies_settle(loops *l);

// ---- points.c ----

// The node pages around each.
void rp_loops_near(void *context, int64_t page, int thread);
void rp_loops_colour(loops *l);
// Chunks that a page's points fill.
// @param[out] walled which of them are on walls without friction; NULL: do not look
// @param[in,out] points is added to
rp_local rp_loops_chunks(const loops *l, rp_local page, int32_t *walled, rp_local *points);
void rp_loops_points(void *context, int64_t page, int thread);

// ---- warm.c ----

// The stresses that the nodes of a page had, by node; NULL where there was none.
void rp_loops_warm(const loops *l, rp_local page, const rp_node_stress *out[NODES_MOST]);
// A component of one, bends behind the others [Pa].
double rp_loops_kept(const rp_node_stress *w, int dim, int component);
// The stresses, in key order, for the next step. There is room.
void rp_loops_keep(const loops *l);

// Glue between the pieces of a body, docs/theory.md, section 23.
//
// Pieces are bodies, each with a velocity of its own. Glue is a species of particles without mass
// that lie on the cuts between them: a particle of glue knows the two pieces that it holds (the
// field of its page, and its partner), where the cut points, and what it withstands. In a step
//   - glue that the stress around it overcomes breaks,
//   - nodes near glue that holds are merged: the pieces that it holds move there as one,
//   - glue that softens, where it may, pulls at nodes with what is left of its strength,
//   - all other nodes are left to contact between bodies (collide/meeting.h),
//   - glue moves and turns with what it holds.
// Pieces that hang together over a third are merged as well, so any number may meet at a node. Glue
// that broke has a strength of 0 and waits to be taken out.
#pragma once

#include "base/memory.h"
#include "core/species.h"
#include "model/law.h"
#include "repose/fracture.h"

// What glue of a material withstands besides its strength.
typedef struct rp_glue_rule {
    rp_criterion criterion;
    double shear, friction;
    double softening; // opening at which nothing is left of its strength [m]; 0: it breaks at once
} rp_glue_rule;

// The species of glue; -1: there is none.
int rp_glue_find(const rp_species *species, int count);

// ---- breaking ----

// What broke between two pieces in a step.
typedef struct rp_crack {
    int32_t body[2];
    double area; // [m^2]
    int64_t glue;
} rp_crack;

typedef struct rp_glue_job {
    rp_species *species;
    int species_count, glue;
    const rp_grid *grid;
    const rp_glue_rule *rule;  // [material]
    const rp_law *const *laws; // in double, of the world's dimension
    int parameters;            // of a row of group_doubles
    int threads;
    rp_scratch *scratch;
    const double *modulus; // [material]: that strain becomes stress by, at most [Pa]
} rp_glue_job;

// What is to break; all from the scratch.
typedef struct rp_verdict {
    rp_crack *crack; // [cracks], by pairs in ascending order
    int cracks;
    double *slack; // [slot] of glue: strain that may be added before it is looked at again
} rp_verdict;

// Is there glue that may break by now?
bool rp_glue_is_due(const rp_set *glue);
// Which glue does the stress of the particles around it overcome, as they are before a step? What
// has slack left is not looked at.
rp_result rp_glue_judge(const rp_glue_job *job, rp_verdict *verdict);
// Let it break, and remember the slack of the rest.
void rp_glue_settle(rp_set *glue, const rp_verdict *verdict);

// ---- holding ----

// Of a step.
typedef struct rp_glue {
    const rp_grid *grid;
    rp_set *set;              // of glue
    const rp_glue_rule *rule; // [material]
    double dt;                // [s]
    double least;             // mass of a node that counts [kg]
    struct glue_room *room;   // [thread]
    struct glue_box *box;     // [slot]: nodes that are held; of a page, from its first slot on
    struct glue_box *pages;   // [page]: around all of its glue that holds
} rp_glue;

// Memory for the nodes that glue holds.
rp_result rp_glue_begin(rp_glue *g, const rp_grid *grid, rp_set *set, const rp_glue_rule *rule,
                        double dt, double least, int threads, rp_scratch *scratch);
// See which nodes of a block glue holds. @return false: none
bool rp_glue_bind(const rp_glue *g, rp_local block, int thread);
// Merge what is held there, of nodes that two or more pages have mass at: all of it gets the common
// velocity. Nodes where nothing is left apart are taken out of `shared`.
// @param mask [page of the block]: nodes that it has mass at
void rp_glue_merge(const rp_glue *g, rp_local block, int thread, uint64_t (*mask)[4],
                   uint64_t shared[4]);
// Let glue that softens pull at the nodes of a block, once a step: it slows what comes apart or
// slides, and turns nothing round.
// @param bound what rp_glue_bind() said of the block; what is held was merged
void rp_glue_soften(const rp_glue *g, rp_local block, int thread, bool bound, uint64_t (*mask)[4]);
// Which of the pages at a node move as one? For the block that was bound last.
// @param here [pages] numbers among the pages of the block
// @param[out] unit [pages] numbers from 0 on, in the order of pages. @return how many units
int rp_glue_units(const rp_glue *g, rp_local block, int thread, int node, const int *here,
                  int pages, int *unit);

// ---- moving ----

// Let glue go along with what it holds, once velocities are known.
// @return the largest displacement along any axis [cells]
double rp_glue_move(const rp_glue *g, int threads);

// Take out what broke. @return how many
int64_t rp_glue_clear(rp_set *set);

// Which colliders a page of nodes can feel, what they ask of its nodes, and what it gave them.
//
// A solver either lists the constraints of a page and does with them what its method wants, or has
// them applied one after the other, which is what an explicit step does. Both come from the same
// evaluation.
//
// Colliders of free bodies are not among them, but for a solver that leads them (solver/led.h):
// what these ask depends on what they are given, so that they are solved for (collide/rigids.h).
//
// What is near is found anew in every step, in the step's scratch memory. Nothing here is colliders
// times pages: a page holds only those that are near.
#pragma once

#include "collide/body.h"
#include "collide/contact.h"
#include "collide/walls.h"

typedef struct rp_touch {
    uint32_t first; // in `near` and `given`
    uint16_t count;
} rp_touch;

// What the nodes of a page gave up to a collider.
typedef struct rp_gift {
    rp_impulse impulse; // about the collider's position
    double rubbed;      // energy that was rubbed off along its surface [J]
    double worked;      // what the collider has done by moving [J]
} rp_gift;

typedef struct rp_touches {
    const rp_collider *collider;
    rp_touch *page; // [node page]
    uint16_t *near; // collider numbers
    int32_t *wall;  // entries of `walls`; -1: work it out
    int32_t *other; // the same for the other faces of thin ones
    const rp_walls *walls;
    rp_gift *given; // written by the page's thread
    int64_t pairs;
    // whose arenas hold what was scattered: the mass around a page; none: there is nothing beyond
    // it
    const rp_set *set;
    int sets;
    // that colliders have moved for, where a step that was tried again is shorter than that [s]; 0:
    // the step
    double span;
} rp_touches;

// @param walls kept from step to step; NULL: nothing is remembered
// @param free are colliders of free bodies among them?
rp_result rp_touches_find(rp_touches *t, rp_walls *walls, const rp_collider *collider,
                          int colliders, bool free, const rp_grid *grid, int threads,
                          rp_scratch *scratch);

// Which constraints are wanted.
typedef struct rp_listing {
    double dt;     // length of the step [s]
    double reach;  // of nodes that are no farther from the collider than this [m]; pages know of
                   // colliders up to two cells away, so that more finds only some
    bool massless; // of nodes without mass, too
} rp_listing;

// The constraints of a page: nodes in the order of memory, and at each node colliders in the order
// in which they act. Masses are those of the momentum channel.
// @param out room for rp_touches_most() of them; NULL: only count them
// @return how many there are
int32_t rp_touches_list(const rp_touches *t, const rp_grid *grid, rp_local page,
                        const rp_listing *wanted, rp_constraint *out);
static inline int32_t rp_touches_most(const rp_touches *t, const rp_grid *grid, rp_local page)
{
    return t->page[page].count * grid->layout.nodes;
}

// Contact at all nodes of a page that carry mass, colliders in turn.
void rp_touches_apply(const rp_touches *t, const rp_grid *grid, rp_local page, double dt);

// Hand over what was given where contact was applied, which must be all pages, in key order.
// @param body of each collider
// @param[in,out] rubbed the energy that was rubbed off is added [J]
rp_result rp_touches_sum(const rp_touches *t, const rp_grid *grid, rp_body *body, double *rubbed);

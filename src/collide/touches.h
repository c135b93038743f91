// Which colliders a page of nodes can feel, what they do to its nodes, and what it gave them.
//
// Found anew in every step, from the step's scratch memory. Nothing here is colliders times pages:
// a page lists only those that are near.
#pragma once

#include "collide/walls.h"

typedef struct rp_touch {
    uint32_t first; // in `near` and `given`
    uint16_t count;
} rp_touch;

typedef struct rp_touches {
    const rp_collider *collider;
    rp_touch *page; // [node page]
    uint16_t *near; // collider numbers
    int32_t *wall;  // entries of `walls`; -1: work it out
    const rp_walls *walls;
    double (*given)[7]; // momentum and angular momentum about the collider's position that nodes
                        // gave up to it [kg m/s, kg m^2/s], and the energy that was rubbed off
                        // along its surface [J]; written by the page's thread
    int64_t pairs;
} rp_touches;

// @param walls kept from step to step; NULL: nothing is remembered
rp_result rp_touches_find(rp_touches *t, rp_walls *walls, const rp_collider *collider,
                          int colliders, const rp_grid *grid, int threads, rp_scratch *scratch);

// Contact at all nodes of a page that carry mass, colliders in turn.
void rp_touches_apply(const rp_touches *t, const rp_grid *grid, rp_local page, double dt);

// Add up what each collider was given, in the order of pages: load[collider][6] += ...
// @return the energy that was rubbed off [J]
double rp_touches_sum(const rp_touches *t, rp_local pages, double (*load)[6]);

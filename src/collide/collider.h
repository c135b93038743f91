// Solid things and what contact with them does to a node's velocity (docs/theory.md, section 5).
#pragma once

#include "core/grid.h"

typedef struct rp_collider {
    // described once
    rp_shape *shape; // a reference of its own
    rp_contact contact;
    double friction;
    rp_pose_of_time motion;
    int parent; // an earlier collider that it goes along with, or -1
    char name[32];
    bool moves;      // by itself or with its parent
    rp_look look;    // for pictures
    double color[3]; // sRGB
    // where it is at the start and at the end of the step; written by rp_colliders_move()
    struct rp_placing {
        double position[3], rotation[3][3];
    } begin, end;
} rp_collider;

// The velocity of a node at signed distance phi (negative: inside the wall) after contact over a
// step dt. One law for every collider: the caller passes velocities relative to it.
void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3]);

// Take the poses at the start and the end of a step from the motions of all colliders, in order.
rp_result rp_colliders_move(rp_collider *collider, int colliders, double t, double dt);
// To its surface where it is at the start of the step, negative inside [m].
double rp_collider_distance(const rp_collider *collider, const double x[3]);
// The same, with the way out.
double rp_collider_look(const rp_collider *collider, const double x[3], double normal[3]);
// A box around it where it is at the start of the step; false when it has no end along one of the
// first `dim` axes.
bool rp_collider_bounds(const rp_collider *collider, int dim, double lower[3], double upper[3]);
// How far any point of a collider goes within the step, as far as it is or comes near this box [m].
double rp_colliders_way(const rp_collider *collider, int colliders, int dim, const double lower[3],
                        const double upper[3]);
// Where it is at the end of the step.
rp_pose rp_collider_pose(const rp_collider *collider);

// Can a node of this block feel the collider within a step?
bool rp_collider_near_block(const rp_collider *c, const rp_layout *l, const int32_t block[3]);

// ---- what a collider that stands still is at nodes ----

// Distance and way out at the nodes of a block are worked out once, when the block first comes near
// the collider, and looked up in every step after that. Blocks that no page needs any more are
// forgotten when they are more than those that are needed. Whether a number was looked up or worked
// out makes no difference: in single precision distances are rounded to it either way.
typedef struct rp_walls {
    rp_buffer table; // open addressing: (block, collider) -> entry
    size_t table_size;
    rp_buffer entry; // [entry][node][4]: distance, way out; of the world's precision
    int32_t entries;
    rp_buffer near; // [node page]: a bit per collider that stands still and is near
    uint64_t build; // of the grid that `near` is for
    int colliders;  // how many there were
} rp_walls;

void rp_walls_free(rp_walls *walls, const rp_allocator *a);

// ---- which colliders a page of nodes can feel, and what it gave them ----

// Found anew in every step, from the step's scratch memory. Nothing here is colliders times pages:
// a page lists only those that are near.
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

// Solid things and what contact with them does to a node's velocity (docs/theory.md, section 5).
#pragma once

#include "core/layout.h"

typedef struct rp_collider {
    // described once
    rp_shape *shape; // a reference of its own
    rp_contact contact;
    double friction;
    rp_pose_of_time motion;
    char name[32];
    // where it is at the start and at the end of the step; written by rp_collider_move()
    struct {
        double position[3], rotation[3][3];
    } begin, end;
} rp_collider;

// The velocity of a node at signed distance phi (negative: inside the wall) after contact over a
// step dt. One law for every collider: the caller passes velocities relative to it.
void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3]);

// Take the poses at the start and the end of a step from the collider's motion.
rp_result rp_collider_move(rp_collider *collider, double t, double dt);

// Can a node of this block feel the collider within a step?
bool rp_collider_near_block(const rp_collider *collider, const rp_layout *l,
                            const int32_t block[3]);

// All nodes of a block that carry mass, colliders in turn. `quads` is [node][4] in the layout's
// precision: velocity and mass.
void rp_colliders_apply(const rp_collider *collider, int colliders, const rp_layout *l,
                        const int32_t block[3], double dt, void *quads);

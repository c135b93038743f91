// Flat walls and what contact with them does to a node's velocity (docs/theory.md, section 5).
#pragma once

#include "core/layout.h"

typedef struct rp_plane {
    double point[3], normal[3]; // unit normal, into the free side
    rp_contact contact;
    double friction;
} rp_plane;

// The velocity of a node at signed distance phi (negative: inside the wall) after contact over a
// step dt. One law for every collider: the caller passes velocities relative to it.
void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3]);

// Can a node of this block feel the plane within a step?
bool rp_plane_near_block(const rp_plane *plane, const rp_layout *l, const int32_t block[3]);

// All nodes of a block that carry mass, planes in turn. `quads` is [node][4] in the layout's
// precision: velocity and mass.
void rp_planes_apply(const rp_plane *plane, int planes, const rp_layout *l, const int32_t block[3],
                     double dt, void *quads);

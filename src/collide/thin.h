// Colliders that the grid sees both sides of.
//
// Within a few cells of each other, two faces of a collider act on the same nodes. Which of them a
// node should feel is not a matter of the nearer one: sand that lies on a plate reaches nodes in
// its lower half and below it, and these must hold it as the upper face would.
//
//        o   o   o       sand: its mass is found above
//      ==================  upper face
//        o   o   o         nearer to the lower face, and felt by the sand above
//      ==================  lower face
//        o   o   o         outside, and still felt by the sand above
//
// So a node near a thin part knows two faces, the nearer one and the other one, seen through the
// solid, and takes the one that the sand is on. The sand is where the mass at the nodes around says
// it is.
#pragma once

#include "collide/collider.h"

// How far sand reaches into a face: half a stencil, and what it sinks in [m].
static inline double rp_thin_reach(const rp_layout *l)
{
    return l->h * (0.5 * (l->order + 1) + 0.25);
}

// Does the shape have parts that are thinner than twice the reach? Found at random places of its
// surface; one without end is thought to have some, unless it is massive (shape/class.h), such as a
// half-space or what is around a box.
bool rp_shape_is_thin(const rp_shape *shape, const rp_layout *l);

// The other face at x, where the nearer one is at distance `phi` with the way out `normal`.
// @param[out] out distance from that face, below 0, and the way out of it; out[0] is 1 where there
// is none within the reach of sand
void rp_thin_other(const rp_collider *c, const rp_layout *l, const double x[3], double phi,
                   const double normal[3], double out[4]);

// On which face the sand is. Outside of the solid there is no both: what is there belongs to the
// nearer face, unless most of it is beyond.
typedef enum rp_thin_side { RP_THIN_NEAR, RP_THIN_OTHER, RP_THIN_BOTH } rp_thin_side;

// Mass around a node: [x][y][z], itself in the middle; in 2D only z = 1.
typedef double rp_masses[3][3][3];
rp_thin_side rp_thin_find_side(const rp_masses mass, int dim, double phi, const double normal[3],
                               const double other[4]);

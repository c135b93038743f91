// The law of contact at a node (docs/theory.md, section 5), and what it is applied to.
#pragma once

#include "repose/collider.h"

#include <math.h>

// The velocity of a node at signed distance phi (negative: inside the wall) after contact over a
// step dt. One law for every collider: the caller passes velocities relative to it. Inline: as a
// call, with the velocity in memory, it made contact slower by a tenth.
static inline void rp_contact_resolve(rp_contact contact, double friction, const double normal[3],
                                      double phi, double dt, double v[3])
{
    if (contact == RP_STICKY) {
        if (phi <= 0.0) {
            v[0] = v[1] = v[2] = 0.0;
        }
        return;
    }
    const double vn = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2];
    double push = 0.0; // change of the normal velocity that the wall causes
    if (contact == RP_SEPARATE) {
        // phi(x') >= min(phi(x), 0)
        const double least = phi > 0.0 ? -phi / dt : 0.0;
        push = vn < least ? least - vn : 0.0;
    } else if (phi <= 0.0) {
        push = -vn;
    }
    if (push == 0.0) {
        return;
    }
    double t[3], t2 = 0.0;
    for (int a = 0; a < 3; a++) {
        t[a] = v[a] - vn * normal[a];
        t2 += t[a] * t[a];
    }
    // friction takes at most friction * |push| and never reverses the slip
    const double slip = sqrt(t2), bite = friction * fabs(push);
    const double kept = slip > bite ? 1.0 - bite / slip : 0.0;
    for (int a = 0; a < 3; a++) {
        v[a] = kept * t[a] + (vn + push) * normal[a];
    }
}

// What one collider asks of the velocity of one node within a step: all that the law needs, for
// whoever applies it, eliminates the node or puts the constraint into a system of its own.
// Colliders that hold a node whatever its velocity are sticky (all of it) and slipping ones (along
// the normal) with distance <= 0; a separating one asks for
//     (v - velocity) . normal >= -max(distance, 0) / dt.
typedef struct rp_constraint {
    int32_t node; // number in its block
    uint16_t collider;
    bool massless; // there is nothing at the node
    rp_contact contact;
    double friction;
    double distance;    // to the surface, negative inside, 0 where only rounding makes it more [m]
    double normal[3];   // the way out, of length 1
    double velocity[3]; // of the collider at the node [m/s]
} rp_constraint;

// Contact in an implicit step: velocities of nodes that colliders hold are known, and taken out of
// the system (docs/theory.md, (I5)).
//
// Which nodes of separating colliders are held, and which of them stick, is found along with the
// velocities: a node that would pass the surface is held, one that would be pulled is let go; one
// that friction cannot hold slides, with the friction of the last look as a given impulse.
#pragma once

#include "collide/touches.h"
#include "solver/implicit/system.h"

enum { RP_HOLDS_MOST = 8 }; // colliders at a node that the system knows of

typedef struct rp_hold {
    uint32_t number; // of the node
    uint16_t count;  // constraints
    uint8_t active;  // those that hold it: 1 << constraint
    bool sticks;     // the only one of them holds it by friction, too
    int axes;        // directions in which its velocity is known
    double axis[3][3], speed[3];
    double rubbed[3]; // impulse of friction, while it slides [kg m/s]
    const rp_constraint *constraint;
} rp_hold;

typedef struct rp_holds {
    rp_hold *hold;   // in the order of nodes
    uint32_t *first; // [node page + 1]
} rp_holds;

// All that colliders ask of the nodes of a system, in a step of system->dt.
rp_result rp_holds_find(rp_holds *holds, const rp_touches *touches, const rp_system *system);

// Begin with those that velocities would break.
void rp_holds_begin(const rp_holds *holds, const rp_system *system, const double *v);
// Look again, at velocities and at what is missing there (without friction).
// @param size of what is missing where nothing is held, sqrt(sum |.|^2 / mass): how wrong it may be
// @return how many changed
int64_t rp_holds_look(const rp_holds *holds, const rp_system *system, const double *v,
                      const double *missing, double size);

// Give velocities what is known of them.
void rp_holds_set(const rp_holds *holds, const rp_system *system, double *v);
// Take what is known out of a vector on the nodes of a page.
void rp_holds_project(const rp_holds *holds, int dim, rp_local page, double *x);
// Take the friction of sliding nodes out of what is missing.
void rp_holds_rub(const rp_holds *holds, const rp_system *system, double *missing);
// Velocities as they would be if no collider had given an impulse.
void rp_holds_release(const rp_holds *holds, const rp_system *system, const double *missing,
                      double *v);

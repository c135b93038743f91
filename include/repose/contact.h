// SPDX-License-Identifier: Apache-2.0
// Bodies of particles with velocity fields of their own, and contact between them.
//
//     def.fields = 3;                                  // "rest", "ball" and "block"
//     def.contact = true;                              // they touch, instead of not feeling each
//     other rp_world_create(&def, &world); rp_world_name_body(world, 1, "ball");            //
//     rp_particles_def.field = 1 makes its particles rp_pair_def pair = rp_default_pair_def();
//     pair.friction = 0.2;
//     rp_world_set_contact(world, &pair);              // of all pairs; with `body` of one
#pragma once

#include "collider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

/// Where the surface between two bodies points at a node (docs/theory.md, section 22).
typedef enum rp_normals {
    RP_NORMALS_AUTO,       ///< by the faces of solid bodies; by masses where there are none
    RP_NORMALS_PAPER,      ///< difference of the unit normals of both, as Wretborn prints it
    RP_NORMALS_DIFFERENCE, ///< difference of the gradients of mass: the heavier one counts more
    RP_NORMALS_REGRESSION, ///< the plane that separates the particles of both best
} rp_normals;

/// How three and more bodies that meet at a node share impulses.
typedef enum rp_impulses {
    RP_IMPULSES_EXACT, ///< all at once, to rounding: no order of the bodies shows
    RP_IMPULSES_PAIRS, ///< pair after pair, once, as Wretborn prints it; for comparison
} rp_impulses;

/// Contact of a pair of bodies, or of all pairs that nothing is said of.
typedef struct rp_pair_def {
    int body[2];        ///< fields, in any order; -1 and -1: all pairs
    rp_contact contact; ///< RP_SEPARATE (the default) or RP_STICKY
    double friction;    ///< Coulomb coefficient; only where things slide
    rp_normals normals;
    bool
        gap; ///< touch when surfaces meet; false: as soon as both have mass at a node, a cell early
    rp_impulses impulses; ///< only of all pairs
    uint32_t cookie;
} rp_pair_def;

/// All pairs: separate, without friction, automatic normals, by gap, exact.
RP_API rp_pair_def rp_default_pair_def(void);
/// Say how bodies touch; the last word on a pair counts. The world must have rp_world_def.contact.
RP_API rp_result rp_world_set_contact(rp_world *world, const rp_pair_def *def);

/// Velocity fields of a world, rp_world_def.fields.
RP_API int rp_world_bodies(const rp_world *world);
/// @param body a field; the name has 1 to 63 bytes, and best no other body has it
RP_API rp_result rp_world_name_body(rp_world *world, int body, const char *name);
/// "rest" for field 0 and "body 7" for a field 7 that nobody has named.
/// @param[out] name of RP_NAME_SIZE bytes
RP_API void rp_world_body_name(const rp_world *world, int body, char *name);

#ifdef __cplusplus
}
#endif

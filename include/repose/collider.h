// SPDX-License-Identifier: Apache-2.0
// Colliders: solid things that particles run into.
#pragma once

#include "functions.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

typedef enum rp_contact {
    RP_STICKY,   ///< what touches it moves with it
    RP_SLIP,     ///< slides along, never lifts off
    RP_SEPARATE, ///< slides along with friction, may lift off
} rp_contact;

/// How pictures show a collider.
typedef enum rp_look {
    RP_LOOK_SOLID,
    RP_LOOK_GLASS,  ///< clear, and bends light
    RP_LOOK_HIDDEN, ///< not at all
} rp_look;

/// Something solid that particles run into.
typedef struct rp_collider_def {
    const rp_shape *shape; ///< solid inside; where the pose is (0, 0, 0) unturned
    rp_contact contact;
    double friction;        ///< Coulomb coefficient for slip and separate
    rp_pose_of_time motion; ///< moves and turns the shape about the origin
    int parent;             ///< number of an earlier collider that it goes along with; -1: none
    const char *name;       ///< for messages; copied; NULL: by its number
    bool permeable; ///< method mixture: water passes it, sand does not, and sand within is held
    rp_look look;
    double color[3]; ///< of a solid one in pictures: red, green, blue, 0 to 1 as in sRGB
    uint32_t cookie;
} rp_collider_def;

/// Sticky, at rest and grey; the shape must be set.
RP_API rp_collider_def rp_default_collider_def(void);
RP_API rp_result rp_world_add_collider(rp_world *world, const rp_collider_def *def);

RP_API int rp_world_colliders(const rp_world *world);

/// Where a collider is and what acts on it.
typedef struct rp_collider_load {
    const char *name; ///< belongs to the world
    rp_pose pose;     ///< at the end of the last step
    double
        force[3]; ///< mean over the last whole frame, from particles and bodies [N]; 2D: per metre
    double torque[3]; ///< the same, about pose.position [N m]
} rp_collider_load;
/// @param index 0 to rp_world_colliders() - 1, in the order in which they were added
RP_API void rp_world_collider_load(const rp_world *world, int index, rp_collider_load *out);

/// A flat wall: everything behind the plane is solid.
typedef struct rp_plane_def {
    double point[3], normal[3]; ///< the normal points into the free side; need not be a unit vector
    rp_contact contact;
    double friction; ///< Coulomb coefficient for slip and separate
    uint32_t cookie;
} rp_plane_def;

/// The ground: through the origin, normal up, sticky.
RP_API rp_plane_def rp_default_plane_def(void);
RP_API rp_result rp_world_add_plane(rp_world *world, const rp_plane_def *def);
/// The inside of a box as planes, one a side (4 in 2D, 6 in 3D).
RP_API rp_result rp_world_add_walls(rp_world *world, const double lower[3], const double upper[3],
                                    rp_contact contact, double friction);

#ifdef __cplusplus
}
#endif

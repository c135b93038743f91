// SPDX-License-Identifier: Apache-2.0
// Free rigid bodies: colliders that have a mass and go where gravity, particles and each other take
// them.
#pragma once

#include "collider.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Something solid that is moved by what it runs into. It is a collider, too: it has a number among
/// colliders, and forces on it, pictures and exports follow. Its pose is that of its centre of
/// mass.
typedef struct rp_rigid_def {
    const rp_shape *shape; ///< solid inside, where it is at the start; needs a volume
    double density;        ///< [kg/m^3]; one of density and mass must be set
    double mass;           ///< [kg], in 2D per metre [kg/m]
    double velocity[3];    ///< of its centre of mass at the start [m/s]
    double spin[3];        ///< about it, axis times rate [rad/s]; in 2D only the third
    rp_contact contact;    ///< of particles with it
    double friction;       ///< Coulomb coefficient, of particles and of other bodies
    double restitution;    ///< of other bodies and colliders, 0 to 1
    double force[3];       ///< that acts at its centre of mass, besides gravity [N]; 2D: per metre
    double torque[3];      ///< that acts on it [N m]; in 2D only the third, per metre
    rp_vector_of_time force_of_time, torque_of_time; ///< instead of the constants
    const char *name; ///< for messages and files; copied; NULL: by its number as a collider
    rp_look look;
    double color[3]; ///< of a solid one in pictures: red, green, blue, 0 to 1 as in sRGB
    uint32_t cookie;
} rp_rigid_def;

/// Separating, with friction 0.5 and no restitution, at rest and grey; shape and density or mass
/// must be set.
RP_API rp_rigid_def rp_default_rigid_def(void);
/// Mass, centre and inertia are found from the shape. Before particles, which it displaces.
/// @param[out] collider its number among colliders; may be NULL
RP_API rp_result rp_world_add_rigid(rp_world *world, const rp_rigid_def *def, int *collider);

typedef enum rp_joint_kind {
    RP_JOINT_FIXED,  ///< as if they were one
    RP_JOINT_HINGE,  ///< turns about an axis
    RP_JOINT_SLIDER, ///< slides along an axis
} rp_joint_kind;

/// Holds two colliders together, of which one at least is a rigid body. They do not touch each
/// other.
typedef struct rp_joint_def {
    rp_joint_kind kind;
    int a, b;       ///< numbers of colliders; b may be -1: the world
    double at[3];   ///< where it is at the start [m]
    double axis[3]; ///< of a hinge or slider, of any length but 0; in 2D a hinge has (0, 0, 1)
    double low,
        high;     ///< how far a may turn or slide against b, from how it is at the start [rad], [m]
    bool driven;  ///< has a motor
    double speed; ///< that the motor wants, of a against b [rad/s], [m/s]
    rp_vector_of_time speed_of_time; ///< instead of the constant; the first number counts
    double strength; ///< of the motor, most torque or force [N m], [N]; 2D: per metre
    uint32_t cookie;
} rp_joint_def;

/// A fixed one, to the world; without ends and motor.
RP_API rp_joint_def rp_default_joint_def(void);
/// After both that it joins.
RP_API rp_result rp_world_add_joint(rp_world *world, const rp_joint_def *def);

RP_API int rp_world_rigids(const rp_world *world);

/// A rigid body as it is.
typedef struct rp_rigid_state {
    const char *name;     ///< belongs to the world
    int collider;         ///< its number among colliders
    double mass;          ///< [kg]; 2D: per metre
    double inertia[3][3]; ///< about its centre, in its own frame [kg m^2]; in 2D only [2][2]
    rp_pose pose;         ///< of its centre of mass
    double velocity[3];   ///< of its centre of mass [m/s]
    double spin[3];       ///< [rad/s]
    double kinetic;       ///< [J]
    /// Mean over the last whole frame of what particles, colliders, other bodies and joints do to
    /// it, about its centre of mass [N], [N m]; 2D: per metre.
    double force[3], torque[3];
} rp_rigid_state;
/// @param index 0 to rp_world_rigids() - 1, in the order in which they were added
RP_API void rp_world_rigid(const rp_world *world, int index, rp_rigid_state *out);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Particles: shapes filled with them, sources that pour them, and where they end.
#pragma once

#include "functions.h"
#include "material.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

/// How a shape is filled.
typedef enum rp_sampling {
    RP_POISSON, ///< blue noise: no two nearer than 0.79 spacings in 2D, 0.85 in 3D (the default)
    RP_LATTICE, ///< a lattice along the axes, each particle moved a little by `jitter`
} rp_sampling;

/// The stress that particles start with.
typedef enum rp_prestress {
    RP_PRESTRESS_NONE,
    /// What lies above them in the shape, at the start of time, and sideways as a layer that cannot
    /// spread: nu / (1 - nu) of it, or what the yield cone allows.
    RP_PRESTRESS_K0,
} rp_prestress;

/// A shape filled with particles. Its mass is exact, whatever their number.
typedef struct rp_particles_def {
    rp_material material;
    const rp_shape *shape;
    double spacing; ///< of particles, on average [m]; 0: two along each axis of a grid cell
    rp_sampling sampling;
    double jitter;      ///< 0 for a perfect lattice, 1 for up to half a spacing to either side
    double velocity[3]; ///< [m/s] at the origin
    double velocity_gradient[3][3];       ///< d v_i / d x_j [1/s]; also sets the affine state
    rp_vector_of_place velocity_of_place; ///< replaces both when its call is not NULL
    rp_prestress prestress;
    double share; ///< of the shape that they fill: 1, or the porosity of sand that they are within
    int field;    ///< which velocity field
    /// Into pieces, each with a field of its own from `field` on (fracture.h); NULL: whole. Only
    /// looked at during the call.
    const struct rp_cut *cut;
    uint32_t cookie;
} rp_particles_def;

RP_API rp_particles_def rp_default_particles_def(void);

/// Places that shapes were filled with, kept by a planned world for the one that is made by the
/// same calls afterwards: a shape is sampled once. Each place is taken once and then forgotten; of
/// very many none are kept, and they are found again.
typedef struct rp_places rp_places;
/// @param[out] places released with rp_places_destroy(), after the worlds that use them
RP_API rp_result rp_places_create(rp_places **places);
RP_API void rp_places_destroy(rp_places *places);

/// @param[out] added particles created; may be NULL
/// @return on failure the world is exactly as it was
RP_API rp_result rp_world_add_particles(rp_world *world, const rp_particles_def *def,
                                        int64_t *added);

/// A box filled with particles, in one call.
typedef struct rp_box_def {
    rp_material material;
    double lower[3], upper[3]; ///< [m]
    int per_axis;              ///< particles along each axis of a grid cell; 2 is 8 per cell in 3D
    double jitter;      ///< 0 for a perfect lattice, 1 for up to half a spacing to either side
    double velocity[3]; ///< [m/s] at the origin
    double velocity_gradient[3][3]; ///< d v_i / d x_j [1/s]; also sets the affine state
    int field;                      ///< which velocity field
    uint32_t cookie;
} rp_box_def;

RP_API rp_box_def rp_default_box_def(void);

/// @param[out] added particles created; may be NULL
/// @return on failure the world is exactly as it was
RP_API rp_result rp_world_add_box(rp_world *world, const rp_box_def *def, int64_t *added);

/// Particles at given places.
typedef struct rp_points_def {
    rp_material material;
    int64_t count;
    const double *position; ///< [count][3] [m]
    const double *velocity; ///< [count][3] [m/s]; NULL: `0`
    const double *gradient; ///< [count][3][3] affine state [1/s]; NULL: `0`
    double volume;          ///< of each particle at rest [m^3]
    const double *volumes;  ///< [count] of each; NULL: all are alike. Their species then keeps mass
                            ///< and volume by particle
    /// [count] how far below the surface of their body they are, where it is solid and touches
    /// others [m], 0 where that is not known; NULL: of none. The surface is exact then.
    const double *depth;
    int field;
    uint32_t cookie;
} rp_points_def;

RP_API rp_points_def rp_default_points_def(void);
/// @param[out] first id of the first particle, the others follow; may be NULL
RP_API rp_result rp_world_add_points(rp_world *world, const rp_points_def *def, uint64_t *first);

/// Remove the particles with these ids at the start of the next step.
/// @param[out] removed how many of them existed; may be NULL
RP_API rp_result rp_world_remove(rp_world *world, const uint64_t *ids, int64_t count,
                                 int64_t *removed);

/// A source that pours particles in layers one spacing thick. The layer is the cut of the shape
/// with the plane through the middle of its bounds, across the velocity.
///
/// A mouth that moves pours grain by grain: each leaves where the mouth is at its own moment, with
/// the velocity of the mouth there besides that of the emitter, which turns with it. How much it
/// pours does not depend on how it moves.
typedef struct rp_emitter_def {
    rp_material material;
    const rp_shape *shape;
    double velocity[3]; ///< [m/s]; layers leave with it
    double rate;        ///< [kg/s]; 0: as the velocity brings it. 2D: per metre
    double volume;      ///< stop after this much [m^3]; 0: no end. 2D: [m^2]
    double start, stop; ///< pours from one to the other [s]; stop may be infinite
    double spacing;     ///< of particles [m]; 0: two along each axis of a grid cell
    int field;
    rp_pose_of_time motion; ///< of the mouth; NULL: it does not move by itself
    int parent; ///< collider, of a rigid body or not, that the mouth goes along with; -1: none
    const char *name; ///< for messages; copied; NULL: by its number
    uint32_t cookie;
} rp_emitter_def;
/// Pours from the start without end; material, shape and velocity must be set.
RP_API rp_emitter_def rp_default_emitter_def(void);
RP_API rp_result rp_world_add_emitter(rp_world *world, const rp_emitter_def *def);
/// How many particles all emitters of a world have poured when it has run for `time` [s].
RP_API int64_t rp_world_poured_by(const rp_world *world, double time);

/// A region in which particles vanish. It is looked at whenever some particle has gone about a cell
/// further, and at the end of a frame.
RP_API rp_result rp_world_add_sink(rp_world *world, const rp_shape *shape);

/// What becomes of a particle that leaves the domain.
typedef enum rp_leave {
    RP_LEAVE_STOP,   ///< the step fails with a sentence that names it
    RP_LEAVE_REMOVE, ///< it is removed, and counted
    RP_LEAVE_CLAMP,  ///< it is put back onto the border and stops across it, and is counted
} rp_leave;
/// A box that particles should stay in, along axes where it is finite; looked at as sinks are.
RP_API rp_result rp_world_set_domain(rp_world *world, const double lower[3], const double upper[3],
                                     rp_leave leave);

#ifdef __cplusplus
}
#endif

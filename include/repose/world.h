// SPDX-License-Identifier: Apache-2.0
// A world of sand: describe it with defs, step it, look at its particles.
//
//     rp_world_def def = rp_default_world_def();       // change what differs, then
//     rp_world_create(&def, &world);                   // materials, sand, walls, and
//     rp_world_run_frame(world);                       // one frame of time at a go
//
// SI units and radians throughout; y points up. In a 2D world (plane strain) the third component of
// every vector is ignored and a slice one metre thick is meant.
#pragma once

#include "base.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

typedef enum rp_precision { RP_SINGLE, RP_DOUBLE } rp_precision;

/// How velocity travels between particles and grid.
typedef enum rp_transfer {
    RP_APIC, ///< affine: keeps angular momentum (the default)
    RP_PIC,  ///< plain interpolation: very dissipative, for comparison
    RP_FLIP, ///< increments, blended with PIC by rp_world_def.flip
} rp_transfer;

/// How stress becomes force, and velocity strain (docs/theory.md, sections 3 and 6).
typedef enum rp_gradient {
    RP_GRADIENT_SPLINE, ///< by the derivatives of the weights (the default)
    RP_GRADIENT_AFFINE, ///< by the affine field that fits the nodes best ("MLS"): faster; wants
                        ///< quadratic or cubic splines
} rp_gradient;

/// A vector that changes with time, such as gravity in a tilting box. Must be pure: the same t
/// gives the same vector. Called on the stepping thread only. A call that fails (rp_fail) ends the
/// step before anything has changed.
typedef struct rp_vector_of_time {
    rp_result (*call)(void *context, double t, double out[3]); ///< NULL: use the constant instead
    void *context;
} rp_vector_of_time;

/// A vector that changes from place to place, such as the velocity of a vortex.
typedef struct rp_vector_of_place {
    rp_result (*call)(void *context, const double x[3], double out[3]); ///< NULL: use the constant
    void *context;
} rp_vector_of_place;

/// A vector that changes with time and place, such as a wind. Must be pure, as rp_vector_of_time.
typedef struct rp_vector_field {
    rp_result (*call)(void *context, double t, const double x[3], double out[3]); ///< NULL: none
    void *context;
} rp_vector_field;

/// Where a body is and how it is turned.
typedef struct rp_pose {
    double position[3]; ///< [m]
    double rotation[4]; ///< quaternion x, y, z, w; need not be of length 1, must not be 0
} rp_pose;

/// A pose that changes with time. Must be pure, as rp_vector_of_time.
typedef struct rp_pose_of_time {
    rp_result (*call)(void *context, double t, rp_pose *out); ///< NULL: it stays where it is
    void *context;
} rp_pose_of_time;

typedef struct rp_world_def {
    int dimension;                     ///< 2 or 3
    rp_precision precision;            ///< single is the default; double for exactness checks
    int order;                         ///< of the spline: 1 linear, 2 quadratic, 3 cubic
    rp_transfer transfer;              ///< between particles and grid
    rp_gradient gradient;              ///< of stress and velocity
    double flip;                       ///< share of FLIP in RP_FLIP, 0 to 1; the rest is PIC
    double dx;                         ///< grid spacing [m]
    double fps;                        ///< frames per second of simulated time [1/s]
    double gravity[3];                 ///< [m/s^2]
    rp_vector_of_time gravity_of_time; ///< replaces `gravity` when its call is not NULL
    rp_vector_field acceleration;      ///< added to gravity, from place to place [m/s^2]
    double cfl;                        ///< cells that the fastest particle may cross in a step
    double elastic_share;              ///< of the longest step that is stable for elastic waves
    double dt_max;                     ///< upper bound on a step [s]
    bool energy;                       ///< keep account of where energy goes, see rp_energy
    int period[3];   ///< cells after which space repeats, 0 for none; multiples of 8 (z in 3D: 4)
    int fields;      ///< separate velocity fields; particles of two fields do not feel each other
    int threads;     ///< 0: as many as the process may use
    uint64_t seed;   ///< of every random number in the world
    const char *isa; ///< "plain", "avx2", "avx512"; NULL: REPOSE_ISA, else the widest there is
    size_t memory;   ///< most bytes that particles and grid may take; 0: no limit
    bool plan;       ///< count particles instead of making them, see rp_world_plan()
    const rp_allocator *allocator; ///< NULL: the library's own
    uint32_t cookie;               ///< filled in by rp_default_world_def()
} rp_world_def;

/// 3D, single precision, quadratic APIC, 24 fps, gravity (0, -9.81, 0), one field; dx must be set.
RP_API rp_world_def rp_default_world_def(void);

/// @param[out] world owned by the caller; NULL on failure
RP_API rp_result rp_world_create(const rp_world_def *def, rp_world **world);
RP_API void rp_world_destroy(rp_world *world);

/// What a friction angle means for the yield cone (docs/theory.md, The friction angle).
typedef enum rp_yield_fit {
    RP_FIT_DEFAULT,      ///< compression in 3D, plane strain in 2D
    RP_FIT_COMPRESSION,  ///< Klar 2016: matches Mohr-Coulomb in triaxial compression
    RP_FIT_PLANE_STRAIN, ///< matches Mohr-Coulomb in plane strain; exact in 2D
    RP_FIT_SLOPE,        ///< a flowing slope settles at the friction angle
    RP_FIT_INSCRIBED,    ///< the cone inside Mohr-Coulomb's pyramid
    RP_FIT_MIDDLE,       ///< through the inner corners of the pyramid (triaxial extension)
} rp_yield_fit;

typedef enum rp_material_kind { RP_SAND, RP_ELASTIC } rp_material_kind;

typedef struct rp_material_def {
    rp_material_kind kind;
    char name[32];  ///< for messages and frames
    double density; ///< bulk density at rest [kg/m^3]
    double young;   ///< Young's modulus [Pa]
    double poisson; ///< Poisson's ratio, > -1 and < 0.5
    double
        friction_angle; ///< [rad]; not used when friction_coefficient is given or hardening is on
    rp_yield_fit yield_fit;      ///< what the angle means
    double friction_coefficient; ///< shear over normal stress at yield; < 0: use friction_angle
    bool hardening;              ///< friction angle follows h0 + (h1 q - h3) exp(-h2 q)
    double hardening_h[4];       ///< h0 [rad], h1 [rad], h2 [1], h3 [rad]
    double cohesion;             ///< c_C, as stress norm [Pa]
    bool volume_correction;      ///< undo the volume that sand gains when it separates
    uint32_t cookie;             ///< filled in by the default functions
} rp_material_def;

/// Dry sand: 2200 kg/m^3, E 3.537e5 Pa, nu 0.3, 35 degrees, volume correction on, hardening off.
RP_API rp_material_def rp_default_sand_def(void);
/// A soft solid of sand's density that never yields.
RP_API rp_material_def rp_default_elastic_def(void);

typedef struct rp_material {
    uint16_t index;
} rp_material;

RP_API rp_result rp_world_add_material(rp_world *world, const rp_material_def *def,
                                       rp_material *material);
RP_API int rp_world_materials(const rp_world *world);
/// @param index 0 to rp_world_materials() - 1
RP_API const rp_material_def *rp_world_material(const rp_world *world, int index);
/// The slope [rad] at which the sand settles when it flows, as it is before it hardens; 0 for what
/// is no sand (docs/theory.md, What slope to expect).
RP_API double rp_material_slope(const rp_material_def *def, int dimension);

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
    int field; ///< which velocity field
    uint32_t cookie;
} rp_particles_def;

RP_API rp_particles_def rp_default_particles_def(void);

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

/// Particles at given places. Each stands for the same volume.
typedef struct rp_points_def {
    rp_material material;
    int64_t count;
    const double *position; ///< [count][3] [m]
    const double *velocity; ///< [count][3] [m/s]; NULL: `0`
    const double *gradient; ///< [count][3][3] affine state [1/s]; NULL: `0`
    double volume;          ///< of each particle at rest [m^3]
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
typedef struct rp_emitter_def {
    rp_material material;
    const rp_shape *shape;
    double velocity[3]; ///< [m/s]; layers leave with it
    double rate;        ///< [kg/s]; 0: as the velocity brings it. 2D: per metre
    double volume;      ///< stop after this much [m^3]; 0: no end. 2D: [m^2]
    double start, stop; ///< pours from one to the other [s]; stop may be infinite
    double spacing;     ///< of particles [m]; 0: two along each axis of a grid cell
    int field;
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
    double force[3];  ///< mean over the last whole frame, from particles [N]; 2D: per metre
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

/// Put particles into their pages and build the grid, as the next step would: afterwards
/// rp_stats.memory is what stepping needs. Calling it or not does not change what a run computes.
RP_API rp_result rp_world_prepare(rp_world *world);

/// One step, of a length that ends on the frame's end or before.
RP_API rp_result rp_world_step(rp_world *world);
/// Steps until the frame's end, exactly.
RP_API rp_result rp_world_run_frame(rp_world *world);

/// Let particles find their rest before time begins: steps for so many seconds with the gravity and
/// the colliders of this moment, strongly damped, then sets velocities to zero. The time stays what
/// it is; emitters do not pour. Doing it in several pieces is fine.
RP_API rp_result rp_world_settle(rp_world *world, double seconds);

/// What bounded the last step.
typedef enum rp_limiter {
    RP_LIMIT_NONE,     ///< no step yet
    RP_LIMIT_FRAME,    ///< the whole frame is one step: no limit is shorter
    RP_LIMIT_MAX,      ///< rp_world_def.dt_max
    RP_LIMIT_SPEED,    ///< the fastest particle may cross `cfl` cells
    RP_LIMIT_GRADIENT, ///< velocity gradient times step at most 0.3
    RP_LIMIT_ELASTIC,  ///< elastic waves
    RP_LIMIT_COLLIDER, ///< a moving collider may cross `cfl` cells where particles are
    RP_LIMITER_COUNT,
} rp_limiter;
RP_API const char *rp_limiter_name(rp_limiter limiter);

/// What a world described with rp_world_def.plan would need.
typedef struct rp_plan {
    int64_t particles, pages, node_pages;
    size_t bytes;              ///< of particles and grid while stepping, as rp_stats.memory
    size_t setup_bytes;        ///< the most that is needed before the first step
    size_t state_bytes;        ///< of a saved state; one is held while a frame is written
    double dt;                 ///< the first step [s]
    rp_limiter limiter;        ///< what bounds it
    double lower[3], upper[3]; ///< where the particles are [m]
    double mass;               ///< of all of them [kg], in 2D per metre
} rp_plan;
RP_API rp_result rp_world_plan(const rp_world *world, rp_plan *out);
/// Look for what will go wrong in a planned world, and log a warning for each: colliders thinner
/// than 4 dx, gaps between them under 2 dx, particles outside of the domain, in a sink, with
/// nothing to land on or in the same place as others, sand that its own weight presses together.
/// Colliders are looked at where they are at the start, in many random places.
RP_API rp_result rp_world_foresee(rp_world *world);

typedef enum rp_stage {
    RP_STAGE_SORT,
    RP_STAGE_P2G,
    RP_STAGE_GRID,
    RP_STAGE_G2P,
    RP_STAGE_COUNT
} rp_stage;
RP_API const char *rp_stage_name(rp_stage stage);

typedef struct rp_stats {
    int64_t frame, step;     ///< whole frames done; steps since the start
    double time;             ///< [s]
    double dt;               ///< of the last step [s]
    rp_limiter limiter;      ///< what bounded it
    int64_t particles;       ///< alive
    int64_t born, removed;   ///< since the start, initial ones included in born
    int64_t sunk, left;      ///< of the removed: in sinks, and by leaving the domain
    int64_t clamped;         ///< times that a particle was put back into the domain
    double max_speed;        ///< of any particle [m/s]
    double max_gradient;     ///< Frobenius norm of the velocity gradient [1/s]
    double dropped_momentum; ///< on nodes too light to carry a velocity, summed over all steps [kg
                             ///< m/s]
    int64_t sorts;           ///< full sorts since the start
    int64_t pages, node_pages;      ///< of the block-sparse grid
    double seconds[RP_STAGE_COUNT]; ///< wall time spent since the start
    size_t memory;                  ///< bytes held by particles and grid
} rp_stats;

RP_API void rp_world_stats(const rp_world *world, rp_stats *out);
RP_API int rp_world_dimension(const rp_world *world);
/// The instruction set in use: "plain", "avx2" or "avx512".
RP_API const char *rp_world_isa(const rp_world *world);

/// Sums over all particles, in double, in memory order.
typedef struct rp_totals {
    double mass;             ///< [kg]
    double momentum[3];      ///< [kg m/s]
    double angular[3];       ///< about the origin, affine part included [kg m^2/s]; 2D: only [2]
    double kinetic, elastic; ///< energies [J]; kinetic without the affine part
    double center[3];        ///< of mass [m]
} rp_totals;
RP_API void rp_world_totals(const rp_world *world, rp_totals *out);

/// Where energy has gone since the start [J], in a world with rp_world_def.energy. With the totals,
/// kinetic + affine + elastic + potential falls by the sum of the others. Energy that particles
/// bring along or take away, and work of colliders that move, are not told apart: the latter is in
/// `contact`, with its sign.
typedef struct rp_energy {
    double affine;   ///< now: kinetic energy of what APIC carries besides the velocity
    double plastic;  ///< lost in the return mapping
    double contact;  ///< lost on colliders, across their surface
    double friction; ///< lost on colliders, along it
    double transfer; ///< lost between particles and grid
    double stepping; ///< lost by finite steps (or, where negative, gained)
} rp_energy;
RP_API void rp_world_energy(const rp_world *world, rp_energy *out);

/// Names a particle column, see src/core/fields.h and rp_column_name().
typedef enum rp_column_id {
    RP_COL_POSITION, ///< [m]
    RP_COL_VELOCITY, ///< [m/s]
    RP_COL_AFFINE,   ///< C, d * d [1/s]
    RP_COL_STRAIN,   ///< Hencky tensor, 3 in 2D (xx yy xy), 6 in 3D (xx yy zz xy xz yz)
    RP_COL_HARDENING,
    RP_COL_VOLUME_GAIN,
    RP_COL_VOLUME_RATIO,
    RP_COL_STRENGTH,
    RP_COL_GROUP,
    RP_COL_ID,
    RP_COL_COUNT,
} rp_column_id;
RP_API const char *rp_column_name(rp_column_id column);
/// Components of a column in this world; 0 when the world does not keep it.
RP_API int rp_world_column_comps(const rp_world *world, rp_column_id column);
/// Copy a column in memory order, as double, to out[particles][components].
/// Every column is copied in the same order as long as no step is taken in between.
RP_API rp_result rp_world_read(const rp_world *world, rp_column_id column, double *out);

#define RP_NO_PARTICLE UINT64_MAX

/// Which particle a failed step blames.
typedef struct rp_failure {
    uint64_t particle; ///< its id; RP_NO_PARTICLE: no one of them
    int64_t cell[3];   ///< of the grid
    rp_material material;
    int64_t step;
    double dt;          ///< [s]
    rp_limiter limiter; ///< what bounded dt
} rp_failure;
/// @return false when no step of this world has failed
RP_API bool rp_world_failure(const rp_world *world, rp_failure *out);
/// Ids of all particles whose state is not physical any more (a number that is not finite, or
/// faster than a cell a step), in ascending order.
/// @param[out] ids room for `capacity`; @return how many there are, which may be more
RP_API int64_t rp_world_guilty(const rp_world *world, uint64_t *ids, int64_t capacity);

/// The whole state as one block of bytes; a world made with the same calls goes on from it bit for
/// bit.
/// @param[out] data released by rp_state_free()
RP_API rp_result rp_world_save(const rp_world *world, void **data, size_t *size);
/// @return on failure the world is as it was
RP_API rp_result rp_world_restore(rp_world *world, const void *data, size_t size);
RP_API void rp_state_free(void *data);

#ifdef __cplusplus
}
#endif

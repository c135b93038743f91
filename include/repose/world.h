// SPDX-License-Identifier: Apache-2.0
// A world of sand: describe it with defs, step it, look at its particles.
//
//     rp_world_def def = rp_default_world_def();       // change what differs, then
//     rp_world_create(&def, &world);                   // materials, sand, walls, and
//     rp_world_run_frame(world);                       // one frame of time at a go
//
// SI units and radians throughout; up is where gravity does not point, y as a rule. In a 2D world
// (plane strain) the third component of every vector is ignored and a slice one metre thick is
// meant.
#pragma once

#include "base.h"
#include "collider.h"
#include "columns.h"
#include "contact.h"
#include "method.h"
#include "particles.h"
#include "rigid.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

typedef enum rp_precision { RP_SINGLE, RP_DOUBLE } rp_precision;

/// How velocity travels between particles and grid.
typedef enum rp_transfer {
    RP_APIC,   ///< affine: keeps angular momentum (the default)
    RP_PIC,    ///< plain interpolation: very dissipative, for comparison
    RP_FLIP,   ///< increments, blended with PIC by rp_world_def.flip
    RP_STEADY, ///< affine, and keeps for a time what nodes cannot hold; loses per second, not per
               ///< step
} rp_transfer;

/// How stress becomes force, and velocity strain (docs/theory.md, sections 3 and 6).
typedef enum rp_gradient {
    RP_GRADIENT_SPLINE, ///< by the derivatives of the weights (the default)
    RP_GRADIENT_AFFINE, ///< by the affine field that fits the nodes best ("MLS"): faster; wants
                        ///< quadratic or cubic splines
} rp_gradient;

typedef struct rp_world_def {
    const char *method;             ///< one of rp_method_at(); NULL: "explicit"
    bool options;                   ///< `option` holds the method's options; else its defaults
    double option[RP_OPTION_LIMIT]; ///< room for the struct that the method's properties describe
    int dimension;                  ///< 2 or 3
    rp_precision precision;         ///< single is the default; double for exactness checks
    int order;                      ///< of the spline: 1 linear, 2 quadratic, 3 cubic
    rp_transfer transfer;           ///< between particles and grid
    rp_gradient gradient;           ///< of stress and velocity
    double flip;                    ///< share of FLIP in RP_FLIP, 0 to 1; the rest is PIC
    double fade;                    ///< of RP_STEADY [s]; 0: sqrt(dx / gravity)
    double dx;                      ///< grid spacing [m]
    double fps;                     ///< frames per second of simulated time [1/s]
    double gravity[3];              ///< [m/s^2]
    rp_vector_of_time gravity_of_time; ///< replaces `gravity` when its call is not NULL
    rp_vector_field acceleration;      ///< added to gravity, from place to place [m/s^2]
    double cfl;                        ///< cells that the fastest particle may cross in a step
    double elastic_share;              ///< of the longest step that is stable for elastic waves
    double dt_max;                     ///< upper bound on a step [s]
    bool energy;                       ///< keep account of where energy goes, see rp_energy
    int period[3];     ///< cells after which space repeats, 0 for none; multiples of 8 (z in 3D: 4)
    int fields;        ///< separate velocity fields; particles of two fields do not feel each other
    bool contact;      ///< unless they are bodies that touch, see contact.h
    int threads;       ///< 0: as many as the process may use
    uint64_t seed;     ///< of every random number in the world
    const char *isa;   ///< "plain", "avx2", "avx512"; NULL: REPOSE_ISA, else the widest there is
    size_t memory;     ///< most bytes that particles and grid may take; 0: no limit
    bool plan;         ///< count particles instead of making them, see rp_world_plan()
    rp_places *places; ///< from a planned world to the next; NULL: every world finds its own
    const rp_allocator *allocator; ///< NULL: the library's own
    uint32_t cookie;               ///< filled in by rp_default_world_def()
} rp_world_def;

/// 3D, single precision, quadratic APIC, 24 fps, gravity (0, -9.81, 0), one field; dx must be set.
RP_API rp_world_def rp_default_world_def(void);

/// @param[out] world owned by the caller; NULL on failure
RP_API rp_result rp_world_create(const rp_world_def *def, rp_world **world);
RP_API void rp_world_destroy(rp_world *world);

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

/// What a world described with rp_world_def.plan would need.
typedef struct rp_plan {
    int64_t particles, pages, node_pages;
    size_t bytes;                ///< of particles and grid while stepping, as rp_stats.memory
    size_t setup_bytes;          ///< the most that is needed before the first step
    size_t state_bytes;          ///< of a saved state; one is held while a frame is written
    size_t row_bytes;            ///< of a particle in a frame of chosen columns; 0: frames keep all
    double dt;                   ///< the first step [s]
    char limiter[RP_LIMIT_NAME]; ///< what bounds it
    double lower[3], upper[3];   ///< where the particles are [m]
    double mass;                 ///< of all of them [kg], in 2D per metre
} rp_plan;
RP_API rp_result rp_world_plan(const rp_world *world, rp_plan *out);
/// Look for what will go wrong in a planned world, and log a warning for each: colliders thinner
/// than 4 dx, gaps between them under 2 dx, particles outside of the domain, in a sink, with
/// nothing to land on or in the same place as others, sand that its own weight presses together.
/// Colliders are looked at where they are at the start, in many random places.
RP_API rp_result rp_world_foresee(rp_world *world);

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

// SPDX-License-Identifier: Apache-2.0
// Looking at a world: what a step did, sums over all particles, who is to blame.
#pragma once

#include "material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

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

#ifdef __cplusplus
}
#endif

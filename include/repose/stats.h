// SPDX-License-Identifier: Apache-2.0
// Looking at a world: what a step did, sums over all particles, who is to blame.
#pragma once

#include "material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

enum {
    RP_LIMIT_NAME = 16, ///< bytes of the name of what bounds a step
    RP_STAGE_LIMIT = 8, ///< named parts of a step
    RP_EXTRA_LIMIT = 8, ///< numbers that only one method has
};

typedef struct rp_stats {
    int64_t frame, step; ///< whole frames done; steps since the start
    double time;         ///< [s]
    double dt;           ///< of the last step [s]
    /// What bounded it: "speed", "elastic" or another limit of the method, "collider" (a moving one
    /// may cross `cfl` cells where particles are), "emitter" (so may a mouth that moves and pours),
    /// "dt_max", "frame" (the whole frame is one step), "none" before the first
    char limiter[RP_LIMIT_NAME];
    int64_t particles;       ///< alive
    int64_t born, removed;   ///< since the start, initial ones included in born
    int64_t sunk, left;      ///< of the removed: in sinks, and by leaving the domain
    int64_t clamped;         ///< times that a particle was put back into the domain
    double max_speed;        ///< of any particle [m/s]
    double max_gradient;     ///< Frobenius norm of the velocity gradient [1/s]
    double dropped_momentum; ///< on nodes too light to carry a velocity, summed over all steps [kg
                             ///< m/s]
    int64_t sorts;           ///< full sorts since the start
    int64_t pages, node_pages;         ///< of the block-sparse grid
    int stages, extras;                ///< that the method has
    const char *stage[RP_STAGE_LIMIT]; ///< names of the parts of a step
    double seconds[RP_STAGE_LIMIT];    ///< wall time spent in each since the start
    const char *extra_name[RP_EXTRA_LIMIT];
    double extra[RP_EXTRA_LIMIT]; ///< of the last step: iterations, residuals
    size_t memory;                ///< bytes held by particles and grid
} rp_stats;

RP_API void rp_world_stats(const rp_world *world, rp_stats *out);
RP_API int rp_world_dimension(const rp_world *world);
/// The instruction set in use: "plain", "avx2" or "avx512".
RP_API const char *rp_world_isa(const rp_world *world);

/// Sums over all particles, in double, page by page in memory order.
typedef struct rp_totals {
    double mass;             ///< [kg]
    double momentum[3];      ///< [kg m/s]
    double angular[3];       ///< about the origin, affine part included [kg m^2/s]; 2D: only [2]
    double kinetic, elastic; ///< energies [J]; kinetic without the affine part
    double center[3];        ///< of mass [m]
} rp_totals;
RP_API void rp_world_totals(const rp_world *world, rp_totals *out);

/// Where energy has gone since the start [J], in a world with rp_world_def.energy. With the totals,
/// kinetic + affine + elastic + potential less `brought` falls by the sum of the others. Work of
/// colliders that move is in `contact`, with its sign.
typedef struct rp_energy {
    double affine;   ///< now: kinetic energy of what APIC carries besides the velocity
    double plastic;  ///< lost in the return mapping
    double contact;  ///< lost on colliders, across their surface
    double friction; ///< lost on colliders, along it
    double transfer; ///< lost between particles and grid
    double stepping; ///< lost by finite steps (or, where negative, gained)
    /// came between steps: with what emitters pour, less what goes in sinks and over the border,
    /// and by gravity that changes
    double brought;
} rp_energy;
RP_API void rp_world_energy(const rp_world *world, rp_energy *out);

#define RP_NO_PARTICLE UINT64_MAX

/// Which particle a failed step blames.
typedef struct rp_failure {
    uint64_t particle; ///< its id; RP_NO_PARTICLE: no one of them
    int64_t cell[3];   ///< of the grid
    rp_material material;
    int64_t step;
    double dt;                   ///< [s]
    char limiter[RP_LIMIT_NAME]; ///< what bounded dt
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

// How a time integrator plugs in. One folder per method; each exports one table. sim/ hands over an
// rp_step, so a solver never sees the world.
#pragma once

#include "collide/touches.h"
#include "core/registry.h"
#include "kernel/kernels.h"

// Time is kept as whole frames and a part of the next: t = (frame + part) / fps. The last step of a
// frame sets part to exactly 0.
typedef struct rp_time {
    int64_t frame, step;
    double part;
} rp_time;

// A named bound on the step.
typedef struct rp_limit {
    rp_limiter limiter;
    double dt; // [s]
} rp_limit;

// What the particles of a set are made of, as kernels read it; constant once added.
typedef struct rp_matter {
    const rp_law *law;        // [RP_LAW_COUNT] of this world's variant; NULL: no stress
    const void *group;        // real[groups][RP_GROUP_REALS]; NULL: no mass
    const uint8_t *group_law; // [groups]
    double stiffness;         // largest (d lambda + 2 mu) / rho of any material [m^2/s^2]
    double lightest;          // least particle mass of any group [kg]
} rp_matter;

// Energies that a step passes through [J]: what sim makes the account of rp_energy from.
typedef struct rp_ledger {
    double before, after; // kinetic, of the nodes: as scattered, and at the end
    double contact;       // given up to colliders
    double rubbed;        // of that, along their surface
    double field;         // work of the field of accelerations
    double plastic;       // of the return mapping
} rp_ledger;

// All that a solver may see.
typedef struct rp_step {
    rp_set *set;
    int sets;
    rp_grid *grid;
    const rp_kernels *kernels;
    const rp_collider *collider;
    int colliders;
    rp_body *body;           // [colliders]: a step gives each what nodes give up to its collider
    const rp_matter *matter; // [sets]
    rp_transfer transfer;
    rp_gradient gradient;
    double flip, cfl;
    double elastic_share;                   // of the longest stable step
    const rp_vector_field *acceleration;    // or NULL
    double begin;                           // time at the start of the step [s]
    double newborn_speed, newborn_gradient; // largest among particles that have not stepped yet
    double gravity[3];                      // at the start of the step [m/s^2]
    uint64_t seed;
    int threads;
    rp_scratch *scratch;
    rp_stats *stats;
    rp_ledger *ledger;   // to be filled in; NULL: nobody asks
    rp_failure *failure; // filled in by a step that returns RP_ERR_DIVERGED
    rp_time time;
    double dt; // [s]
} rp_step;

typedef struct rp_solver {
    const char *name; // what a scene writes
    rp_result (*create)(const rp_world_def *def, const rp_allocator *a, void **state);
    // channels the grid must have
    int (*channels)(const rp_world_def *def);
    // named bounds on the next step; sim takes the least
    int (*limits)(void *state, const rp_step *step, rp_limit out[RP_LIMITER_COUNT]);
    // sort particles and build the grid where the next step would have to
    rp_result (*prepare)(void *state, rp_step *step);
    rp_result (*step)(void *state, rp_step *step);
    // what to save besides particles
    void (*state)(void *state, rp_registry *registry);
    void (*destroy)(void *state, const rp_allocator *a);
} rp_solver;

// NULL when there is no such method.
const rp_solver *rp_solver_find(const char *name);

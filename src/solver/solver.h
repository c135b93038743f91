// How a time integrator plugs in. One folder per method; each exports one table. sim/ hands over an
// rp_step, so a solver never sees the world.
#pragma once

#include "collide/meeting.h"
#include "collide/rigids.h"
#include "collide/touches.h"
#include "core/exchange.h"
#include "core/registry.h"
#include "core/species.h"
#include "kernel/kernels.h"
#include "repose/method.h"

// Time is kept as whole frames and a part of the next: t = (frame + part) / fps. The last step of a
// frame sets part to exactly 0.
typedef struct rp_time {
    int64_t frame, step;
    double part;
} rp_time;

// A named bound on the step.
typedef struct rp_limit {
    const char *name; // as stats.csv shows it; within RP_LIMIT_NAME
    double dt;        // [s]
} rp_limit;
enum { RP_LIMITS_MOST = 8 };

// What a solver wants of the world around it.
typedef struct rp_needs {
    unsigned columns;       // of every species with mass, besides those of laws: 1u << rp_column_id
    unsigned solid_columns; // of the species "solid" besides
    const char *apart;      // species with a velocity field of its own, 1; NULL: none
    rp_channel channel[RP_CHANNEL_LIMIT]; // of the grid
    unsigned orders;                      // splines it can work with: 1u << order
    int per_cell;                         // particles in a cell that it must have; 0: any
    bool grid;                            // particles and nodes exchange: pages have arenas
    size_t particle_bytes;                // that a particle costs besides its columns
    double parted;                        // walls of so many cells part sand on both sides; 0: 4
    bool push_out;                        // what has sunk into colliders is put back for it
} rp_needs;

// Energies that a step passes through [J]: what sim makes the account of rp_energy from.
typedef struct rp_ledger {
    double before, after; // kinetic, of the nodes: as scattered, and at the end
    double contact;       // given up to colliders
    double rubbed;        // of that, along their surface
    double field;         // work of the field of accelerations
    double plastic;       // of the return mapping
} rp_ledger;

// What the field of accelerations gave the particles in a step; only numbers of type double.
typedef struct rp_drive {
    double momentum[3], energy; // [kg m/s], [J]
} rp_drive;

// All that a solver may see.
typedef struct rp_step {
    rp_species *species; // [species_count]
    rp_set *set;         // those of the species, one after the other
    int species_count;
    rp_grid *grid;
    const rp_kernels *kernels;
    const rp_law *const *law; // [RP_MATERIAL_KINDS] of this world's variant
    const rp_collider *collider;
    int colliders;
    const struct rp_glue_rule *glue_rule; // [material] of those that are glue
    const rp_pairs *pairs;     // how bodies touch; NULL: those of two fields do not feel each other
    rp_pair_loads *pair_loads; // a step adds what they give each other
    rp_company *company;       // of free bodies
    rp_body *body;             // [colliders]: a step gives each what nodes give up to its collider
    const void *option;        // the struct that the solver's properties describe, checked
    rp_transfer transfer;
    rp_gradient gradient;
    double flip, fade, cfl;                 // fade [s]; 0: from cells and gravity
    double elastic_share;                   // of the longest stable step
    const rp_vector_field *acceleration;    // or NULL
    double begin;                           // time at the start of the step [s]
    double newborn_speed, newborn_gradient; // largest among particles that have not stepped yet
    double gravity[3];                      // at the start of the step [m/s^2]
    rp_drive drive;                         // left by the solver where there is a field
    uint64_t seed;
    int threads;
    rp_comm *comm; // of the ranks that take the step together; NULL: there is only this one
    rp_scratch *scratch;
    rp_stats *stats;
    rp_ledger *ledger;   // to be filled in; NULL: nobody asks
    rp_failure *failure; // filled in by a step that returns RP_ERR_DIVERGED
    rp_time time;
    // [s]; a solver that could only do a shorter step, or tried again with one, leaves what it did
    double dt;
} rp_step;

typedef struct rp_solver {
    // Name, options, and what it makes of what scenes ask. Whatever a scene says is looked up here;
    // solvers see nothing that they have not honoured
    rp_method_info info;
    // Named parts of a step, in order: stats->seconds[i] is the time spent in part i
    const char *stage[RP_STAGE_LIMIT];
    // Numbers of the last step that stats.csv, `info` and the page show, name and unit in one such
    // as "iterations" or "residual_m_s": stats->extra[i]
    const char *extra[RP_EXTRA_LIMIT];
    // Beyond the table: what only shows when def and options are taken together; NULL: nothing
    rp_result (*check)(const rp_world_def *def);
    // The same for a feature that the table honours; NULL: options rule out none
    rp_result (*honours)(const rp_world_def *def, rp_feature feature);
    void (*needs)(const rp_world_def *def, rp_needs *needs);
    rp_result (*create)(const rp_world_def *def, const rp_allocator *a, void **state);
    // named bounds on the next step; sim takes the least. @return how many
    int (*limits)(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST]);
    // sort particles and build the grid where the next step would have to
    rp_result (*prepare)(void *state, rp_step *step);
    // One step of step->dt. Particles may go any number of cells: who moves them says so by
    // rp_set_travelled(), and the next step sorts
    rp_result (*step)(void *state, rp_step *step);
    // what to save besides particles
    void (*state)(void *state, rp_registry *registry);
    void (*destroy)(void *state, const rp_allocator *a);
    // memory that it holds; NULL: hardly any
    size_t (*bytes)(const void *state);
} rp_solver;

// Make a method known that does not come with the library, such as one of a test. Before anybody
// asks for methods; the table is not copied.
void rp_solver_add(const rp_solver *solver);
// The solver of a method. NULL when there is no such method, or it is not built.
const rp_solver *rp_solver_find(const char *name);

// One benchmark: a world in a given state, stepped and timed.
#pragma once

#include <repose/repose.h>

// Where the sand is.
typedef enum bench_state {
    BENCH_INITIAL,   // a column that was just let go
    BENCH_COLLAPSED, // the heap that it becomes
    BENCH_SPRAY,     // grains far from each other: every one has a page to itself
    BENCH_TOUCHING,  // 98 blocks side by side
    BENCH_APART,     // ... far from each other
    BENCH_KUBBS,     // the 98 blocks of the scene kubbs, as they have fallen onto each other
    BENCH_BED,       // sand between walls
    BENCH_SCENE,     // a scene after its first frames
    BENCH_STATES,
} bench_state;
extern const char *const bench_state_name[BENCH_STATES];

// As many as the scenes have, about.
#define BENCH_SMALL 7e4

typedef struct bench_case {
    const char *name;
    bench_state state;
    double particles; // wanted; a scene has its own
    int order;
    rp_gradient gradient;
    rp_transfer transfer; // 0: APIC
    rp_precision precision;
    int threads;
    const char *isa, *scene;
    int repeats;
    bool fields;  // each of the blocks has a velocity field of its own
    bool contact; // ... and feels the others
    bool surface; // colliders act at their surface, not at nodes
    bool rigid;   // a ball of ten cells lies in the bed
} bench_case;

// Parts of an explicit step, in the order of rp_stats.stage.
enum { BENCH_SORT, BENCH_P2G, BENCH_GRID, BENCH_G2P, BENCH_STAGES };

typedef struct bench_result {
    int64_t particles, steps, pages, node_pages;
    // per particle and step [s]; all in: sorts count by how often they happen
    double wall, cpu;
    double stage[BENCH_STAGES], rest;
    double step; // [s] the whole step, by the clock on the wall
    double sorts_per_step;
    double bytes_per_particle; // resident
    double bytes_writing;      // ... at most, while a frame is written; 0: not measured
    double flops, bytes;       // per particle and step: of the formulas, and to and from memory
    double fma;                // this machine's limit beside the run, of one core [flop/s]
    const char *isa;
} bench_result;

// A world of a scene's text. @param[out] scene, world to be freed, also when it fails; NULL before
rp_result bench_world(const char *text, int threads, rp_scene **scene, rp_world **world);

// How long pictures take: printed.
void bench_render(void);
// Rigid grains beside sand6: printed.
rp_result bench_nonsmooth(void);
// Implicit steps in shares of explicit ones: printed.
rp_result bench_implicit(double particles);
// Granular SPH: printed.
rp_result bench_sph(double particles);
// Sand and water, alone and together: printed.
rp_result bench_mixture(double particles);

// Of what the cores could have done in the time that they gave us: what others took is no fault of
// the step.
double bench_fraction_of_fma(const bench_result *r);

rp_result bench_run(const bench_case *c, bench_result *out);

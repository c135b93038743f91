// Sand and water, timed: each alone, both in one step.
#include "bench_case.h"

#include "host.h"
#include "limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of the rates; of the memory of both alone.
static const double WANT_WATER = 1.3, WANT_BOTH = 0.7, WANT_MEMORY = 1.1;

enum { SAND, WATER, BOTH, WORLDS };
static const char *const name[WORLDS] = {"sand", "water", "soaked sand"};

// A bed between walls: of sand, of water, and of sand with as many particles of water in its pores.
static const char text[] =
    "local a, kind = %.17g, %d\n"
    "local function wall(p, n)\n"
    "    collider { shape = half_space { point = p, normal = n }, contact = 'slip' }\n"
    "end\n"
    "scene { method = 'mixture', dx = 0.05, fps = 100, frames = 1000 }\n"
    "wall({0, 0, 0}, {0, 1, 0}) wall({0, 0, 0}, {1, 0, 0}) wall({a, 0, 0}, {-1, 0, 0})\n"
    "wall({0, 0, 0}, {0, 0, 1}) wall({0, 0, a}, {0, 0, -1})\n"
    "local bed = box { min = {0, 0, 0}, max = {a, 0.5 * a, a} }\n"
    "local sand = material.sand { porosity = 0.4, conductivity = 0.02 }\n"
    "local water = material.water { sound_speed = 20 }\n"
    "if kind ~= 1 then particles { material = sand, shape = bed } end\n"
    "if kind == 1 then particles { material = water, shape = bed } end\n"
    "if kind == 2 then particles { material = water, shape = bed, within = sand } end\n";

typedef struct trial {
    rp_scene *scene;
    rp_world *world;
    double bytes, best;
} trial;

static rp_result start(trial *t, int kind, double particles)
{
    char scene_text[sizeof text + 64];
    snprintf(scene_text, sizeof scene_text, text, 0.025 * cbrt(2.0 * particles), kind);
    const size_t before = resident_memory();
    *t = (trial){.best = INFINITY};
    rp_result result = bench_world(scene_text, 1, &t->scene, &t->world);
    for (int i = 0; i < 8 && result == RP_OK; i++) {
        result = rp_world_step(t->world);
    }
    t->bytes = (double)(resident_memory() - before);
    return result;
}

static rp_result step_for(trial *t, int steps)
{
    const double since = cpu_seconds();
    for (int i = 0; i < steps; i++) {
        const rp_result result = rp_world_step(t->world);
        if (result != RP_OK) {
            return result;
        }
    }
    t->best = fmin(t->best, (cpu_seconds() - since) / steps);
    return RP_OK;
}

static void print(const trial t[WORLDS])
{
    const double apart = t[SAND].best + t[WATER].best, bytes = t[SAND].bytes + t[WATER].bytes;
    rp_stats stats[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        rp_world_stats(t[i].world, &stats[i]);
        const double n = (double)stats[i].particles;
        printf("%-12s %10.0f %12.1f %12.3f %10.0f\n", name[i], n, 1e9 * t[i].best / n,
               1e-6 * n / t[i].best, t[i].bytes / n);
    }
    const double water = t[SAND].best / (double)stats[SAND].particles /
                         (t[WATER].best / (double)stats[WATER].particles);
    const double both = apart / t[BOTH].best, memory = t[BOTH].bytes / bytes;
    printf("\nwater over sand %.2f%s (%.2f wanted), both over the two apart %.2f%s (%.2f wanted), "
           "memory %.2f%s (%.2f wanted)\n",
           water, water < WANT_WATER ? "*" : "", WANT_WATER, both, both < WANT_BOTH ? "*" : "",
           WANT_BOTH, memory, memory > WANT_MEMORY ? "*" : "", WANT_MEMORY);
}

rp_result bench_mixture(double particles)
{
    enum { STEPS = 4, REPEATS = 5 };
    printf("Sand and water in 3D, single precision, one thread, by processor time; * misses it.\n\n"
           "%-12s %10s %12s %12s %10s\n",
           "", "particles", "ns each", "million/s", "bytes");
    trial t[WORLDS] = {{.world = NULL}};
    rp_result result = RP_OK;
    for (int i = 0; i < WORLDS && result == RP_OK; i++) {
        result = start(&t[i], i, particles);
    }
    // by turns: what others take of the machine is no fault of one of them
    for (int k = 0; k < REPEATS * WORLDS && result == RP_OK; k++) {
        result = step_for(&t[k % WORLDS], STEPS);
    }
    if (result == RP_OK) {
        print(t);
    }
    for (int i = 0; i < WORLDS; i++) {
        rp_world_destroy(t[i].world);
        rp_scene_free(t[i].scene);
    }
    return result;
}

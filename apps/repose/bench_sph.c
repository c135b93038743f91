// Granular SPH, timed: what the list costs and what an iteration does.
#include "bench_case.h"

#include "host.h"
#include "limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of one core, a million particles in single precision.
static const double WANT_LIST = 150.0; // ns per particle and step, at most
static const double WANT_PASSES = 8.0; // million particle-iterations a second
static const double WANT_ALL = 5.0;    // ... with everything that a step does besides
static const double WANT_BYTES = 700.0;

// Sand that was dropped from a little height between walls, so that loops have something to do and
// particles are no lattice any more.
static const char text[] = "local a = %.17g\n"
                           "local function wall(p, n, mu)\n"
                           "    collider { shape = half_space { point = p, normal = n }, contact = "
                           "'separate', friction = mu }\n"
                           "end\n"
                           "scene { method = 'sph', dx = 0.04, fps = 100, frames = 1000 }\n"
                           "wall({0, 0, 0}, {0, 1, 0}, 0.5)\n"
                           "wall({0, 0, 0}, {1, 0, 0}, 0) wall({a, 0, 0}, {-1, 0, 0}, 0)\n"
                           "wall({0, 0, 0}, {0, 0, 1}, 0) wall({0, 0, a}, {0, 0, -1}, 0)\n"
                           "particles { material = material.sand {}, shape = box { min = {0, 0, "
                           "0}, max = {a, 0.5 * a, a} } }\n";

typedef struct spent {
    double cpu, wall[4], iterations, steps; // sort, list, solve, move
} spent;

static rp_result step_for(rp_world *world, int steps, spent *out)
{
    rp_stats before, stats;
    *out = (spent){0};
    rp_world_stats(world, &before);
    const double since = cpu_seconds();
    for (int i = 0; i < steps; i++) {
        const rp_result result = rp_world_step(world);
        if (result != RP_OK) {
            return result;
        }
        rp_world_stats(world, &stats);
        out->iterations += stats.extra[0];
    }
    out->cpu = cpu_seconds() - since;
    for (int s = 0; s < 4; s++) {
        out->wall[s] = stats.seconds[s] - before.seconds[s];
    }
    out->steps = steps;
    return RP_OK;
}

static rp_result time_threads(double particles, int threads)
{
    enum { FIRST = 12, STEPS = 6, REPEATS = 4 };
    char scene_text[sizeof text + 32];
    snprintf(scene_text, sizeof scene_text, text, 0.02 * cbrt(2.0 * particles));
    rp_scene *scene = NULL;
    rp_world *world = NULL;
    rp_stats stats = {0};
    const size_t before = resident_memory();
    rp_result result = bench_world(scene_text, threads, &scene, &world);
    spent best = {.cpu = INFINITY}, now;
    result = result != RP_OK ? result : step_for(world, FIRST, &now);
    const double fma = limit_fma(1, 32);
    // by processor time: what others take is no fault of the step
    for (int i = 0; i < REPEATS && result == RP_OK; i++) {
        result = step_for(world, STEPS, &now);
        best =
            result == RP_OK && now.cpu / now.iterations < best.cpu / best.iterations ? now : best;
        best = i == 0 ? now : best;
    }
    if (result == RP_OK) {
        rp_world_stats(world, &stats);
        const double n = (double)stats.particles;
        const double wall = best.wall[0] + best.wall[1] + best.wall[2] + best.wall[3];
        const double list = 1e9 * best.cpu * best.wall[1] / wall / best.steps / n;
        const double passes = 1e-6 * n * best.iterations / (best.cpu * best.wall[2] / wall);
        const double all = 1e-6 * n * best.iterations / best.cpu;
        const double bytes = (double)(resident_memory() - before) / n;
        printf("%9.0f %7d %10.1f %8.0f%s %8.2f%s %8.2f%s %7.0f%s %8.0f\n", n, threads,
               best.iterations / best.steps, list, list > WANT_LIST ? "*" : " ", passes,
               passes < WANT_PASSES ? "*" : " ", all, all < WANT_ALL ? "*" : " ", bytes,
               bytes > WANT_BYTES ? "*" : " ", fma);
        fflush(stdout);
    }
    rp_world_destroy(world);
    rp_scene_free(scene);
    return result;
}

rp_result bench_sph(double particles)
{
    printf(
        "Granular SPH in 3D, single precision, by processor time. The list in ns per particle and\n"
        "step (%.0f wanted, of one core of a Zen 4 EPYC), passes and all in million particle-\n"
        "iterations a second (%.0f and %.0f wanted), bytes per particle (%.0f); * misses it.\n\n"
        "%9s %7s %10s %8s  %8s  %8s  %7s  %8s\n",
        WANT_LIST, WANT_PASSES, WANT_ALL, WANT_BYTES, "particles", "threads", "iterations", "list",
        "passes", "all", "bytes", "Gflop/s");
    const rp_result result = time_threads(particles, 1);
    return result != RP_OK ? result : time_threads(particles, 2);
}

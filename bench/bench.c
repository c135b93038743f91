// repose-bench: particle-steps per second of a 3D column collapse, and where the time goes.
//
//   repose-bench [--particles N] [--order Q] [--precision single|double] [--threads N] [--steps N]
//                [--repeat N] [--isa NAME] [--warm SECONDS]
//
// A column of sand, three times as high as wide, 8 particles per cell, is let go on rough ground.
// `--warm` simulates that long before measuring, so that the heap has spread. The best of several
// repeats counts: the machine may be shared, and noise only ever makes a run slower.
#include "bench.h"

#include <repose/repose.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct options {
    double particles, warm;
    int order, threads, steps, repeat;
    rp_precision precision;
    const char *isa;
} options;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long total = 0, resident = 0;
    if (file != NULL && fscanf(file, "%ld %ld", &total, &resident) != 2) {
        resident = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void check(rp_result result)
{
    if (result != RP_OK) {
        fprintf(stderr, "repose-bench: %s\n", rp_last_error());
        exit(1);
    }
}

// `cells` wide, three times as high, standing on the ground.
static rp_world *make_column(const options *o)
{
    const int cells = (int)lround(cbrt(o->particles / 24.0));
    rp_world_def def = rp_default_world_def();
    def.dx = 0.3 / (3 * cells);
    def.order = o->order;
    def.precision = o->precision;
    def.threads = o->threads;
    def.isa = o->isa;
    rp_world *world;
    check(rp_world_create(&def, &world));
    rp_material_def sand = rp_default_sand_def();
    rp_plane_def ground = rp_default_plane_def();
    rp_box_def box = rp_default_box_def();
    box.upper[0] = box.upper[2] = cells * def.dx;
    box.upper[1] = 3 * cells * def.dx;
    check(rp_world_add_material(world, &sand, &box.material));
    check(rp_world_add_box(world, &box, NULL));
    check(rp_world_add_plane(world, &ground));
    return world;
}

// A world that has simulated `warm` seconds. Every core helps; the bits do not depend on that.
static rp_world *make_warm(const options *o)
{
    options all_cores = *o;
    all_cores.threads = 0;
    rp_world *world = make_column(&all_cores);
    rp_stats stats;
    do {
        check(rp_world_step(world));
        rp_world_stats(world, &stats);
    } while (stats.time < o->warm || stats.step < 5);
    void *state;
    size_t size;
    check(rp_world_save(world, &state, &size));
    rp_world_destroy(world);
    world = make_column(o);
    check(rp_world_restore(world, state, size));
    rp_state_free(state);
    return world;
}

static void run(const options *o)
{
    rp_world *world = make_warm(o);
    rp_stats before, after, best = {0};
    check(rp_world_step(world));
    double fastest = INFINITY;
    for (int r = 0; r < o->repeat; r++) {
        rp_world_stats(world, &before);
        const double start = now();
        for (int i = 0; i < o->steps; i++) {
            check(rp_world_step(world));
        }
        const double seconds = now() - start;
        rp_world_stats(world, &after);
        if (seconds < fastest) {
            fastest = seconds;
            best = after;
            for (int s = 0; s < RP_STAGE_COUNT; s++) {
                best.seconds[s] = after.seconds[s] - before.seconds[s];
            }
            best.sorts = after.sorts - before.sorts;
        }
    }
    const double particle_steps = (double)best.particles * o->steps;
    printf("%9lld particles  q%d %-6s %-6s %d thread%s  t %.3f s  %7.2f M particle-steps/s  "
           "%6.1f ns each  %5.0f B per particle\n",
           (long long)best.particles, o->order, o->precision == RP_SINGLE ? "single" : "double",
           rp_world_isa(world), o->threads, o->threads == 1 ? " " : "s", best.time,
           particle_steps / fastest * 1e-6, fastest / particle_steps * 1e9,
           resident_bytes() / (double)best.particles);
    double stages = 0.0;
    printf("          ");
    for (int s = 0; s < RP_STAGE_COUNT; s++) {
        stages += best.seconds[s];
        printf(" %s %.1f ns (%.0f %%) ", rp_stage_name(s), best.seconds[s] / particle_steps * 1e9,
               100.0 * best.seconds[s] / fastest);
    }
    printf(" rest %.0f %%;  %lld sorts in %d steps, %lld pages, %lld node pages, dt bound by %s\n",
           100.0 * (fastest - stages) / fastest, (long long)best.sorts, o->steps,
           (long long)best.pages, (long long)best.node_pages, rp_limiter_name(best.limiter));
    fflush(stdout);
    rp_world_destroy(world);
}

static const char *need(int argc, char **argv, int i)
{
    if (i + 1 >= argc) {
        fprintf(stderr, "repose-bench: %s wants a value\n", argv[i]);
        exit(2);
    }
    return argv[i + 1];
}

int main(int argc, char **argv)
{
    options o = {.particles = 1e6, .order = 2, .threads = 0, .steps = 20, .repeat = 5};
    bool single_case = false;
    if (argc == 2 && strcmp(argv[1], "render") == 0) {
        bench_render();
        return 0;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *value = need(argc, argv, i);
        single_case = true;
        if (strcmp(argv[i], "--particles") == 0) {
            o.particles = atof(value);
        } else if (strcmp(argv[i], "--order") == 0) {
            o.order = atoi(value);
        } else if (strcmp(argv[i], "--threads") == 0) {
            o.threads = atoi(value);
        } else if (strcmp(argv[i], "--steps") == 0) {
            o.steps = atoi(value);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            o.repeat = atoi(value);
        } else if (strcmp(argv[i], "--warm") == 0) {
            o.warm = atof(value);
        } else if (strcmp(argv[i], "--isa") == 0) {
            o.isa = value;
        } else if (strcmp(argv[i], "--precision") == 0) {
            o.precision = strcmp(value, "double") == 0 ? RP_DOUBLE : RP_SINGLE;
        } else {
            fprintf(stderr, "repose-bench: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    if (single_case) {
        o.threads = o.threads > 0 ? o.threads : 1;
        run(&o);
        return 0;
    }
    // the usual table: one and two threads, orders, precisions
    for (int threads = 1; threads <= 2; threads++) {
        o.threads = threads;
        for (o.order = 2; o.order <= 3; o.order++) {
            for (o.precision = RP_SINGLE; o.precision <= RP_DOUBLE; o.precision++) {
                run(&o);
            }
        }
    }
    bench_render();
    return 0;
}

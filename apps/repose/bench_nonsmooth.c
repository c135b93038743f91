// Rigid grains, timed beside the program of the paper that they come from.
#include "bench_case.h"

#include "host.h"
#include "limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Processor time of sand6 (Daviet and Bertails-Descoubes' own program, one thread, residual 1e-8)
// on two cores of a Zen 4 EPYC, for as many cells and particles.
typedef struct grains_case {
    const char *name, *text;
    int frames;
    double sand6;   // [s]
    double want[2]; // times as fast: cells, nodes
} grains_case;

#define HEAD                                                                                       \
    "local floor = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }\n"                         \
    "collider { shape = floor, contact = 'sticky' }\n"                                             \
    "local function wall(p, n)\n"                                                                  \
    "    collider { shape = half_space { point = p, normal = n }, contact = 'slip' }\n"            \
    "end\n"

static const grains_case cases[] = {
    // sand6 has cells of 31 x 25 x 17.5 mm; these are cubes of the same volume
    {"collapse",
     "scene { method = 'nonsmooth', dx = 0.0239, fps = 96, frames = 40,\n"
     "    nonsmooth = { stress = '%s' } }\n" HEAD "wall({0, 0, 0}, {1, 0, 0})\n"
     "wall({0, 0, 0}, {0, 0, 1})\nwall({0, 0, 0.25}, {0, 0, -1})\n"
     "particles { material = material.sand { friction_coefficient = 0.48, density = 1500 },\n"
     "    shape = box { min = {0, 0, 0}, max = {0.25, 0.35, 0.25} }, per_cell = 8 }\n",
     40,
     44.8,
     {65.0, 30.0}},
    {"ZB05",
     "scene { method = 'nonsmooth', dx = 0.01, fps = 96, frames = 6,\n"
     "    nonsmooth = { stress = '%s' } }\n" HEAD "wall({0, 0, 0}, {1, 0, 0})\n"
     "wall({0, 0, 0}, {0, 0, 1})\n"
     "particles { material = material.sand { friction_coefficient = 0.5, density = 1500 },\n"
     "    shape = subtract(box { min = {0, 0, 0}, max = {0.25, 0.5, 0.25} },\n"
     "        sphere { center = {0.25, 0.25, 0.25}, radius = 0.125 }), per_cell = 8 }\n",
     6,
     65.9,
     {26.0, 17.0}},
    {"column",
     "scene { method = 'nonsmooth', dx = 0.01, fps = 48, frames = 6,\n"
     "    nonsmooth = { stress = '%s', substeps = 1 } }\n" HEAD
     "particles { material = material.sand { friction_coefficient = 0.5, density = 1500 },\n"
     "    shape = box { min = {0, 0, 0}, max = {0.2, 0.4, 0.2} }, per_cell = 8 }\n",
     6,
     7.0, // a step
     {25.0, 15.0}},
};

static rp_result time_case(const grains_case *c, const char *stress, double want)
{
    char text[2048];
    snprintf(text, sizeof text, c->text, stress);
    rp_scene *scene = NULL;
    rp_world *world = NULL;
    rp_stats stats = {0};
    const size_t before = resident_memory();
    rp_result result = bench_world(text, 1, &scene, &world);
    double sweeps = 0.0, most = 0.0;
    const double fma = limit_fma(1, 32), since = cpu_seconds();
    while (result == RP_OK && stats.frame < c->frames) {
        result = rp_world_step(world);
        rp_world_stats(world, &stats);
        sweeps += stats.extra[0];
        most = fmax(most, stats.extra[0]);
    }
    if (result == RP_OK) {
        const double spent = cpu_seconds() - since, steps = (double)stats.step;
        const double theirs = strcmp(c->name, "column") == 0 ? c->sand6 * steps : c->sand6;
        printf("%-9s %-5s %9lld %5.0f %7.2f %7.1f %7.1f %5.0f %6.0f %6.0f %7.0f %6.0f %s\n",
               c->name, stress, (long long)stats.particles, steps, spent, theirs, theirs / spent,
               want, sweeps / steps, most, stats.extra[2],
               (double)(resident_memory() - before) / (double)stats.particles,
               theirs / spent >= want ? "" : "MISSED");
        printf("%40s FMA %.0f Gflop/s beside it\n", "", fma);
        fflush(stdout);
    }
    rp_world_destroy(world);
    rp_scene_free(scene);
    return result;
}

rp_result bench_nonsmooth(void)
{
    static const char *const stress[] = {"cell", "node"};
    printf("Rigid grains, one thread, residual 1e-8: seconds of processor, and those of sand6\n"
           "on two cores of a Zen 4 EPYC for as many cells. Constant friction; sand6 had mu(I)\n"
           "in collapse and ZB05. Missed are steps that ended above their tolerance.\n\n"
           "%-9s %-5s %9s %5s %7s %7s %7s %5s %6s %6s %7s %6s\n",
           "case", "at", "particles", "steps", "s", "sand6", "times", "want", "sweeps", "most",
           "missed", "B");
    rp_result result = RP_OK;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < 2 && result == RP_OK; k++) {
            result = time_case(&cases[i], stress[k], cases[i].want[k]);
        }
    }
    return result;
}

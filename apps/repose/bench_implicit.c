// Implicit steps, timed in shares of an explicit step of the same particles.
#include "bench_case.h"

#include "host.h"
#include "limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// At most, in explicit steps.
static const double WANT_PRODUCT = 0.5, WANT_BALANCE = 0.7;

// A column that was just let go, on a floor that holds it.
static const char text[] =
    "local a, young = %.17g, 3.537e5\n"
    "scene { method = '%s', dx = 0.01, fps = 48, frames = 1000, dt_max = %.17g,\n"
    "    order = '%s', gradient = '%s' }\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n"
    "particles { material = material.sand { young = young },\n"
    "    shape = box { min = {0, 0, 0}, max = {a, 2 * a, a} } }\n";

enum { BALANCE = 2, PRODUCT, KRYLOV }; // stages of the implicit step

// Sums over steps. Stages are told by the clock on the wall, of which processors had a share.
typedef struct spent {
    double cpu, stage[RP_STAGE_LIMIT], extra[RP_EXTRA_LIMIT], steps, particles;
} spent;

static rp_result time_steps(const char *method, const char *order, const char *gradient,
                            double particles, double dt, int steps, spent *out)
{
    char scene_text[sizeof text + 128];
    snprintf(scene_text, sizeof scene_text, text, 0.01 * cbrt(particles / 16.0), method, dt, order,
             gradient);
    rp_scene *scene = NULL;
    rp_world *world = NULL;
    rp_stats stats = {0}, before = {0};
    rp_result result = bench_world(scene_text, 1, &scene, &world);
    result = result != RP_OK ? result : rp_world_step(world); // memory comes with the first
    *out = (spent){.steps = steps};
    if (result == RP_OK) {
        rp_world_stats(world, &before);
    }
    const double since = cpu_seconds();
    for (int i = 0; i < steps && result == RP_OK; i++) {
        result = rp_world_step(world);
        rp_world_stats(world, &stats);
        for (int k = 0; k < RP_EXTRA_LIMIT; k++) {
            out->extra[k] += stats.extra[k];
        }
    }
    out->cpu = cpu_seconds() - since;
    out->particles = (double)stats.particles;
    double wall = 0.0;
    for (int k = 0; k < stats.stages; k++) {
        wall += stats.seconds[k] - before.seconds[k];
    }
    for (int k = 0; k < stats.stages; k++) {
        out->stage[k] = (stats.seconds[k] - before.seconds[k]) * out->cpu / wall;
    }
    rp_world_destroy(world);
    rp_scene_free(scene);
    return result;
}

rp_result bench_implicit(double particles)
{
    static const struct {
        const char *order, *gradient;
    } kind[] = {{"quadratic", "spline"}, {"quadratic", "affine"}, {"cubic", "spline"}};
    const double wave = sqrt(3.537e5 * 0.7 / (1.3 * 0.4) / 1600.0), explicit_dt = 1e-4;
    printf(
        "Implicit steps of a column in 3D, single precision, one thread, by processor\n"
        "time, in explicit steps of the same particles: a balance (%.1f wanted), a product of its\n"
        "derivative (%.1f), the whole step and its numbers of Newton's and Krylov's iterations;\n"
        "* misses it.\n\n%-9s %-8s %9s %9s %7s  %8s  %7s %7s %7s %7s\n",
        WANT_BALANCE, WANT_PRODUCT, "order", "gradient", "particles", "explicit", "c dt/h",
        "balance", "product", "step", "newton", "krylov");
    rp_result result = RP_OK;
    for (size_t k = 0; k < sizeof kind / sizeof kind[0] && result == RP_OK; k++) {
        for (double dt = 5e-4; dt < 3e-3 && result == RP_OK; dt *= 4.0) {
            enum { EXPLICIT_STEPS = 100, STEPS = 16 };
            spent e, i;
            result = time_steps("explicit", kind[k].order, kind[k].gradient, particles, explicit_dt,
                                EXPLICIT_STEPS, &e);
            result = result != RP_OK ? result
                                     : time_steps("implicit", kind[k].order, kind[k].gradient,
                                                  particles, dt, STEPS, &i);
            if (result != RP_OK) {
                break;
            }
            const double one = e.cpu / e.steps, balance = i.stage[BALANCE] / i.extra[4] / one;
            const double product = i.stage[PRODUCT] / i.extra[5] / one;
            printf("%-9s %-8s %9.0f %6.1f ns %7.2f  %7.2f%s %7.2f%s %7.1f %7.2f %7.1f\n",
                   kind[k].order, kind[k].gradient, i.particles, 1e9 * one / e.particles,
                   wave * dt / 0.01, balance, balance > WANT_BALANCE ? "*" : " ", product,
                   product > WANT_PRODUCT ? "*" : " ", i.cpu / i.steps / one, i.extra[0] / i.steps,
                   i.extra[1] / i.steps);
            fflush(stdout);
        }
    }
    return result;
}

// Free rigid bodies where a loop leads them (src/solver/led.h): methods nonsmooth and sph.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>

static const double g = 9.81;

// A body thrown into sand, without gravity and walls: what it loses the sand has, and both together
// have less energy than before. Of nonsmooth the gradients by which stress acts on nodes are
// floats.
static void a_body_and_its_sand_keep_momentum(void)
{
    static const struct {
        const char *method, *option;
        int dim;
        const char *precision;
        double density, tolerance;
    } cases[] = {
        {"sph", "", 2, "double", 30, 1e-12},
        {"sph", "", 2, "single", 3000, 2e-6},
        {"sph", "", 2, "double", 3000, 1e-12},
        {"sph", "", 3, "double", 300, 1e-12},
        {"nonsmooth", "nonsmooth = { sweeps = 60 },", 2, "double", 30, 1e-8},
        {"nonsmooth", "nonsmooth = { sweeps = 60 },", 2, "single", 3000, 2e-6},
        {"nonsmooth", "nonsmooth = { sweeps = 60 },", 2, "double", 3000, 1e-8},
        {"nonsmooth", "nonsmooth = { sweeps = 60 },", 3, "double", 300, 1e-8},
    };
    check_allow_warning(); // of a step at the blow that took too long
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_run r = test_run_start(
            1,
            "local dim = %d\n"
            "scene { method = '%s', %s dimension = dim, dx = 0.04, frames = 4, fps = 50, "
            "gravity = {0, 0, 0}, precision = '%s' }\n"
            "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max "
            "= {0.2, 0.2, dim == 3 and 0.12 or 0} } }\n"
            "rigid { name = 'block', velocity = {1, -0.5, 0}, spin = { axis = {0, 0, 1}, "
            "rate = 200 }, density = %g, shape = box { min = {-0.12, 0.13, 0}, max = "
            "{-0.01, 0.25, 0.1} } }\n",
            cases[i].dim, cases[i].method, cases[i].option, cases[i].precision, cases[i].density);
        check_context("case %zu, %s", i, cases[i].method);
        rp_rigid_state b;
        rp_totals before, after;
        rp_world_totals(r.world, &before);
        rp_world_rigid(r.world, 0, &b);
        const double scale = b.mass * 1.1, speed = b.velocity[0], energy = b.kinetic;
        double all[3];
        for (int a = 0; a < 3; a++) {
            all[a] = before.momentum[a] + b.mass * b.velocity[a];
        }
        test_run_frames(&r, 4);
        rp_world_totals(r.world, &after);
        rp_world_rigid(r.world, 0, &b);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(after.momentum[a] + b.mass * b.velocity[a], all[a],
                       cases[i].tolerance * scale);
        }
        CHECK(b.velocity[0] < 0.98 * speed);
        CHECK(b.kinetic + after.kinetic < energy);
        test_run_stop(&r);
    }
}

// How a method makes a bed, and how still a body is to lie on it.
typedef struct bed {
    const char *method, *options;
    double dx;
    int per_cell, frames; // in 2D
    double speed, weight; // [m/s], and share that the force may be off
} bed;

// Bodies much lighter and much heavier than sand come to rest on it, and it carries what they
// weigh; a light one in it stays where it is.
static void rest_on(const bed *how)
{
    static const struct {
        int dim;
        double ratio, height;
    } cases[] = {{2, 0.02, 0.1}, {2, 0.1, 0.28}, {2, 10, 0.28}, {2, 1, 0.28}, {3, 2, 0.21}};
    check_allow_warning(); // of a step at the blow that took too long
    for (int i = 0; i < (check_long() ? 5 : 4); i++) {
        test_run r = test_run_start(
            1,
            "local dim, width, up = %d, %g, %g\n"
            "scene { method = '%s', %s dimension = dim, dx = %g, frames = 100, fps = 50 }\n"
            "local function wall(at, to) collider { shape = half_space { point = at, normal = to "
            "}, contact = 'separate', friction = 0.4 } end\n"
            "wall({0, 0, 0}, {0, 1, 0}) wall({0, 0, 0}, {1, 0, 0}) wall({width, 0, 0}, {-1, 0, "
            "0})\n"
            "if dim == 3 then wall({0, 0, 0}, {0, 0, 1}) wall({0, 0, width}, {0, 0, -1}) end\n"
            "local ball = sphere { center = {0.5 * width, up, 0.5 * width}, radius = 0.075 }\n"
            "particles { material = material.sand { density = 1500 }, per_cell = dim == 3 and 8 or "
            "%d, shape = subtract(box { min = {0, 0, 0}, max = {width, dim == 3 and 0.12 or 0.2, "
            "width} }, ball) }\n"
            "rigid { name = 'ball', density = 1500 * %g, shape = ball }\n",
            cases[i].dim, cases[i].dim == 3 ? 0.3 : 0.6, cases[i].height, how->method, how->options,
            how->dx, how->per_cell, cases[i].ratio);
        check_context("case %d", i);
        test_run_frames(&r, how->frames);
        rp_rigid_state b;
        rp_world_rigid(r.world, 0, &b);
        const double *v = b.velocity, speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        printf("     %s, case %d: %.3g mm/s, force / weight %.4f, at %.4f m\n", how->method, i,
               1e3 * speed, b.force[1] / (b.mass * g), b.pose.position[1]);
        CHECK(speed < how->speed);
        CHECK_NEAR(b.force[1] / (b.mass * g), 1.0, how->weight);
        test_run_stop(&r);
    }
}

static void bodies_rest_on_smoothed_particles(void)
{
    rest_on(&(bed){"sph", "", 0.03, 4, 100, 0.02, 0.05});
}

static void bodies_rest_on_rigid_grains(void)
{
    rest_on(&(bed){"nonsmooth", "nonsmooth = { sweeps = 200 },", 0.02, 16, 40, 0.002, 0.01});
}

TEST_MAIN(TEST(a_body_and_its_sand_keep_momentum), TEST(bodies_rest_on_smoothed_particles),
          TEST(bodies_rest_on_rigid_grains))

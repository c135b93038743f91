// Emitters, sinks and the border of the domain: nothing comes or goes uncounted.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct spout {
    int dim;
    rp_precision precision;
    double rate, volume, start, stop;
    double velocity[3];
} spout;

static rp_world *make_spout(const spout *s, double *layer_mass)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_emitter_def emitter = rp_default_emitter_def();
    const double center[3] = {0.1, 1.0, 0.0}, radius = 0.08;
    rp_world *world = NULL;
    rp_shape *mouth = NULL;
    def.dimension = s->dim;
    def.precision = s->precision;
    def.dx = 0.02;
    def.fps = 20.0;
    rp_result result = rp_world_create(&def, &world);
    result = result == RP_OK ? rp_world_add_material(world, &sand, &emitter.material) : result;
    result = result == RP_OK ? rp_shape_sphere(center, radius, &mouth) : result;
    emitter.shape = mouth;
    emitter.rate = s->rate;
    emitter.volume = s->volume;
    emitter.start = s->start;
    emitter.stop = s->stop > 0.0 ? s->stop : INFINITY;
    memcpy(emitter.velocity, s->velocity, sizeof emitter.velocity);
    result = result == RP_OK ? rp_world_add_emitter(world, &emitter) : result;
    rp_shape_release(mouth);
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no spout: %s", rp_last_error());
    }
    // the disc that the sphere's middle is, one spacing thick
    const double area = s->dim == 3 ? 3.14159265358979 * radius * radius : 2.0 * radius;
    *layer_mass = sand.density * area * 0.01;
    return world;
}

// Catches a rate that depends on the step, a layer too many, a start or stop that is missed.
static void the_mass_poured_is_rate_times_time(void)
{
    static const spout spouts[] = {
        {.dim = 3, .rate = 20.0, .velocity = {0.0, -1.0, 0.0}},
        {.dim = 3,
         .precision = RP_DOUBLE,
         .rate = 11.3,
         .start = 0.13,
         .stop = 0.41,
         .velocity = {0.4, -1.0, 0.3}},
        {.dim = 2, .rate = 150.0, .velocity = {1.0, 1.0, 0.0}},
        {.dim = 3, .rate = 20.0, .volume = 3e-3, .velocity = {0.0, -1.0, 0.0}},
    };
    for (size_t i = 0; i < sizeof spouts / sizeof spouts[0]; i++) {
        const spout *s = &spouts[i];
        double layer;
        rp_world *world = make_spout(s, &layer);
        for (int frame = 1; frame <= 12; frame++) {
            rp_totals totals;
            rp_stats stats;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &totals);
            rp_world_stats(world, &stats);
            const double stop = s->stop > 0.0 ? fmin(s->stop, stats.time) : stats.time;
            double want = s->rate * fmax(0.0, stop - s->start);
            want = s->volume > 0.0 ? fmin(want, 2200.0 * s->volume) : want;
            check_context("spout %zu, t = %g s", i, stats.time);
            // counting lattice sites may miss the area of the disc by a tenth
            CHECK_NEAR(totals.mass, want, 1.15 * layer);
            CHECK_EQUAL(stats.born, stats.particles);
        }
        rp_world_destroy(world);
    }
}

// Without a rate the stream is as dense as sand at rest: layers one spacing apart, moving with the
// velocity of the mouth.
static void a_stream_is_as_dense_as_sand(void)
{
    const spout s = {.dim = 3, .precision = RP_DOUBLE, .velocity = {0.0, -0.5, 0.0}};
    double layer;
    rp_world *world = make_spout(&s, &layer);
    rp_totals totals;
    rp_stats stats;
    for (int frame = 0; frame < 4; frame++) {
        CHECK_OK(rp_world_run_frame(world));
    }
    rp_world_totals(world, &totals);
    rp_world_stats(world, &stats);
    const double length = 0.5 * stats.time;
    CHECK_NEAR(totals.mass, layer * (length / 0.01 + 1.0), 0.1 * totals.mass + layer);
    CHECK(totals.momentum[1] < -0.5 * totals.mass); // gravity has pulled since
    rp_world_destroy(world);
}

// Catches a particle that vanishes uncounted, or stays in a sink.
static void what_is_poured_is_alive_or_counted_as_gone(void)
{
    for (int precision = 0; precision < 2; precision++) {
        const spout s = {.dim = 3,
                         .precision = (rp_precision)precision,
                         .rate = 20.0,
                         .velocity = {0.0, -1.0, 0.0}};
        const double point[3] = {0.0, 0.4, 0.0}, up[3] = {0.0, 1.0, 0.0};
        double layer;
        rp_world *world = make_spout(&s, &layer);
        rp_shape *below;
        rp_stats stats;
        CHECK_OK(rp_shape_half_space(point, up, &below));
        CHECK_OK(rp_world_add_sink(world, below));
        rp_shape_release(below);
        for (int frame = 0; frame < 20; frame++) {
            CHECK_OK(rp_world_run_frame(world));
            rp_world_stats(world, &stats);
            check_context("frame %d", frame);
            CHECK_EQUAL(stats.born, stats.particles + stats.removed);
            CHECK_EQUAL(stats.removed, stats.sunk);
            double *x = calloc((size_t)stats.particles * 3 + 1, sizeof *x), lowest = INFINITY;
            CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
            for (int64_t i = 0; i < stats.particles; i++) {
                lowest = fmin(lowest, x[3 * i + 1]);
            }
            free(x);
            CHECK(lowest >= 0.4); // sinks are looked at before a frame ends
        }
        CHECK(stats.sunk > 1000);
        rp_world_destroy(world);
    }
}

static rp_world *make_shower(rp_leave leave, rp_precision precision)
{
    const spout s = {.dim = 3, .precision = precision, .rate = 20.0, .velocity = {0.0, -1.0, 0.0}};
    const double lower[3] = {-1.0, 0.5, -1.0}, upper[3] = {1.0, 2.0, 1.0};
    double layer;
    rp_world *world = make_spout(&s, &layer);
    if (rp_world_set_domain(world, lower, upper, leave) != RP_OK) {
        check_record(__FILE__, __LINE__, "no domain: %s", rp_last_error());
    }
    return world;
}

static void the_border_removes_or_keeps(void)
{
    for (int precision = 0; precision < 2; precision++) {
        for (int leave = RP_LEAVE_REMOVE; leave <= RP_LEAVE_CLAMP; leave++) {
            rp_world *world = make_shower((rp_leave)leave, (rp_precision)precision);
            rp_stats stats;
            for (int frame = 0; frame < 14; frame++) {
                CHECK_OK(rp_world_run_frame(world));
            }
            rp_world_stats(world, &stats);
            check_context("leave %d, precision %d", leave, precision);
            CHECK_EQUAL(stats.born, stats.particles + stats.removed);
            CHECK((leave == RP_LEAVE_REMOVE) == (stats.left > 0));
            CHECK((leave == RP_LEAVE_CLAMP) == (stats.clamped > 0));
            double *x = calloc((size_t)stats.particles * 3 + 1, sizeof *x);
            CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
            for (int64_t i = 0; i < stats.particles; i++) {
                CHECK(x[3 * i + 1] >= 0.5 - 1e-8);
            }
            free(x);
            rp_world_destroy(world);
        }
    }
}

// Sand that starts far outside of a border that keeps it is put onto the border, and counted.
static void what_starts_far_outside_is_put_onto_the_border(void)
{
    const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {1.0, 1.0, 1.0};
    for (int precision = 0; precision < 2; precision++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_box_def box = rp_default_box_def();
        rp_world *world;
        rp_stats stats;
        double x[64 * 64 * 3];
        def.dx = 0.05;
        def.dimension = 2;
        def.gravity[1] = 0.0;
        def.precision = (rp_precision)precision;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_set_domain(world, lower, upper, RP_LEAVE_CLAMP));
        CHECK_OK(rp_world_add_material(world, &sand, &box.material));
        box.lower[0] = 9.0;
        box.upper[0] = 9.5;
        box.upper[1] = 0.5;
        CHECK_OK(rp_world_add_box(world, &box, NULL));
        rp_world_stats(world, &stats);
        CHECK_EQUAL(stats.clamped, stats.particles);
        CHECK_OK(rp_world_step(world));
        CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
        for (int64_t i = 0; i < stats.particles; i++) {
            CHECK(x[2 * i] <= 1.0 + 1e-6);
        }
        rp_world_destroy(world);
    }
}

static void a_particle_that_must_not_leave_is_named(void)
{
    rp_world *world = make_shower(RP_LEAVE_STOP, RP_SINGLE);
    rp_result result = RP_OK;
    rp_failure failure;
    for (int frame = 0; frame < 20 && result == RP_OK; frame++) {
        result = rp_world_run_frame(world);
    }
    CHECK_EQUAL(result, RP_ERR_DIVERGED);
    CHECK(strstr(rp_last_error(), "has left the domain") != NULL);
    CHECK(rp_world_failure(world, &failure));
    CHECK_EQUAL(failure.cell[1], 24); // just below 0.5 m
    rp_world_destroy(world);
}

// Catches an emitter that forgets what it has poured when a run is resumed, and births that depend
// on the number of threads.
static void pouring_goes_on_bit_for_bit(void)
{
    void *end[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        rp_world *world = make_shower(RP_LEAVE_REMOVE, RP_SINGLE);
        for (int step = 0; step < 400; step++) {
            CHECK_OK(rp_world_step(world));
            if (i == 1 && step % 130 == 60) {
                rp_world *fresh = make_shower(RP_LEAVE_REMOVE, RP_SINGLE);
                void *middle;
                size_t bytes;
                CHECK_OK(rp_world_save(world, &middle, &bytes));
                CHECK_OK(rp_world_restore(fresh, middle, bytes));
                rp_state_free(middle);
                rp_world_destroy(world);
                world = fresh;
            }
        }
        CHECK_OK(rp_world_save(world, &end[i], &size[i]));
        rp_world_destroy(world);
    }
    CHECK(size[0] == size[1] && memcmp(end[0], end[1], size[0]) == 0);
    rp_state_free(end[0]);
    rp_state_free(end[1]);
}

TEST_MAIN(TEST(the_mass_poured_is_rate_times_time), TEST(a_stream_is_as_dense_as_sand),
          TEST(what_is_poured_is_alive_or_counted_as_gone), TEST(the_border_removes_or_keeps),
          TEST(what_starts_far_outside_is_put_onto_the_border),
          TEST(a_particle_that_must_not_leave_is_named), TEST(pouring_goes_on_bit_for_bit))

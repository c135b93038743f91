// The same bits for any number of threads: whole worlds, compared with each other byte for byte.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if CHECK_SANITIZED
enum {
    STEPS = 100,
    LOOK = 50,
    LEAST_SORTS = 1
}; // a sanitizer looks at memory; bits are for fast builds
#else
enum { STEPS = 250, LOOK = 50, LEAST_SORTS = 2 };
#endif

typedef struct variant {
    int dim;
    rp_precision precision;
    int order;
    rp_transfer transfer;
    int period; // along x [cells]
    rp_gradient gradient;
} variant;

// A bar of sand that bursts apart in a box with rubber lumps in it, over many pages.
static rp_result make_world(const variant *v, int threads, const char *isa, rp_world **world)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = v->dim;
    def.precision = v->precision;
    def.order = v->order;
    def.transfer = v->transfer;
    def.period[0] = v->period;
    def.gradient = v->gradient;
    def.dx = 0.05;
    def.threads = threads;
    def.isa = isa;
    def.fields = 2;
    rp_material_def sand = rp_default_sand_def(), rubber = rp_default_elastic_def();
    rp_box_def box = rp_default_box_def();
    rp_result result = rp_world_create(&def, world);
    if (result == RP_OK) {
        result = rp_world_add_material(*world, &sand, &box.material);
    }
    // the sand bursts along x and sideways
    box.lower[0] = -1.5;
    box.upper[0] = 1.5;
    box.lower[2] = -0.2;
    box.upper[1] = v->dim == 2 ? 0.6 : 0.3;
    box.upper[2] = 0.2;
    box.per_axis = v->dim == 2 ? 2 : 1;
    box.velocity_gradient[0][0] = 1.0;
    box.velocity_gradient[2][2] = 2.0;
    box.velocity_gradient[1][0] = 0.5;
    if (result == RP_OK) {
        result = rp_world_add_box(*world, &box, NULL);
    }
    if (result == RP_OK) {
        result = rp_world_add_material(*world, &rubber, &box.material);
    }
    for (int i = 0; i < 3 && result == RP_OK; i++) {
        box.lower[0] = -1.2 + i;
        box.upper[0] = box.lower[0] + 0.2;
        box.lower[1] = 0.75;
        box.upper[1] = 0.95;
        box.velocity[1] = -2.0;
        box.field = i % 2;
        result = rp_world_add_box(*world, &box, NULL);
    }
    // a shelf that is thin enough for sand to feel both of its faces
    rp_collider_def shelf = rp_default_collider_def();
    rp_shape *shape = NULL;
    result = result == RP_OK ? rp_shape_box((double[3]){-0.3, -0.14, -0.5},
                                            (double[3]){0.1, -0.08, 0.5}, &shape)
                             : result;
    shelf.shape = shape;
    shelf.contact = RP_SEPARATE;
    result = result == RP_OK ? rp_world_add_collider(*world, &shelf) : result;
    rp_shape_release(shape);
    const double lower[3] = {-2.5, -0.3, -1.0}, upper[3] = {2.5, 3.0, 1.0};
    return result == RP_OK ? rp_world_add_walls(*world, lower, upper, RP_SEPARATE, 0.4) : result;
}

// Births and deaths on the way: they make sorts of their own.
static rp_result disturb(rp_world *world, int step)
{
    const double x[6] = {0.3, 1.5, 0.1, -0.7, 1.4, -0.1}, v[6] = {0.0, -3.0, 0.0, 0.5, -2.0, 0.0};
    rp_points_def points = rp_default_points_def();
    points.count = 2;
    points.position = x;
    points.velocity = v;
    points.volume = 1e-4;
    const uint64_t ids[] = {(uint64_t)step, (uint64_t)step + 1, (uint64_t)step + 500};
    const rp_result result = rp_world_add_points(world, &points, NULL);
    return result == RP_OK ? rp_world_remove(world, ids, 3, NULL) : result;
}

typedef struct run {
    void *state[STEPS / LOOK];
    size_t size[STEPS / LOOK];
} run;

static void make_run(const variant *v, int threads, const char *isa, run *out)
{
    rp_world *world;
    CHECK_OK(make_world(v, threads, isa, &world));
    for (int step = 1; step <= STEPS; step++) {
        CHECK_OK(rp_world_step(world));
        if (step % 70 == 0) {
            CHECK_OK(disturb(world, step));
        }
        if (step % LOOK == 0) {
            const int i = step / LOOK - 1;
            CHECK_OK(rp_world_save(world, &out->state[i], &out->size[i]));
        }
    }
    rp_stats stats;
    rp_world_stats(world, &stats);
    CHECK(stats.sorts >= LEAST_SORTS + STEPS / 70);   // those of movement, and of births and deaths
    CHECK(stats.pages > (v->period > 0 ? 2 : 4) * 7); // work for seven threads
    rp_world_destroy(world);
}

static void free_run(run *r)
{
    for (int i = 0; i < STEPS / LOOK; i++) {
        rp_state_free(r->state[i]);
    }
}

static void compare(const variant *v, const char *isa)
{
    static const int threads[] = {1, 2, 3, 7};
    run first = {0};
    CHECK_HELPER(make_run(v, threads[0], isa, &first));
    for (int t = 1; t < 4; t++) {
        run now = {0};
        CHECK_HELPER(make_run(v, threads[t], isa, &now));
        for (int i = 0; i < STEPS / LOOK; i++) {
            check_context("%dD, precision %d, order %d, transfer %d, gradient %d, %s: %d threads, "
                          "step %d",
                          v->dim, v->precision, v->order, v->transfer, v->gradient,
                          isa ? isa : "widest", threads[t], (i + 1) * LOOK);
            CHECK_EQUAL(now.size[i], first.size[i]);
            CHECK(memcmp(now.state[i], first.state[i], first.size[i]) == 0);
        }
        free_run(&now);
    }
    free_run(&first);
}

// Catches a sum whose order depends on who comes first, a column that two threads write, a sort
// that is not stable: any of them changes a bit within a few hundred steps.
static void flat_worlds_have_the_same_bits_on_any_number_of_threads(void)
{
    const variant variants[] = {{2, RP_SINGLE, 2, RP_APIC, 0, RP_GRADIENT_SPLINE},
                                {2, RP_DOUBLE, 2, RP_APIC, 0, RP_GRADIENT_SPLINE}};
    for (int i = 0; i < 2; i++) {
        CHECK_HELPER(compare(&variants[i], NULL));
    }
}

// Catches the same in 3D, where other loops run.
static void deep_worlds_have_the_same_bits_on_any_number_of_threads(void)
{
    const variant variants[] = {{3, RP_SINGLE, 2, RP_APIC, 0, RP_GRADIENT_SPLINE},
                                {3, RP_DOUBLE, 2, RP_APIC, 0, RP_GRADIENT_SPLINE}};
    for (int i = 0; i < 2; i++) {
        CHECK_HELPER(compare(&variants[i], NULL));
    }
}

// Catches a second channel, a wider stencil or a wrapped neighbour that is summed out of turn.
static void other_transfers_orders_gradients_and_periods_have_the_same_bits_too(void)
{
    const variant variants[] = {{3, RP_SINGLE, 3, RP_FLIP, 0, RP_GRADIENT_SPLINE},
                                {2, RP_SINGLE, 1, RP_PIC, 0, RP_GRADIENT_SPLINE},
                                {2, RP_DOUBLE, 3, RP_APIC, 64, RP_GRADIENT_SPLINE},
                                {2, RP_DOUBLE, 2, RP_APIC, 0, RP_GRADIENT_AFFINE},
                                {3, RP_SINGLE, 2, RP_APIC, 0, RP_GRADIENT_AFFINE},
                                {3, RP_SINGLE, 2, RP_STEADY, 0, RP_GRADIENT_SPLINE},
                                {2, RP_SINGLE, 2, RP_STEADY, 0, RP_GRADIENT_AFFINE}};
    for (int i = 0; i < 7; i++) {
        CHECK_HELPER(compare(&variants[i], NULL));
    }
}

// Catches plain kernels that leave something to chance where wide ones do not.
static void plain_kernels_have_the_same_bits_too(void)
{
    const variant plain = {2, RP_SINGLE, 2, RP_APIC, 0, RP_GRADIENT_SPLINE};
    CHECK_HELPER(compare(&plain, "plain"));
}

// Columns of a world after AGREE_STEPS steps, particles in the order of their ids.
enum { AGREE_STEPS = 20, MOST = 20000 };
typedef struct snapshot {
    int64_t count;
    double x[3 * MOST], v[3 * MOST];
} snapshot;

static void take(const variant *v, const char *isa, snapshot *out)
{
    static double id[MOST], x[3 * MOST], velocity[3 * MOST];
    rp_world *world;
    rp_stats stats;
    CHECK_OK(make_world(v, 2, isa, &world));
    for (int step = 0; step < AGREE_STEPS; step++) {
        CHECK_OK(rp_world_step(world));
    }
    rp_world_stats(world, &stats);
    out->count = stats.particles;
    CHECK(out->count > 1000 && out->count <= MOST);
    CHECK_OK(rp_world_read(world, RP_COL_ID, id));
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
    CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, velocity));
    for (int64_t i = 0; i < v->dim * out->count; i++) {
        out->x[i] = NAN; // an id that is there twice leaves a hole
    }
    for (int64_t i = 0; i < out->count; i++) {
        const int64_t to = (int64_t)id[i];
        CHECK(to >= 0 && to < out->count); // ids count from zero while nothing has died
        memcpy(&out->x[v->dim * to], &x[v->dim * i], sizeof(double) * (size_t)v->dim);
        memcpy(&out->v[v->dim * to], &velocity[v->dim * i], sizeof(double) * (size_t)v->dim);
    }
    rp_world_destroy(world);
}

static void agree(const variant *v)
{
    static snapshot plain, wide;
    CHECK_HELPER(take(v, "plain", &plain));
    CHECK_HELPER(take(v, NULL, &wide));
    CHECK_EQUAL(plain.count, wide.count);
    double fastest = 0.0, apart_v = 0.0, apart_x = 0.0;
    for (int64_t i = 0; i < v->dim * plain.count; i++) {
        CHECK(isfinite(plain.x[i]) && isfinite(wide.x[i]));
        fastest = fmax(fastest, fabs(plain.v[i]));
        apart_v = fmax(apart_v, fabs(plain.v[i] - wide.v[i]));
        apart_x = fmax(apart_x, fabs(plain.x[i] - wide.x[i]));
    }
    // A velocity is a sum over up to 64 nodes, each of which is one over as many particles:
    // roundings that are independent make about 8 units a step, and 8 sqrt(AGREE_STEPS) = 36 in
    // all. A place goes along for less than a cell a step, and is read in metres, 50 cells from the
    // origin.
    const double unit = v->precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
    check_context("%dD, precision %d, order %d, gradient %d", v->dim, v->precision, v->order,
                  v->gradient);
    CHECK_NEAR(apart_v, 0.0, 36.0 * unit * fastest);
    CHECK_NEAR(apart_x, 0.0, (36.0 + 50.0) * unit * 0.05);
}

// Catches a wide kernel that leaves out what a plain one has, by more than their rounding.
static void plain_and_wide_kernels_agree(void)
{
    const variant variants[] = {{2, RP_SINGLE, 2, RP_APIC, 0, RP_GRADIENT_SPLINE},
                                {3, RP_SINGLE, 2, RP_APIC, 0, RP_GRADIENT_AFFINE},
                                {3, RP_SINGLE, 3, RP_APIC, 0, RP_GRADIENT_SPLINE},
                                {3, RP_DOUBLE, 2, RP_APIC, 0, RP_GRADIENT_AFFINE},
                                {2, RP_DOUBLE, 3, RP_FLIP, 0, RP_GRADIENT_SPLINE}};
    for (int i = 0; i < 5; i++) {
        CHECK_HELPER(agree(&variants[i]));
    }
}

TEST_MAIN(TEST(flat_worlds_have_the_same_bits_on_any_number_of_threads),
          TEST(deep_worlds_have_the_same_bits_on_any_number_of_threads),
          TEST(other_transfers_orders_gradients_and_periods_have_the_same_bits_too),
          TEST(plain_kernels_have_the_same_bits_too), TEST(plain_and_wide_kernels_agree))

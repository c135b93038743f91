// Tests src/shape/sample.c: as dense as asked for everywhere, never too near, the same every time.
#include "shape/sample.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Samples of a shape, kept, and how many lie within a depth of its surface.
typedef struct bag {
    const rp_shape *shape;
    double strip; // [m]
    int64_t count, near_surface, room;
    double (*x)[3];
} bag;

static rp_result keep(void *context, const double x[3])
{
    bag *b = context;
    b->near_surface += rp_shape_distance(b->shape, x, NULL) > -b->strip;
    if (b->count == b->room) {
        b->room = 2 * b->room + 1024;
        b->x = realloc(b->x, (size_t)b->room * sizeof *b->x);
    }
    memcpy(b->x[b->count++], x, sizeof *b->x);
    return RP_OK;
}

static rp_result count(void *context, const double x[3])
{
    (void)x;
    ++*(int64_t *)context;
    return RP_OK;
}

static rp_shape *ball(double radius)
{
    const double center[3] = {0.3, -0.2, 0.0};
    rp_shape *shape = NULL;
    check_ok(__FILE__, __LINE__, "ball", rp_shape_sphere(center, radius, &shape));
    return shape;
}

// A box of this size; in 2D it has no ends along z, so that nothing is near to them.
static rp_shape *block(int dim, double x, double y, double z)
{
    const double lower[3] = {-0.3, 0.4, dim == 3 ? -0.1 : -INFINITY};
    const double upper[3] = {lower[0] + x, lower[1] + y, dim == 3 ? lower[2] + z : INFINITY};
    rp_shape *shape = NULL;
    check_ok(__FILE__, __LINE__, "block", rp_shape_box(lower, upper, &shape));
    return shape;
}

// The share of a shape's volume that is deeper than `strip`.
static double deeper(int kind, int dim, double strip)
{
    const double ball_share = pow(1.0 - strip / 0.5, dim);
    const double block_share = (1.0 - 2.0 * strip / 0.9) * (1.0 - 2.0 * strip / 0.5) *
                               (dim == 3 ? 1.0 - 2.0 * strip / 0.7 : 1.0);
    const double layer_share =
        (1.0 - 2.0 * strip / 0.05) * (1.0 - 2.0 * strip) * (dim == 3 ? 1.0 - 2.0 * strip : 1.0);
    return kind == 0 ? ball_share : kind == 1 ? block_share : layer_share;
}

// Catches the classic mistake: samples of a shape that know of none outside crowd at its surface.
static void the_outer_strip_is_as_dense_as_the_inside(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        const double spacing = dim == 2 ? 0.002 : 0.01;
        for (int kind = 0; kind < 3; kind++) {
            rp_shape *shape = kind == 0   ? ball(0.5)
                              : kind == 1 ? block(dim, 0.9, 0.5, 0.7)
                                          : block(dim, 1.0, 0.05, 1.0);
            const double volume = rp_shape_volume(shape, dim) / pow(spacing, dim);
            for (uint64_t seed = 0; seed < 3; seed++) {
                bag b = {.shape = shape, .strip = spacing};
                check_context("%dD, shape %d, seed %d", dim, kind, (int)seed);
                CHECK_OK(rp_sample_shape(shape, dim, spacing, seed, keep, &b));
                const double inner = volume * deeper(kind, dim, spacing), outer = volume - inner;
                CHECK_NEAR((double)b.count / volume, 1.0, 0.01);
                CHECK_NEAR((double)(b.count - b.near_surface) / inner, 1.0, 0.05);
                CHECK_NEAR((double)b.near_surface / outer, 1.0, 0.05);
                free(b.x);
            }
            rp_shape_release(shape);
        }
    }
}

// Across the seams of the tile as well: the shape holds several tiles.
static void samples_keep_their_distance(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        const double spacing = dim == 2 ? 0.006 : 0.03;
        const double least = rp_sample_distance(dim) * spacing;
        rp_shape *shape = ball(0.5);
        bag b = {.shape = shape};
        double nearest2 = INFINITY, outermost = -INFINITY;
        CHECK_OK(rp_sample_shape(shape, dim, spacing, 5, keep, &b));
        for (int64_t i = 0; i < b.count; i++) {
            outermost = fmax(outermost, rp_shape_distance(shape, b.x[i], NULL));
            for (int64_t j = 0; j < i; j++) {
                const double d[3] = {b.x[i][0] - b.x[j][0], b.x[i][1] - b.x[j][1],
                                     b.x[i][2] - b.x[j][2]};
                nearest2 = fmin(nearest2, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            }
        }
        check_context("%dD, %lld samples", dim, (long long)b.count);
        CHECK(outermost <= 0.0);
        CHECK(sqrt(nearest2) > 0.99999 * least && sqrt(nearest2) < 1.01 * least);
        // what include/repose/world.h says
        CHECK_NEAR(rp_sample_distance(dim), dim == 2 ? 0.80 : 0.855, 0.01);
        free(b.x);
        rp_shape_release(shape);
    }
}

static void a_seed_gives_its_samples_every_time(void)
{
    rp_shape *shape = ball(0.5);
    for (int dim = 2; dim <= 3; dim++) {
        bag b[3] = {{.shape = shape}, {.shape = shape}, {.shape = shape}};
        for (int i = 0; i < 3; i++) {
            CHECK_OK(rp_sample_shape(shape, dim, 0.05, i < 2 ? 1 : 2, keep, &b[i]));
        }
        CHECK_EQUAL(b[0].count, b[1].count);
        CHECK(memcmp(b[0].x, b[1].x, (size_t)b[0].count * sizeof *b[0].x) == 0);
        // another seed shares no sample
        for (int64_t i = 0; i < b[0].count; i++) {
            for (int64_t j = 0; j < b[2].count; j++) {
                CHECK(memcmp(b[0].x[i], b[2].x[j], sizeof *b[0].x) != 0);
            }
        }
        for (int i = 0; i < 3; i++) {
            free(b[i].x);
        }
    }
    rp_shape_release(shape);
}

// A row of the lattice would show as places that many samples share; a tile that repeats along an
// axis would show as differences that many pairs share.
static void no_period_lies_along_the_axes(void)
{
    const double spacing = 0.01;
    rp_shape *shape = block(3, 1.0, 0.05, 1.0);
    bag b = {.shape = shape};
    CHECK_OK(rp_sample_shape(shape, 3, spacing, 3, keep, &b));
    enum { BINS = 4000 };
    int shared[BINS] = {0};
    // pairs in one row, by how far apart they are; rows are a tenth of a spacing wide
    int64_t pairs = 0;
    for (int64_t i = 0; i < b.count; i++) {
        for (int64_t j = 0; j < i && j < 20000; j++) {
            const double apart = fabs(b.x[i][0] - b.x[j][0]);
            if (fabs(b.x[i][1] - b.x[j][1]) < 0.05 * spacing &&
                fabs(b.x[i][2] - b.x[j][2]) < 0.05 * spacing) {
                shared[(int)(apart * (BINS - 1))]++;
                pairs++;
            }
        }
    }
    int most = 0;
    for (int i = 0; i < BINS; i++) {
        most = shared[i] > most ? shared[i] : most;
    }
    check_context("%lld pairs, %d alike", (long long)pairs, most);
    CHECK(pairs > 1000);
    CHECK(most < 30); // were it periodic along x, hundreds
    free(b.x);
    rp_shape_release(shape);
}

static rp_result tire(void *context, const double x[3])
{
    (void)x;
    return --*(int *)context > 0 ? RP_OK : rp_fail(RP_ERR_LIMIT, "tired");
}

static void a_visit_that_fails_is_the_last(void)
{
    int left = 10;
    rp_shape *shape = ball(0.5);
    CHECK_ERROR(rp_sample_shape(shape, 3, 0.05, 0, tire, &left), RP_ERR_LIMIT, "tired");
    CHECK_EQUAL(left, 0);
    rp_shape_release(shape);
}

// Small against the pattern, far from the origin, thinner than a spacing: all the same to it.
static void odd_shapes_get_their_share(void)
{
    int64_t small = 0, thin = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        rp_shape *shape = ball(0.5);
        CHECK_OK(rp_sample_shape(shape, 3, 1.0, seed, count, &small));
        rp_shape_release(shape);
    }
    CHECK_NEAR((double)small, 2000.0 * M_PI / 6.0, 5.0 * sqrt(1000.0));
    rp_shape *shape = block(3, 1.0, 0.001, 1.0);
    CHECK_OK(rp_sample_shape(shape, 3, 0.01, 0, count, &thin));
    CHECK_NEAR((double)thin, 1000.0, 5.0 * sqrt(1000.0));
    rp_shape_release(shape);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Printed, not judged.
static void sampling_takes_its_time(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        int64_t samples = 0;
        rp_shape *shape = ball(0.5);
        const double began = now();
        CHECK_OK(rp_sample_shape(shape, dim, dim == 2 ? 0.001 : 0.008, 0, count, &samples));
        printf("%dD: %.1f million samples a second\n", dim,
               1e-6 * (double)samples / (now() - began));
        rp_shape_release(shape);
    }
}

TEST_MAIN(TEST(the_outer_strip_is_as_dense_as_the_inside), TEST(samples_keep_their_distance),
          TEST(a_seed_gives_its_samples_every_time), TEST(no_period_lies_along_the_axes),
          TEST(a_visit_that_fails_is_the_last), TEST(odd_shapes_get_their_share),
          TEST(sampling_takes_its_time))

// Tests src/shape: distances and gradients against brute force, bounds and volumes against samples.
#include "repose/shape.h"

#include "check.h"
#include "random.h"

#include <math.h>

enum { SHAPES = 3, SAMPLES = 4000 };

static rp_shape *make(int i)
{
    const double point[3] = {0.1, -0.2, 0.3}, normal[3] = {1.0, 2.0, -2.0};
    const double lower[3] = {-0.5, -0.2, -0.3}, upper[3] = {0.4, 0.6, 0.1};
    rp_shape *shape = NULL;
    const rp_result result = i == 0   ? rp_shape_half_space(point, normal, &shape)
                             : i == 1 ? rp_shape_box(lower, upper, &shape)
                                      : rp_shape_sphere(point, 0.45, &shape);
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no shape: %s", rp_last_error());
    }
    return shape;
}

static void random_place(uint64_t *random, double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = test_between(random, -1.0, 1.0);
    }
}

// Is the distance the one of a surface? Walking that far along the gradient ends on it, and no
// point nearer lies on the other side.
static void distance_and_gradient_lead_to_the_surface(void)
{
    uint64_t random = 1;
    for (int i = 0; i < SHAPES; i++) {
        rp_shape *shape = make(i);
        for (int k = 0; k < SAMPLES; k++) {
            double x[3], n[3], there[3], length2 = 0.0;
            random_place(&random, x);
            const double phi = rp_shape_distance(shape, x, n);
            for (int a = 0; a < 3; a++) {
                there[a] = x[a] - phi * n[a];
                length2 += n[a] * n[a];
            }
            check_context("shape %d, sample %d", i, k);
            CHECK_NEAR(length2, 1.0, 1e-14);
            CHECK_NEAR(rp_shape_distance(shape, there, NULL), 0.0, 1e-14);
            // any way, a little less far: still on the same side
            double way[3], way2 = 0.0;
            random_place(&random, way);
            for (int a = 0; a < 3; a++) {
                way2 += way[a] * way[a];
            }
            for (int a = 0; a < 3; a++) {
                there[a] = x[a] + 0.999 * phi * way[a] / sqrt(way2);
            }
            CHECK(rp_shape_distance(shape, there, NULL) * phi >= 0.0);
        }
        rp_shape_release(shape);
    }
}

static void the_inside_is_where_it_should_be(void)
{
    uint64_t random = 2;
    rp_shape *half = make(0), *box = make(1), *sphere = make(2);
    for (int k = 0; k < SAMPLES; k++) {
        double x[3];
        random_place(&random, x);
        const double dx[3] = {x[0] - 0.1, x[1] + 0.2, x[2] - 0.3};
        CHECK((rp_shape_distance(half, x, NULL) < 0.0) ==
              (dx[0] + 2.0 * dx[1] - 2.0 * dx[2] < 0.0));
        CHECK(
            (rp_shape_distance(box, x, NULL) < 0.0) ==
            (x[0] > -0.5 && x[0] < 0.4 && x[1] > -0.2 && x[1] < 0.6 && x[2] > -0.3 && x[2] < 0.1));
        CHECK((rp_shape_distance(sphere, x, NULL) < 0.0) ==
              (dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2] < 0.45 * 0.45));
    }
    rp_shape_release(half);
    rp_shape_release(box);
    rp_shape_release(sphere);
}

static void volumes_are_what_samples_say(void)
{
    uint64_t random = 3;
    for (int i = 1; i < SHAPES; i++) {
        rp_shape *shape = make(i);
        int inside = 0, in_plane = 0;
        enum { MANY = 200000 };
        for (int k = 0; k < MANY; k++) {
            double x[3];
            random_place(&random, x);
            inside += rp_shape_distance(shape, x, NULL) < 0.0;
            x[2] = 0.0;
            in_plane += rp_shape_distance(shape, x, NULL) < 0.0;
        }
        check_context("shape %d", i);
        // four standard deviations of a count
        const double volume = rp_shape_volume(shape, 3), area = rp_shape_volume(shape, 2);
        CHECK_NEAR(8.0 * inside / MANY, volume, 4.0 * sqrt(8.0 * volume / MANY));
        CHECK_NEAR(4.0 * in_plane / MANY, area, 4.0 * sqrt(4.0 * area / MANY));
        rp_shape_release(shape);
    }
    rp_shape *half = make(0);
    CHECK(isinf(rp_shape_volume(half, 3)));
    rp_shape_release(half);
}

static void bounds_hold_the_shape(void)
{
    uint64_t random = 4;
    double lower[3], upper[3];
    rp_shape *half = make(0);
    CHECK(!rp_shape_bounds(half, 3, lower, upper));
    rp_shape_release(half);
    for (int i = 1; i < SHAPES; i++) {
        rp_shape *shape = make(i);
        CHECK(rp_shape_bounds(shape, 3, lower, upper));
        for (int k = 0; k < SAMPLES; k++) {
            double x[3];
            random_place(&random, x);
            bool within = true;
            for (int a = 0; a < 3; a++) {
                within = within && x[a] >= lower[a] && x[a] <= upper[a];
            }
            CHECK(within || rp_shape_distance(shape, x, NULL) > 0.0);
        }
        rp_shape_release(shape);
    }
}

// A rectangle in 2D is a box that is open along the third axis.
static void a_box_may_be_open(void)
{
    const double lower[3] = {0.0, 0.0, -INFINITY}, upper[3] = {1.0, 2.0, INFINITY};
    const double x[3] = {0.25, 1.0, 0.0}, far[3] = {-3.0, -4.0, 0.0};
    double n[3], a[3], b[3];
    rp_shape *shape;
    CHECK_OK(rp_shape_box(lower, upper, &shape));
    CHECK_NEAR(rp_shape_distance(shape, x, n), -0.25, 0.0);
    CHECK(n[0] == -1.0 && n[1] == 0.0 && n[2] == 0.0);
    CHECK_NEAR(rp_shape_distance(shape, far, n), 5.0, 1e-15);
    CHECK(rp_shape_bounds(shape, 2, a, b));
    CHECK(!rp_shape_bounds(shape, 3, a, b));
    CHECK_NEAR(rp_shape_volume(shape, 2), 2.0, 0.0);
    rp_shape_release(shape);
}

static void what_is_no_shape_is_refused(void)
{
    const double zero[3] = {0}, one[3] = {1.0, 1.0, 1.0}, bad[3] = {0.0, NAN, 0.0};
    const double endless[3] = {INFINITY, 0.0, 0.0};
    rp_shape *shape = (rp_shape *)&shape;
    CHECK_ERROR(rp_shape_half_space(zero, zero, &shape), RP_ERR_ARGUMENT, "half_space.normal");
    CHECK(shape == NULL);
    CHECK_ERROR(rp_shape_half_space(zero, bad, &shape), RP_ERR_ARGUMENT, "half_space.normal");
    CHECK_ERROR(rp_shape_half_space(zero, endless, &shape), RP_ERR_ARGUMENT, "half_space.normal");
    CHECK_ERROR(rp_shape_half_space(bad, one, &shape), RP_ERR_ARGUMENT, "half_space.point");
    CHECK_ERROR(rp_shape_box(one, one, &shape), RP_ERR_ARGUMENT, "box.upper[0]");
    CHECK_ERROR(rp_shape_box(zero, bad, &shape), RP_ERR_ARGUMENT, "box.upper");
    CHECK_ERROR(rp_shape_sphere(bad, 1.0, &shape), RP_ERR_ARGUMENT, "sphere.center");
    CHECK_ERROR(rp_shape_sphere(zero, 0.0, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_sphere(zero, -1.0, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_sphere(zero, INFINITY, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    rp_shape_release(NULL);
}

TEST_MAIN(TEST(distance_and_gradient_lead_to_the_surface), TEST(the_inside_is_where_it_should_be),
          TEST(volumes_are_what_samples_say), TEST(bounds_hold_the_shape), TEST(a_box_may_be_open),
          TEST(what_is_no_shape_is_refused))

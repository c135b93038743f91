// Tests the simple shapes of src/shape: distances and gradients against brute force, bounds and
// volumes against samples and formulas.
#include "repose/shape.h"
#include "shape/class.h"

#include "check.h"
#include "random.h"
#include "specimens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ---- simple shapes ----

static void the_inside_is_where_it_should_be(void)
{
    uint64_t random = 2;
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        int inside = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x[3];
            random_place(&random, x);
            check_context("%s, sample %d", specimens[i].name, k);
            CHECK((rp_shape_distance(shape, x, NULL) < 0.0) == specimens[i].inside(x));
            inside += specimens[i].inside(x);
        }
        CHECK(inside > SAMPLES / 100 && inside < SAMPLES);
        rp_shape_release(shape);
    }
}

// Is the distance the one of a surface? Walking that far along the gradient crosses it, and no
// point nearer lies on the other side.
static void distance_and_gradient_lead_to_the_surface(void)
{
    uint64_t random = 1;
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        int odd = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x[3], n[3], there[3], way[3];
            random_place(&random, x);
            const double phi = rp_shape_distance(shape, x, n);
            check_context("%s, sample %d", specimens[i].name, k);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-13);
            // round-off of a few operations with numbers up to 3
            step(x, -phi, n, there);
            CHECK_NEAR(rp_shape_distance(shape, there, way), 0.0, 1e-13);
            // beyond a sharp edge the line may come out again
            step(x, -phi - 1e-9, n, there);
            const bool crossed = specimens[i].inside(there);
            step(x, -phi + 1e-9, n, there);
            odd += rp_dot(way, n) > 1.0 - 1e-6 && (!crossed || specimens[i].inside(there));
            // any way, a little less far: still on the same side
            for (int w = 0; w < 8; w++) {
                test_direction(&random, way);
                step(x, 0.999 * fabs(phi), way, there);
                CHECK(specimens[i].inside(there) == (phi < 0.0));
            }
        }
        CHECK(odd <= SAMPLES / 500);
        rp_shape_release(shape);
    }
}

// The nearest of many points of the surface is at least as far as the surface, and not much
// farther: with d the distance and e the spacing of the points, by e at most.
static void no_point_of_the_surface_is_nearer(void)
{
    enum { ALONG = 160, PLACES = 60 };
    uint64_t random = 5;
    double(*points)[3] = calloc((size_t)ALONG * ALONG, sizeof *points);
    for (int i = 0; i < SPECIMENS; i++) {
        if (specimens[i].on == NULL) {
            continue;
        }
        rp_shape *shape = made(specimens[i].make);
        for (int k = 0; k < ALONG * ALONG; k++) {
            specimens[i].on((k / ALONG + 0.5) / ALONG, (k % ALONG + 0.5) / ALONG, points[k]);
            check_context("%s, point %d", specimens[i].name, k);
            CHECK_NEAR(rp_shape_distance(shape, points[k], NULL), 0.0, 1e-13);
        }
        for (int k = 0; k < PLACES; k++) {
            double x[3], nearest2 = INFINITY;
            random_place(&random, x);
            for (int j = 0; j < ALONG * ALONG; j++) {
                nearest2 =
                    fmin(nearest2, square(x[0] - points[j][0]) + square(x[1] - points[j][1]) +
                                       square(x[2] - points[j][2]));
            }
            const double phi = fabs(rp_shape_distance(shape, x, NULL));
            check_context("%s, place %d", specimens[i].name, k);
            CHECK(phi <= sqrt(nearest2) + 1e-13);
            CHECK_NEAR(sqrt(nearest2), phi, 0.05);
        }
        rp_shape_release(shape);
    }
    free(points);
}

// Away from creases, where both sides agree. The error of a central difference is its step squared
// times a third derivative, which is large only near centres and creases.
static void the_gradient_is_that_of_the_distance(void)
{
    uint64_t random = 6;
    const double h = 1e-6;
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        int compared = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x[3], n[3], g[3], near[3];
            random_place(&random, x);
            rp_shape_distance(shape, x, n);
            bool smooth = true;
            for (int a = 0; a < 3; a++) {
                double ahead[3] = {x[0], x[1], x[2]}, behind[3] = {x[0], x[1], x[2]};
                ahead[a] += h;
                behind[a] -= h;
                g[a] = (rp_shape_distance(shape, ahead, near) -
                        rp_shape_distance(shape, behind, NULL)) /
                       (2.0 * h);
                smooth = smooth && rp_dot(near, n) > 1.0 - 1e-8;
            }
            check_context("%s, sample %d", specimens[i].name, k);
            for (int a = 0; a < 3 && smooth; a++) {
                CHECK_NEAR(n[a], g[a], 1e-5);
            }
            compared += smooth;
        }
        CHECK(compared > SAMPLES * 9 / 10);
        rp_shape_release(shape);
    }
}

static void volumes_are_those_of_formulas(void)
{
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        const double volume = rp_shape_volume(shape, 3);
        check_context("%s", specimens[i].name);
        if (specimens[i].volume == 0.0) {
            CHECK(isinf(volume));
        } else {
            CHECK_NEAR(volume, specimens[i].volume, 1e-14);
            // what integrates where there is no formula, where there is one
            CHECK_NEAR(rp_shape_integrate_shape(shape, 3), volume, 2e-5 * volume);
        }
        rp_shape_release(shape);
    }
}

static void volumes_are_what_samples_say(void)
{
    uint64_t random = 3;
    for (int i = 0; i < SPECIMENS; i++) {
        if (specimens[i].volume > 0.0) {
            rp_shape *shape = made(specimens[i].make);
            check_context("%s", specimens[i].name);
            CHECK_HELPER(compare_volumes(shape, &random));
            rp_shape_release(shape);
        }
    }
}

static void bounds_hold_the_shape(void)
{
    double low[3], high[3];
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        check_context("%s", specimens[i].name);
        CHECK(rp_shape_bounds(shape, 3, low, high) == (specimens[i].volume > 0.0));
        double least[3] = {INFINITY, INFINITY, INFINITY},
               most[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int k = 0; k < 100000 && specimens[i].volume > 0.0; k++) {
            double x[3];
            specimens[i].on((k / 316) / 317.0, (k % 316) / 316.0, x);
            for (int a = 0; a < 3; a++) {
                least[a] = fmin(least[a], x[a]);
                most[a] = fmax(most[a], x[a]);
                CHECK(x[a] >= low[a] - 1e-15 && x[a] <= high[a] + 1e-15);
            }
        }
        // and no larger than need be; arcs are held by their tangents
        const double spare = specimens[i].make == make_pill ? 0.1 : 0.01;
        for (int a = 0; a < 3 && specimens[i].volume > 0.0; a++) {
            CHECK_NEAR(low[a], least[a], spare);
            CHECK_NEAR(high[a], most[a], spare);
        }
        rp_shape_release(shape);
    }
}

// Places that formulas divide by zero at: centres, axes, edges, tips.
static void no_place_is_too_special(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 1.0, 0.0}, flat[3] = {0.5, 0.1, 0.3};
    const double disc[3] = {0.5, 0.1, 0.5}, ball[3] = {0.5, 0.5, 0.5}, b[3] = {0.0, 0.5, 0.0};
    const double heights[4] = {0.0, 0.25, 0.5, 0.25};
    rp_height_field_def field = rp_default_height_field_def();
    field.max[0] = field.max[1] = 0.5;
    field.height = heights;
    field.columns = field.rows = 2;
    rp_shape *shape[12];
    int shapes = 0;
    CHECK_OK(rp_shape_capsule(zero, b, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_capsule(zero, zero, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_cylinder(zero, up, 0.5, 0.5, &shape[shapes++]));
    CHECK_OK(rp_shape_cone(zero, up, 0.5, 0.5, &shape[shapes++]));
    CHECK_OK(rp_shape_torus(zero, up, 0.5, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_torus(zero, up, 0.25, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_ellipsoid(zero, flat, &shape[shapes++]));
    CHECK_OK(rp_shape_ellipsoid(zero, disc, &shape[shapes++]));
    CHECK_OK(rp_shape_ellipsoid(zero, ball, &shape[shapes++]));
    CHECK_OK(rp_shape_height_field(&field, &shape[shapes++]));
    const double lattice[] = {-2.0,   -0.5,  -0.25, -1e-9, -1e-17, -0.0,
                              1e-300, 1e-12, 0.1,   0.3,   0.5,    1e6};
    for (int i = 0; i < shapes; i++) {
        for (int k = 0; k < 12 * 12 * 12; k++) {
            const double x[3] = {lattice[k / 144], lattice[k / 12 % 12], lattice[k % 12]};
            double n[3], there[3];
            const double phi = rp_shape_distance(shape[i], x, n);
            check_context("shape %d at (%g, %g, %g)", i, x[0], x[1], x[2]);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-12);
            step(x, -phi, n, there);
            CHECK_NEAR(rp_shape_distance(shape[i], there, NULL), 0.0,
                       1e-14 * (1.0 + fabs(phi) * 10.0));
        }
        rp_shape_release(shape[i]);
    }
}

// As thin as paper and as long as a road: Newton's steps must not stop half-way.
static void ellipsoids_may_be_extreme(void)
{
    uint64_t random = 7;
    for (int k = 0; k < 20000; k++) {
        double x[3], n[3], there[3], r[3], grade = 0.0;
        const double zero[3] = {0.0, 0.0, 0.0};
        for (int a = 0; a < 3; a++) {
            r[a] = pow(10.0, test_between(&random, -4.0, 1.0));
            x[a] = r[a] * pow(10.0, test_between(&random, -12.0, 1.0));
            x[a] *= test_below(&random, 2) == 0 ? -1.0 : 1.0;
        }
        rp_shape *shape;
        CHECK_OK(rp_shape_ellipsoid(zero, r, &shape));
        const double phi = rp_shape_distance(shape, x, n);
        step(x, -phi, n, there);
        for (int a = 0; a < 3; a++) {
            grade += square(there[a] / r[a]);
        }
        check_context("radii %g %g %g, at %g %g %g", r[0], r[1], r[2], x[0], x[1], x[2]);
        CHECK((phi < 0.0) ==
              (square(x[0] / r[0]) + square(x[1] / r[1]) + square(x[2] / r[2]) < 1.0));
        // on the surface, up to round-off of the largest number over the least radius
        const double least = fmin(r[0], fmin(r[1], r[2]));
        const double large = fabs(phi) + fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
        CHECK_NEAR(grade, 1.0, 1e-13 * (1.0 + large / least));
        rp_shape_release(shape);
    }
}

// ---- 2D ----

// A rectangle in 2D is a box that is open along the third axis.
static void a_box_may_be_open(void)
{
    const double low[3] = {0.0, 0.0, -INFINITY}, high[3] = {1.0, 2.0, INFINITY};
    const double x[3] = {0.25, 1.0, 0.0}, far[3] = {-3.0, -4.0, 0.0};
    double n[3], a[3], b[3];
    rp_shape *shape;
    CHECK_OK(rp_shape_box(low, high, &shape));
    CHECK_NEAR(rp_shape_distance(shape, x, n), -0.25, 0.0);
    CHECK(n[0] == -1.0 && n[1] == 0.0 && n[2] == 0.0);
    CHECK_NEAR(rp_shape_distance(shape, far, n), 5.0, 1e-15);
    CHECK(rp_shape_bounds(shape, 2, a, b));
    CHECK(!rp_shape_bounds(shape, 3, a, b));
    CHECK_NEAR(rp_shape_volume(shape, 2), 2.0, 0.0);
    rp_shape_release(shape);
    CHECK_OK(rp_shape_rounded_box(low, high, 0.5, &shape));
    CHECK_NEAR(rp_shape_volume(shape, 2), 1.0 + 0.25 * PI, 1e-15);
    CHECK_NEAR(rp_shape_distance(shape, x, n), -0.25, 0.0);
    rp_shape_release(shape);
}

// In the plane z = 0 a shape that lies even with it is its own cut: the gradient stays in the plane
// and areas follow from formulas.
static void a_cut_with_the_plane_is_a_shape_in_2d(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, axis[3] = {3.0, 4.0, 0.0}, b[3] = {0.3, 0.4, 0.0};
    const double ellipse[3] = {0.5, 0.2, INFINITY};
    const double profile[][2] = {{0.2, -0.3}, {0.1, 0.0}, {0.2, 0.3}}, wave[3] = {0.1, 0.4, 0.2};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = profile;
    def.points = 3;
    rp_height_field_def field = rp_default_height_field_def();
    field.max[0] = 1.0;
    field.height = wave;
    field.columns = 3;
    field.rows = 1;
    rp_shape *shape[8];
    CHECK_OK(rp_shape_cylinder(zero, axis, 0.2, 0.5, &shape[0]));
    CHECK_OK(rp_shape_cone(zero, axis, 0.2, 0.5, &shape[1]));
    CHECK_OK(rp_shape_capsule(zero, b, 0.2, &shape[2]));
    CHECK_OK(rp_shape_ellipsoid(zero, ellipse, &shape[3]));
    CHECK_OK(rp_shape_revolve(&def, &shape[4]));
    def.thickness = 0.05;
    CHECK_OK(rp_shape_revolve(&def, &shape[5]));
    CHECK_OK(rp_shape_height_field(&field, &shape[6]));
    const double area[] = {0.2, 0.1, 0.2 + PI * 0.04, PI * 0.1, 0.18};
    for (int i = 0; i < 5; i++) {
        check_context("shape %d", i);
        CHECK_NEAR(rp_shape_volume(shape[i], 2), area[i], 1e-15);
        CHECK_NEAR(rp_shape_integrate_shape(shape[i], 2), area[i], 1e-5 * area[i]);
    }
    // a band of two sides on either side of the axis, each of 0.1 sqrt(10), with a half circle at
    // each end; at the bend the outer side is a sector and on the inner side the two overlap
    const double side = 0.1 * sqrt(10.0), h = 0.025, half_turn = atan(1.0 / 3.0);
    const double band = 2.0 * side * 0.05 + PI * h * h + h * h * (half_turn - tan(half_turn));
    CHECK_NEAR(rp_shape_volume(shape[5], 2), 2.0 * band, 1e-5 * band);
    uint64_t random = 8;
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 2000; k++) {
            double x[3], n[3], there[3];
            random_place(&random, x);
            x[2] = 0.0;
            x[k % 3] = k % 5 == 0 ? 0.0 : x[k % 3];
            const double phi = rp_shape_distance(shape[i], x, n);
            check_context("shape %d at (%g, %g)", i, x[0], x[1]);
            CHECK(n[2] == 0.0);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-13);
            step(x, -phi, n, there);
            // inside a bent shell it is a bound
            if (i != 5 || phi > 0.0) {
                CHECK_NEAR(rp_shape_distance(shape[i], there, NULL), 0.0, 1e-14);
            }
        }
        rp_shape_release(shape[i]);
    }
}

// ---- shells ----

// The glass of an hourglass: within half its thickness of a line that is turned.
static void a_shell_follows_its_profile(void)
{
    const double profile[][2] = {{0.5, -0.6}, {0.5, -0.3}, {0.1, 0.0}, {0.5, 0.3}, {0.5, 0.6}};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = profile;
    def.points = 5;
    def.thickness = 0.1;
    rp_shape *shape;
    uint64_t random = 9;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    for (int k = 0; k < SAMPLES; k++) {
        double x[3], p[2], nearest = INFINITY;
        random_place(&random, x);
        const double r = hypot(x[0], x[2]);
        for (int i = 0; i <= 4000; i++) { // corners among them
            on_line(profile, 5, i / 4000.0, p);
            nearest = fmin(nearest, hypot(r - p[0], x[1] - p[1]));
        }
        CHECK_NEAR(rp_shape_distance(shape, x, NULL), nearest - 0.05, 1e-5 + 1e-7 / nearest);
    }
    CHECK_HELPER(compare_volumes(shape, &random));
    // Pappus and Guldin, for a straight one with its round ends
    const double straight[][2] = {{0.5, 0.0}, {0.5, 0.4}};
    rp_shape *tube;
    def.profile = straight;
    def.points = 2;
    CHECK_OK(rp_shape_revolve(&def, &tube));
    const double volume = 2.0 * PI * 0.5 * (0.04 + PI * 0.0025);
    CHECK_NEAR(rp_shape_volume(tube, 3), volume, 1e-5 * volume);
    rp_shape_release(tube);
    rp_shape_release(shape);
}

// Arcs in place of corners, both ways: what they take from one they give to the other.
static void corners_become_round(void)
{
    const double steps[][2] = {{0.6, -0.5}, {0.6, 0.0}, {0.3, 0.0}, {0.3, 0.5}};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = steps;
    def.points = 4;
    def.round = 0.1;
    rp_shape *shape;
    uint64_t random = 10;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    const double tip[3] = {0.59, -0.01, 0.0}, notch[3] = {0.31, 0.01, 0.0};
    CHECK(rp_shape_distance(shape, tip, NULL) > 0.0);
    CHECK(rp_shape_distance(shape, notch, NULL) < 0.0);
    const double volume = rp_shape_volume(shape, 3);
    CHECK_NEAR(rp_shape_integrate_shape(shape, 3), volume, 2e-5 * volume);
    CHECK_HELPER(compare_volumes(shape, &random));
    for (int k = 0; k < SAMPLES; k++) {
        double x[3], n[3], there[3];
        random_place(&random, x);
        const double phi = rp_shape_distance(shape, x, n);
        step(x, -phi, n, there);
        CHECK_NEAR(rp_shape_distance(shape, there, NULL), 0.0, 1e-13);
    }
    rp_shape_release(shape);
    def.round = 0.16; // two arcs do not fit on the step of 0.3
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT,
                "revolve.round: want one that fits");
    def.thickness = 0.02; // a shell has no corners at its ends, but that step it has
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.round");
    def.round = 0.15;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    rp_shape_release(shape);
}

// ---- refusals ----

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
    CHECK_ERROR(rp_shape_rounded_box(zero, one, 0.51, &shape), RP_ERR_ARGUMENT, "box.round");
    CHECK_ERROR(rp_shape_rounded_box(zero, one, -0.1, &shape), RP_ERR_ARGUMENT, "box.round");
    CHECK_ERROR(rp_shape_rounded_box(zero, one, NAN, &shape), RP_ERR_ARGUMENT, "box.round");
    CHECK_ERROR(rp_shape_sphere(bad, 1.0, &shape), RP_ERR_ARGUMENT, "sphere.center");
    CHECK_ERROR(rp_shape_sphere(zero, 0.0, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_sphere(zero, -1.0, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_sphere(zero, INFINITY, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_capsule(bad, one, 1.0, &shape), RP_ERR_ARGUMENT, "capsule.a");
    CHECK_ERROR(rp_shape_capsule(one, endless, 1.0, &shape), RP_ERR_ARGUMENT, "capsule.b");
    CHECK_ERROR(rp_shape_capsule(one, one, NAN, &shape), RP_ERR_ARGUMENT, "capsule.radius");
    CHECK_ERROR(rp_shape_cylinder(bad, one, 1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cylinder.base");
    CHECK_ERROR(rp_shape_cylinder(one, zero, 1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cylinder.axis");
    CHECK_ERROR(rp_shape_cylinder(one, one, 0.0, 1.0, &shape), RP_ERR_ARGUMENT, "cylinder.radius");
    CHECK_ERROR(rp_shape_cylinder(one, one, 1.0, NAN, &shape), RP_ERR_ARGUMENT, "cylinder.height");
    CHECK_ERROR(rp_shape_cone(one, bad, 1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cone.axis");
    CHECK_ERROR(rp_shape_cone(one, one, -1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cone.radius");
    CHECK_ERROR(rp_shape_cone(one, one, 1.0, 0.0, &shape), RP_ERR_ARGUMENT, "cone.height");
    CHECK_ERROR(rp_shape_torus(bad, one, 1.0, 0.5, &shape), RP_ERR_ARGUMENT, "torus.center");
    CHECK_ERROR(rp_shape_torus(one, zero, 1.0, 0.5, &shape), RP_ERR_ARGUMENT, "torus.axis");
    CHECK_ERROR(rp_shape_torus(one, one, 0.0, 0.5, &shape), RP_ERR_ARGUMENT, "torus.major");
    CHECK_ERROR(rp_shape_torus(one, one, 1.0, 0.0, &shape), RP_ERR_ARGUMENT, "torus.minor");
    CHECK_ERROR(rp_shape_torus(one, one, 1.0, 1.5, &shape), RP_ERR_ARGUMENT,
                "torus.minor: want at most");
    CHECK_ERROR(rp_shape_ellipsoid(bad, one, &shape), RP_ERR_ARGUMENT, "ellipsoid.center");
    CHECK_ERROR(rp_shape_ellipsoid(one, zero, &shape), RP_ERR_ARGUMENT, "ellipsoid.radii[0]");
    CHECK_ERROR(rp_shape_ellipsoid(one, bad, &shape), RP_ERR_ARGUMENT, "ellipsoid.radii");
    const double open[3] = {INFINITY, INFINITY, INFINITY};
    CHECK_ERROR(rp_shape_ellipsoid(one, open, &shape), RP_ERR_ARGUMENT,
                "ellipsoid.radii: want a finite");
    rp_shape_release(NULL);
}

static void profiles_that_make_no_sense_are_refused(void)
{
    const double good[][2] = {{1.0, 0.0}, {1.0, 1.0}}, left[][2] = {{1.0, 0.0}, {-1.0, 1.0}};
    const double loop[][2] = {{1.0, 0.0}, {1.0, 2.0}, {2.0, 1.0}, {0.5, 0.5}};
    const double same[][2] = {{1.0, 0.0}, {1.0, 0.0}}, flat[][2] = {{1.0, 0.0}, {2.0, 0.0}};
    rp_shape *shape;
    rp_revolve_def def = {0};
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "rp_default_revolve_def()");
    def = rp_default_revolve_def();
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want 2 to 4096");
    def.profile = good;
    def.points = 1;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want 2 to 4096");
    def.points = 2;
    def.base[1] = NAN;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.base");
    def.base[1] = 0.0;
    def.axis[1] = 0.0;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.axis");
    def.axis[1] = 1.0;
    def.thickness = -1.0;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.thickness");
    def.thickness = 0.0;
    def.round = NAN;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.round");
    def.round = 0.0;
    def.profile = left;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile[2]: want finite");
    def.profile = same;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want");
    def.profile = flat;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want");
    def.profile = loop;
    def.points = 4;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "does not meet itself");
    CHECK(shape == NULL);
    def.thickness = 0.1; // but a shell may
    CHECK_OK(rp_shape_revolve(&def, &shape));
    rp_shape_release(shape);
}

// The same landscape, turned as a whole: bit for bit the same distances.
static void a_height_field_may_have_z_up(void)
{
    const double heights[6] = {0.1, 0.4, 0.2, 0.3, 0.0, 0.25};
    rp_height_field_def def = rp_default_height_field_def();
    rp_shape *shape[2];
    double lower[3], upper[3];
    uint64_t random = 3;
    def.max[0] = 1.0;
    def.max[1] = 0.5;
    def.height = heights;
    def.columns = 3;
    def.rows = 2;
    CHECK_OK(rp_shape_height_field(&def, &shape[0]));
    def.z_up = true;
    CHECK_OK(rp_shape_height_field(&def, &shape[1]));
    for (int k = 0; k < 1000; k++) {
        double n[2][3];
        const double x[3] = {test_uniform(&random) * 2 - 0.5, test_uniform(&random) - 0.2,
                             test_uniform(&random) * 2 - 0.5};
        const double turned[3] = {x[0], -x[2], x[1]};
        CHECK_NEAR(rp_shape_distance(shape[1], turned, n[1]), rp_shape_distance(shape[0], x, n[0]),
                   0.0);
        CHECK(n[1][0] == n[0][0] && n[1][1] == -n[0][2] && n[1][2] == n[0][1]);
    }
    CHECK(!rp_shape_bounds(shape[1], 3, lower, upper));
    CHECK(upper[2] == 0.4 && isinf(upper[1]));
    rp_shape_release(shape[0]);
    rp_shape_release(shape[1]);
}

static void height_fields_that_make_no_sense_are_refused(void)
{
    double heights[4] = {0.0, 1.0, 2.0, NAN};
    rp_shape *shape;
    rp_height_field_def def = {0};
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT,
                "rp_default_height_field_def()");
    def = rp_default_height_field_def();
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "height_field.height");
    def.height = heights;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "want at least one column");
    def.columns = def.rows = 1 << 13;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "at most 16777216 heights");
    def.columns = def.rows = 2;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT,
                "height_field.max: want > min along x");
    def.max[0] = 1.0;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT,
                "height_field.max: want > min along z");
    def.max[1] = 1.0;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "in column 2 of row 2");
    CHECK(shape == NULL);
}

TEST_MAIN(TEST(the_inside_is_where_it_should_be), TEST(distance_and_gradient_lead_to_the_surface),
          TEST(no_point_of_the_surface_is_nearer), TEST(the_gradient_is_that_of_the_distance),
          TEST(volumes_are_those_of_formulas), TEST(volumes_are_what_samples_say),
          TEST(bounds_hold_the_shape), TEST(no_place_is_too_special),
          TEST(ellipsoids_may_be_extreme), TEST(a_box_may_be_open),
          TEST(a_cut_with_the_plane_is_a_shape_in_2d), TEST(a_shell_follows_its_profile),
          TEST(corners_become_round), TEST(what_is_no_shape_is_refused),
          TEST(profiles_that_make_no_sense_are_refused), TEST(a_height_field_may_have_z_up),
          TEST(height_fields_that_make_no_sense_are_refused))

// Colliders that move, against the poses that their motions give.
#include "collide/collider.h"

#include "check.h"
#include "flight.h"

#include <float.h>
#include <math.h>
#include <string.h>

static rp_collider collider_of(test_flight *f, int parent)
{
    static const rp_placing at_rest = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    return (rp_collider){.parent = parent,
                         .moves = f != NULL || parent >= 0,
                         .motion = {f != NULL ? test_fly : NULL, f},
                         .begin = at_rest,
                         .end = at_rest};
}

// x turned by a quaternion, by q x q^-1 as it is printed: x + 2 q_v x (q_v x x + q_w x).
static void turn(const double rotation[4], double sign, const double x[3], double out[3])
{
    double q[4], length2 = 0.0, c[3];
    for (int i = 0; i < 4; i++) {
        length2 += rotation[i] * rotation[i];
    }
    for (int i = 0; i < 4; i++) {
        q[i] = (i < 3 ? sign : 1.0) * rotation[i] / sqrt(length2);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        c[a] = q[b] * x[d] - q[d] * x[b] + q[3] * x[a];
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        out[a] = x[a] + 2.0 * (q[b] * c[d] - q[d] * c[b]);
    }
}

// From where a pose has put it back to where it is described.
static void unplace(const test_flight *f, double t, double x[3])
{
    rp_pose pose;
    double arm[3];
    test_fly((void *)f, t, &pose);
    for (int a = 0; a < 3; a++) {
        arm[a] = x[a] - pose.position[a];
    }
    turn(pose.rotation, -1.0, arm, x);
}

static void place(const test_flight *f, double t, double x[3])
{
    rp_pose pose;
    double arm[3];
    test_fly((void *)f, t, &pose);
    memcpy(arm, x, sizeof arm);
    turn(pose.rotation, 1.0, arm, x);
    for (int a = 0; a < 3; a++) {
        x[a] += pose.position[a];
    }
}

// Catches a velocity that leaves out the turn, turns the wrong way or about the wrong place, takes
// the pose of the parent at another moment than its own, or is a way instead of a velocity.
static void a_collider_takes_its_points_from_pose_to_pose(void)
{
    uint64_t random = 1;
    for (int round = 0; round < 2000; round++) {
        const int dim = 2 + round % 2;
        test_flight own = test_random_flight(&random, dim),
                    parents = test_random_flight(&random, dim);
        const double t = test_between(&random, 0.0, 2.0);
        const double dt = pow(10.0, test_between(&random, -5.0, 0.0));
        // alone, with a parent, or only carried by it
        const int kind = round / 2 % 3;
        rp_collider collider[2] = {collider_of(kind > 0 ? &parents : &own, -1),
                                   collider_of(kind == 2 ? NULL : &own, 0)};
        const rp_collider *c = &collider[kind > 0];
        CHECK_OK(rp_colliders_move(collider, 2, t, dt));
        double x[3] = {0}, there[3], v[3];
        for (int a = 0; a < dim; a++) {
            x[a] = test_between(&random, -2.0, 2.0);
        }
        memcpy(there, x, sizeof there);
        if (kind > 0) {
            unplace(&parents, t, there);
        }
        if (kind < 2) {
            unplace(&own, t, there);
            place(&own, t + dt, there);
        }
        if (kind > 0) {
            place(&parents, t + dt, there);
        }
        rp_collider_velocity(c, x, dt, v);
        check_context("round %d, kind %d, dt %g", round, kind, dt);
        for (int a = 0; a < 3; a++) {
            // places of up to ten metres, turned a few times; angles of up to 40 rad
            CHECK_NEAR(v[a], (there[a] - x[a]) / dt, 1000.0 * DBL_EPSILON / dt);
        }
        CHECK(dim == 3 || v[2] == 0.0);
    }
}

// The chord of a turn by an angle of w dt is off by its half from the velocity at the start: v + w
// x r comes out at that order, and no other.
static void a_short_step_gives_the_velocity_of_a_turning_body(void)
{
    uint64_t random = 2;
    for (int round = 0; round < 1000; round++) {
        test_flight f = test_random_flight(&random, 3);
        rp_collider collider = collider_of(&f, -1);
        const double dt = 1e-3 / (1.0 + fabs(f.spin)), t = test_between(&random, 0.0, 1.0);
        double x[3], v[3], arm[3];
        CHECK_OK(rp_colliders_move(&collider, 1, t, dt));
        for (int a = 0; a < 3; a++) {
            x[a] = test_between(&random, -2.0, 2.0);
            arm[a] = x[a] - (f.start[a] + f.speed[a] * t);
        }
        rp_collider_velocity(&collider, x, dt, v);
        const double far = sqrt(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]);
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            const double want = f.speed[a] + f.spin * (f.axis[b] * arm[d] - f.axis[d] * arm[b]);
            check_context("round %d, axis %d", round, a);
            CHECK_NEAR(v[a], want, 0.51 * f.spin * f.spin * far * dt + 1e-9);
        }
    }
}

static void a_collider_that_stands_still_has_no_velocity(void)
{
    rp_collider collider = {.parent = -1};
    const double x[3] = {1.0, 2.0, 3.0};
    double v[3] = {1.0, 1.0, 1.0};
    CHECK_OK(rp_colliders_move(&collider, 1, 0.5, 0.1));
    rp_collider_velocity(&collider, x, 0.1, v);
    CHECK(v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0);
}

// Catches a bound on the step that looks at another way than the one that nodes feel.
static void no_point_of_a_collider_goes_farther_than_its_way(void)
{
    uint64_t random = 3;
    const double center[3] = {0}, dt = 0.01;
    rp_shape *shape;
    CHECK_OK(rp_shape_sphere(center, 0.5, &shape));
    for (int round = 0; round < 200; round++) {
        test_flight f = test_random_flight(&random, 3);
        rp_collider collider = collider_of(&f, -1);
        const double lower[3] = {-9.0, -9.0, -9.0}, upper[3] = {9.0, 9.0, 9.0};
        double longest = 0.0, box[2][3];
        collider.shape = shape;
        CHECK_OK(rp_colliders_move(&collider, 1, 0.1, dt));
        const double way = rp_colliders_way(&collider, 1, 3, lower, upper);
        CHECK(rp_collider_bounds(&collider, 3, box[0], box[1]));
        for (int i = 0; i < 50; i++) {
            double x[3], v[3];
            for (int a = 0; a < 3; a++) {
                x[a] = test_between(&random, box[0][a], box[1][a]);
            }
            rp_collider_velocity(&collider, x, dt, v);
            longest = fmax(longest, dt * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        }
        check_context("round %d", round);
        CHECK(longest <= way * (1.0 + 1e-12) && longest > 0.3 * way);
    }
    rp_shape_release(shape);
}

TEST_MAIN(TEST(a_collider_takes_its_points_from_pose_to_pose),
          TEST(a_short_step_gives_the_velocity_of_a_turning_body),
          TEST(a_collider_that_stands_still_has_no_velocity),
          TEST(no_point_of_a_collider_goes_farther_than_its_way))

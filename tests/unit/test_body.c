// Bodies against mechanics: how scripted ones move, and what an impulse does to free ones.
#include "collide/body.h"
#include "sim/world.h"

#include "check.h"
#include "flight.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static const rp_placing at_rest = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void random_vector(uint64_t *random, int dim, double size, double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = a < dim ? test_between(random, -size, size) : 0.0;
    }
}

static rp_collider flying(test_flight *f)
{
    return (rp_collider){
        .parent = -1, .moves = true, .motion = {test_fly, f}, .begin = at_rest, .end = at_rest};
}

// ---- scripted bodies ----

// x turned about a vector, by its length: Rodrigues' formula.
static void turn_about(const double turn[3], const double x[3], double out[3])
{
    const double angle = sqrt(dot(turn, turn));
    double side[3];
    cross(turn, x, side);
    for (int a = 0; a < 3; a++) {
        out[a] = x[a] * cos(angle) + side[a] * sin(angle) / angle +
                 turn[a] * dot(turn, x) * (1.0 - cos(angle)) / (angle * angle);
    }
}

// Catches a spin that is the sine or the tangent of what it should be, one that turns backwards, is
// seen from the body's own frame, or leaves out what the parent adds.
static void a_scripted_body_moves_as_its_poses_do(void)
{
    uint64_t random = 1;
    for (int round = 0; round < 3000; round++) {
        const int dim = 2 + round % 2, own = round / 2 % 2;
        test_flight flight[2] = {test_random_flight(&random, dim),
                                 test_random_flight(&random, dim)};
        rp_collider collider[2] = {flying(&flight[0]), flying(&flight[1])};
        collider[1].parent = 0;
        rp_body body = rp_body_scripted(&collider[own]);
        // together they turn by less than half a turn
        const double t = test_between(&random, 0.0, 1.0),
                     dt = pow(10.0, test_between(&random, -5.0, 0.0)) * PI / 41.0;
        CHECK_OK(rp_colliders_move(collider, 2, t, dt));
        rp_body_begin(&body, dt);
        check_context("round %d, dt %g", round, dt);
        CHECK(memcmp(&body.pose, &collider[own].begin, sizeof body.pose) == 0);
        for (int a = 0; a < 3; a++) {
            // positions of a few metres, matrices that are right to some roundings
            const double blur = 100.0 * DBL_EPSILON / dt;
            CHECK_NEAR(body.velocity[a],
                       (collider[own].end.position[a] - collider[own].begin.position[a]) / dt,
                       blur);
            if (own == 0) {
                CHECK_NEAR(body.velocity[a], flight[0].speed[a], blur);
                CHECK_NEAR(body.spin[a], flight[0].spin * flight[0].axis[a], blur);
            }
            // the turn takes each axis of the body from its begin to its end
            double turn[3], from[3], to[3];
            for (int b = 0; b < 3; b++) {
                turn[b] = body.spin[b] * dt;
                from[b] = collider[own].begin.rotation[b][a];
            }
            turn_about(turn, from, to);
            for (int b = 0; b < 3; b++) {
                CHECK_NEAR(to[b], collider[own].end.rotation[b][a], 100.0 * DBL_EPSILON);
            }
        }
    }
}

// Where it stands, where its script pauses and where no time passes, exactly.
static void a_body_that_stands_has_no_velocity(void)
{
    test_flight pause = {.start = {0.3, 0.1, 0.2}, .axis = {0.6, 0.0, 0.8}, .angle = 0.7};
    test_flight flight = {.speed = {1.0, 2.0, 3.0}, .axis = {0.0, 0.6, 0.8}, .spin = 3.0};
    rp_collider collider[3] = {flying(&pause), flying(&flight), flying(&flight)};
    collider[2].moves = false;
    for (int i = 0; i < 3; i++) {
        rp_body body = rp_body_scripted(&collider[i]);
        const double dt = i == 1 ? 0.0 : 0.01;
        // what an earlier step has left
        body.velocity[0] = body.spin[1] = body.given.linear[2] = 1.0;
        CHECK_OK(rp_colliders_move(&collider[i], 1, 0.5, dt));
        rp_body_begin(&body, dt);
        check_context("body %d", i);
        for (int a = 0; a < 3; a++) {
            CHECK(body.velocity[a] == 0.0 && body.spin[a] == 0.0);
            CHECK(body.given.linear[a] == 0.0 && body.given.angular[a] == 0.0);
        }
    }
}

// Tiny turns keep their digits, and half a turn is one.
static void a_turn_is_known_up_to_half_a_turn(void)
{
    uint64_t random = 2;
    for (int round = 0; round < 3000; round++) {
        const double angle = round % 3 == 0   ? pow(10.0, test_between(&random, -14.0, 0.0))
                             : round % 3 == 1 ? test_between(&random, 0.0, PI)
                                              : PI - pow(10.0, test_between(&random, -6.0, 0.0));
        rp_pose pose = {.position = {9.0, 9.0, 9.0}};
        double axis[3], turn[3];
        test_direction(&random, axis);
        for (int a = 0; a < 3; a++) {
            pose.rotation[a] = -axis[a] * sin(0.5 * angle);
        }
        pose.rotation[3] = -cos(0.5 * angle); // the same turn as without the two signs
        const rp_placing to = rp_placing_of(&pose);
        rp_placing_turn(&at_rest, &to, turn);
        check_context("angle %g", angle);
        for (int a = 0; a < 3; a++) {
            // a matrix holds an angle near half a turn with half of its digits: 1e-16 / 1e-6
            CHECK_NEAR(turn[a], angle * axis[a],
                       4.0 * DBL_EPSILON * (1.0 + PI / fmax(PI - angle, 1e-6)));
        }
    }
}

// The velocity of a turning body at a point is where rp_collider_velocity() starts from: they
// differ by half of w^2 r dt, the bend of the way.
static void a_scripted_body_has_the_velocity_of_its_collider(void)
{
    uint64_t random = 3;
    for (int round = 0; round < 1000; round++) {
        test_flight f = test_random_flight(&random, 3);
        rp_collider collider = flying(&f);
        rp_body body = rp_body_scripted(&collider);
        const double dt = 1e-4;
        double x[3], v[3], mean[3], arm2 = 0.0;
        CHECK_OK(rp_colliders_move(&collider, 1, 0.3, dt));
        rp_body_begin(&body, dt);
        random_vector(&random, 3, 2.0, x);
        rp_body_velocity(&body, x, v);
        rp_collider_velocity(&collider, x, dt, mean);
        for (int a = 0; a < 3; a++) {
            arm2 += (x[a] - body.pose.position[a]) * (x[a] - body.pose.position[a]);
        }
        for (int a = 0; a < 3; a++) {
            check_context("round %d, axis %d", round, a);
            CHECK_NEAR(v[a], mean[a], 0.51 * f.spin * f.spin * sqrt(arm2) * dt + 1e-10);
        }
    }
}

// ---- free bodies ----

// A body anywhere, turned anyhow, with the inertia of some points of mass.
static rp_body random_body(uint64_t *random, rp_collider *collider, int dim)
{
    double inertia[3][3] = {{0}};
    test_flight f = test_random_flight(random, dim);
    rp_pose pose;
    test_fly(&f, 0.0, &pose);
    *collider = (rp_collider){.parent = -1, .begin = rp_placing_of(&pose)};
    collider->end = collider->begin;
    for (int i = 0; i < 5; i++) {
        double r[3];
        const double m = test_between(random, 0.1, 2.0);
        random_vector(random, dim, 1.0, r);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                inertia[a][b] += m * ((a == b ? dot(r, r) : 0.0) - r[a] * r[b]);
            }
        }
    }
    rp_body body = rp_body_free(collider, dim, test_between(random, 0.5, 5.0), inertia);
    random_vector(random, dim, 2.0, body.velocity);
    random_vector(random, 3, 3.0, body.spin);
    if (dim == 2) {
        body.spin[0] = body.spin[1] = 0.0;
    }
    return body;
}

// Inertia in the world, R I R^T.
static void world_inertia(const rp_body *body, double out[3][3])
{
    const double(*R)[3] = body->pose.rotation;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            out[a][b] = 0.0;
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    out[a][b] += R[a][i] * body->inertia[i][j] * R[b][j];
                }
            }
        }
    }
}

// Momentum, and angular momentum about the origin.
static void add_momenta(const rp_body *body, double sum[6])
{
    double inertia[3][3], orbit[3], p[3];
    world_inertia(body, inertia);
    for (int a = 0; a < 3; a++) {
        p[a] = body->mass * body->velocity[a];
    }
    cross(body->pose.position, p, orbit);
    for (int a = 0; a < 3; a++) {
        sum[a] += p[a];
        sum[3 + a] += orbit[a] + dot(inertia[a], body->spin);
    }
}

// m dv = J and I dw = r x J, with the inertia turned into the world. Catches an inertia that stays
// in the body's frame or is turned backwards, an inverse that is not one, and an arm from
// elsewhere.
static void an_impulse_changes_velocity_and_spin(void)
{
    uint64_t random = 4;
    for (int round = 0; round < 2000; round++) {
        const int dim = 2 + round % 2;
        rp_collider collider;
        rp_body body = random_body(&random, &collider, dim);
        const rp_body before = body;
        double x[3], J[3], arm[3], torque[3], inertia[3][3], dw[3];
        random_vector(&random, dim, 2.0, x);
        random_vector(&random, dim, 3.0, J);
        rp_body_push(&body, x, J);
        world_inertia(&body, inertia);
        for (int a = 0; a < 3; a++) {
            arm[a] = x[a] - before.pose.position[a];
            dw[a] = body.spin[a] - before.spin[a];
        }
        cross(arm, J, torque);
        check_context("round %d, dimension %d", round, dim);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(body.mass * (body.velocity[a] - before.velocity[a]), J[a], 1e-13);
            // flat bodies of a few points are turned easily about one axis
            CHECK_NEAR(dot(inertia[a], dw), torque[a], 1e-9);
            CHECK(body.given.linear[a] == J[a]);
            CHECK_NEAR(body.given.angular[a], torque[a], 1e-14 * 20.0);
        }
        CHECK(dim == 3 || (body.velocity[2] == 0.0 && body.spin[0] == 0.0 && body.spin[1] == 0.0));
        CHECK(memcmp(&body.pose, &before.pose, sizeof body.pose) == 0);
    }
}

// The work of an impulse is that with the mean velocity of the point it acts on, which ties
// velocities at points, pushes and energy to each other.
static void an_impulse_works_with_the_mean_velocity_of_its_point(void)
{
    uint64_t random = 5;
    for (int round = 0; round < 2000; round++) {
        const int dim = 2 + round % 2;
        rp_collider collider;
        rp_body body = random_body(&random, &collider, dim);
        double x[3], J[3], before[3], after[3];
        random_vector(&random, dim, 2.0, x);
        random_vector(&random, dim, 3.0, J);
        const double kinetic = rp_body_kinetic(&body);
        rp_body_velocity(&body, x, before);
        rp_body_push(&body, x, J);
        rp_body_velocity(&body, x, after);
        const double work = 0.5 * (dot(J, before) + dot(J, after));
        check_context("round %d, dimension %d", round, dim);
        CHECK(kinetic > 0.0);
        CHECK_NEAR(rp_body_kinetic(&body) - kinetic, work,
                   1e-10 * (kinetic + rp_body_kinetic(&body)));
    }
}

// m v^2 / 2 and I w^2 / 2, of a plate of 2 kg and 0.1 kg m^2 at 3 m/s and 4 rad/s.
static void a_moving_plate_has_the_energy_of_the_books(void)
{
    const double inertia[3][3] = {{7.0, 0.0, 0.0}, {0.0, 7.0, 0.0}, {0.0, 0.0, 0.1}};
    rp_collider collider = {.begin = at_rest};
    for (int dim = 2; dim <= 3; dim++) {
        rp_body body = rp_body_free(&collider, dim, 2.0, inertia);
        CHECK(rp_body_kinetic(&body) == 0.0);
        body.velocity[1] = 3.0;
        body.spin[2] = 4.0;
        CHECK_NEAR(rp_body_kinetic(&body), 9.0 + 0.8, 1e-14);
        const double x[3] = {0.5, 0.0, 0.0};
        double v[3];
        rp_body_velocity(&body, x, v);
        CHECK(v[0] == 0.0 && v[1] == 5.0 && v[2] == 0.0);
    }
}

// What one pushes, the other gets: momentum and angular momentum of both stay.
static void two_bodies_that_push_each_other_keep_their_momenta(void)
{
    uint64_t random = 6;
    for (int round = 0; round < 1000; round++) {
        const int dim = 2 + round % 2;
        rp_collider collider[2];
        rp_body body[2] = {random_body(&random, &collider[0], dim),
                           random_body(&random, &collider[1], dim)};
        double before[6] = {0}, after[6] = {0}, x[3], J[3], back[3];
        random_vector(&random, dim, 2.0, x);
        random_vector(&random, dim, 3.0, J);
        add_momenta(&body[0], before);
        add_momenta(&body[1], before);
        for (int a = 0; a < 3; a++) {
            back[a] = -J[a];
        }
        rp_body_push(&body[0], x, J);
        rp_body_push(&body[1], x, back);
        add_momenta(&body[0], after);
        add_momenta(&body[1], after);
        check_context("round %d, dimension %d", round, dim);
        for (int i = 0; i < 6; i++) {
            CHECK_NEAR(after[i], before[i], 1e-9);
        }
    }
}

// Pushes one by one are what their sum is, about the body's position.
static void a_sum_of_pushes_is_taken_as_they_are(void)
{
    uint64_t random = 7;
    for (int round = 0; round < 500; round++) {
        const int dim = 2 + round % 2;
        rp_collider collider;
        rp_body one = random_body(&random, &collider, dim), all = one;
        rp_impulse sum = {0};
        for (int i = 0; i < 10; i++) {
            double x[3], J[3], arm[3];
            random_vector(&random, dim, 2.0, x);
            random_vector(&random, dim, 1.0, J);
            for (int a = 0; a < 3; a++) {
                arm[a] = x[a] - one.pose.position[a];
            }
            rp_body_push(&one, x, J);
            rp_impulse_add(&sum, arm, J);
        }
        rp_body_take(&all, &sum);
        check_context("round %d", round);
        CHECK(memcmp(&one.given, &all.given, sizeof sum) == 0);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(one.velocity[a], all.velocity[a], 1e-13);
            CHECK_NEAR(one.spin[a], all.spin[a], 1e-9);
        }
    }
}

static void a_scripted_body_counts_what_it_gets_and_goes_its_way(void)
{
    uint64_t random = 8;
    test_flight f = test_random_flight(&random, 3);
    rp_collider collider = flying(&f);
    rp_body body = rp_body_scripted(&collider);
    CHECK_OK(rp_colliders_move(&collider, 1, 0.5, 0.01));
    rp_body_begin(&body, 0.01);
    const rp_body before = body;
    rp_impulse want = {0};
    for (int i = 0; i < 100; i++) {
        double x[3], J[3], arm[3];
        random_vector(&random, 3, 2.0, x);
        random_vector(&random, 3, 1e6, J);
        for (int a = 0; a < 3; a++) {
            arm[a] = x[a] - before.pose.position[a];
        }
        rp_body_push(&body, x, J);
        rp_impulse_add(&want, arm, J);
    }
    CHECK(memcmp(&body.given, &want, sizeof want) == 0);
    CHECK(memcmp(body.velocity, before.velocity, sizeof before.velocity) == 0);
    CHECK(memcmp(body.spin, before.spin, sizeof before.spin) == 0);
    CHECK(rp_body_kinetic(&body) == 0.0);
}

// ---- bodies of a world ----

// Catches a collider without a body, one that stays where it was, and a load that is not what the
// body was given.
static void every_collider_of_a_world_has_a_body(void)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_plane_def floor = rp_default_plane_def();
    rp_collider_def ball = rp_default_collider_def();
    test_flight flight = {.speed = {0.5, 0.0, 0.25}, .axis = {0.0, 0.0, 1.0}, .spin = 2.0};
    const double center[3] = {-0.2, 0.1, 0.1};
    rp_world *world;
    rp_shape *shape;
    def.dx = 0.05;
    def.fps = 20.0;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &sand, &box.material));
    for (int a = 0; a < 3; a++) {
        box.upper[a] = 0.3;
    }
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    CHECK_OK(rp_world_add_plane(world, &floor));
    CHECK_OK(rp_shape_sphere(center, 0.2, &shape));
    ball.shape = shape;
    ball.motion = (rp_pose_of_time){test_fly, &flight};
    CHECK_OK(rp_world_add_collider(world, &ball));
    rp_shape_release(shape);
    for (int frame = 0; frame < 3; frame++) {
        double sum[2][6] = {{0}};
        while (world->time.frame == frame) {
            CHECK_OK(rp_world_step(world));
            for (int i = 0; i < 2; i++) {
                const rp_body *body = &world->body[i];
                CHECK(body->collider == &world->collider[i] && isinf(body->mass));
                for (int a = 0; a < 3; a++) {
                    sum[i][a] += body->given.linear[a];
                    sum[i][3 + a] += body->given.angular[a];
                    CHECK_NEAR(body->velocity[a], i == 1 ? flight.speed[a] : 0.0, 1e-9);
                    CHECK_NEAR(body->spin[a], i == 1 ? flight.spin * flight.axis[a] : 0.0, 1e-9);
                }
            }
        }
        for (int i = 0; i < 2; i++) {
            rp_collider_load load;
            rp_world_collider_load(world, i, &load);
            check_context("frame %d, collider %d", frame, i);
            for (int a = 0; a < 3; a++) {
                CHECK(load.force[a] == sum[i][a] * def.fps);
                CHECK(load.torque[a] == sum[i][3 + a] * def.fps);
            }
            CHECK(load.force[0] != 0.0 && load.torque[2] != 0.0);
        }
    }
    rp_world_destroy(world);
}

TEST_MAIN(TEST(a_scripted_body_moves_as_its_poses_do), TEST(a_body_that_stands_has_no_velocity),
          TEST(a_turn_is_known_up_to_half_a_turn),
          TEST(a_scripted_body_has_the_velocity_of_its_collider),
          TEST(an_impulse_changes_velocity_and_spin),
          TEST(an_impulse_works_with_the_mean_velocity_of_its_point),
          TEST(a_moving_plate_has_the_energy_of_the_books),
          TEST(two_bodies_that_push_each_other_keep_their_momenta),
          TEST(a_sum_of_pushes_is_taken_as_they_are),
          TEST(a_scripted_body_counts_what_it_gets_and_goes_its_way),
          TEST(every_collider_of_a_world_has_a_body))

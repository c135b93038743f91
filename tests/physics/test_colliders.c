// Colliders against mechanics: what they are given is what particles lose, blocks slide as Coulomb
// says, floors carry and drums turn what lies in them.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

static const double g = 9.81;

static void sum_forces(const rp_world *world, double force[3], double torque[3])
{
    memset(force, 0, 3 * sizeof *force);
    memset(torque, 0, 3 * sizeof *torque);
    for (int i = 0; i < rp_world_colliders(world); i++) {
        rp_collider_load load;
        rp_world_collider_load(world, i, &load);
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            force[a] += load.force[a];
            // about the origin
            torque[a] += load.torque[a] + load.pose.position[b] * load.force[c] -
                         load.pose.position[c] * load.force[b];
        }
    }
}

typedef struct motion {
    double speed[3], spin; // [m/s], [rad/s] about z
} motion;

static rp_result move(void *context, double t, rp_pose *out)
{
    const motion *m = context;
    for (int a = 0; a < 3; a++) {
        out->position[a] = m->speed[a] * t;
    }
    out->rotation[2] = sin(0.5 * m->spin * t);
    out->rotation[3] = cos(0.5 * m->spin * t);
    return RP_OK;
}

static void add_sphere(rp_world *world, const double center[3], double radius, rp_contact contact,
                       double friction, motion *m)
{
    rp_collider_def def = rp_default_collider_def();
    rp_shape *shape;
    CHECK_OK(rp_shape_sphere(center, radius, &shape));
    def.shape = shape;
    def.contact = contact;
    def.friction = friction;
    def.motion = (rp_pose_of_time){m != NULL ? move : NULL, m};
    CHECK_OK(rp_world_add_collider(world, &def));
    rp_shape_release(shape);
}

// Catches a collider that is given less or more than particles lose: over every frame the change of
// momentum is gravity's impulse less what colliders got, for sticky, slipping and separating ones
// that lie still, move and turn, in both precisions.
static void colliders_get_what_particles_lose(void)
{
    for (int precision = 0; precision < 2; precision++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_box_def box = rp_default_box_def();
        rp_plane_def floor = rp_default_plane_def();
        rp_world *world;
        def.dx = 0.05;
        def.fps = 50.0;
        def.precision = (rp_precision)precision;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_add_material(world, &sand, &box.material));
        for (int a = 0; a < 3; a++) {
            box.lower[a] = 0.0;
            box.upper[a] = 0.4;
            box.velocity[a] = a == 0 ? 2.0 : -1.0;
        }
        CHECK_OK(rp_world_add_box(world, &box, NULL));
        floor.contact = RP_SEPARATE;
        floor.friction = 0.4;
        CHECK_OK(rp_world_add_plane(world, &floor));
        motion paddle = {.speed = {-1.0, 0.0, 0.3}, .spin = 5.0};
        const double center[3] = {0.7, 0.2, 0.2}, low[3] = {0.2, -0.05, 0.2};
        CHECK_HELPER(add_sphere(world, center, 0.2, RP_SEPARATE, 0.3, &paddle));
        CHECK_HELPER(add_sphere(world, low, 0.15, RP_STICKY, 0.0, NULL));
        rp_totals before, after;
        rp_stats stats;
        rp_world_totals(world, &before);
        for (int frame = 0; frame < 15; frame++) {
            double force[3], torque[3];
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &after);
            rp_world_stats(world, &stats);
            CHECK_HELPER(sum_forces(world, force, torque));
            // rounding of velocities, once per node and particle in each of the frame's steps
            const double unit = precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
            const double allowed = 200.0 * unit * after.mass * 3.0 + stats.dropped_momentum;
            for (int a = 0; a < 3; a++) {
                const double impulse = (a == 1 ? -g : 0.0) * after.mass / def.fps;
                check_context("precision %d, frame %d, axis %d", precision, frame, a);
                CHECK_NEAR(after.momentum[a] - before.momentum[a], impulse - force[a] / def.fps,
                           allowed);
            }
            before = after;
        }
        CHECK(fabs(after.momentum[0]) > 0.0);
        rp_world_destroy(world);
    }
}

// The same for angular momentum, which a sphere that turns gives to what sticks to it.
static void colliders_get_the_torque_too(void)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def rubber = rp_default_elastic_def();
    rp_box_def box = rp_default_box_def();
    rp_world *world;
    def.dx = 0.05;
    def.fps = 100.0;
    def.precision = RP_DOUBLE;
    def.gravity[1] = 0.0;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &rubber, &box.material));
    for (int a = 0; a < 3; a++) {
        box.lower[a] = -0.2;
        box.upper[a] = 0.2;
    }
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    motion hub = {.spin = 4.0};
    const double center[3] = {0};
    CHECK_HELPER(add_sphere(world, center, 0.12, RP_STICKY, 0.0, &hub));
    rp_totals before, after;
    rp_world_totals(world, &before);
    for (int frame = 0; frame < 10; frame++) {
        double force[3], torque[3];
        CHECK_OK(rp_world_run_frame(world));
        rp_world_totals(world, &after);
        CHECK_HELPER(sum_forces(world, force, torque));
        check_context("frame %d", frame);
        const double change = after.angular[2] - before.angular[2];
        CHECK_NEAR(change, -torque[2] / def.fps, 1e-9 * fabs(after.angular[2]) + 1e-12);
        before = after;
    }
    CHECK(after.angular[2] > 0.0);
    rp_world_destroy(world);
}

// A layer at rest presses on its floor with its weight.
static void a_floor_carries_the_weight(void)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_plane_def floor = rp_default_plane_def();
    rp_world *world;
    rp_totals totals;
    rp_collider_load load;
    def.dx = 0.025;
    def.fps = 10.0;
    def.period[0] = 8;
    def.period[2] = 4;
    sand.young = 1e6;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &sand, &box.material));
    box.upper[0] = 0.2;
    box.upper[1] = 0.2;
    box.upper[2] = 0.1;
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    CHECK_OK(rp_world_add_plane(world, &floor));
    for (int frame = 0; frame < 20; frame++) {
        CHECK_OK(rp_world_run_frame(world));
    }
    rp_world_totals(world, &totals);
    rp_world_collider_load(world, 0, &load);
    CHECK_NEAR(load.force[1], -g * totals.mass, 0.01 * g * totals.mass);
    CHECK_NEAR(load.force[0], 0.0, 0.01 * g * totals.mass);
    rp_world_destroy(world);
}

typedef struct incline {
    double along[2], up[2], slope, rise;
} incline;

// Weight comes on slowly where asked for: a block that is dropped bounces, and slides while it is
// in the air.
static rp_result tilted_gravity(void *context, double t, double out[3])
{
    const incline *i = context;
    const double now = g * (t < i->rise ? 0.5 - 0.5 * cos(180.0 * DEGREE * t / i->rise) : 1.0);
    for (int a = 0; a < 2; a++) {
        out[a] = now * (sin(i->slope) * i->along[a] - cos(i->slope) * i->up[a]);
    }
    out[2] = 0.0;
    return RP_OK;
}

// V-G6c: an elastic block of 0.1 x 0.05 m on an incline. The floor lies along the grid or not.
static double slide(double slope, double friction, double turn, double seconds, double rise)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def block = rp_default_elastic_def();
    rp_points_def points = rp_default_points_def();
    rp_plane_def floor = rp_default_plane_def();
    rp_world *world;
    rp_totals before, after;
    incline ramp = {{cos(turn), sin(turn)}, {-sin(turn), cos(turn)}, slope, rise};
    const double *along = ramp.along, *up = ramp.up;
    enum { NX = 16, NY = 8 };
    double x[NX * NY][3];
    for (int i = 0; i < NX * NY; i++) {
        const double s = 0.1 * (i % NX + 0.5) / NX, h = 0.05 * (i / NX + 0.5) / NY;
        for (int a = 0; a < 2; a++) {
            x[i][a] = s * along[a] + h * up[a];
        }
        x[i][2] = 0.0;
    }
    def.dimension = 2;
    def.precision = RP_DOUBLE;
    def.dx = 0.0125;
    def.fps = 10.0;
    def.gravity_of_time = (rp_vector_of_time){tilted_gravity, &ramp};
    floor.normal[0] = up[0];
    floor.normal[1] = up[1];
    block.density = 1000.0;
    block.young = 1e6;
    floor.contact = RP_SEPARATE;
    floor.friction = friction;
    points.count = NX * NY;
    points.position = &x[0][0];
    points.volume = 0.1 * 0.05 / (NX * NY);
    rp_result result = rp_world_create(&def, &world);
    result = result == RP_OK ? rp_world_add_material(world, &block, &points.material) : result;
    result = result == RP_OK ? rp_world_add_points(world, &points, NULL) : result;
    result = result == RP_OK ? rp_world_add_plane(world, &floor) : result;
    rp_world_totals(world, &before);
    for (int frame = 0; frame < (int)(10.0 * seconds) && result == RP_OK; frame++) {
        result = rp_world_run_frame(world);
    }
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no slide: %s", rp_last_error());
    }
    rp_world_totals(world, &after);
    rp_world_destroy(world);
    return (after.center[0] - before.center[0]) * along[0] +
           (after.center[1] - before.center[1]) * along[1];
}

static void a_block_slides_as_coulomb_says(void)
{
    const double slope = 24.0 * DEGREE, friction = tan(15.0 * DEGREE), t = 5.0;
    const double want = 0.5 * g * (sin(slope) - friction * cos(slope)) * t * t;
    for (int i = 0; i < 2; i++) {
        check_context("floor turned by %d degrees", 17 * i);
        CHECK_NEAR(slide(slope, friction, -17.0 * i * DEGREE, t, 0.0), want, 1e-3 * want);
    }
}

static void a_block_below_the_angle_stays(void)
{
    for (int i = 0; i < 2; i++) {
        check_context("floor turned by %d degrees", 17 * i);
        CHECK_NEAR(slide(14.0 * DEGREE, tan(15.0 * DEGREE), -17.0 * i * DEGREE, 5.0, 1.0), 0.0,
                   0.1 * 0.0125);
    }
}

// A block on a floor that moves is carried along: first it slides at mu g, then it rides.
static void a_moving_floor_carries_a_block(void)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def block = rp_default_elastic_def();
    rp_box_def box = rp_default_box_def();
    rp_collider_def floor = rp_default_collider_def();
    rp_world *world;
    rp_shape *shape;
    rp_totals totals;
    rp_stats stats;
    const double origin[3] = {0}, up[3] = {0.0, 1.0, 0.0}, friction = 0.3, speed = 0.5;
    motion belt = {.speed = {speed, 0.0, 0.0}};
    def.dimension = 2;
    def.precision = RP_DOUBLE;
    def.dx = 0.0125;
    def.fps = 100.0;
    block.density = 1000.0;
    block.young = 1e6;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &block, &box.material));
    box.upper[0] = 0.1;
    box.upper[1] = 0.05;
    box.jitter = 0.0;
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    CHECK_OK(rp_shape_half_space(origin, up, &shape));
    floor.shape = shape;
    floor.contact = RP_SEPARATE;
    floor.friction = friction;
    floor.motion = (rp_pose_of_time){move, &belt};
    CHECK_OK(rp_world_add_collider(world, &floor));
    rp_shape_release(shape);
    for (int frame = 0; frame < 60; frame++) {
        CHECK_OK(rp_world_run_frame(world));
        rp_world_totals(world, &totals);
        rp_world_stats(world, &stats);
        // the weight comes on with a bounce, so that friction is right on average only
        const double want = fmin(speed, friction * g * stats.time);
        check_context("t = %g s", stats.time);
        CHECK_NEAR(totals.momentum[0] / totals.mass, want, 0.08 * speed);
    }
    CHECK_NEAR(totals.momentum[0] / totals.mass, speed, 1e-3 * speed);
    rp_world_destroy(world);
}

// A collider that hangs on another goes where both take it.
static void a_parent_takes_its_child_along(void)
{
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    rp_shape *shape;
    const double center[3] = {1.0, 0.0, 0.0};
    motion arm = {.speed = {0.5, 0.0, 0.0}, .spin = 2.0}, hand = {.speed = {0.0, 1.0, 0.0}};
    rp_collider_def collider = rp_default_collider_def();
    def.dx = 0.1;
    def.fps = 10.0;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_shape_sphere(center, 0.2, &shape));
    collider.shape = shape;
    collider.motion = (rp_pose_of_time){move, &arm};
    collider.name = "arm";
    CHECK_OK(rp_world_add_collider(world, &collider));
    collider.motion = (rp_pose_of_time){move, &hand};
    collider.parent = 0;
    collider.name = "hand";
    CHECK_OK(rp_world_add_collider(world, &collider));
    collider.motion.call = NULL;
    collider.parent = 1;
    CHECK_OK(rp_world_add_collider(world, &collider));
    collider.parent = 3;
    CHECK_ERROR(rp_world_add_collider(world, &collider), RP_ERR_ARGUMENT, "collider.parent");
    rp_shape_release(shape);
    for (int frame = 0; frame < 5; frame++) {
        CHECK_OK(rp_world_run_frame(world));
    }
    const double t = 0.5, angle = 2.0 * t;
    for (int i = 1; i < 3; i++) {
        rp_collider_load load;
        rp_world_collider_load(world, i, &load);
        CHECK_NEAR(load.pose.position[0], 0.5 * t - sin(angle) * t, 1e-12);
        CHECK_NEAR(load.pose.position[1], cos(angle) * t, 1e-12);
        CHECK_NEAR(load.pose.rotation[2], sin(0.5 * angle), 1e-12);
        CHECK_NEAR(load.pose.rotation[3], cos(0.5 * angle), 1e-12);
        CHECK(strcmp(load.name, "hand") == 0);
    }
    rp_world_destroy(world);
}

TEST_MAIN(TEST(colliders_get_what_particles_lose), TEST(colliders_get_the_torque_too),
          TEST(a_floor_carries_the_weight), TEST(a_block_slides_as_coulomb_says),
          TEST(a_block_below_the_angle_stays), TEST(a_moving_floor_carries_a_block),
          TEST(a_parent_takes_its_child_along))

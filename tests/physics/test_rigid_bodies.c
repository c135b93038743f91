// Rigid bodies among themselves and on colliders: they slide, roll, bounce and stand as mechanics
// says, and gain nothing by it.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

static const double g = 9.81;

static rp_world *make_world(const double gravity[3], double friction)
{
    rp_world_def def = rp_default_world_def();
    rp_plane_def floor = rp_default_plane_def();
    rp_world *world;
    def.dx = 0.05;
    def.fps = 50.0;
    def.threads = 1;
    memcpy(def.gravity, gravity, sizeof def.gravity);
    if (rp_world_create(&def, &world) != RP_OK) {
        return NULL;
    }
    floor.contact = RP_SEPARATE;
    floor.friction = friction;
    return friction < 0.0 || rp_world_add_plane(world, &floor) == RP_OK ? world : NULL;
}

static const double down[3] = {0.0, -9.81, 0.0}, nowhere[3] = {0.0, 0.0, 0.0};

static void add_box(rp_world *world, const double lower[3], const double upper[3],
                    rp_rigid_def *def)
{
    rp_shape *shape;
    CHECK_OK(rp_shape_box(lower, upper, &shape));
    def->shape = shape;
    CHECK_OK(rp_world_add_rigid(world, def, NULL));
    rp_shape_release(shape);
}

static void run(rp_world *world, int frames)
{
    for (int frame = 0; frame < frames; frame++) {
        CHECK_OK(rp_world_run_frame(world));
    }
}

// At 0, 22.5 and 45 degrees against the axes. A pyramid instead of a cone slides 1.41 times as far.
static void a_block_slides_alike_in_all_directions(void)
{
    double way[3];
    for (int i = 0; i < 3; i++) {
        rp_world *world = make_world(down, 0.3);
        rp_rigid_def def = rp_default_rigid_def();
        rp_rigid_state s;
        const double lower[3] = {-0.1, 0.0, -0.1}, upper[3] = {0.1, 0.1, 0.1}, v = 1.5;
        def.density = 2000.0;
        def.friction = 0.3;
        def.velocity[0] = v * cos(22.5 * i * DEGREE);
        def.velocity[2] = v * sin(22.5 * i * DEGREE);
        CHECK_HELPER(add_box(world, lower, upper, &def));
        CHECK_HELPER(run(world, 30));
        rp_world_rigid(world, 0, &s);
        way[i] = hypot(s.pose.position[0], s.pose.position[2]);
        check_context("direction %d", i);
        CHECK_NEAR(s.velocity[0], 0.0, 1e-6);
        CHECK_NEAR(atan2(s.pose.position[2], s.pose.position[0]), 22.5 * i * DEGREE, 1e-3);
        CHECK_NEAR(s.pose.position[1], 0.05, 1e-4);
        // less what the last velocity of each step leaves out: half a step of 2 ms
        CHECK_NEAR(way[i], 0.5 * v * v / (0.3 * g) - 0.001 * v, 0.002 * way[i]);
        rp_world_destroy(world);
    }
    CHECK_NEAR(way[1], way[0], 0.005 * way[0]);
    CHECK_NEAR(way[2], way[0], 0.005 * way[0]);
}

// 30 degrees and 0.3: 2.3563 m/s^2. Below the angle of friction it stays.
static void a_block_on_an_incline_does_as_coulomb_says(void)
{
    for (int i = 0; i < 4; i++) {
        const double slope = (i < 3 ? 30.0 : 16.0) * DEGREE, turn = 30.0 * i * DEGREE;
        const double gravity[3] = {g * sin(slope) * cos(turn), -g * cos(slope),
                                   g * sin(slope) * sin(turn)};
        rp_world *world = make_world(gravity, 0.3);
        rp_rigid_def def = rp_default_rigid_def();
        rp_rigid_state s;
        const double lower[3] = {-0.1, 0.0, -0.07}, upper[3] = {0.1, 0.08, 0.07};
        def.density = 2000.0;
        def.friction = 0.3;
        CHECK_HELPER(add_box(world, lower, upper, &def));
        CHECK_HELPER(run(world, 25));
        rp_world_rigid(world, 0, &s);
        const double speed = hypot(s.velocity[0], s.velocity[2]);
        check_context("round %d", i);
        if (i < 3) {
            CHECK_NEAR(speed / 0.5, 2.3563, 0.005 * 2.3563);
        } else {
            CHECK_NEAR(speed, 0.0, 1e-6);
        }
        rp_world_destroy(world);
    }
}

// 5/7 of g sin(slope): a ball that rolls without sliding, on points of its surface. A polyhedron
// would stumble.
static void a_ball_rolls_as_if_it_was_round(void)
{
    const double slope = 15.0 * DEGREE, gravity[3] = {g * sin(slope), -g * cos(slope), 0.0};
    rp_world *world = make_world(gravity, 0.5);
    rp_rigid_def def = rp_default_rigid_def();
    rp_rigid_state s;
    rp_shape *ball;
    const double at[3] = {0.0, 0.1, 0.0};
    CHECK_OK(rp_shape_sphere(at, 0.1, &ball));
    def.shape = ball;
    def.density = 1000.0;
    CHECK_OK(rp_world_add_rigid(world, &def, NULL));
    rp_shape_release(ball);
    CHECK_HELPER(run(world, 50));
    rp_world_rigid(world, 0, &s);
    CHECK_NEAR(s.velocity[0], 5.0 / 7 * g * sin(slope), 0.005 * 5.0 / 7 * g * sin(slope));
    CHECK_NEAR(s.spin[2], -s.velocity[0] / 0.1, 0.01 * s.velocity[0] / 0.1);
    CHECK_NEAR(s.pose.position[1], 0.1, 1e-4);
    rp_world_destroy(world);
}

// The height that a ball comes back to is e^2 of that from which it fell, and never more.
static void a_ball_bounces_by_its_restitution(void)
{
    for (int i = 0; i < 4; i++) {
        const double e = i / 3.0;
        rp_world *world = make_world(down, 0.5);
        rp_rigid_def def = rp_default_rigid_def();
        rp_rigid_state s;
        rp_shape *ball;
        const double at[3] = {0.0, 1.0, 0.0};
        CHECK_OK(rp_shape_sphere(at, 0.1, &ball));
        def.shape = ball;
        def.density = 1000.0;
        def.restitution = e;
        CHECK_OK(rp_world_add_rigid(world, &def, NULL));
        rp_shape_release(ball);
        double peak = 0.0;
        for (int frame = 0; frame < 50; frame++) {
            CHECK_HELPER(run(world, 1));
            rp_world_rigid(world, 0, &s);
            peak = frame > 24 ? fmax(peak, s.pose.position[1]) : peak;
        }
        check_context("restitution %g", e);
        CHECK_NEAR(peak - 0.1, e * e * 0.9, 0.003);
        CHECK(peak - 0.1 < e * e * 0.9 * 1.001 + 1e-4);
        rp_world_destroy(world);
    }
}

// Two boxes, a frame with a hole and a wedge of triangles fly at each other in empty space:
// momentum and angular momentum stay, and energy never grows.
static void bodies_that_hit_each_other_keep_their_momentum(void)
{
    rp_world *world = make_world(nowhere, -1.0);
    rp_rigid_def def = rp_default_rigid_def();
    const double a[2][3] = {{-0.5, -0.1, -0.1}, {-0.3, 0.1, 0.1}};
    const double b[2][3] = {{0.3, -0.05, -0.2}, {0.5, 0.25, 0.1}};
    def.density = 1000.0;
    def.restitution = 0.6;
    def.velocity[0] = 2.0;
    def.spin[2] = 5.0;
    CHECK_HELPER(add_box(world, a[0], a[1], &def));
    def.density = 300.0;
    def.velocity[0] = -2.0;
    def.spin[0] = 3.0;
    CHECK_HELPER(add_box(world, b[0], b[1], &def));
    rp_shape *outer, *inner, *frame;
    const double c[2][3] = {{-0.2, 0.5, -0.2}, {0.2, 0.9, 0.2}};
    const double d[2][3] = {{-0.1, 0.6, -0.3}, {0.1, 0.8, 0.3}};
    CHECK_OK(rp_shape_box(c[0], c[1], &outer));
    CHECK_OK(rp_shape_box(d[0], d[1], &inner));
    CHECK_OK(rp_shape_subtract(outer, &inner, 1, &frame));
    def.shape = frame;
    def.velocity[0] = 0.0;
    def.velocity[1] = -2.5;
    CHECK_OK(rp_world_add_rigid(world, &def, NULL));
    rp_shape_release(outer);
    rp_shape_release(inner);
    rp_shape_release(frame);
    const double vertex[4][3] = {
        {-0.2, -0.9, -0.2}, {0.2, -0.9, -0.2}, {0.0, -0.5, -0.2}, {0.0, -0.7, 0.2}};
    const int32_t triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    rp_mesh_def mesh = rp_default_mesh_def();
    rp_shape *wedge;
    mesh.vertices = &vertex[0][0];
    mesh.triangles = &triangle[0][0];
    mesh.vertex_count = mesh.triangle_count = 4;
    mesh.resolution = 0.02;
    CHECK_OK(rp_shape_mesh(&mesh, &wedge));
    def.shape = wedge;
    def.velocity[1] = 3.0;
    CHECK_OK(rp_world_add_rigid(world, &def, NULL));
    rp_shape_release(wedge);

    double start[3] = {0}, energy = INFINITY, first = 0.0, size = 0.0;
    int hits = 0;
    for (int step = 0; step < 300; step++) {
        double sum[3] = {0}, now = 0.0;
        for (int i = 0; i < 4; i++) {
            rp_rigid_state s;
            rp_world_rigid(world, i, &s);
            now += s.kinetic;
            for (int k = 0; k < 3; k++) {
                sum[k] += s.mass * s.velocity[k];
                size += step == 0 ? fabs(s.mass * s.velocity[k]) : 0.0;
            }
        }
        if (step == 0) {
            memcpy(start, sum, sizeof start);
            first = now;
        }
        check_context("step %d", step);
        hits += now < 0.999 * energy && step > 0;
        CHECK(now < energy + 1e-9 * first);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(sum[k], start[k], 1e-12 * size);
        }
        energy = now;
        CHECK_OK(rp_world_step(world));
    }
    CHECK(hits >= 3);
    rp_world_destroy(world);
}

// Catches a body beyond the 256th that nobody sees: of 324 discs every second one flies into its
// neighbour, and the last one into sand.
static void the_last_of_many_bodies_is_like_the_first(void)
{
    enum { ACROSS = 18, DISCS = ACROSS * ACROSS };
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    def.dimension = 2;
    def.dx = 0.05;
    def.fps = 25.0;
    def.precision = RP_DOUBLE;
    def.threads = 2;
    memset(def.gravity, 0, sizeof def.gravity);
    CHECK_OK(rp_world_create(&def, &world));
    rp_rigid_def disc = rp_default_rigid_def();
    disc.density = 1000.0;
    disc.restitution = 0.5;
    for (int i = 0; i < DISCS; i++) {
        const double center[3] = {0.3 * (i % ACROSS), 0.3 * (i / ACROSS), 0.0};
        rp_shape *shape;
        CHECK_OK(rp_shape_sphere(center, 0.1, &shape));
        disc.shape = shape;
        disc.velocity[0] = i % 2 == 0 || i == DISCS - 1 ? 1.0 : 0.0;
        CHECK_OK(rp_world_add_rigid(world, &disc, NULL));
        rp_shape_release(shape);
    }
    rp_box_def sand = rp_default_box_def();
    rp_material_def grains = rp_default_material_def(RP_SAND);
    CHECK_OK(rp_world_add_material(world, &grains, &sand.material));
    sand.lower[0] = 0.3 * (ACROSS - 1) + 0.15;
    sand.upper[0] = sand.lower[0] + 0.2;
    sand.lower[1] = sand.lower[0] - 0.15;
    sand.upper[1] = sand.lower[1] + 0.2;
    CHECK_OK(rp_world_add_box(world, &sand, NULL));
    double before = 0.0, after = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        double *sum = pass == 0 ? &before : &after;
        rp_totals totals;
        rp_world_totals(world, &totals);
        *sum = totals.momentum[0];
        for (int i = 0; i < DISCS; i++) {
            rp_rigid_state s;
            rp_world_rigid(world, i, &s);
            *sum += s.mass * s.velocity[0];
            check_context("disc %d", i);
            if (pass == 1 && i < DISCS - 2) { // it has hit, or was hit
                CHECK_NEAR(s.velocity[0], i % 2 == 0 ? 0.25 : 0.75, 1e-6);
            } else if (pass == 1 && i == DISCS - 1) {
                CHECK(s.velocity[0] < 0.95 && totals.momentum[0] > 0.0);
            }
        }
        if (pass == 0) {
            CHECK_HELPER(run(world, 3));
        }
    }
    CHECK_NEAR(after, before, 1e-12 * before);
    rp_world_destroy(world);
}

// A disc falls on the floor where there is no sand, by each method that has bodies.
static void bodies_meet_where_there_is_no_sand(void)
{
    static const char *const methods[3] = {"explicit", "nonsmooth", "sph"};
    for (int i = 0; i < 3; i++) {
        rp_world_def def = rp_default_world_def();
        rp_plane_def floor = rp_default_plane_def();
        rp_world *world;
        def.method = methods[i];
        def.dimension = 2;
        def.dx = 0.05;
        def.fps = 25.0;
        def.threads = 1;
        CHECK_OK(rp_world_create(&def, &world));
        floor.contact = RP_SEPARATE;
        CHECK_OK(rp_world_add_plane(world, &floor));
        rp_rigid_def disc = rp_default_rigid_def();
        const double center[3] = {0.5, 0.2, 0.0};
        CHECK_OK(rp_shape_sphere(center, 0.1, (rp_shape **)&disc.shape));
        disc.density = 1000.0;
        CHECK_OK(rp_world_add_rigid(world, &disc, NULL));
        rp_shape_release((rp_shape *)disc.shape);
        CHECK_HELPER(run(world, 15));
        rp_rigid_state s;
        rp_world_rigid(world, 0, &s);
        check_context("method %s", methods[i]);
        CHECK_NEAR(s.pose.position[1], 0.1, 1e-4);
        CHECK_NEAR(s.force[1], s.mass * g, 1e-3 * s.mass * g);
        rp_world_destroy(world);
    }
}

// How a tower is built: each brick is turned against the one below, or falls on it.
typedef struct tower {
    double turn;   // [rad]
    double height; // that each falls [m]
    double restitution, friction;
} tower;

static void make_stack(int bricks, const tower *t, rp_world **out)
{
    *out = make_world(down, t->friction);
    for (int i = 0; i < bricks; i++) {
        rp_rigid_def def = rp_default_rigid_def();
        const double y = (0.1 + t->height) * i, half = 0.5 * t->turn * i;
        const double lower[3] = {-0.1, y, -0.05}, upper[3] = {0.1, y + 0.1, 0.05};
        const double about[4] = {0.0, sin(half), 0.0, cos(half)};
        rp_shape *box, *turned;
        CHECK_OK(rp_shape_box(lower, upper, &box));
        CHECK_OK(rp_shape_move(box, nowhere, about, 1.0, &turned));
        def.shape = turned;
        def.density = 2000.0;
        def.friction = t->friction;
        def.restitution = t->restitution;
        CHECK_OK(rp_world_add_rigid(*out, &def, NULL));
        rp_shape_release(turned);
        rp_shape_release(box);
    }
}

// Bricks whose edges lie on each other, where it is anybody's guess which face an edge is on, and
// bricks that are turned, whose edges cross; the weight of all above is on each of them. Catches
// points of contact that come and go: what they did is forgotten then, and the stack trembles by
// millimetres a second. Ten of them for 5 s with `make check-all`.
static void bricks_stand_on_each_other(void)
{
    static const tower towers[5] = {{0.0, 0.0, 0.0, 0.5},
                                    {0.1, 0.0, 0.0, 0.5},
                                    {0.3, 0.0, 0.5, 0.5},
                                    {0.05, 0.002, 0.3, 0.5},
                                    {0.1, 0.0, 0.0, 0.1}};
    const bool all = check_long();
    const int bricks = all ? 10 : 4;
    for (int k = 0; k < 5; k++) {
        const double fallen = towers[k].height * bricks;
        rp_world *world;
        CHECK_HELPER(make_stack(bricks, &towers[k], &world));
        CHECK_HELPER(run(world, all ? 250 : 40));
        for (int i = 0; i < bricks; i++) {
            rp_rigid_state s;
            rp_world_rigid(world, i, &s);
            check_context("tower %d, brick %d", k, i);
            for (int a = 0; a < 3; a++) {
                CHECK_NEAR(s.velocity[a], 0.0, 1e-5);
                CHECK_NEAR(s.pose.position[a], a == 1 ? 0.1 * i + 0.05 : 0.0,
                           2e-5 + (a == 1 ? 0.0 : 0.1 * fallen));
            }
            CHECK_NEAR(s.force[1], s.mass * g, 1e-3 * s.mass * g);
        }
        rp_collider_load floor;
        rp_world_collider_load(world, 0, &floor);
        CHECK_NEAR(floor.force[1], -bricks * 4.0 * g, 1e-3 * bricks * 4.0 * g);
        rp_world_destroy(world);
    }
}

// A pyramid of triangles falls onto a frame, a box less a box, and both come to rest on the floor:
// upright, and turned about the vertical axis.
static void a_mesh_stands_on_a_frame(void)
{
    for (int i = 0; i < 2; i++) {
        rp_world *world = make_world(down, 0.5);
        rp_rigid_def def = rp_default_rigid_def();
        rp_shape *outer, *inner, *frame, *mesh, *turned;
        const double box[2][3] = {{-0.2, 0.0, -0.2}, {0.2, 0.4, 0.2}};
        const double hole[2][3] = {{-0.1, 0.1, -0.3}, {0.1, 0.3, 0.3}};
        CHECK_OK(rp_shape_box(box[0], box[1], &outer));
        CHECK_OK(rp_shape_box(hole[0], hole[1], &inner));
        CHECK_OK(rp_shape_subtract(outer, &inner, 1, &frame));
        def.shape = frame;
        def.density = 800.0;
        CHECK_OK(rp_world_add_rigid(world, &def, NULL));
        const double vertex[4][3] = {
            {-0.15, 0.41, -0.12}, {0.15, 0.41, -0.12}, {0.0, 0.41, 0.15}, {0.0, 0.66, 0.0}};
        const int32_t triangle[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
        rp_mesh_def faces = rp_default_mesh_def();
        faces.vertices = &vertex[0][0];
        faces.triangles = &triangle[0][0];
        faces.vertex_count = faces.triangle_count = 4;
        faces.resolution = 0.02;
        CHECK_OK(rp_shape_mesh(&faces, &mesh));
        const double about[4] = {0.0, sin(0.35 * i), 0.0, cos(0.35 * i)};
        CHECK_OK(rp_shape_move(mesh, nowhere, about, 1.0, &turned));
        def.shape = turned;
        CHECK_OK(rp_world_add_rigid(world, &def, NULL));
        rp_shape_release(outer);
        rp_shape_release(inner);
        rp_shape_release(frame);
        rp_shape_release(mesh);
        rp_shape_release(turned);
        CHECK_OK(rp_world_prepare(world));
        CHECK_HELPER(run(world, 50));
        double weight = 0.0;
        for (int k = 0; k < 2; k++) {
            rp_rigid_state s;
            rp_world_rigid(world, k, &s);
            check_context("round %d, body %d", i, k);
            for (int a = 0; a < 3; a++) {
                CHECK_NEAR(s.velocity[a], 0.0, 1e-4);
            }
            CHECK_NEAR(s.pose.position[1], k == 0 ? 0.2 : 0.4 + 0.25 / 4.0, 1e-3);
            weight += s.mass * g;
        }
        rp_collider_load floor;
        rp_world_collider_load(world, 0, &floor);
        CHECK_NEAR(floor.force[1], -weight, 1e-3 * weight);
        rp_world_destroy(world);
    }
}

// What bumps did is state: a stack that is saved while it settles goes on with the same bits.
static void a_stack_goes_on_where_it_was_saved(void)
{
    static const tower plain = {0.0, 0.0, 0.0, 0.5};
    rp_world *world, *other;
    void *middle, *one, *two;
    size_t sizes[3];
    CHECK_HELPER(make_stack(3, &plain, &world));
    for (int step = 0; step < 27; step++) {
        CHECK_OK(rp_world_step(world));
    }
    CHECK_OK(rp_world_save(world, &middle, &sizes[0]));
    CHECK_HELPER(make_stack(3, &plain, &other));
    CHECK_OK(rp_world_restore(other, middle, sizes[0]));
    for (int step = 0; step < 20; step++) {
        CHECK_OK(rp_world_step(world));
        CHECK_OK(rp_world_step(other));
    }
    CHECK_OK(rp_world_save(world, &one, &sizes[1]));
    CHECK_OK(rp_world_save(other, &two, &sizes[2]));
    CHECK(sizes[1] == sizes[2] && memcmp(one, two, sizes[1]) == 0);
    rp_state_free(middle);
    rp_state_free(one);
    rp_state_free(two);
    rp_world_destroy(world);
    rp_world_destroy(other);
}

// Plates down to a five-thousandth of their width, which fall flat or turning, and discs, which
// have no triangles of their own, come to rest on the floor.
static void thin_bodies_lie_on_the_floor(void)
{
    static const double thick[5] = {0.004, 0.002, 0.001, 0.0002, 0.02};
    for (int i = 0; i < 10; i++) {
        const double h = thick[i % 5], base[3] = {0.0, 0.15, 0.0}, up[3] = {0.0, 1.0, 0.0};
        const double lower[3] = {-0.5, 0.15, -0.3}, upper[3] = {0.5, 0.15 + h, 0.3};
        rp_world *world = make_world(down, 0.5);
        rp_rigid_def def = rp_default_rigid_def();
        rp_rigid_state s;
        rp_shape *shape;
        CHECK_OK(i % 5 < 4 ? rp_shape_box(lower, upper, &shape)
                           : rp_shape_cylinder(base, up, 0.5, h, &shape));
        def.shape = shape;
        def.density = 7800.0;
        def.spin[2] = i < 5 ? 0.0 : 0.5;
        CHECK_OK(rp_world_add_rigid(world, &def, NULL));
        rp_shape_release(shape);
        CHECK_OK(rp_world_prepare(world));
        CHECK_HELPER(run(world, 40));
        rp_world_rigid(world, 0, &s);
        check_context("%g m thick, round %d", h, i);
        CHECK_NEAR(s.pose.position[1], 0.5 * h, 2e-4);
        CHECK_NEAR(s.velocity[1], 0.0, 1e-3);
        rp_world_destroy(world);
    }
}

static void what_is_too_thin_to_touch_anything_is_refused(void)
{
    rp_world_def flat = rp_default_world_def();
    rp_rigid_def def = rp_default_rigid_def();
    rp_world *world;
    flat.dimension = 2;
    flat.dx = 0.05;
    CHECK_OK(rp_world_create(&flat, &world));
    const double lower[3] = {-0.5, 0.15, -1.0}, upper[3] = {0.5, 0.15 + 1e-6, 1.0};
    def.mass = 10.0;
    def.name = "foil";
    CHECK_HELPER(add_box(world, lower, upper, &def));
    CHECK_ERROR(rp_world_prepare(world), RP_ERR_ARGUMENT, "rigid.shape: too thin");
    CHECK_ERROR(rp_world_step(world), RP_ERR_ARGUMENT, "'foil'");
    rp_world_destroy(world);
}

static void bodies_that_start_in_each_other_are_refused(void)
{
    for (int i = 0; i < 3; i++) {
        rp_world *world = make_world(down, 0.5);
        rp_rigid_def def = rp_default_rigid_def();
        double lower[3] = {-0.1, 0.5, -0.1}, upper[3] = {0.1, 0.7, 0.1};
        def.density = 1000.0;
        def.name = "one";
        CHECK_HELPER(add_box(world, lower, upper, &def));
        const double shift = i == 0 ? 0.15 : i == 1 ? -0.55 : 0.2;
        for (int a = 0; a < 3; a++) {
            lower[a] += a == 1 ? shift : 0.0;
            upper[a] += a == 1 ? shift : 0.0;
        }
        def.name = "two";
        CHECK_HELPER(add_box(world, lower, upper, &def));
        check_context("round %d", i);
        if (i == 0) {
            CHECK_ERROR(rp_world_prepare(world), RP_ERR_ARGUMENT,
                        "rigid 'one' and rigid 'two' lie in each other at the start");
        } else if (i == 1) {
            CHECK_ERROR(rp_world_prepare(world), RP_ERR_ARGUMENT,
                        "rigid 'two' and collider '0' lie in each other at the start");
        } else {
            CHECK_OK(rp_world_prepare(world)); // one stands on the other
        }
        rp_world_destroy(world);
    }
}

// ---- joints ----

// A rod on a hinge swings as a physical pendulum does: through the bottom with the speed of its
// fall, and its end stays where it is.
static void a_rod_on_a_hinge_swings(void)
{
    rp_world *world = make_world(down, -1.0);
    rp_rigid_def def = rp_default_rigid_def();
    rp_joint_def joint = rp_default_joint_def();
    const double lower[3] = {0.0, -0.05, -0.05}, upper[3] = {0.5, 0.05, 0.05};
    def.density = 1000.0;
    CHECK_HELPER(add_box(world, lower, upper, &def));
    joint.kind = RP_JOINT_HINGE;
    joint.a = 0;
    CHECK_OK(rp_world_add_joint(world, &joint));
    rp_rigid_state s;
    rp_world_rigid(world, 0, &s);
    const double about = s.inertia[2][2] + s.mass * 0.0625;
    const double fastest = sqrt(2.0 * s.mass * g * 0.25 / about);
    double most = 0.0, off = 0.0;
    for (int step = 0; step < 1000; step++) {
        CHECK_OK(rp_world_step(world));
        rp_world_rigid(world, 0, &s);
        most = fmax(most, fabs(s.spin[2]));
        const double *q = s.pose.rotation;
        // the end of the rod is half its length before its middle
        off = fmax(off, fabs(s.pose.position[0] - 0.25 * (1.0 - 2.0 * q[2] * q[2])));
        off = fmax(off, fabs(s.pose.position[1] - 0.25 * 2.0 * q[2] * q[3]));
    }
    CHECK_NEAR(most, fastest, 0.02 * fastest);
    // a step leaves the circle by (turn)^2 / 2 of the radius, and most of what is off is mended
    CHECK(off < 1e-4);
    rp_world_destroy(world);
}

// A motor reaches its speed with no more than its torque; a slider stops at its end and carries;
// what is fixed hangs as one; and a collider that is moved takes a body along.
static void motors_ends_and_fixed_joints_hold(void)
{
    rp_world *world = make_world(down, -1.0);
    rp_rigid_def def = rp_default_rigid_def();
    rp_joint_def hinge = rp_default_joint_def(), slider = hinge, fixed = hinge;
    const double box[4][2][3] = {{{-0.2, 0.9, -0.2}, {0.2, 1.1, 0.2}},
                                 {{1.0, 0.9, -0.1}, {1.2, 1.1, 0.1}},
                                 {{2.0, 0.9, -0.1}, {2.4, 1.1, 0.1}},
                                 {{2.4, 0.9, -0.1}, {2.8, 1.1, 0.1}}};
    def.density = 500.0;
    for (int i = 0; i < 4; i++) {
        CHECK_HELPER(add_box(world, box[i][0], box[i][1], &def));
    }
    hinge.kind = RP_JOINT_HINGE;
    hinge.a = 0;
    hinge.at[1] = 1.0;
    hinge.driven = true;
    hinge.speed = 6.0;
    hinge.strength = 1.0;
    slider.kind = RP_JOINT_SLIDER;
    slider.a = 1;
    slider.at[0] = 1.1;
    slider.at[1] = 1.0;
    slider.axis[1] = 1.0;
    slider.axis[2] = 0.0;
    slider.low = -0.25;
    fixed.a = 2;
    fixed.at[0] = 2.0;
    CHECK_OK(rp_world_add_joint(world, &hinge));
    CHECK_OK(rp_world_add_joint(world, &slider));
    CHECK_OK(rp_world_add_joint(world, &fixed));
    fixed.a = 3;
    fixed.b = 2;
    fixed.at[0] = 2.4;
    CHECK_OK(rp_world_add_joint(world, &fixed));
    rp_rigid_state s;
    CHECK_OK(rp_world_prepare(world)); // the two that touch are joined
    CHECK_HELPER(run(world, 5));
    rp_world_rigid(world, 0, &s);
    CHECK_NEAR(s.spin[2], 1.0 / s.inertia[2][2] * 0.1, 1e-3);
    CHECK_HELPER(run(world, 95));
    rp_world_rigid(world, 0, &s);
    CHECK_NEAR(s.spin[2], 6.0, 1e-6);
    CHECK_NEAR(s.pose.position[1], 1.0, 1e-5);
    rp_world_rigid(world, 1, &s);
    CHECK_NEAR(s.pose.position[1], 0.75, 1e-4);
    CHECK_NEAR(s.velocity[1], 0.0, 1e-6);
    CHECK_NEAR(s.pose.position[0], 1.1, 1e-6);
    CHECK_NEAR(s.force[1], s.mass * g, 1e-3 * s.mass * g);
    rp_world_rigid(world, 3, &s);
    CHECK_NEAR(s.pose.position[1], 1.0, 1e-4);
    CHECK_NEAR(s.pose.position[0], 2.6, 1e-4);
    rp_world_destroy(world);
}

// A paddle that a motor drives through flying sand, over more than a full turn and to the end of
// its range, and that is fast enough to bound the step.
static void make_paddle(int threads, rp_world **out)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_rigid_def rigid = rp_default_rigid_def();
    rp_joint_def hinge = rp_default_joint_def();
    const double lower[3] = {0.0, -0.04, -0.06}, upper[3] = {0.4, 0.04, 0.06};
    def.dx = 0.04;
    def.fps = 1.0; // many steps a frame: a step is a whole part of what is left of it
    def.threads = threads;
    CHECK_OK(rp_world_create(&def, out));
    sand.young = 1e5;
    CHECK_OK(rp_world_add_material(*out, &sand, &box.material));
    for (int a = 0; a < 3; a++) {
        box.lower[a] = a == 0 ? 0.3 : -0.08;
        box.upper[a] = a == 0 ? 0.46 : a == 1 ? 0.3 : 0.08;
    }
    box.lower[1] = 0.1;
    box.velocity[0] = -3.0;
    CHECK_OK(rp_world_add_box(*out, &box, NULL));
    rigid.density = 1000.0;
    CHECK_HELPER(add_box(*out, lower, upper, &rigid));
    hinge.kind = RP_JOINT_HINGE;
    hinge.a = 0;
    hinge.low = -1.0;
    hinge.high = 7.5;
    hinge.driven = true;
    hinge.speed = 60.0;
    hinge.strength = 500.0;
    CHECK_OK(rp_world_add_joint(*out, &hinge));
}

static void step_and_save(rp_world *world, int steps, void **out, size_t *size)
{
    for (int step = 0; step < steps; step++) {
        CHECK_OK(rp_world_step(world));
    }
    CHECK_OK(rp_world_save(world, out, size));
}

// Saved in the middle of frames, before the paddle has made a turn, after it and at its end; in a
// new world and in the one that has gone on.
static void a_joint_goes_on_where_it_was_saved(void)
{
    enum { PARTS = 40, STEPS = 5 };
    static const int threads[3] = {1, 2, 5};
    void *first[PARTS + 1];
    size_t sizes[PARTS + 1];
    rp_world *world, *other;
    CHECK_HELPER(make_paddle(1, &world));
    double turned = 0.0, bounded = 0.0;
    for (int part = 0; part <= PARTS; part++) {
        for (int step = 0; step < (part > 0 ? STEPS : 0); step++) {
            rp_rigid_state s;
            rp_stats stats;
            CHECK_OK(rp_world_step(world));
            rp_world_rigid(world, 0, &s);
            rp_world_stats(world, &stats);
            turned += stats.dt * s.spin[2];
            bounded += strcmp(stats.limiter, "collider") == 0;
        }
        CHECK_OK(rp_world_save(world, &first[part], &sizes[part]));
    }
    CHECK(turned > 6.5);    // or it would not count its turns
    CHECK(bounded >= 20.0); // or the way of the paddle would not matter
    for (int i = 0; i < 3; i++) {
        CHECK_HELPER(make_paddle(threads[i], &other));
        for (int part = 0; part < PARTS; part++) {
            for (int fresh = 0; fresh < 2; fresh++) {
                void *again;
                size_t size;
                rp_world *which = fresh == 1 ? other : world;
                check_context("%d threads, part %d, %s", threads[i], part,
                              fresh == 1 ? "a new world" : "the same world");
                CHECK_OK(rp_world_restore(which, first[part], sizes[part]));
                CHECK_HELPER(step_and_save(which, STEPS, &again, &size));
                CHECK(size == sizes[part + 1] && memcmp(again, first[part + 1], size) == 0);
                rp_state_free(again);
            }
            rp_world_destroy(other);
            CHECK_HELPER(make_paddle(threads[i], &other));
        }
        rp_world_destroy(other);
    }
    for (int part = 0; part <= PARTS; part++) {
        rp_state_free(first[part]);
    }
    rp_world_destroy(world);
}

static void bad_joints_are_refused(void)
{
    rp_world *world = make_world(down, 0.5);
    rp_rigid_def def = rp_default_rigid_def();
    rp_joint_def joint = rp_default_joint_def();
    const double lower[3] = {0.0, 1.0, 0.0}, upper[3] = {0.1, 1.1, 0.1};
    def.density = 1000.0;
    CHECK_HELPER(add_box(world, lower, upper, &def));
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "joint.a: want a collider");
    joint.a = 2;
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "joint.a: want a collider");
    joint.a = 0; // the floor, and the world
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "want a rigid body");
    joint.a = joint.b = 1;
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "two that differ");
    joint.b = 0;
    joint.low = 0.1;
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "joint.range");
    joint.low = 0.0;
    joint.strength = 0.0;
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "joint.strength");
    joint.strength = 1.0;
    joint.kind = RP_JOINT_HINGE;
    joint.axis[2] = 0.0;
    CHECK_ERROR(rp_world_add_joint(world, &joint), RP_ERR_ARGUMENT, "joint.axis");
    rp_world_destroy(world);
}

TEST_MAIN(TEST(a_rod_on_a_hinge_swings), TEST(motors_ends_and_fixed_joints_hold),
          TEST(bad_joints_are_refused), TEST(a_block_slides_alike_in_all_directions),
          TEST(a_block_on_an_incline_does_as_coulomb_says), TEST(a_ball_rolls_as_if_it_was_round),
          TEST(a_ball_bounces_by_its_restitution),
          TEST(bodies_that_hit_each_other_keep_their_momentum), TEST(bricks_stand_on_each_other),
          TEST(a_mesh_stands_on_a_frame), TEST(a_stack_goes_on_where_it_was_saved),
          TEST(a_joint_goes_on_where_it_was_saved), TEST(thin_bodies_lie_on_the_floor),
          TEST(what_is_too_thin_to_touch_anything_is_refused),
          TEST(bodies_that_start_in_each_other_are_refused),
          TEST(the_last_of_many_bodies_is_like_the_first), TEST(bodies_meet_where_there_is_no_sand))

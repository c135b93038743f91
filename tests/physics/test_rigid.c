// Free rigid bodies in sand: momentum goes from one to the other and nowhere else, light bodies lie
// still, and bits depend neither on threads nor on breaks.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

static void add_rigid(rp_world *world, rp_shape *shape, const char *name, double density,
                      rp_rigid_def *def)
{
    def->shape = shape;
    def->name = name;
    def->density = density;
    CHECK_OK(rp_world_add_rigid(world, def, NULL));
    rp_shape_release(shape);
}

// A box with a hole, as a CSG shape: nothing about it is round.
static void make_frame(const double at[3], double size, rp_shape **out)
{
    rp_shape *outer, *inner;
    double lower[3], upper[3], low[3], high[3];
    for (int a = 0; a < 3; a++) {
        lower[a] = at[a] - (a == 0 ? 1.3 : 1.0) * size;
        upper[a] = at[a] + size;
        low[a] = at[a] - 0.4 * size - (a == 2 ? size : 0.0);
        high[a] = at[a] + 0.4 * size + (a == 2 ? size : 0.0);
    }
    CHECK_OK(rp_shape_box(lower, upper, &outer));
    CHECK_OK(rp_shape_box(low, high, &inner));
    CHECK_OK(rp_shape_subtract(outer, &inner, 1, out));
    rp_shape_release(outer);
    rp_shape_release(inner);
}

// A tetrahedron of triangles.
static void make_wedge(const double at[3], double size, rp_shape **out)
{
    double vertex[4][3];
    static const double corner[4][3] = {{-1, -1, -1}, {1, -1, -1}, {0, 1, -1}, {0, 0, 1}};
    const int32_t triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    rp_mesh_def def = rp_default_mesh_def();
    for (int i = 0; i < 4; i++) {
        for (int a = 0; a < 3; a++) {
            vertex[i][a] = at[a] + size * corner[i][a];
        }
    }
    def.vertices = &vertex[0][0];
    def.triangles = &triangle[0][0];
    def.vertex_count = def.triangle_count = 4;
    def.resolution = 0.2 * size;
    CHECK_OK(rp_shape_mesh(&def, out));
}

// Sand that flies, with three bodies in it and at it, of which two are close to each other; nothing
// else.
static void make_flight(int dim, rp_precision precision, int threads, rp_contact contact,
                        rp_world **out)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_rigid_def rigid = rp_default_rigid_def();
    rp_shape *shape;
    def.dimension = dim;
    def.dx = 0.05;
    def.fps = 100.0;
    def.precision = precision;
    def.threads = threads;
    memset(def.gravity, 0, sizeof def.gravity);
    CHECK_OK(rp_world_create(&def, out));
    rp_world *world = *out;
    sand.young = 1e6;
    CHECK_OK(rp_world_add_material(world, &sand, &box.material));
    for (int a = 0; a < 3; a++) {
        box.lower[a] = 0.0;
        box.upper[a] = 0.6;
        box.velocity[a] = a == 0 ? 1.0 : -0.5;
    }
    rigid.contact = contact;
    rigid.friction = 0.4;
    rigid.spin[2] = 8.0;
    const double middle[3] = {0.3, 0.3, dim == 3 ? 0.3 : 0.0};
    const double right[3] = {0.82, 0.3, dim == 3 ? 0.2 : 0.0};
    const double top[3] = {0.3, 0.5, dim == 3 ? 0.3 : 0.0};
    rigid.velocity[0] = 4.0;
    CHECK_OK(rp_shape_sphere(middle, 0.1, &shape));
    CHECK_HELPER(add_rigid(world, shape, "light", 20.0, &rigid));
    rigid.velocity[0] = -3.0;
    if (dim == 3) {
        CHECK_HELPER(make_frame(right, 0.15, &shape));
    } else {
        CHECK_OK(rp_shape_sphere(right, 0.15, &shape));
    }
    CHECK_HELPER(add_rigid(world, shape, "heavy", 7000.0, &rigid));
    rigid.velocity[0] = 0.0;
    rigid.velocity[1] = -3.0;
    if (dim == 3) {
        CHECK_HELPER(make_wedge(top, 0.08, &shape));
    } else {
        CHECK_OK(rp_shape_sphere(top, 0.08, &shape));
    }
    CHECK_HELPER(add_rigid(world, shape, "third", 1000.0, &rigid));
    CHECK_OK(rp_world_add_box(world, &box, NULL));
}

static void sum_momentum(const rp_world *world, double linear[3], double angular[3], double *size)
{
    rp_totals t;
    rp_world_totals(world, &t);
    *size = 0.0;
    for (int a = 0; a < 3; a++) {
        linear[a] = t.momentum[a];
        angular[a] = t.angular[a];
        *size += fabs(t.momentum[a]);
    }
    for (int i = 0; i < rp_world_rigids(world); i++) {
        rp_rigid_state s;
        double own[3], turned[3], R[3][3];
        rp_world_rigid(world, i, &s);
        const double *q = s.pose.rotation;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            R[a][a] = 1.0 - 2.0 * (q[b] * q[b] + q[c] * q[c]);
            R[a][b] = 2.0 * (q[a] * q[b] - q[c] * q[3]);
            R[b][a] = 2.0 * (q[a] * q[b] + q[c] * q[3]);
        }
        for (int a = 0; a < 3; a++) {
            own[a] = R[0][a] * s.spin[0] + R[1][a] * s.spin[1] + R[2][a] * s.spin[2];
        }
        for (int a = 0; a < 3; a++) {
            turned[a] =
                s.inertia[a][0] * own[0] + s.inertia[a][1] * own[1] + s.inertia[a][2] * own[2];
        }
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            linear[a] += s.mass * s.velocity[a];
            angular[a] +=
                R[a][0] * turned[0] + R[a][1] * turned[1] + R[a][2] * turned[2] +
                s.mass * (s.pose.position[b] * s.velocity[c] - s.pose.position[c] * s.velocity[b]);
            *size += fabs(s.mass * s.velocity[a]);
        }
    }
}

// Momentum and angular momentum of all of it, for every contact, in both dimensions and precisions.
// Catches a body that is given something else than its nodes lose, and pushing particles out that
// forgets the body. The exchange itself is large: bodies change their velocities by metres per
// second.
static void sand_and_bodies_keep_their_momentum(void)
{
    for (int round = 0; round < 12; round++) {
        const int dim = 2 + round % 2;
        const rp_precision precision = (rp_precision)(round / 2 % 2);
        const rp_contact contact = (rp_contact)(round / 4);
        rp_world *world;
        double before[2][3], after[2][3], size;
        CHECK_HELPER(make_flight(dim, precision, 1, contact, &world));
        rp_rigid_state start, end;
        rp_stats stats;
        CHECK_OK(rp_world_prepare(world)); // sorted: sums are in the same order then
        sum_momentum(world, before[0], before[1], &size);
        rp_world_rigid(world, 0, &start);
        for (int frame = 0; frame < 5; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        double grown;
        sum_momentum(world, after[0], after[1], &grown);
        rp_world_rigid(world, 0, &end);
        rp_world_stats(world, &stats);
        check_context("%dD, precision %d, contact %d, %lld steps", dim, (int)precision,
                      (int)contact, (long long)stats.step);
        CHECK(fabs(end.velocity[0] - start.velocity[0]) > 1.0);
        const double unit = precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
        // some roundings for each step, as a random walk, and what light nodes drop
        const double allowed =
            20.0 * unit * size * sqrt((double)stats.step) + stats.dropped_momentum;
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(after[0][a], before[0][a], allowed);
            // positions are rounded too, with arms of a metre
            CHECK_NEAR(after[1][a], before[1][a], 2.0 * allowed);
        }
        rp_world_destroy(world);
    }
}

// The same bytes for 1, 2 and 5 threads, and where the world is saved in mid-frame and goes on
// elsewhere.
static void bits_depend_on_neither_threads_nor_breaks(void)
{
    void *whole = NULL;
    size_t size = 0;
    for (int run = 0; run < 4; run++) {
        static const int threads[] = {1, 2, 5, 1};
        rp_world *world;
        void *state;
        size_t bytes;
        CHECK_HELPER(make_flight(3, RP_SINGLE, threads[run], RP_SEPARATE, &world));
        for (int step = 0; step < 60; step++) {
            CHECK_OK(rp_world_step(world));
            if (run == 3 && step == 31) {
                CHECK_OK(rp_world_save(world, &state, &bytes));
                rp_world_destroy(world);
                CHECK_HELPER(make_flight(3, RP_SINGLE, 2, RP_SEPARATE, &world));
                CHECK_OK(rp_world_restore(world, state, bytes));
                rp_state_free(state);
            }
        }
        CHECK_OK(rp_world_save(world, &state, &bytes));
        rp_world_destroy(world);
        check_context("run %d", run);
        if (run == 0) {
            whole = state;
            size = bytes;
        } else {
            CHECK(bytes == size && memcmp(state, whole, size) == 0);
            rp_state_free(state);
        }
    }
    rp_state_free(whole);
}

// Sand in a trough, 2D, that carries its weight from the start.
static void make_trough(double height, rp_world **out, rp_shape **sand)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.02;
    def.fps = 25.0;
    CHECK_OK(rp_world_create(&def, out));
    const double lower[3] = {0.0, 0.0, -INFINITY}, upper[3] = {0.8, height, INFINITY};
    const double high[3] = {0.8, 10.0, INFINITY};
    CHECK_OK(rp_world_add_walls(*out, lower, high, RP_SEPARATE, 0.0));
    CHECK_OK(rp_shape_box(lower, upper, sand));
}

static void fill_trough(rp_world *world, rp_shape *sand, double friction_angle)
{
    rp_material_def material = rp_default_sand_def();
    rp_particles_def def = rp_default_particles_def();
    material.young = 3.5e5;
    material.density = 1500.0;
    material.friction_angle = friction_angle;
    CHECK_OK(rp_world_add_material(world, &material, &def.material));
    def.shape = sand;
    def.spacing = 0.01;
    def.prestress = RP_PRESTRESS_K0;
    CHECK_OK(rp_world_add_particles(world, &def, NULL));
    rp_shape_release(sand);
}

// A hundredth to a fiftieth of what it displaces, under sand of 30 degrees, rough and smooth. With
// impulses in turn it is thrown out within 15 ms (Newton's method takes two steps instead).
static void a_light_body_rests_under_sand(void)
{
    for (int round = 0; round < 4; round++) {
        rp_world *world;
        rp_shape *sand, *disc;
        rp_rigid_def rigid = rp_default_rigid_def();
        rp_rigid_state s;
        CHECK_HELPER(make_trough(0.3, &world, &sand));
        const double at[3] = {0.4, 0.2, 0.0};
        rigid.friction = round % 2 == 0 ? 10.0 : 0.3;
        CHECK_OK(rp_shape_sphere(at, 0.06, &disc));
        CHECK_HELPER(add_rigid(world, disc, "disc", round < 2 ? 30.0 : 15.0, &rigid));
        CHECK_HELPER(fill_trough(world, sand, 0.5235987755982988));
        double fastest = 0.0;
        for (int frame = 0; frame < 8; frame++) {
            CHECK_OK(rp_world_run_frame(world));
            rp_world_rigid(world, 0, &s);
            fastest = fmax(fastest, fabs(s.velocity[1]));
        }
        check_context("round %d", round);
        CHECK(fastest < 0.1);
        CHECK_NEAR(s.pose.position[1], 0.2, 0.004); // a fifth of a cell
        // sand carries it, but for what swings
        CHECK_NEAR(s.force[1], s.mass * g, 0.5 * s.mass * g);
        rp_world_destroy(world);
    }
}

// Of sand beside the disc: twice the mean height of what is there.
static void surface_of(const rp_world *world, double *out)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    const int64_t count = stats.particles;
    double *x = malloc((size_t)count * 2 * sizeof *x), sum = 0.0;
    int64_t there = 0;
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
    for (int64_t i = 0; i < count; i++) {
        if (fabs(x[2 * i] - 0.4) > 0.22) {
            sum += x[2 * i + 1];
            there++;
        }
    }
    free(x);
    *out = 2.0 * sum / (double)there;
}

// A disc as deep as Archimedes has it stays there, though sand without friction is never quite
// still: the mean of its height above the surface over the second half of 1.2 s, by its depth. One
// that held only nodes inside of it would sink by an eighth to a third of its radius.
static void a_disc_floats_at_the_height_of_archimedes(void)
{
    static const double ratio[2] = {0.3, 0.7}, above[2] = {0.319692, -0.319692}; // of its radius
    for (int round = 0; round < 2; round++) {
        rp_world *world;
        rp_shape *sand, *disc;
        rp_rigid_def rigid = rp_default_rigid_def();
        rp_rigid_state s;
        CHECK_HELPER(make_trough(0.4, &world, &sand));
        const double radius = 0.16, at[3] = {0.4, 0.4 + above[round] * radius, 0.0};
        rigid.friction = 0.0;
        CHECK_OK(rp_shape_sphere(at, radius, &disc));
        CHECK_HELPER(add_rigid(world, disc, "disc", 1500.0 * ratio[round], &rigid));
        CHECK_HELPER(fill_trough(world, sand, 0.0));
        double mean = 0.0, surface = 0.0;
        for (int frame = 0; frame < 30; frame++) {
            CHECK_OK(rp_world_run_frame(world));
            rp_world_rigid(world, 0, &s);
            CHECK_HELPER(surface_of(world, &surface));
            mean += frame < 15 ? 0.0 : (s.pose.position[1] - surface) / 15.0;
        }
        check_context("density ratio %g", ratio[round]);
        CHECK_NEAR(mean, above[round] * radius, 0.05 * (1.0 - above[round]) * radius);
        rp_world_destroy(world);
    }
}

static void energy_of(const rp_world *world, double *out)
{
    rp_totals t;
    rp_rigid_state s;
    rp_world_totals(world, &t);
    rp_world_rigid(world, 0, &s);
    *out = t.kinetic + t.elastic + t.mass * g * t.center[1] + s.kinetic +
           s.mass * g * s.pose.position[1];
}

// A disc that falls into sand at 3 m/s, spinning, light and heavy, rough and smooth: energy of both
// together is never more than it was by a thousandth of what the disc came with. Catches impulses
// that overshoot, and a body that is given more than its nodes lose.
static void sand_and_bodies_gain_no_energy(void)
{
    static const double ratio[4] = {0.05, 0.5, 2.0, 8.0};
    for (int round = 0; round < 8; round++) {
        rp_world *world;
        rp_shape *sand, *disc;
        rp_rigid_def rigid = rp_default_rigid_def();
        rp_rigid_state s;
        CHECK_HELPER(make_trough(0.3, &world, &sand));
        const double at[3] = {0.4, 0.37, 0.0};
        rigid.friction = round < 4 ? 0.5 : 0.0;
        rigid.velocity[0] = 0.7;
        rigid.velocity[1] = -3.0;
        rigid.spin[2] = 20.0;
        CHECK_OK(rp_shape_sphere(at, 0.06, &disc));
        CHECK_HELPER(add_rigid(world, disc, "disc", 1500.0 * ratio[round % 4], &rigid));
        CHECK_HELPER(fill_trough(world, sand, 0.5235987755982988));
        rp_world_rigid(world, 0, &s);
        double first, least, now;
        CHECK_HELPER(energy_of(world, &first));
        least = first;
        check_context("density ratio %g, friction %g", ratio[round % 4], rigid.friction);
        for (int step = 0; step < 600; step++) {
            CHECK_OK(rp_world_step(world));
            CHECK_HELPER(energy_of(world, &now));
            CHECK(now < least + 1e-3 * s.kinetic);
            least = fmin(least, now);
        }
        CHECK(least < first - 0.5 * s.kinetic); // it has come to rest
        rp_world_destroy(world);
    }
}

TEST_MAIN(TEST(sand_and_bodies_gain_no_energy), TEST(a_disc_floats_at_the_height_of_archimedes),
          TEST(sand_and_bodies_keep_their_momentum),
          TEST(bits_depend_on_neither_threads_nor_breaks), TEST(a_light_body_rests_under_sand))

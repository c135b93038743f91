// Sand and blocks on the ground: a column collapses to a heap, sand at rest presses on its floor
// with its weight, blocks slide, stick and rub as their floor says.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t count_of(const rp_world *world)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    return stats.particles;
}

// A column as [id][component]. The caller frees it; NULL when it cannot be read.
static double *read_by_id(const rp_world *world, rp_column_id column)
{
    const int64_t n = count_of(world);
    const int comps = rp_world_column_comps(world, column);
    double *id = malloc(sizeof *id * (size_t)(n + 1));
    double *value = malloc(sizeof *value * (size_t)(n * comps + 1));
    double *out = malloc(sizeof *out * (size_t)(n * comps + 1));
    if (rp_world_read(world, RP_COL_ID, id) != RP_OK ||
        rp_world_read(world, column, value) != RP_OK) {
        check_record(__FILE__, __LINE__, "%s", rp_last_error());
        abort();
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(out + (int64_t)id[i] * comps, value + i * comps, sizeof *out * (size_t)comps);
    }
    free(id);
    free(value);
    return out;
}

static void run_to(rp_world *world, double time)
{
    rp_stats stats;
    do {
        CHECK_OK(rp_world_run_frame(world));
        rp_world_stats(world, &stats);
    } while (stats.time < time - 1e-9);
}

// ---- a column collapses ----

// Half width L0 and height H0 of the column, aspect ratio 2, on a sticky floor.
static const double L0 = 0.1, H0 = 0.2, spacing = 0.01, gravity = 9.81;

typedef struct heap {
    int64_t particles;
    double mass, kinetic, center[3];
    double left, right; // of 99 % of the particles, without the half per cent at either side
    double height;      // of 99.5 % of the particles near the middle
    double speed;
} heap;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void look(const rp_world *world, heap *out)
{
    rp_totals t;
    rp_stats s;
    rp_world_totals(world, &t);
    rp_world_stats(world, &s);
    *out = (heap){
        .particles = s.particles, .mass = t.mass, .kinetic = t.kinetic, .speed = s.max_speed};
    memcpy(out->center, t.center, sizeof out->center);
    double *x = read_by_id(world, RP_COL_POSITION);
    double *across = malloc(sizeof *across * (size_t)s.particles);
    for (int64_t i = 0; i < s.particles; i++) {
        across[i] = x[2 * i];
        if (fabs(x[2 * i]) < 0.25 * L0) {
            out->height = fmax(out->height, x[2 * i + 1]);
        }
    }
    qsort(across, (size_t)s.particles, sizeof *across, compare_doubles);
    out->left = across[s.particles / 200];
    out->right = across[s.particles - 1 - s.particles / 200];
    free(x);
    free(across);
}

static void make_column(double friction_coefficient, rp_precision precision, rp_world **world)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.precision = precision;
    def.dx = spacing;
    def.gravity[1] = -gravity;
    CHECK_OK(rp_world_create(&def, world));
    rp_material_def sand = rp_default_sand_def();
    sand.friction_coefficient = friction_coefficient;
    rp_box_def box = rp_default_box_def();
    CHECK_OK(rp_world_add_material(*world, &sand, &box.material));
    box.lower[0] = -L0;
    box.upper[0] = L0;
    box.upper[1] = H0;
    CHECK_OK(rp_world_add_box(*world, &box, NULL));
    const rp_plane_def ground = rp_default_plane_def();
    CHECK_OK(rp_world_add_plane(*world, &ground));
}

// Catches sand that is lost, does not stop, leans to a side, or flows as if its friction were
// another. The run-out of a 2D column with friction coefficient 0.577 is within 20 % of the law
// found in experiments, 1.2 a L0 for an aspect ratio a = 2.
static void a_column_collapses_to_a_heap_at_rest(void)
{
    const double mass = 2200.0 * 2.0 * L0 * H0, fall = sqrt(H0 / gravity);
    for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
        rp_world *world;
        CHECK_HELPER(make_column(0.577, (rp_precision)precision, &world));
        heap start, later, end;
        look(world, &start);
        CHECK_NEAR(start.mass, mass, 1e-12 * mass);
        CHECK_HELPER(run_to(world, 8.0 * fall));
        look(world, &later);
        CHECK_HELPER(run_to(world, 12.0 * fall));
        look(world, &end);
        printf(
            "     %s: front %.3f %.3f L0, height %.3f L0, kinetic %.1e of the fall, speed %.3g\n",
            precision ? "double" : "single", end.left / L0, end.right / L0, end.height / L0,
            end.kinetic / (mass * gravity * H0), end.speed);
        check_context("precision %d", precision);
        // every particle is there and weighs what it did
        CHECK_EQUAL(end.particles, start.particles);
        CHECK_NEAR(end.mass, start.mass, 1e-12 * mass);
        // at rest: what moves has less energy than a fall through a thousandth of a cell, and the
        // front has moved by less than a cell in the last third
        CHECK(end.kinetic < mass * gravity * 1e-3 * spacing);
        CHECK_NEAR(end.right, later.right, spacing);
        CHECK_NEAR(end.left, later.left, spacing);
        // symmetric: nothing but the jitter of the particles tells left from right
        CHECK_NEAR(end.right + end.left, 0.0, 0.05 * (end.right - end.left));
        CHECK_NEAR(end.center[0], 0.0, 0.02 * (end.right - end.left));
        CHECK_NEAR(0.5 * (end.right - end.left) / L0 - 1.0, 1.2 * H0 / L0, 0.2 * 1.2 * H0 / L0);
        // on the ground, nobody below it by a cell
        double *x = read_by_id(world, RP_COL_POSITION);
        for (int64_t i = 0; i < end.particles; i++) {
            CHECK(x[2 * i + 1] > -spacing);
        }
        free(x);
        rp_world_destroy(world);
    }
}

// Catches a friction that does not reach the sand: more of it makes a shorter and a higher heap.
static void more_friction_makes_a_shorter_heap(void)
{
    static const double coefficient[] = {0.2, 0.4, 0.7};
    heap end[3];
    for (int i = 0; i < 3; i++) {
        rp_world *world;
        CHECK_HELPER(make_column(coefficient[i], RP_SINGLE, &world));
        CHECK_HELPER(run_to(world, 6.0 * sqrt(H0 / gravity)));
        look(world, &end[i]);
        printf("     %.1f: front %.3f %.3f L0, height %.3f L0\n", coefficient[i], end[i].left / L0,
               end[i].right / L0, end[i].height / L0);
        rp_world_destroy(world);
    }
    for (int i = 1; i < 3; i++) {
        CHECK(end[i].right - end[i].left < 0.9 * (end[i - 1].right - end[i - 1].left));
        CHECK(end[i].height > end[i - 1].height);
    }
}

// ---- sand at rest ----

// Gravity that comes up smoothly within a second, so that nothing is left to swing.
static rp_result rising_gravity(void *context, double t, double out[3])
{
    (void)context;
    out[0] = out[2] = 0.0;
    out[1] = -gravity * (t < 1.0 ? 0.5 * (1.0 - cos(3.14159265358979323846 * t)) : 1.0);
    return RP_OK;
}

// Catches a stress with a wrong factor or sign, and walls that carry weight: in a box without
// friction sand presses on its floor with rho g H, and at every height with what is above it.
// Confined sideways, an area stays an area, so this is exact for the Cauchy stress at the place
// where a particle started.
static void sand_at_rest_presses_with_its_weight(void)
{
    const double h = 0.02, width = 8 * h, height = 20 * h, density = 2200.0;
    for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
        rp_world_def def = rp_default_world_def();
        def.dimension = 2;
        def.precision = (rp_precision)precision;
        def.dx = h;
        def.gravity_of_time.call = rising_gravity;
        rp_world *world;
        CHECK_OK(rp_world_create(&def, &world));
        rp_material_def sand = rp_default_sand_def();
        rp_box_def box = rp_default_box_def();
        CHECK_OK(rp_world_add_material(world, &sand, &box.material));
        box.upper[0] = width;
        box.upper[1] = height;
        box.jitter = 0.0;
        CHECK_OK(rp_world_add_box(world, &box, NULL));
        const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {width, 2.0 * height, 0.0};
        CHECK_OK(rp_world_add_walls(world, lower, upper, RP_SEPARATE, 0.0));
        double *start = read_by_id(world, RP_COL_POSITION);
        CHECK_HELPER(run_to(world, 1.5));
        double *strain = read_by_id(world, RP_COL_STRAIN);

        const double lambda =
            sand.young * sand.poisson / ((1.0 + sand.poisson) * (1.0 - 2.0 * sand.poisson));
        const double mu = sand.young / (2.0 * (1.0 + sand.poisson));
        // two rows a cell; where the floor or the surface cuts a stencil, two cells deep, nodes are
        // not in the middle of the sand they feel, and single rows are above or below what their
        // mean should be
        enum { ROWS = 40, CUT = 4 };
        double pressure[ROWS] = {0}, rows[ROWS] = {0};
        for (int64_t i = 0; i < count_of(world); i++) {
            const double *e = strain + 3 * i, trace = e[0] + e[1];
            const int row = (int)(start[2 * i + 1] / (0.5 * h));
            pressure[row] -= (2.0 * mu * e[1] + lambda * trace) / exp(trace);
            rows[row] += 1.0;
        }
        double worst = 0.0;
        for (int row = CUT; row < ROWS - CUT; row++) {
            const double above = density * gravity * (height - (row + 0.5) * 0.5 * h);
            const double off = (pressure[row] / rows[row] - above) / (density * gravity * height);
            check_context("precision %d, row %d", precision, row);
            // in units of the pressure on the floor
            CHECK_NEAR(off, 0.0, 0.05);
            worst = fmax(worst, fabs(off));
        }
        const double bottom = pressure[0] / rows[0] / (density * gravity * height);
        rp_totals t;
        rp_world_totals(world, &t);
        printf("     %s: bottom %.4f rho g H, worst row %.4f off, kinetic %.1e J\n",
               precision ? "double" : "single", bottom, worst, t.kinetic);
        CHECK_NEAR(bottom, 1.0, 0.05);
        free(start);
        free(strain);
        rp_world_destroy(world);
    }
}

// ---- floors ----

typedef struct slide {
    rp_totals start, end;
    double foot; // how far the lowest row came on average [m]
    double seconds;
} slide;

// A flat rubber block on the floor with a push along it.
static void slide_block(int dim, rp_precision precision, rp_contact contact, double friction,
                        const double push[3], double seconds, slide *out)
{
    const double h = 0.02;
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.precision = precision;
    def.dx = h;
    def.fps = 50.0;
    def.gravity[1] = -gravity;
    rp_world *world;
    CHECK_OK(rp_world_create(&def, &world));
    rp_material_def rubber = rp_default_elastic_def();
    rubber.young = 1e6;
    rp_box_def box = rp_default_box_def();
    CHECK_OK(rp_world_add_material(world, &rubber, &box.material));
    box.jitter = 0.0;
    for (int a = 0; a < 3; a++) {
        box.upper[a] = (a == 1 ? 3 : 8) * h;
        box.velocity[a] = push[a];
    }
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    rp_plane_def floor = rp_default_plane_def();
    floor.contact = contact;
    floor.friction = friction;
    CHECK_OK(rp_world_add_plane(world, &floor));
    rp_world_totals(world, &out->start);
    double *before = read_by_id(world, RP_COL_POSITION);
    CHECK_HELPER(run_to(world, seconds));
    rp_world_totals(world, &out->end);
    double *after = read_by_id(world, RP_COL_POSITION);
    double rows = 0.0;
    out->foot = 0.0;
    for (int64_t i = 0; i < count_of(world); i++) {
        if (before[i * dim + 1] < 0.5 * h) {
            out->foot += after[i * dim] - before[i * dim];
            rows += 1.0;
        }
    }
    out->foot /= rows;
    out->seconds = seconds;
    free(before);
    free(after);
    rp_world_destroy(world);
}

// Catches a slip that rubs: without friction the push is kept, up to a rounding each step.
static void a_slipping_block_keeps_its_push(void)
{
    static const double push[3] = {1.5, 0.0, -0.75};
    for (int i = 0; i < 2 * 2 * 2; i++) {
        const int dim = 2 + i % 2;
        const rp_precision precision = (rp_precision)(i / 2 % 2);
        const rp_contact contact = i / 4 ? RP_SLIP : RP_SEPARATE;
        slide s;
        CHECK_HELPER(slide_block(dim, precision, contact, 0.0, push, 0.3, &s));
        check_context("%dD, precision %d, contact %d", dim, precision, contact);
        // 0.3 s are some 2000 steps; a sum over the particles rounds like a random walk of 100
        // operations a step in the worst direction
        const double bound = 2000.0 * 40.0 * (precision == RP_SINGLE ? 0x1p-24 : 0x1p-53);
        for (int a = 0; a < dim; a += 2) {
            CHECK_NEAR(s.end.momentum[a] / s.start.mass, push[a], 1.5 * bound);
        }
        CHECK_NEAR(s.foot, 0.3 * push[0], 0.05 * 0.3 * push[0]);
        // it neither sinks nor jumps: its weight, let go at once, moves the middle by at most twice
        // the rest's rho g H^2 / (3 E)
        const double settled = 2200.0 * gravity * 0.06 * 0.06 / (3.0 * 1e6);
        CHECK_NEAR(s.end.center[1], s.start.center[1], 2.0 * settled);
    }
}

// Catches a floor that does not hold: the foot of the block stays where it is, within half a cell.
static void a_sticking_block_stays(void)
{
    static const double push[3] = {1.5, 0.0, -0.75};
    for (int i = 0; i < 2 * 2; i++) {
        const int dim = 2 + i % 2;
        slide s;
        CHECK_HELPER(slide_block(dim, (rp_precision)(i / 2), RP_STICKY, 0.0, push, 0.3, &s));
        check_context("%dD, precision %d", dim, i / 2);
        CHECK_NEAR(s.foot, 0.0, 0.01);
        // the push has gone into the floor
        CHECK(fabs(s.end.momentum[0]) < 0.1 * s.start.momentum[0]);
    }
}

// Catches a friction of the wrong size or direction: a sliding block slows down by mu g. What the
// floor takes along itself is mu times what it gives upwards, node by node and step by step.
static void a_rubbing_block_slows_down_by_its_friction(void)
{
    static const double push[3] = {4.0, 0.0, -3.0};
    const double friction = 0.3, seconds = 1.0;
    for (int i = 0; i < 2 * 2; i++) {
        const int dim = 2 + i % 2;
        const rp_precision precision = (rp_precision)(i / 2);
        slide s;
        CHECK_HELPER(slide_block(dim, precision, RP_SEPARATE, friction, push, seconds, &s));
        check_context("%dD, precision %d", dim, precision);
        const double speed = dim == 2 ? 4.0 : 5.0;
        const double vx = s.end.momentum[0] / s.end.mass, vz = s.end.momentum[2] / s.end.mass;
        const double vy = s.end.momentum[1] / s.end.mass;
        const double lost = speed - sqrt(vx * vx + vz * vz);
        printf("     %dD %s: lost %.5f of mu g t, vertical %.4f m/s\n", dim,
               precision ? "double" : "single", lost / (friction * gravity * seconds), vy);
        CHECK_NEAR(lost, friction * gravity * seconds, 0.01 * friction * gravity * seconds);
        // some 7000 steps, as above; a light node at an edge may stick, so that it gives a little
        // less
        const double bound = 7000.0 * 40.0 * (precision == RP_SINGLE ? 0x1p-24 : 0x1p-53) * speed;
        if (dim == 2) {
            CHECK(lost <= friction * (gravity * seconds + vy) + bound);
            CHECK(lost >= 0.999 * friction * (gravity * seconds + vy) - bound);
        }
        // along the push
        CHECK_NEAR(dim == 3 ? vz / vx : 0.0, dim == 3 ? -0.75 : 0.0, 0.01);
    }
}

// Catches a wall that glues: a block thrown up from a separating floor leaves it and comes back,
// from a slipping one it does not.
static void only_a_separating_floor_lets_go(void)
{
    static const double push[3] = {0.0, 1.0, 0.0};
    for (int dim = 2; dim <= 3; dim++) {
        slide s;
        CHECK_HELPER(slide_block(dim, RP_SINGLE, RP_SEPARATE, 0.0, push, 0.1, &s));
        check_context("%dD, separate", dim);
        // up at 1 m/s, back down by g t
        CHECK_NEAR(s.end.momentum[1] / s.end.mass, 1.0 - 0.1 * gravity, 0.01);
        CHECK_NEAR(s.end.center[1] - s.start.center[1], 0.1 - 0.5 * gravity * 0.01, 0.005);
        CHECK_HELPER(slide_block(dim, RP_SINGLE, RP_SLIP, 0.0, push, 0.1, &s));
        check_context("%dD, slip", dim);
        CHECK(s.end.center[1] - s.start.center[1] < 0.005);
    }
}

TEST_MAIN(TEST(a_column_collapses_to_a_heap_at_rest), TEST(more_friction_makes_a_shorter_heap),
          TEST(sand_at_rest_presses_with_its_weight), TEST(a_slipping_block_keeps_its_push),
          TEST(a_sticking_block_stays), TEST(a_rubbing_block_slows_down_by_its_friction),
          TEST(only_a_separating_floor_lets_go))

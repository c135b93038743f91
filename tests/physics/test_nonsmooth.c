// Rigid grains (src/solver/nonsmooth): what theory says of columns, slopes and heaps, and the same
// bits whatever the number of threads.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"
#include "sim/world.h"
#include "solver/nonsmooth/nonsmooth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

static rp_stats stats_of(const rp_world *world)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    return stats;
}

// ---- columns ----

// A column between walls without friction, 4 cells wide and 30 high, that stands for some frames.
#define COLUMN                                                                                     \
    "local dim, friction, floor, stress = %d, %g, '%s', '%s'\n"                                    \
    "scene { method = 'nonsmooth', dimension = dim, dx = 0.01, fps = 50, frames = 40,\n"           \
    "    nonsmooth = { stress = stress } }\n"                                                      \
    "particles { material = material.sand { friction_coefficient = friction, density = 1500 },\n"  \
    "    shape = box { min = {0, 0, 0}, max = {0.04, 0.3, 0.04} },\n"                              \
    "    per_cell = dim == 2 and 16 or 8, sampling = 'lattice', jitter = 0 }\n"                    \
    "local function wall(x, y, z, p, contact)\n"                                                   \
    "    collider { shape = half_space { point = p, normal = {x, y, z} }, contact = contact }\n"   \
    "end\n"                                                                                        \
    "wall(0, 1, 0, {0, 0, 0}, floor)\n"                                                            \
    "wall(1, 0, 0, {0, 0, 0}, 'slip')\n"                                                           \
    "wall(-1, 0, 0, {0.04, 0, 0}, 'slip')\n"                                                       \
    "if dim == 3 then wall(0, 0, 1, {0, 0, 0}, 'slip') wall(0, 0, -1, {0, 0, 0.04}, 'slip') end\n"

static const rp_node_stress *stresses_of(const rp_world *world, int64_t *count)
{
    for (int i = 0; i < world->registry.entries; i++) {
        const rp_registry_entry *e = &world->registry.entry[i];
        if (strcmp(e->name, "nonsmooth/stress") == 0) {
            *count = *e->count;
            return rp_registry_data(e);
        }
    }
    *count = 0;
    return NULL;
}

enum { ROWS = 31 };

// The mean over the column's breadth of the upright stress, by rows of nodes or cells [Pa].
static void mean_of_rows(const rp_world *world, bool cells, double mean[ROWS])
{
    const rp_layout *l = &world->grid.layout;
    int64_t count;
    const rp_node_stress *s = stresses_of(world, &count);
    double breadth[ROWS] = {0};
    memset(mean, 0, sizeof(double) * ROWS);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t page = rp_grid_find(&world->grid, s[i].key, (uint16_t)s[i].field);
        const double *q = s[i].lambda;
        double x[3], share = 1.0;
        rp_layout_node(l, rp_grid_page(&world->grid)[page].block, (int)s[i].node, x);
        // a node on a wall stands for half as much
        for (int a = 0; a < l->dim && !cells; a += 2) {
            share *= x[a] < 0.005 || x[a] > 0.035 ? 0.5 : 1.0;
        }
        const int row = (int)lround(x[1] / 0.01);
        CHECK(row >= 0 && row < ROWS);
        mean[row] +=
            share * (l->dim == 2 ? q[0] - q[1] : sqrt(2.0 / 3.0) * q[0] - q[1] - q[2] / sqrt(3.0));
        breadth[row] += share;
    }
    for (int row = 0; row < ROWS; row++) {
        mean[row] /= breadth[row] > 0.0 ? breadth[row] : 1.0;
    }
}

// Catches walls that carry weight by shear that they do not have, a free volume that is wrong
// beside walls or at the surface, and forces that do not reach bodies.
static void columns_bear_their_weight(void)
{
    static const struct {
        int dim;
        double friction;
        const char *floor, *stress;
    } columns[] = {{2, 0.0, "separate", "cell"}, {2, 0.5, "separate", "cell"},
                   {2, 0.5, "sticky", "cell"},   {3, 0.0, "separate", "cell"},
                   {3, 0.5, "sticky", "cell"},   {2, 0.0, "separate", "node"},
                   {2, 0.5, "separate", "node"}, {3, 0.5, "sticky", "node"}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, COLUMN, columns[i].dim, columns[i].friction, columns[i].floor,
                 columns[i].stress);
        test_run r = test_run_start(2, "%s", text);
        const bool cells = strcmp(columns[i].stress, "cell") == 0;
        const double area = columns[i].dim == 2 ? 0.04 : 0.04 * 0.04;
        double mean[ROWS];
        CHECK_HELPER(test_run_frames(&r, 4));
        CHECK_HELPER(mean_of_rows(r.world, cells, mean));
        for (int row = 0; row < 25; row++) {
            check_context("%dD, friction %g, %s, %s, row %d", columns[i].dim, columns[i].friction,
                          columns[i].floor, columns[i].stress, row);
            const double y = 0.01 * (cells ? row + 0.5 : row), weight = 1500.0 * g * (0.3 - y);
            CHECK_NEAR(mean[row], weight, 0.005 * weight);
        }
        rp_collider_load load;
        rp_world_collider_load(r.world, 0, &load);
        CHECK_NEAR(load.force[1], -1500.0 * g * 0.3 * area, 0.005 * 1500.0 * g * 0.3 * area);
        CHECK(stats_of(r.world).max_speed < 0.01);
        CHECK(stats_of(r.world).extra[2] == 0.0); // no step missed its tolerance
        test_run_stop(&r);
    }
}

// ---- a slope without end ----

// A layer 16 cells deep whose grid lies along the slope, gravity turned. `up` is the axis that
// points out of the slope.
#define SLOPE                                                                                      \
    "local angle, up = math.rad(%g), %d\n"                                                         \
    "local along, h = 3 - up, 0.1 / 16\n"                                                          \
    "local pull, n, low, far, top = {0, 0}, {0, 0}, {0, 0}, {8 * h, 8 * h}, {8 * h, 8 * h}\n"      \
    "pull[along], pull[up] = 9.81 * math.sin(angle), -9.81 * math.cos(angle)\n"                    \
    "n[up], low[up], far[up], top[up] = 1, -1, 1, 0.1\n"                                           \
    "scene { method = 'nonsmooth', dimension = 2, dx = h, fps = 100, frames = 100,\n"              \
    "    gravity = pull }\n"                                                                       \
    "domain { min = low, max = far, periodic = {up ~= 1, up ~= 2, false} }\n"                      \
    "particles { material = material.sand { friction_coefficient = 0.5 },\n"                       \
    "    shape = box { min = {0, 0}, max = top }, per_cell = 16, sampling = 'lattice',\n"          \
    "    jitter = 0 }\n"                                                                           \
    "collider { shape = half_space { point = {0, 0}, normal = n }, contact = 'sticky' }\n"

// Speed along the slope, mean over the layer, after some frames.
static double speed_after(rp_world *world, int frames, int along)
{
    rp_totals t;
    for (int i = 0; i < frames; i++) {
        if (rp_world_run_frame(world) != RP_OK) {
            return NAN;
        }
    }
    rp_world_totals(world, &t);
    return t.momentum[along] / t.mass;
}

// mu = 0.5 holds up to 26.565 degrees. The lowest row of nodes, which weighs half a cell, is held
// by the floor. The mistakes this catches: a cone of the wrong width, friction that depends on the
// axis, and cells that shear in turns, the pressure being in the others (1.5 and 1.8 times the rate
// at 27.5 degrees, and no rest at 26).
static void a_layer_rests_or_slides(void)
{
    for (int up = 1; up <= 2; up++) {
        static const double angles[] = {24.0, 26.365, 26.765, 27.5, 29.0, 31.0, 40.0};
        for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++) {
            char text[2048];
            snprintf(text, sizeof text, SLOPE, angles[i], up);
            test_run r = test_run_start(2, "%s", text);
            const double t = angles[i] / 180.0 * 3.14159265358979;
            const double want = g * (sin(t) - 0.5 * cos(t)) * 31.0 / 32.0;
            check_context("axis %d, %g degrees", up, angles[i]);
            // begins from no stress at all, and may then miss
            check_allow_warning();
            const double before = speed_after(r.world, 10, 2 - up),
                         after = speed_after(r.world, 20, 2 - up), rate = (after - before) / 0.2;
            if (want > 0.1) {
                CHECK_NEAR(rate, want, 0.03 * want + 0.006);
            } else if (want > -0.1) { // within 0.2 degrees
                CHECK(want > 0.0 ? rate > 0.0 : rate < 0.001);
            } else {
                CHECK_NEAR(after, 0.0, 1e-3);
            }
            test_run_stop(&r);
        }
    }
}

// A layer 16 cells deep whose friction or viscosity grows with the rate. @param rest of the scene
#define LAYER                                                                                      \
    "local H, n, tilt, rate = 0.1, 16, %.17g, %.17g\n"                                             \
    "scene { method = 'nonsmooth', dimension = 2, dx = H / n, fps = 100, frames = 200,\n"          \
    "    gravity = {9.81 * math.sin(tilt), -9.81 * math.cos(tilt)}, nonsmooth = { %s } }\n"        \
    "domain { min = {0, -1}, max = {H / 2, 1}, periodic = {true, false} }\n"                       \
    "local sand = material.sand { density = 1500, %s }\n"                                          \
    "particles { material = sand, sampling = 'lattice', jitter = 0, per_cell = 16,\n"              \
    "    shape = box { min = {0, 0}, max = {H / 2, H} }, velocity = function(x, y)\n"              \
    "    return { rate * (H^1.5 - math.max(0, H - y)^1.5), 0 } end }\n"                            \
    "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'sticky' }\n"

// V-G3: started with Bagnold's profile, a layer of mu(I) keeps it for ten times sqrt(H/g). Catches
// a factor of sqrt(2) in the rate, and friction that knows no rate.
static void friction_by_rate_keeps_bagnolds_profile(void)
{
    const double tilt = 0.43, grain = 0.004;
    const double number = 0.3 * (tan(tilt) - 0.38) / (0.64 - tan(tilt));
    const double rate = 2.0 / 3.0 * number / grain * sqrt(g * cos(tilt));
    const double mean = 0.6 * rate * pow(0.1, 1.5);
    char text[2048];
    snprintf(text, sizeof text, LAYER, tilt, rate, "",
             "friction_coefficient = 0.38, inertial = { friction = 0.64, number = 0.3,"
             " grain = 0.004, density = 1500 }");
    test_run r = test_run_start(2, "%s", text);
    check_allow_warning();
    CHECK_NEAR(mean, 1.2398 * sqrt(g * 0.1), 1e-3 * mean);
    CHECK_NEAR(speed_after(r.world, 50, 0), mean, 0.01 * mean);
    CHECK_NEAR(speed_after(r.world, 51, 0), mean, 0.02 * mean);
    test_run_stop(&r);
}

// With viscosity nu and friction, which takes the same from all depths, a layer that starts from
// rest gets the profile of Poiseuille as a liquid would.
static void a_thick_layer_starts_as_poiseuilles(void)
{
    const double tilt = 0.2 * 3.14159265358979, nu = 0.02, H = 0.1;
    const double pull = g * (sin(tilt) - 0.5 * cos(tilt));
    char text[2048];
    snprintf(text, sizeof text, LAYER, tilt, 0.0, "viscosity = 0.02", "friction_coefficient = 0.5");
    test_run r = test_run_start(2, "%s", text);
    check_allow_warning();
    for (int frame = 30; frame <= 90; frame += 30) {
        double want = pull * H * H / (3.0 * nu);
        for (int k = 0; k < 20; k++) {
            const double q = (k + 0.5) * 3.14159265358979;
            want -=
                2.0 * pull * H * H / nu * pow(q, -4.0) * exp(-nu * q * q / (H * H) * 0.01 * frame);
        }
        check_context("frame %d", frame);
        CHECK_NEAR(speed_after(r.world, 30, 0), want, 0.02 * want);
    }
    test_run_stop(&r);
}

// A layer on a slope of 40 degrees is held by its cohesion c as a stress norm, which is c / sqrt(2)
// in shear, up to a depth of c / sqrt(2) / (rho g (sin - mu cos)), and slides with what is left
// beyond; where shear breaks it, as if there were none.
static void cohesion_holds_a_layer(void)
{
    static const double shares[] = {0.0, 0.5, 0.9, 1.1, 0.5};
    const double tilt = 40.0 / 180.0 * 3.14159265358979, pull = g * (sin(tilt) - 0.5 * cos(tilt));
    for (int i = 0; i < 5; i++) {
        char text[2048], sand[128];
        snprintf(sand, sizeof sand, "friction_coefficient = 0.5, cohesion = %.17g",
                 shares[i] * sqrt(2.0) * 1500.0 * pull * 0.1);
        snprintf(text, sizeof text, LAYER, tilt, 0.0, i < 4 ? "debonding = 0" : "debonding = 50",
                 sand);
        test_run r = test_run_start(2, "%s", text);
        check_allow_warning();
        check_context("%g of what it takes", shares[i]);
        const double before = speed_after(r.world, 10, 0);
        const double rate = (speed_after(r.world, 10, 0) - before) / 0.1;
        // all but the lowest half of a cell is free to slide
        const double want = fmax(0.0, pull * (31.0 / 32.0 - (i < 4 ? shares[i] : 0.0)));
        CHECK_NEAR(rate, want, 0.03 * pull);
        test_run_stop(&r);
    }
}

// ---- a collapse ----

// V-G1c: half a column of aspect ratio 1.42 at constant friction, against Daviet's own program: the
// farthest particle, in heights of the column, at so many times sqrt(H/g).
#define COLLAPSE                                                                                   \
    "local H = 0.324\n"                                                                            \
    "scene { method = 'nonsmooth', dimension = 2, dx = H / 28, frames = 44,\n"                     \
    "    fps = 8 / math.sqrt(H / 9.81), nonsmooth = { stress = '%s' } }\n"                         \
    "particles { material = material.sand { friction_coefficient = 0.48, density = 1500 },\n"      \
    "    shape = box { min = {0, 0}, max = {H / 1.42, H} }, per_cell = 16 }\n"                     \
    "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'sticky' }\n"    \
    "collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = 'slip' }\n"

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct heap {
    double front, most; // farthest particle, and the place that 99.5 % do not reach
    double height;      // at the wall
} heap;

static heap heap_of(const rp_world *world, double H)
{
    const int64_t count = stats_of(world).particles;
    double *x = malloc((size_t)count * 2 * sizeof *x), *along = malloc((size_t)count * sizeof *x);
    heap out = {0};
    if (rp_world_read(world, RP_COL_POSITION, x) == RP_OK) {
        for (int64_t i = 0; i < count; i++) {
            along[i] = x[2 * i] / H;
            out.height = x[2 * i] < H / 28.0 ? fmax(out.height, x[2 * i + 1] / H) : out.height;
        }
        qsort(along, (size_t)count, sizeof *along, ascending);
        out.front = along[count - 1];
        out.most = along[count * 995 / 1000];
    }
    free(x);
    free(along);
    return out;
}

static void a_column_collapses_as_in_the_papers_program(void)
{
    static const char *const stresses[] = {"cell", "node"};
    static const double front[] = {1.006, 1.761, 2.329, 2.496};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text, COLLAPSE, stresses[i]);
        test_run r = test_run_start(2, "%s", text);
        check_expect_warning(); // the first steps are long ones
        for (int t = 0; t < 4; t++) {
            CHECK_HELPER(test_run_frames(&r, 8));
            check_context("%s, %d", stresses[i], t + 1);
            CHECK_NEAR(heap_of(r.world, 0.324).front, front[t], 0.06 * front[t]);
        }
        CHECK_HELPER(test_run_frames(&r, 12));
        const heap end = heap_of(r.world, 0.324);
        CHECK_NEAR(end.most, 2.365, 0.04 * 2.365);
        CHECK_NEAR(end.height, 0.630, 0.04 * 0.630);
        CHECK(stats_of(r.world).particles > 0);
        test_run_stop(&r);
    }
}

// ---- the same bits ----

// Sand that falls onto a ball, a tilted plane and a slab that moves, in pages enough for threads.
#define BITS                                                                                       \
    "local dim, stress, precision = %d, '%s', '%s'\n"                                              \
    "scene { method = 'nonsmooth', dimension = dim, dx = 0.02, fps = 30, frames = 10,\n"           \
    "    precision = precision, nonsmooth = { stress = stress } }\n"                               \
    "particles { material = material.sand { cohesion = dim == 2 and 200 or 0 },\n"                 \
    "    per_cell = 4,\n"                                                                          \
    "    shape = box { min = {-0.3, 0.2, -0.06}, max = {0.3, 0.4, 0.06} } }\n"                     \
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0.2, 1, 0} },\n"                 \
    "    contact = 'separate', friction = 0.4 }\n"                                                 \
    "collider { shape = sphere { center = {0, 0.1, 0}, radius = 0.1 }, contact = 'sticky' }\n"     \
    "collider { shape = box { min = {-0.5, 0, -0.3}, max = {-0.35, 0.6, 0.3} }, contact = "        \
    "'separate',\n"                                                                                \
    "    velocity = {0.5, 0, 0} }\n"                                                               \
    "rigid { shape = sphere { center = {0.1, 0.47, 0}, radius = 0.06 }, density = 2600, velocity " \
    "= {0, -1, 0} }\n"

static void *saved(const rp_world *world, size_t *size)
{
    void *data = NULL;
    if (rp_world_save(world, &data, size) != RP_OK) {
        check_record(__FILE__, __LINE__, "no state: %s", rp_last_error());
    }
    return data;
}

static void steps(rp_world *world, int count)
{
    for (int i = 0; i < count; i++) {
        CHECK_OK(rp_world_step(world));
    }
}

// Sums that follow threads instead of pages, a warm start that is not saved, or a sort that a
// restored run does not do change bits.
static void bits_depend_on_neither_threads_nor_breaks(void)
{
    static const struct {
        int dim;
        const char *stress, *precision;
    } worlds[] = {{2, "cell", "single"}, {3, "cell", "double"}, {3, "node", "single"}};
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, BITS, worlds[i].dim, worlds[i].stress, worlds[i].precision);
        test_run one = test_run_start(1, "%s", text), broken = test_run_start(2, "%s", text);
        check_allow_warning(); // few grains between a ball and a plane, and a step that misses
        check_context("%dD, %s", worlds[i].dim, worlds[i].stress);
        CHECK_HELPER(steps(one.world, 5));
        size_t size, other, half;
        void *middle = saved(one.world, &half);
        CHECK_HELPER(steps(one.world, 4));
        void *want = saved(one.world, &size);
        static const int threads[] = {2, 5};
        for (int t = 0; t < 2; t++) {
            test_run many = test_run_start(threads[t], "%s", text);
            CHECK_HELPER(steps(many.world, 9));
            void *got = saved(many.world, &other);
            CHECK(size == other && memcmp(want, got, size) == 0);
            rp_state_free(got);
            test_run_stop(&many);
        }
        CHECK_OK(rp_world_restore(broken.world, middle, half));
        CHECK_HELPER(steps(broken.world, 4));
        void *got = saved(broken.world, &other);
        CHECK(size == other && memcmp(want, got, size) == 0);
        rp_state_free(got);
        rp_state_free(middle);
        rp_state_free(want);
        test_run_stop(&one);
        test_run_stop(&broken);
    }
}

// ---- momentum ----

// Without anything to touch, sand that is sheared and spun keeps its momentum; what a floor gets is
// what sand loses.
static void momentum_is_kept_or_given_away(void)
{
    test_run r = test_run_start(
        2, "scene { method = 'nonsmooth', dx = 0.02, fps = 50, gravity = {0, 0, 0},\n"
           "    precision = 'double', frames = 9 }\n"
           "particles { material = material.sand {}, velocity_gradient =\n"
           "    {{-2, 3, 0}, {-1, -2, 0}, {0, 1, -2}}, velocity = {0.3, 0.2, 0.1},\n"
           "    shape = box { min = {-0.1, -0.1, -0.1}, max = {0.1, 0.1, 0.1} } }\n");
    rp_totals before, after;
    rp_world_totals(r.world, &before);
    CHECK_HELPER(test_run_frames(&r, 5));
    rp_world_totals(r.world, &after);
    for (int a = 0; a < 3; a++) {
        CHECK_NEAR(after.momentum[a], before.momentum[a], 1e-6 * before.mass);
    }
    test_run_stop(&r);

    r = test_run_start(
        2, "scene { method = 'nonsmooth', dx = 0.02, fps = 50, precision = 'double', frames = 9 }\n"
           "particles { material = material.sand {}, velocity = {1, 0, 0},\n"
           "    shape = box { min = {-0.1, 0, -0.1}, max = {0.1, 0.2, 0.1} } }\n"
           "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} },\n"
           "    contact = 'separate', friction = 0.3 }\n");
    rp_world_totals(r.world, &before);
    for (int frame = 0; frame < 5; frame++) {
        rp_collider_load load;
        CHECK_OK(rp_world_run_frame(r.world));
        rp_world_totals(r.world, &after);
        rp_world_collider_load(r.world, 0, &load);
        for (int a = 0; a < 3; a++) {
            const double weight = a == 1 ? -after.mass * g : 0.0;
            CHECK_NEAR(after.momentum[a] - before.momentum[a], (weight - load.force[a]) / 50.0,
                       1e-6 * before.mass);
        }
        before = after;
    }
    test_run_stop(&r);
}

// Catches a node number or a stress that is used as a damaged state has it: such ones start from
// nothing.
static void damaged_stresses_do_no_harm(void)
{
    char text[2048];
    snprintf(text, sizeof text, COLUMN, 2, 0.6, "separate", "cell");
    test_run r = test_run_start(1, "%s", text);
    CHECK(r.world != NULL);
    test_run_frames(&r, 2);
    int64_t count;
    rp_node_stress *s = (rp_node_stress *)stresses_of(r.world, &count);
    CHECK(count > 8);
    for (int64_t i = 0; i < count; i++) {
        s[i].node = i % 3 == 0 ? 0x7ffffff0u + (uint32_t)i : s[i].node;
        s[i].lambda[0] = i % 3 == 1 ? NAN : s[i].lambda[0];
        s[i].lambda[1] = i % 7 == 1 ? -INFINITY : s[i].lambda[1];
    }
    void *state;
    size_t size;
    CHECK_OK(rp_world_save(r.world, &state, &size));
    CHECK_OK(rp_world_restore(r.world, state, size));
    rp_state_free(state);
    test_run_frames(&r, 2);
    CHECK(stats_of(r.world).max_speed < 0.01);
    test_run_stop(&r);
}

TEST_MAIN(TEST(columns_bear_their_weight), TEST(a_layer_rests_or_slides),
          TEST(friction_by_rate_keeps_bagnolds_profile), TEST(a_thick_layer_starts_as_poiseuilles),
          TEST(cohesion_holds_a_layer), TEST(a_column_collapses_as_in_the_papers_program),
          TEST(bits_depend_on_neither_threads_nor_breaks), TEST(momentum_is_kept_or_given_away),
          TEST(damaged_stresses_do_no_harm))

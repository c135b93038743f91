// Contact at the surface of colliders: blocks slide as mechanics says wherever the wall lies in its
// cell, and what a wall is given is what particles lose.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

#define BLOCK                                                                                      \
    "local dim, tilt, off, mu, order = %d, %g, %g, %g, %d\n"                                       \
    "local h = 0.01\n"                                                                             \
    "scene { dimension = dim, dx = h, fps = 50, frames = 10, precision = 'double',\n"              \
    "    order = order == 3 and 'cubic' or 'quadratic',\n"                                         \
    "    explicit = { contact_at = 'surface' } }\n"                                                \
    "local function place(s) return move(s, { rotation = { angle = -tilt },\n"                     \
    "    position = { 0, off * h, 0 } }) end\n"                                                    \
    "collider { shape = place(half_space { point = {0, 0, 0}, normal = {0, 1, 0} }), contact = "   \
    "'separate',\n"                                                                                \
    "    friction = mu, %s }\n"                                                                    \
    "particles { material = material.elastic { young = 2e5, density = 1000 },\n"                   \
    "    shape = place(box { min = {0, 0, 0}, max = {0.08, 0.04, 0.04} }) }\n"

// How fast a block slides, and what friction takes when the wall pushes it up: it swings, and what
// pushes it up rubs it back.
static double way_down(const rp_totals *t, double tilt, double mu)
{
    const double *p = t->momentum;
    return (p[0] * cos(tilt) - p[1] * sin(tilt) + mu * (p[0] * sin(tilt) + p[1] * cos(tilt))) /
           t->mass;
}

// Catches walls whose friction and push depend on where nodes are, impulses that get lost between
// samples, slaves and masters, and forces of colliders that are not the sum of impulses.
static void a_block_slides_down_a_wall_anywhere_in_its_cell(void)
{
    static const struct {
        int dim, order;
        double off, mu;
    } runs[] = {{2, 2, 0.0, 0.0}, {2, 2, 0.3, 0.0}, {2, 2, 0.3, 0.2},
                {2, 2, 0.7, 0.2}, {2, 3, 0.3, 0.2}, {3, 2, 0.3, 0.0},
                {3, 2, 0.3, 0.2}, {3, 2, 0.7, 0.2}, {3, 3, 0.3, 0.2}};
    const double tilt = 17.0 * 3.14159265358979323846 / 180.0;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        char text[4096];
        rp_world *world;
        rp_totals before, after;
        double last = 0.0, gained = 0.0;
        const int frames = runs[i].dim == 3 ? 4 : 10;
        rp_scene_world_def def = rp_default_scene_world_def();
        snprintf(text, sizeof text, BLOCK, runs[i].dim, 17.0, runs[i].off, runs[i].mu,
                 runs[i].order, "");
        rp_scene *scene = scene_of(text);
        CHECK_OK(rp_scene_create_world(scene, &def, &world));
        rp_world_totals(world, &before);
        check_context("dimension %d, order %d, offset %g, friction %g", runs[i].dim, runs[i].order,
                      runs[i].off, runs[i].mu);
        for (int frame = 0; frame < frames; frame++) {
            rp_collider_load load;
            rp_stats stats;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &after);
            rp_world_collider_load(world, 0, &load);
            rp_world_stats(world, &stats);
            for (int a = 0; a < 2; a++) {
                const double weight = a == 1 ? -g * after.mass : 0.0;
                CHECK_NEAR(after.momentum[a] - before.momentum[a], (weight - load.force[a]) / 50.0,
                           1e-12 * g * after.mass + stats.dropped_momentum);
            }
            before = after;
            const double v = way_down(&after, tilt, runs[i].mu);
            gained += frame == 0 ? 0.0 : v - last; // first it sticks in places as it swings
            last = v;
        }
        const double exact = g * (sin(tilt) - runs[i].mu * cos(tilt)) * (frames - 1) / 50.0;
        printf("  %dD order %d offset %g, friction %g: %.4f of Coulomb's\n", runs[i].dim,
               runs[i].order, runs[i].off, runs[i].mu, gained / exact);
        CHECK_NEAR(gained, exact, 5e-3 * exact);
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

// A box with smooth walls, turned, and off the grid's nodes.
typedef struct crate {
    int dim, order;
    double turned, off; // [degrees], [cells]
    const char *motion; // of its walls; NULL: they stand still
} crate;
enum { WIDE = 8, HIGH = 12, DEEP = 2 }; // [cells]
static const double spacing = 0.01, young = 2e5, poisson = 0.25, density = 1000.0;

static void crate_place(const crate *c, double along, double up, double x[3])
{
    const double a = c->turned * 3.14159265358979323846 / 180.0;
    const double s = along + 0.37 * c->off * spacing, t = up + c->off * spacing;
    x[0] = s * cos(a) - t * sin(a);
    x[1] = s * sin(a) + t * cos(a);
}

// The scene has the motion of its walls.
static void crate_world(const crate *c, rp_scene **scene, rp_world **world)
{
    char text[4096];
    double at[3][3] = {{0}};
    crate_place(c, 0.0, 0.0, at[0]);
    crate_place(c, -0.5 * WIDE * spacing, 0.0, at[1]);
    crate_place(c, 0.5 * WIDE * spacing, 0.0, at[2]);
    snprintf(text, sizeof text,
             "local a = math.rad(%g)\n"
             "scene { dimension = %d, dx = %g, fps = 50, frames = 10, precision = 'double',\n"
             "    order = '%s', explicit = { contact_at = 'surface' },\n"
             "    gravity = { %.17g * math.sin(a), -%.17g * math.cos(a)%s } }\n"
             "local function wall(x, y, z, nx, ny, nz) collider { contact = 'slip', %s\n"
             "    shape = half_space { point = {x, y, z}, normal = {nx, ny, nz} } } end\n"
             "wall(%.17g, %.17g, 0, -math.sin(a), math.cos(a), 0)\n"
             "wall(%.17g, %.17g, 0, math.cos(a), math.sin(a), 0)\n"
             "wall(%.17g, %.17g, 0, -math.cos(a), -math.sin(a), 0)\n"
             "if %d == 3 then wall(0, 0, 0, 0, 0, 1) wall(0, 0, %.17g, 0, 0, -1) end\n",
             c->turned, c->dim, spacing, c->order == 3 ? "cubic" : "quadratic", g, g,
             c->dim == 3 ? ", 0" : "", c->motion != NULL ? c->motion : "", at[0][0], at[0][1],
             at[1][0], at[1][1], at[2][0], at[2][1], c->dim, DEEP * spacing);
    rp_scene_world_def def = rp_default_scene_world_def();
    *scene = scene_of(text);
    CHECK_OK(rp_scene_create_world(*scene, &def, world));
}

static rp_points_def crate_points(const crate *c, rp_material material, double *x)
{
    const double wide = 0.5 * spacing;
    rp_points_def def = rp_default_points_def();
    for (int k = 0; k < (c->dim == 3 ? 2 * DEEP : 1); k++) {
        for (int j = 0; j < 2 * HIGH; j++) {
            for (int i = 0; i < 2 * WIDE; i++) {
                double *at = x + 3 * def.count++;
                crate_place(c, (i + 0.5 - WIDE) * wide, (j + 0.5) * wide, at);
                at[2] = c->dim == 3 ? (k + 0.5) * wide : 0.0;
            }
        }
    }
    def.material = material;
    def.position = x;
    def.volume = c->dim == 3 ? wide * wide * wide : wide * wide;
    return def;
}

static void fill_crate(const crate *c, rp_world *world, const rp_material_def *def)
{
    rp_material material;
    double *x = calloc((size_t)2 * WIDE * 2 * HIGH * 2 * DEEP * 3, sizeof *x);
    CHECK(x != NULL);
    CHECK_OK(rp_world_add_material(world, def, &material));
    const rp_points_def points = crate_points(c, material, x);
    CHECK_OK(rp_world_add_points(world, &points, NULL));
    free(x);
}

// The largest error of a row's mean pressure upwards, of the lowest eight rows, in parts of the
// pressure at the floor; where particles are now.
static void worst_row(const crate *c, const rp_world *world, double *worst)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    const size_t n = (size_t)stats.particles, dim = (size_t)c->dim, comps = dim == 3 ? 6 : 3;
    const double a = c->turned * 3.14159265358979323846 / 180.0;
    const double lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    const double mu = young / (2.0 * (1.0 + poisson));
    double *x = calloc(n * 3, sizeof *x), *e = calloc(n * 6, sizeof *e), at[3];
    *worst = 0.0;
    CHECK(x != NULL && e != NULL);
    crate_place(c, 0.0, 0.0, at);
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
    CHECK_OK(rp_world_read(world, RP_COL_STRAIN, e));
    for (int row = 0; row < 8; row++) {
        double sum = 0.0, count = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double *s = e + i * comps;
            const double up = -(x[i * dim] - at[0]) * sin(a) + (x[i * dim + 1] - at[1]) * cos(a);
            const double xy = s[dim == 3 ? 3 : 2];
            const double along =
                s[0] * sin(a) * sin(a) - 2.0 * xy * sin(a) * cos(a) + s[1] * cos(a) * cos(a);
            const double trace = s[0] + s[1] + (dim == 3 ? s[2] : 0.0);
            if (floor(2.0 * up / spacing) == row) {
                sum -= 2.0 * mu * along + lambda * trace + density * g * (HIGH * spacing - up);
                count += 1.0;
            }
        }
        *worst = fmax(*worst, fabs(sum / count) / (density * g * HIGH * spacing));
    }
    free(x);
    free(e);
}

// Catches pressures that depend on where walls are in their cells and how they are turned, walls
// that do not carry all of the weight, and currents.
static void a_column_in_a_box_presses_as_it_weighs(void)
{
    static const double turned[] = {0.0, 17.0, 30.0, 45.0, 10.0};
    const int offsets = check_long() ? 8 : 2;
    rp_material_def elastic = rp_default_material_def(RP_ELASTIC);
    elastic.density = density;
    elastic.young = young;
    elastic.poisson = poisson;
    for (int i = 0; i < 5 * offsets; i++) {
        const crate c = {i == 3 || (i == 7 && check_long()) ? 3 : 2, 2, turned[i % 5],
                         check_long() ? i / 5 / 8.0
                         : i % 2 == 0 ? 0.25
                                      : 0.75,
                         NULL};
        rp_scene *scene = NULL;
        rp_world *world = NULL;
        crate_world(&c, &scene, &world);
        rp_totals t;
        rp_collider_load load;
        fill_crate(&c, world, &elastic);
        CHECK_OK(rp_world_settle(world, 0.3));
        CHECK_OK(rp_world_run_frame(world));
        rp_world_collider_load(world, 0, &load);
        rp_world_totals(world, &t);
        const double a = c.turned * 3.14159265358979323846 / 180.0, weight = g * t.mass;
        const double carried = load.force[0] * sin(a) - load.force[1] * cos(a);
        double row = NAN;
        worst_row(&c, world, &row);
        check_context("%dD, turned %g, off %g", c.dim, c.turned, c.off);
        printf("  %dD turned %2g off %.3f: worst row %.4f, floor carries %.5f, %.1e m/s\n", c.dim,
               c.turned, c.off, row, carried / weight, sqrt(2.0 * t.kinetic / t.mass));
        CHECK(row < 0.03);
        CHECK_NEAR(carried, weight, 0.005 * weight);
        CHECK(t.kinetic < 0.5 * t.mass * 1e-8); // 0.1 mm/s
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

// Catches walls that are felt from where they were, impulses of the last step that are lost when
// the wall goes on, and walls that press by fits and starts as they pass nodes.
static void a_box_carried_through_the_grid_presses_steadily(void)
{
    static const char carried[] =
        "motion = function(t) local T = 0.2\n"
        "    local s = t < T and 0.5 * (t - math.sin(math.pi * t / T) * T / math.pi) or t - T / 2\n"
        "    return { position = { 0.3 * s, 0.2 * s, 0 } } end,";
    rp_material_def elastic = rp_default_material_def(RP_ELASTIC);
    elastic.density = density;
    elastic.young = young;
    elastic.poisson = poisson;
    for (int i = 0; i < 2; i++) {
        const crate c = {2, 2, 17.0 * i, 0.25, carried};
        const double a = c.turned * 3.14159265358979323846 / 180.0;
        rp_scene *scene = NULL;
        rp_world *world = NULL;
        rp_totals before, after;
        double least = INFINITY, most = -INFINITY;
        crate_world(&c, &scene, &world);
        fill_crate(&c, world, &elastic);
        CHECK_OK(rp_world_settle(world, 0.3));
        rp_world_totals(world, &before);
        check_context("turned %g", c.turned);
        for (int frame = 0; frame < 20; frame++) {
            double given[2] = {g * before.mass * sin(a), -g * before.mass * cos(a)};
            rp_stats stats;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &after);
            rp_world_stats(world, &stats);
            for (int k = 0; k < 3; k++) {
                rp_collider_load load;
                rp_world_collider_load(world, k, &load);
                given[0] -= load.force[0];
                given[1] -= load.force[1];
                if (k == 0 && frame >= 10) {
                    const double carries = load.force[0] * sin(a) - load.force[1] * cos(a);
                    least = fmin(least, carries / (g * after.mass));
                    most = fmax(most, carries / (g * after.mass));
                }
            }
            for (int k = 0; k < 2; k++) {
                CHECK_NEAR(after.momentum[k] - before.momentum[k], given[k] / 50.0,
                           1e-12 * g * after.mass + stats.dropped_momentum);
            }
            before = after;
        }
        printf("  carried, turned %g: floor carries %.4f to %.4f\n", c.turned, least, most);
        CHECK(least > 0.98 && most < 1.02);
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

// Colliders that meet: one moves, and comes near another or overlaps it.
static const char *const meeting[] = {
    // a plough in a tray, its foot on the floor
    "sand(0, 0, 0.3, 0.06) floor(0) wall(0.3, -1)\n"
    "mover(box { min = {-0.05, 0}, max = {0, 0.1} }, 0.5, 0)",
    // the same, halfway in a cell, and its foot in the floor
    "sand(0, 0.005, 0.3, 0.06) floor(0.005) wall(0.3, -1)\n"
    "mover(box { min = {-0.05, 0}, max = {0, 0.1} }, 0.5, 0)",
    // a box that is pushed through sand into the floor
    "sand(0, 0, 0.1, 0.06) sand(0.2, 0, 0.3, 0.06) sand(0.1, 0, 0.2, 0.02) floor(0) wall(0, 1) "
    "wall(0.3, -1)\n"
    "mover(box { min = {0.1, 0.02}, max = {0.2, 0.2} }, 0, -0.2)",
    // two plates that close until nothing is left between them
    "sand(0, -0.02, 0.1, 0.02)\n"
    "mover(box { min = {-0.1, 0.02}, max = {0.2, 0.06} }, 0, -0.1)\n"
    "mover(box { min = {-0.1, -0.06}, max = {0.2, -0.02} }, 0, 0.1)",
};

// @param[out] most force on a collider, in the mean of a frame
static void run_meeting(int number, const char *contact_at, const char *contact, double *most)
{
    char text[4096];
    rp_world *world;
    rp_totals before, after;
    rp_scene_world_def def = rp_default_scene_world_def();
    snprintf(text, sizeof text,
             "scene { dimension = 2, dx = 0.01, fps = 50, frames = 10, precision = 'double',\n"
             "    explicit = { contact_at = '%s' } }\n"
             "local kind, rub = '%s', nil\n"
             "if kind == 'separate' then rub = 0.3 end\n"
             "local function still(x, y, nx, ny) collider { contact = kind, friction = rub,\n"
             "    shape = half_space { point = {x, y}, normal = {nx, ny} } } end\n"
             "local function floor(y) still(0, y, 0, 1) end\n"
             "local function wall(x, way) still(x, 0, way, 0) end\n"
             "local function sand(a, b, c, d) particles { material = material.sand {},\n"
             "    shape = box { min = {a, b}, max = {c, d} } } end\n"
             "local function mover(shape, x, y) collider { shape = shape,\n"
             "    contact = kind, friction = rub, velocity = {x, y, 0} } end\n%s\n",
             contact_at, contact, meeting[number]);
    rp_scene *scene = scene_of(text);
    CHECK_OK(rp_scene_create_world(scene, &def, &world));
    rp_world_totals(world, &before);
    *most = 0.0;
    for (int frame = 0; frame < 10; frame++) {
        rp_stats stats;
        CHECK_OK(rp_world_run_frame(world));
        rp_world_totals(world, &after);
        rp_world_stats(world, &stats);
        double given[2] = {0.0, -g * after.mass}, largest = 0.0;
        for (int c = 0; c < rp_world_colliders(world); c++) {
            rp_collider_load load;
            rp_world_collider_load(world, c, &load);
            given[0] -= load.force[0];
            given[1] -= load.force[1];
            largest = fmax(largest, hypot(load.force[0], load.force[1]));
        }
        for (int a = 0; a < 2; a++) {
            CHECK_NEAR(after.momentum[a] - before.momentum[a], given[a] / 50.0,
                       1e-12 * (g * after.mass + largest) + stats.dropped_momentum);
        }
        *most = fmax(*most, largest);
        before = after;
    }
    rp_world_destroy(world);
    rp_scene_free(scene);
}

// Catches samples of two colliders at one place that ask for different velocities: their impulses
// grow from sweep to sweep and from step to step, and steps shrink to nothing.
static void forces_stay_finite_where_a_moving_collider_meets_another_one(void)
{
    static const char *const contacts[] = {"sticky", "separate"};
    check_allow_warning(); // of thin sand, and of velocities that do not settle
    for (int i = 0; i < 8; i++) {
        const int number = i / 2;
        double nodes = NAN, surface = NAN;
        check_context("case %d, %s", number, contacts[i % 2]);
        run_meeting(number, "nodes", contacts[i % 2], &nodes);
        run_meeting(number, "surface", contacts[i % 2], &surface);
        printf("  meeting %d, %s: largest force %.4g N, with nodes %.4g N\n", number,
               contacts[i % 2], surface, nodes);
        CHECK(surface < 4.0 * nodes && surface > nodes / 4.0);
    }
}

// Catches pistons that are held, or that let go, where they touch the cylinder: an elastic body
// that cannot give way is as stiff as its law says. A gap of half a cell carries less.
static void a_piston_presses_as_the_law_says(void)
{
    for (int i = 0; i < (check_long() ? 4 : 3); i++) {
        const int dim = i == 3 ? 3 : 2;
        const double gap = i == 1 ? 0.5 : i == 2 ? 0.25 : 0.0, fall = 0.05, high = 0.06;
        char text[4096];
        rp_world *world;
        rp_collider_load load;
        rp_scene_world_def def = rp_default_scene_world_def();
        snprintf(text, sizeof text,
                 "local gap, deep = %g * 0.01, %d == 3 and 0.05 or 0\n"
                 "scene { dimension = %d, dx = 0.01, fps = 50, frames = 10, precision = 'double',\n"
                 "    gravity = {0, 0, 0}, explicit = { contact_at = 'surface' } }\n"
                 "local function wall(x, y, z, nx, ny, nz) collider { contact = 'slip',\n"
                 "    shape = half_space { point = {x, y, z}, normal = {nx, ny, nz} } } end\n"
                 "wall(0, 0, 0, 0, 1, 0) wall(0, 0, 0, 1, 0, 0) wall(0.08, 0, 0, -1, 0, 0)\n"
                 "if deep > 0 then wall(0, 0, 0, 0, 0, 1) wall(0, 0, deep, 0, 0, -1) end\n"
                 "collider { contact = 'slip', velocity = {0, -%g, 0}, shape = box {\n"
                 "    min = {gap, %g, gap}, max = {0.08 - gap, 0.1, deep - gap} } }\n"
                 "particles { material = material.elastic { young = 2e5, poisson = 0.25,\n"
                 "        density = 1000 }, sampling = 'lattice', jitter = 0,\n"
                 "    shape = box { min = {0, 0, 0}, max = {0.08, %g, deep} } }\n",
                 gap, dim, dim, fall, high, high);
        rp_scene *scene = scene_of(text);
        CHECK_OK(rp_scene_create_world(scene, &def, &world));
        for (int frame = 0; frame < 15; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        rp_world_collider_load(world, rp_world_colliders(world) - 1, &load);
        // in the middle of the last frame
        const double J = 1.0 - fall * 14.5 / 50.0 / high;
        const double modulus = young * (1.0 - poisson) / (1.0 + poisson) / (1.0 - 2.0 * poisson);
        const double exact = -modulus * log(J) / J * 0.08 * (dim == 3 ? 0.05 : 1.0);
        printf("  piston in %dD, gap %g: %.4f of the law's force\n", dim, gap,
               load.force[1] / exact);
        check_context("%dD, gap %g", dim, gap);
        CHECK(load.force[1] < 1.01 * exact);
        CHECK(load.force[1] > (gap < 0.5 ? 0.99 : 1.0 - 2.0 * gap / 8.0) * exact);
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

// Catches walls that feed motion: impulses of the last step that meet less mass than they came
// from, and extensions that outgrow their masters.
static void water_in_a_box_comes_to_rest(void)
{
    rp_material_def water = rp_default_material_def(RP_WATER);
    water.bulk_modulus = 2e5;
    for (int i = 0; i < 3; i++) {
        const crate c = {2, 2, 17.0 * i, 0.75, NULL};
        rp_scene *scene = NULL;
        rp_world *world = NULL;
        crate_world(&c, &scene, &world);
        rp_totals t;
        rp_collider_load load;
        fill_crate(&c, world, &water);
        CHECK_OK(rp_world_settle(world, 0.3));
        for (int frame = 0; frame < 10; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        rp_world_collider_load(world, 0, &load);
        rp_world_totals(world, &t);
        const double a = c.turned * 3.14159265358979323846 / 180.0, weight = g * t.mass;
        check_context("turned %g", c.turned);
        printf("  water turned %g: %.1e m/s\n", c.turned, sqrt(2.0 * t.kinetic / t.mass));
        CHECK_NEAR(load.force[0] * sin(a) - load.force[1] * cos(a), weight, 0.005 * weight);
        CHECK(t.kinetic < 0.5 * t.mass * 1e-4); // 1 cm/s
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

static rp_world *block_world(rp_scene *scene, int threads)
{
    rp_world *world;
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    return rp_scene_create_world(scene, &def, &world) == RP_OK ? world : NULL;
}

static void check_bits(int dim, const char *motion)
{
    static const int threads[] = {1, 2, 5, 3};
    char text[4096];
    void *half = NULL;
    size_t half_size = 0;
    double *first[2] = {NULL, NULL};
    snprintf(text, sizeof text, BLOCK, dim, 17.0, 0.3, 0.2, 2, motion);
    rp_scene *scene = scene_of(text);
    for (int i = 0; i < 4; i++) { // the last one begins in the middle
        rp_world *world = block_world(scene, threads[i]);
        CHECK(world != NULL);
        if (i == 3) {
            CHECK_OK(rp_world_restore(world, half, half_size));
        }
        for (int frame = i == 3 ? 2 : 0; frame < 4; frame++) {
            CHECK_OK(rp_world_run_frame(world));
            if (i == 0 && frame == 1) {
                CHECK_OK(rp_world_save(world, &half, &half_size));
            }
        }
        rp_stats stats;
        rp_world_stats(world, &stats);
        const size_t n = (size_t)stats.particles * 3;
        check_context("%s, %d threads", motion, threads[i]);
        for (int k = 0; k < 2; k++) {
            double *x = calloc(n, sizeof *x);
            CHECK(x != NULL);
            CHECK_OK(rp_world_read(world, k == 0 ? RP_COL_POSITION : RP_COL_VELOCITY, x));
            if (i == 0) {
                first[k] = x;
            } else {
                CHECK(memcmp(x, first[k], n * sizeof *x) == 0);
                free(x);
            }
        }
        rp_world_destroy(world);
    }
    rp_state_free(half);
    free(first[0]);
    free(first[1]);
    rp_scene_free(scene);
}

// Catches impulses that are not saved, and an order of samples or sums that threads can change.
static void bits_depend_neither_on_threads_nor_on_a_restart(void)
{
    check_bits(2, "");
    check_bits(2, "velocity = {0.1, 0.05, 0}, spin = { rate = 20 }");
    if (check_long()) {
        check_bits(3, "");
        check_bits(3, "velocity = {0.1, 0.05, 0.02}, spin = { rate = 20 }");
    }
}

// Catches what cannot be done and is done in silence.
static void what_surfaces_cannot_do_is_refused(void)
{
#define IN_2D                                                                                      \
    "scene { dimension = 2, dx = 0.01, frames = 1, explicit = { contact_at = 'surface' } }\n"
#define FLOOR "half_space { point = {0, 0}, normal = {0, 1} }"
#define BOX   "shape = box { min = {0, 0}, max = {0.05, 0.05} } }\n"
    static const struct {
        const char *text, *says;
    } no[] = {
        {IN_2D "rigid { shape = box { min = {0, -0.02}, max = {0.05, -0.01} }, density = 1000 }\n"
               "particles { material = material.sand {}, " BOX,
         "rigid bodies"},
        {IN_2D "collider { shape = " FLOOR " }\n"
               "particles { material = material.sand {}, body = 'a', " BOX,
         "several velocity fields"},
        {IN_2D "output { energy = true }\ncollider { shape = " FLOOR " }\n"
               "particles { material = material.sand {}, " BOX,
         "an account of energy"},
    };
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        rp_scene *scene = scene_of(no[i].text);
        rp_world *world;
        rp_scene_world_def def = rp_default_scene_world_def();
        CHECK_ERROR(rp_scene_create_world(scene, &def, &world), RP_ERR_UNSUPPORTED, no[i].says);
        rp_scene_free(scene);
    }
}

TEST_MAIN(TEST(a_block_slides_down_a_wall_anywhere_in_its_cell),
          TEST(a_column_in_a_box_presses_as_it_weighs),
          TEST(a_box_carried_through_the_grid_presses_steadily),
          TEST(forces_stay_finite_where_a_moving_collider_meets_another_one),
          TEST(a_piston_presses_as_the_law_says), TEST(water_in_a_box_comes_to_rest),
          TEST(bits_depend_neither_on_threads_nor_on_a_restart),
          TEST(what_surfaces_cannot_do_is_refused))

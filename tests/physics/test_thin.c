// Thin colliders: cups and plates of less than a few cells hold sand wherever they lie on the grid
// and however they are turned, or a warning before the run says that they do not.
//
// A few of each run here; with REPOSE_SWEEP=all in the environment (make check-all) every
// thickness, contact, dimension and 30 offsets and tilts each, and the counts are printed.
#include "repose/repose.h"

#include "check.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Passes a failure up.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const rp_result try_ = (call);                                                             \
        if (try_ != RP_OK) {                                                                       \
            return try_;                                                                           \
        }                                                                                          \
    } while (0)

static const double dx = 0.01, density = 2200.0, g = 9.81;

typedef enum kind { CUP, PLATE, SHOWER, KINDS } kind;
static const char *const kind_name[KINDS] = {"cup", "plate", "shower"};
static const char *const contact_name[] = {"sticky", "slip", "separate"};

// A thing that should hold sand. It is described with its floor's upper side at y = 0, then turned
// and moved; gravity is turned along, so that it stands upright in its own frame.
typedef struct specimen {
    int dim, order;
    kind kind;
    rp_contact contact;
    double thick;             // [cells]
    double turn[4], place[3]; // quaternion; [m]
    bool mesh;
} specimen;

static const double HIGH = 8.0; // [cells]: within a cup
static const double WIDTH[4] = {[2] = 8.0, [3] = 5.0},
                    FULL[4] = {[2] = 4.0, [3] = 2.5}; // of the sand

static void rotate(const double q[4], const double x[3], double out[3])
{
    double t[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        t[a] = 2.0 * (q[b] * x[c] - q[c] * x[b]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = x[a] + q[3] * t[a] + q[b] * t[c] - q[c] * t[b];
    }
}

static void put(const specimen *s, const double local[3], double out[3])
{
    rotate(s->turn, local, out);
    for (int a = 0; a < 3; a++) {
        out[a] += s->place[a];
    }
}

static void take(const specimen *s, const double x[3], double out[3])
{
    const double back[4] = {-s->turn[0], -s->turn[1], -s->turn[2], s->turn[3]};
    const double from[3] = {x[0] - s->place[0], x[1] - s->place[1], x[2] - s->place[2]};
    rotate(back, from, out);
}

// ---- shapes ----

// Two boxes, the second one open to the top of the first: 8 corners each, a bit for each axis.
static rp_result mesh_of_cup(const double outer[2][3], const double inner[2][3], rp_shape **out)
{
    double corner[16][3];
    int32_t triangle[28][3];
    int count = 0;
    for (int i = 0; i < 16; i++) {
        for (int a = 0; a < 3; a++) {
            corner[i][a] = (i < 8 ? outer : inner)[i >> a & 1][a];
        }
        corner[i][1] = fmin(corner[i][1], outer[1][1]);
    }
    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++) {
            const int b = (axis + 1) % 3, c = (axis + 2) % 3;
            const int way[4] = {0, 1 << b, 1 << b | 1 << c, 1 << c};
            for (int box = 0; box < 2 && !(axis == 1 && side == 1); box++) {
                int32_t quad[4];
                for (int k = 0; k < 4; k++) {
                    quad[k] = 8 * box + (side << axis | way[(side ^ box) != 0 ? k : 3 - k]);
                }
                const int32_t both[2][3] = {{quad[0], quad[1], quad[2]},
                                            {quad[0], quad[2], quad[3]}};
                memcpy(triangle[count], both, sizeof both);
                count += 2;
            }
        }
    }
    // the rim
    static const int32_t ring[4] = {2, 6, 7, 3}; // x, z around at the top
    for (int k = 0; k < 4; k++) {
        const int32_t p = ring[k], q = ring[(k + 1) % 4];
        const int32_t both[2][3] = {{p, q, q + 8}, {p, q + 8, p + 8}};
        memcpy(triangle[count], both, sizeof both);
        count += 2;
    }
    rp_mesh_def def = rp_default_mesh_def();
    def.vertices = &corner[0][0];
    def.vertex_count = 16;
    def.triangles = &triangle[0][0];
    def.triangle_count = count;
    def.threads = 1;
    return rp_shape_mesh_for(&def, dx, out);
}

static rp_result shape_of(const specimen *s, rp_shape **out)
{
    const double half = 0.5 * WIDTH[s->dim] * dx, thick = s->thick * dx;
    const double wide = half + (s->kind == CUP ? thick : 4.0 * dx);
    const double high = s->kind == CUP ? HIGH * dx : 0.0;
    double outer[2][3] = {{-wide, -thick, -wide}, {wide, high, wide}};
    const double inner[2][3] = {{-half, 0.0, -half}, {half, 2.0 * HIGH * dx, half}};
    rp_shape *box = NULL, *hole = NULL, *cup = NULL;
    rp_result result = RP_OK;
    if (s->dim == 2) {
        outer[0][2] = -INFINITY;
        outer[1][2] = INFINITY;
    }
    if (s->mesh && s->kind == CUP) {
        result = mesh_of_cup(outer, inner, &cup);
    } else {
        double open[2][3];
        memcpy(open, inner, sizeof open);
        if (s->dim == 2) {
            open[0][2] = -INFINITY;
            open[1][2] = INFINITY;
        }
        result = rp_shape_box(outer[0], outer[1], &box);
        result = result == RP_OK ? rp_shape_box(open[0], open[1], &hole) : result;
        if (result == RP_OK) {
            result = s->kind == CUP ? rp_shape_subtract(box, &hole, 1, &cup) : RP_OK;
            cup = s->kind == CUP ? cup : rp_shape_retain(box);
        }
    }
    result = result == RP_OK ? rp_shape_move(cup, s->place, s->turn, 1.0, out) : result;
    rp_shape_release(box);
    rp_shape_release(hole);
    rp_shape_release(cup);
    return result;
}

// ---- worlds ----

static rp_result add_sand(rp_world *world, const specimen *s, rp_material material)
{
    enum { MOST = 32 * 32 * 32 };
    static double x[MOST][3], v[MOST][3];
    const double spacing = 0.5 * dx, high = s->kind == CUP ? 0.0 : 1.0 * dx;
    const double down[3] = {0.0, s->kind == CUP ? 0.0 : s->kind == PLATE ? -1.0 : -2.0, 0.0};
    const int wide = (int)(2.0 * WIDTH[s->dim]), high_rows = (int)(2.0 * FULL[s->dim]);
    const int rows[3] = {wide, high_rows, s->dim == 3 ? wide : 1};
    uint64_t random = 7;
    int64_t count = 0;
    for (int i = 0; i < rows[0]; i++) {
        for (int j = 0; j < rows[1]; j++) {
            for (int k = 0; k < rows[2]; k++) {
                double local[3] = {(i + 0.5 - 0.5 * rows[0]) * spacing, (j + 0.5) * spacing + high,
                                   s->dim == 3 ? (k + 0.5 - 0.5 * rows[2]) * spacing : 0.0};
                for (int a = 0; a < s->dim; a++) {
                    local[a] += spacing * test_between(&random, -0.25, 0.25);
                }
                // a shower: one in eight, so that grains hit it one by one
                local[1] += s->kind == SHOWER ? 4.0 * (j + 0.5) * spacing : 0.0;
                if (s->kind == SHOWER && test_below(&random, 8) != 0) {
                    continue;
                }
                put(s, local, x[count]);
                rotate(s->turn, down, v[count++]);
            }
        }
    }
    rp_points_def points = rp_default_points_def();
    points.material = material;
    points.count = count;
    points.position = &x[0][0];
    points.velocity = &v[0][0];
    points.volume = pow(spacing, s->dim);
    return rp_world_add_points(world, &points, NULL);
}

static rp_result add_colliders(rp_world *world, const specimen *s)
{
    rp_collider_def def = rp_default_collider_def();
    rp_shape *shape;
    TRY(shape_of(s, &shape));
    def.shape = shape;
    def.contact = s->contact;
    def.friction = 0.3;
    def.name = "thin";
    const rp_result result = rp_world_add_collider(world, &def);
    rp_shape_release(shape);
    TRY(result);
    // plates stand between walls that have no end
    for (int side = 0; side < 2 * (s->dim - 1) && s->kind != CUP; side++) {
        rp_plane_def plane = rp_default_plane_def();
        const int axis = side / 2 * 2;
        const double sign = side % 2 != 0 ? 1.0 : -1.0;
        double point[3] = {0}, normal[3] = {0};
        point[axis] = 0.5 * sign * WIDTH[s->dim] * dx;
        normal[axis] = -sign;
        put(s, point, plane.point);
        rotate(s->turn, normal, plane.normal);
        plane.contact = RP_SLIP;
        TRY(rp_world_add_plane(world, &plane));
    }
    return RP_OK;
}

static rp_result make_world(const specimen *s, bool plan, rp_world **out)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_material material;
    const double down[3] = {0.0, -g, 0.0};
    def.dimension = s->dim;
    def.order = s->order;
    def.dx = dx;
    def.fps = 20.0;
    def.plan = plan;
    def.threads = 1;
    rotate(s->turn, down, def.gravity);
    sand.density = density;
    TRY(rp_world_create(&def, out));
    TRY(rp_world_add_material(*out, &sand, &material));
    TRY(add_colliders(*out, s));
    return add_sand(*out, s, material);
}

// ---- what comes of it ----

static bool warned;

static void notice(rp_log_level level, const char *message, void *context)
{
    (void)context;
    warned = warned || (level == RP_LOG_WARNING && strstr(message, "fall through") != NULL);
}

// Share of the sand that has come out on the other side.
static double lost_share(const rp_world *world, const specimen *s)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    const int64_t n = stats.particles;
    const int comps = rp_world_column_comps(world, RP_COL_POSITION);
    double *x = malloc((size_t)(n * comps) * sizeof *x);
    int64_t lost = 0;
    rp_world_read(world, RP_COL_POSITION, x);
    for (int64_t i = 0; i < n; i++) {
        double at[3] = {0}, local[3];
        memcpy(at, x + i * comps, (size_t)comps * sizeof *x);
        take(s, at, local);
        const double side = fmax(fabs(local[0]), s->dim == 3 ? fabs(local[2]) : 0.0);
        lost += local[1] < -s->thick * dx || (side > (0.5 * WIDTH[s->dim] + s->thick) * dx &&
                                              local[1] < HIGH * dx && s->kind == CUP);
    }
    free(x);
    return (double)lost / (double)n;
}

typedef struct outcome {
    double lost; // share
    bool warned;
    rp_result result;
} outcome;

static outcome try_it(const specimen *s)
{
    enum { FRAMES = 7 };
    outcome o = {0};
    rp_world *world = NULL;
    o.result = make_world(s, true, &world);
    if (o.result == RP_OK) {
        warned = false;
        rp_set_log_hook(notice, NULL);
        o.result = rp_world_foresee(world);
        rp_set_log_hook(NULL, NULL);
        o.warned = warned;
    }
    rp_world_destroy(world);
    world = NULL;
    o.result = o.result == RP_OK ? make_world(s, false, &world) : o.result;
    for (int i = 0; i < FRAMES && o.result == RP_OK; i++) {
        o.result = rp_world_run_frame(world);
    }
    o.lost = o.result == RP_OK ? lost_share(world, s) : 1.0;
    rp_world_destroy(world);
    return o;
}

// The n-th of 30 places and tilts: ten that lie along the grid, then any.
static void lay(specimen *s, int n)
{
    uint64_t random = 1000 + (uint64_t)n;
    double length = 0.0;
    for (int a = 0; a < 3; a++) {
        s->place[a] = a < s->dim ? dx * (n < 10 ? 0.1 * n : test_between(&random, 0.0, 1.0)) : 0.0;
        s->turn[a] = n < 10 || (s->dim == 2 && a < 2) ? 0.0 : test_between(&random, -0.4, 0.4);
        length += s->turn[a] * s->turn[a];
    }
    s->turn[3] = sqrt(1.0 - length);
}

static bool sweeps_all(void)
{
    const char *sweep = getenv("REPOSE_SWEEP");
    return sweep != NULL && strcmp(sweep, "all") == 0;
}

typedef struct tally {
    int runs, warned, leaked; // leaked: of those without a warning
    double worst, worst_warned;
} tally;

static void add_outcome(tally *t, const outcome *o)
{
    t->runs++;
    t->warned += o->warned;
    t->leaked += !o->warned && o->lost > 0.0;
    t->worst = fmax(t->worst, o->warned ? 0.0 : o->lost);
    t->worst_warned = fmax(t->worst_warned, o->warned ? o->lost : 0.0);
}

static tally all; // of all kinds so far

// All thicknesses of one kind.
static void sweep(specimen s, int from, int to, int step)
{
    static const double thick[] = {0.75, 1.0, 1.25, 1.5, 1.67, 2.0, 2.5, 3.0, 4.0};
    const bool print = sweeps_all();
    // without the sweep a few of them
    for (size_t i = 0; i < sizeof thick / sizeof thick[0]; i += print || i == 0 ? 1 : 3) {
        tally t = {0};
        s.thick = thick[i];
        for (int n = from; n < to; n += step) {
            lay(&s, n);
            const outcome o = try_it(&s);
            check_context("%s, %dD, order %d, %s%s, %g dx, place %d", kind_name[s.kind], s.dim,
                          s.order, contact_name[s.contact], s.mesh ? ", mesh" : "", s.thick, n);
            CHECK_OK(o.result);
            CHECK(print || o.warned || o.lost == 0.0);
            CHECK(s.thick < 1.0 || o.lost < 0.05);
            add_outcome(&t, &o);
        }
        if (print) {
            printf(
                "%-6s %dD order %d %-8s %-5s %4.2f dx: %2d runs, %2d warned (worst lost %.3f), %2d "
                "leaked without a warning (worst %.3f)\n",
                kind_name[s.kind], s.dim, s.order, contact_name[s.contact], s.mesh ? "mesh" : "",
                s.thick, t.runs, t.warned, t.worst_warned, t.leaked, t.worst);
            fflush(stdout);
        }
        all.runs += t.runs;
        all.warned += t.warned;
        all.leaked += t.leaked;
        CHECK_EQUAL(t.leaked, 0);
    }
    if (print) { // `make check-all` shows the last line that begins with a number
        printf("%d runs with thin colliders, %d warned of, %d leaked without a warning\n", all.runs,
               all.warned, all.leaked);
    }
}

// ---- tests ----

// Catches a collider that lets sand through where the grid's nodes lie badly in it: with the nearer
// face alone, cups of 1 to 1.67 dx lost all at one height and nothing a little higher.
static void thin_things_hold_sand_or_are_warned_of(void)
{
    for (int k = 0; k < KINDS; k++) {
        for (int c = 0; c < 3; c++) {
            specimen s = {.dim = 2, .order = 2, .kind = (kind)k, .contact = (rp_contact)c};
            CHECK_HELPER(sweep(s, sweeps_all() ? 0 : 5 + k, 30, sweeps_all() ? 1 : 12));
        }
    }
}

static void thin_things_hold_sand_in_space(void)
{
    for (int k = 0; k < KINDS; k++) {
        for (int c = 0; c < 3; c++) {
            specimen s = {.dim = 3, .order = 2, .kind = (kind)k, .contact = (rp_contact)c};
            if (sweeps_all() || (c == RP_SEPARATE && k == CUP)) {
                CHECK_HELPER(
                    sweep(s, sweeps_all() ? 0 : 7, sweeps_all() ? 30 : 20, sweeps_all() ? 1 : 12));
            }
        }
    }
}

// Catches a field of distances that is too coarse for what it stands for.
static void a_cup_of_triangles_holds_sand(void)
{
    for (int c = 0; c < 3; c++) {
        specimen s = {.dim = 3, .order = 2, .kind = CUP, .contact = (rp_contact)c, .mesh = true};
        if (sweeps_all() || c == RP_SEPARATE) {
            CHECK_HELPER(sweep(s, sweeps_all() ? 0 : 7, sweeps_all() ? 30 : 8, 1));
        }
    }
}

// Catches a resolution that does not follow from the mesh: four cells across its walls, a quarter
// of dx at the finest and dx at the coarsest.
static void a_mesh_is_as_fine_as_its_walls_are_thin(void)
{
    static const struct {
        double thick, cells; // [cells] of the wall; of dx in a cell of the field
    } walls[] = {{0.5, 0.25}, {1.0, 0.25}, {2.0, 0.5}, {3.0, 0.75}, {6.0, 1.0}};
    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++) {
        const double half = 10.0 * dx, thick = walls[i].thick * dx, wide = half + thick;
        const double outer[2][3] = {{-wide, -thick, -wide}, {wide, half, wide}};
        const double inner[2][3] = {{-half, 0.0, -half}, {half, 2.0 * half, half}};
        rp_shape *cup;
        rp_mesh_fit fit;
        CHECK_OK(mesh_of_cup(outer, inner, &cup));
        check_context("a wall of %g dx", walls[i].thick);
        CHECK(rp_shape_mesh_fit(cup, &fit));
        CHECK_NEAR(fit.resolution, walls[i].cells * dx, 0.02 * dx);
        CHECK_NEAR(fit.thickness, fmin(thick, 4.0 * dx), 0.02 * dx);
        rp_shape_release(cup);
    }
}

// Cubic splines reach farther.
static void thin_things_hold_sand_with_cubic_splines(void)
{
    specimen s = {.dim = 2, .order = 3, .kind = CUP, .contact = RP_SEPARATE};
    CHECK_HELPER(sweep(s, sweeps_all() ? 0 : 7, sweeps_all() ? 30 : 8, 1));
}

TEST_MAIN(TEST(thin_things_hold_sand_or_are_warned_of), TEST(thin_things_hold_sand_in_space),
          TEST(a_cup_of_triangles_holds_sand), TEST(a_mesh_is_as_fine_as_its_walls_are_thin),
          TEST(thin_things_hold_sand_with_cubic_splines))

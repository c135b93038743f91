// Tests src/shape/mesh*.c: distances against shapes that have formulas, surfaces that are none.
#include "repose/shape.h"
#include "shape/sample.h"

#include "check.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- surfaces ----

typedef struct surface {
    double *vertex; // [vertices][3]
    int32_t *triangle;
    int64_t vertices, triangles;
} surface;

static surface make_surface(int64_t vertices, int64_t triangles)
{
    return (surface){calloc((size_t)vertices, sizeof(double[3])),
                     calloc((size_t)triangles, sizeof(int32_t[3])), vertices, triangles};
}

static void free_surface(surface *s)
{
    free(s->vertex);
    free(s->triangle);
}

static rp_mesh_def def_of(const surface *s, double resolution)
{
    rp_mesh_def def = rp_default_mesh_def();
    def.vertices = s->vertex;
    def.triangles = s->triangle;
    def.vertex_count = s->vertices;
    def.triangle_count = s->triangles;
    def.resolution = resolution;
    return def;
}

static void put_quad(surface *s, int64_t *t, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t corner[6] = {a, b, c, a, c, d};
    memcpy(s->triangle + 3 * *t, corner, sizeof corner);
    *t += 2;
}

// A cube with corners at -1 and 1, n x n squares to a face, every face with corners of its own;
// `round` blows it up to a ball of that radius, 0 leaves it.
static surface make_cube(int n, double round, const double center[3])
{
    surface s = make_surface(6 * (n + 1) * (n + 1), 12 * n * n);
    int64_t v = 0, t = 0;
    for (int face = 0; face < 6; face++) {
        const int a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        const int32_t first = (int32_t)v;
        for (int i = 0; i < (n + 1) * (n + 1); i++, v++) {
            double x[3];
            x[a] = face % 2 == 0 ? -1.0 : 1.0;
            x[b] = 2.0 * (i / (n + 1)) / n - 1.0;
            x[c] = 2.0 * (i % (n + 1)) / n - 1.0;
            const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            for (int k = 0; k < 3; k++) {
                s.vertex[3 * v + k] = center[k] + (round > 0.0 ? round * x[k] / length : x[k]);
            }
        }
        for (int i = 0; i < n * n; i++) {
            const int32_t p = first + (i / n) * (n + 1) + i % n, up = p + n + 1;
            if (face % 2 == 0) {
                put_quad(&s, &t, p, p + 1, up + 1, up);
            } else {
                put_quad(&s, &t, p, up, up + 1, p + 1);
            }
        }
    }
    return s;
}

static surface make_torus(int n, double big, double small)
{
    surface s = make_surface(n * n, 2 * n * n);
    int64_t t = 0;
    for (int i = 0; i < n * n; i++) {
        const double u = 2.0 * M_PI * (i / n) / n, v = 2.0 * M_PI * (i % n) / n;
        s.vertex[3 * i + 0] = (big + small * cos(v)) * cos(u);
        s.vertex[3 * i + 1] = (big + small * cos(v)) * sin(u);
        s.vertex[3 * i + 2] = small * sin(v);
        const int32_t right = (i / n + 1) % n * n, up = (i % n + 1) % n;
        put_quad(&s, &t, i, right + i % n, right + up, i / n * n + up);
    }
    return s;
}

static const double origin[3] = {0.0, 0.0, 0.0};

static rp_shape *shape_of(const rp_mesh_def *def)
{
    rp_shape *shape = NULL;
    if (rp_shape_mesh(def, &shape) != RP_OK) {
        check_record(__FILE__, __LINE__, "no shape: %s", rp_last_error());
        abort();
    }
    return shape;
}

static void random_place(uint64_t *random, double reach, double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = test_between(random, -reach, reach);
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// ---- distances ----

// Everything that goes wrong in the field shows here: nearest triangles, sides, interpolation, the
// coarse level, what lies beyond it.
static void a_ball_of_triangles_is_a_ball(void)
{
    const double center[3] = {0.11, -0.07, 0.05}, radius = 1.0, h = 0.03;
    surface s = make_cube(80, radius, center);
    const rp_mesh_def def = def_of(&s, h);
    rp_shape *mesh = shape_of(&def), *ball;
    CHECK_OK(rp_shape_sphere(center, radius, &ball));
    uint64_t random = 1;
    int in_band = 0;
    for (int k = 0; k < 200000; k++) {
        double x[3], n[3], want_n[3];
        random_place(&random, k % 2 == 0 ? 1.3 : 3.0, x);
        const double got = rp_shape_distance(mesh, x, n), want = rp_shape_distance(ball, x, want_n);
        check_context("sample %d at (%g, %g, %g)", k, x[0], x[1], x[2]);
        CHECK_NEAR(dot(n, n), 1.0, 1e-12);
        CHECK(got * want > 0.0 || fabs(want) < 0.1 * h);
        // never much farther than it is, so that whoever steps by it does not step through
        CHECK(fabs(got) <= fabs(want) + 0.1 * h);
        if (fabs(want) <= 3.0 * h) {
            CHECK_NEAR(got, want, 0.1 * h);
            CHECK(dot(n, want_n) > cos(3.0 * M_PI / 180.0));
            in_band++;
        } else {
            // not useless either: the coarse level knows the way, and where it is
            CHECK(fabs(got) >= fmin(fabs(want) - 8.0 * h, 0.5 * fabs(want)));
            CHECK(want < -0.5 || dot(n, want_n) > cos(25.0 * M_PI / 180.0));
        }
    }
    CHECK(in_band > 5000);
    CHECK_NEAR(rp_shape_volume(mesh, 3), rp_shape_volume(ball, 3), 1e-3);
    CHECK(isnan(rp_shape_volume(mesh, 2)));
    double lower[3], upper[3];
    CHECK(rp_shape_bounds(mesh, 3, lower, upper));
    for (int a = 0; a < 3; a++) {
        CHECK_NEAR(lower[a], center[a] - radius, 1e-12);
        CHECK_NEAR(upper[a], center[a] + radius, 1e-12);
    }
    rp_shape_release(mesh);
    rp_shape_release(ball);
    free_surface(&s);
}

// Twelve big triangles, edges and corners; the lines that signs are counted along pass through
// vertices and along faces.
static void a_cube_has_its_corners(void)
{
    const double lower[3] = {-1.0, -1.0, -1.0}, upper[3] = {1.0, 1.0, 1.0};
    rp_shape *box;
    CHECK_OK(rp_shape_box(lower, upper, &box));
    for (int n = 1; n <= 8; n += 7) {
        surface s = make_cube(n, 0.0, origin);
        const rp_mesh_def def = def_of(&s, 0.125);
        rp_shape *mesh = shape_of(&def);
        uint64_t random = 2;
        for (int k = 0; k < 50000; k++) {
            double x[3], n_got[3], n_want[3];
            random_place(&random, 1.6, x);
            const double got = rp_shape_distance(mesh, x, n_got);
            const double want = rp_shape_distance(box, x, n_want);
            check_context("%d squares, sample %d at (%g, %g, %g)", n, k, x[0], x[1], x[2]);
            CHECK(fabs(want) < 0.05 || got * want > 0.0);
            // across an edge the distance has a kink within a cell
            CHECK(fabs(want) > 0.375 || fabs(got - want) <= 0.5 * 0.125);
        }
        // nodes are exact: they lie on multiples of 1/8
        for (int k = 0; k < 1000; k++) {
            double x[3];
            for (int a = 0; a < 3; a++) {
                x[a] = -1.25 + 0.125 * test_below(&random, 21);
            }
            const double want = rp_shape_distance(box, x, NULL);
            CHECK_NEAR(fabs(want) > 0.375 ? 0.0 : rp_shape_distance(mesh, x, NULL),
                       fabs(want) > 0.375 ? 0.0 : want, 1e-6);
        }
        CHECK_NEAR(rp_shape_volume(mesh, 3), 8.0, 1e-12);
        rp_shape_release(mesh);
        free_surface(&s);
    }
    rp_shape_release(box);
}

// A wedge that is 2 high, 1 wide and 3 deep, from files with either axis up.
static void a_mesh_is_turned_as_its_file_wants(void)
{
    const double wedge[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
    const int32_t side[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    static const double want[3][2][3] = {
        {{0, 0, -2}, {1, 3, 0}}, {{0, 0, 0}, {1, 2, 3}}, {{0, -3, 0}, {1, 0, 2}}};
    rp_mesh_def def = rp_default_mesh_def();
    rp_shape *shape;
    def.vertices = &wedge[0][0];
    def.triangles = &side[0][0];
    def.vertex_count = def.triangle_count = 4;
    def.resolution = 0.25;
    for (def.turn = -1; def.turn <= 1; def.turn++) {
        double lower[3], upper[3];
        check_context("turn %d", def.turn);
        CHECK_OK(rp_shape_mesh(&def, &shape));
        CHECK(rp_shape_bounds(shape, 3, lower, upper));
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(lower[a], want[def.turn + 1][0][a], 0.0);
            CHECK_NEAR(upper[a], want[def.turn + 1][1][a], 0.0);
        }
        CHECK_NEAR(rp_shape_volume(shape, 3), 1.0, 1e-12);
        rp_shape_release(shape);
    }
    CHECK_ERROR(rp_shape_mesh(&def, &shape), RP_ERR_ARGUMENT, "mesh.turn: want -1 to 1, got 2");
}

static void a_torus_has_a_hole(void)
{
    const double big = 1.0, small = 0.4, h = 0.04;
    surface s = make_torus(150, big, small);
    const rp_mesh_def def = def_of(&s, h);
    rp_shape *mesh = shape_of(&def);
    uint64_t random = 3;
    for (int k = 0; k < 100000; k++) {
        double x[3];
        random_place(&random, 1.8, x);
        const double want = hypot(hypot(x[0], x[1]) - big, x[2]) - small;
        const double got = rp_shape_distance(mesh, x, NULL);
        check_context("sample %d at (%g, %g, %g)", k, x[0], x[1], x[2]);
        CHECK(fabs(want) < 0.1 * h || got * want > 0.0);
        CHECK(fabs(want) > 3.0 * h || fabs(got - want) < 0.1 * h);
    }
    CHECK(rp_shape_distance(mesh, origin, NULL) > 0.0);
    const double volume = 2.0 * M_PI * M_PI * big * small * small;
    CHECK_NEAR(rp_shape_volume(mesh, 3), volume, 2e-3 * volume);
    rp_shape_release(mesh);
    free_surface(&s);
}

// A cavity is a surface within, turned the other way.
static void a_shell_is_hollow(void)
{
    surface outer = make_cube(20, 1.0, origin), inner = make_cube(20, 0.5, origin);
    surface s = make_surface(outer.vertices + inner.vertices, outer.triangles + inner.triangles);
    memcpy(s.vertex, outer.vertex, (size_t)outer.vertices * sizeof(double[3]));
    memcpy(s.vertex + 3 * outer.vertices, inner.vertex, (size_t)inner.vertices * sizeof(double[3]));
    memcpy(s.triangle, outer.triangle, (size_t)outer.triangles * sizeof(int32_t[3]));
    for (int64_t i = 0; i < 3 * inner.triangles; i++) {
        s.triangle[3 * outer.triangles + i] =
            (int32_t)outer.vertices + inner.triangle[3 * (i / 3) + 2 - i % 3];
    }
    for (int repair = 0; repair < 2; repair++) {
        rp_mesh_def def = def_of(&s, 0.05);
        def.repair = repair;
        rp_shape *mesh = shape_of(&def);
        const double between[3] = {0.0, 0.75, 0.0};
        CHECK(rp_shape_distance(mesh, origin, NULL) > 0.0);
        CHECK(rp_shape_distance(mesh, between, NULL) < 0.0);
        rp_shape_release(mesh);
    }
    free_surface(&outer);
    free_surface(&inner);
    free_surface(&s);
}

static rp_result count(void *context, const double x[3])
{
    (void)x;
    ++*(int64_t *)context;
    return RP_OK;
}

// Whole pieces are filled or left empty by one distance: were it too large anywhere, this shows.
static void a_mesh_can_be_filled(void)
{
    const double small = 0.4, spacing = 0.025;
    surface s = make_torus(100, 1.0, small);
    const rp_mesh_def def = def_of(&s, 0.05);
    rp_shape *mesh = shape_of(&def);
    int64_t samples = 0;
    CHECK_OK(rp_sample_shape(mesh, 3, spacing, 1, count, &samples));
    const double want = rp_shape_volume(mesh, 3) / pow(spacing, 3);
    CHECK_NEAR((double)samples, want, 0.01 * want);
    rp_shape_release(mesh);
    free_surface(&s);
}

static void threads_do_not_matter(void)
{
    surface s = make_torus(60, 1.0, 0.4);
    rp_mesh_def def = def_of(&s, 0.05);
    rp_shape *mesh[2];
    for (int i = 0; i < 2; i++) {
        def.threads = i == 0 ? 1 : 3;
        mesh[i] = shape_of(&def);
    }
    uint64_t random = 4;
    for (int k = 0; k < 20000; k++) {
        double x[3], n[2][3];
        random_place(&random, 2.0, x);
        CHECK(rp_shape_distance(mesh[0], x, n[0]) == rp_shape_distance(mesh[1], x, n[1]));
        CHECK(memcmp(n[0], n[1], sizeof n[0]) == 0);
    }
    rp_shape_release(mesh[0]);
    rp_shape_release(mesh[1]);
    free_surface(&s);
}

// ---- surfaces that are none ----

// What was said about a repair.
static char said[400];
static void listen(rp_log_level level, const char *message, void *context)
{
    (void)level;
    (void)context;
    const size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s\n", message);
}

static void an_open_box_is_refused_and_repaired(void)
{
    surface s = make_cube(4, 0.0, origin);
    s.triangles -= 32; // the lid at z = 1
    rp_mesh_def def = def_of(&s, 0.1);
    rp_shape *shape = (rp_shape *)&shape;
    CHECK_ERROR(rp_shape_mesh(&def, &shape), RP_ERR_ARGUMENT, "open at 16 edges");
    CHECK(shape == NULL);
    CHECK(strstr(rp_last_error(), ", 1) to (") != NULL &&
          strstr(rp_last_error(), "repair = true") != NULL);
    def.repair = true;
    said[0] = '\0';
    rp_set_log_hook(listen, NULL);
    shape = shape_of(&def);
    rp_set_log_hook(NULL, NULL);
    CHECK(strstr(said, "1 holes filled with 16 triangles") != NULL);
    CHECK(strstr(said, "a hole of 141 % of its size has a lid now") != NULL);
    CHECK_NEAR(rp_shape_volume(shape, 3), 8.0, 1e-12);
    const double above[3] = {0.1, 0.2, 1.2}, below[3] = {0.1, 0.2, 0.8};
    CHECK_NEAR(rp_shape_distance(shape, above, NULL), 0.2, 1e-6);
    CHECK_NEAR(rp_shape_distance(shape, below, NULL), -0.2, 1e-6);
    CHECK(rp_shape_distance(shape, origin, NULL) < 0.0);
    rp_shape_release(shape);
    free_surface(&s);
}

static void turn(surface *s, int64_t t)
{
    const int32_t last = s->triangle[3 * t + 2];
    s->triangle[3 * t + 2] = s->triangle[3 * t + 1];
    s->triangle[3 * t + 1] = last;
}

// Each fault is refused with its name, and what repairing makes of it is the cube again.
static void faults_have_names(void)
{
    static const char *const want[] = {"disagree about which side is out at 3 edges", "inside out",
                                       "have no area", "open at", "more than two triangles"};
    for (int fault = 0; fault < 5; fault++) {
        surface s = make_cube(4, 0.0, origin);
        rp_mesh_def def = def_of(&s, 0.1);
        rp_shape *shape;
        check_context("fault %d", fault);
        for (int64_t t = 0; t < s.triangles; t++) {
            if (fault == 1 || (fault == 0 && t == 17)) turn(&s, t);
        }
        if (fault == 2) { // an edge as a triangle
            s.triangle = realloc(s.triangle, (size_t)(s.triangles + 1) * sizeof(int32_t[3]));
            const int32_t flat[3] = {0, 1, 1};
            memcpy(s.triangle + 3 * s.triangles++, flat, sizeof flat);
        }
        if (fault == 3) { // faces that miss each other by a hair
            for (int64_t i = 0; i < 25; i++) {
                s.vertex[3 * i + 1] += 1e-7;
            }
        }
        if (fault == 4) { // one triangle too many
            s.triangle = realloc(s.triangle, (size_t)(s.triangles + 2) * sizeof(int32_t[3]));
            memcpy(s.triangle + 3 * s.triangles, s.triangle, sizeof(int32_t[3]));
            memcpy(s.triangle + 3 * s.triangles + 3, s.triangle, sizeof(int32_t[3]));
            s.triangles += 2;
            turn(&s, s.triangles - 1);
        }
        def = def_of(&s, 0.1);
        CHECK_ERROR(rp_shape_mesh(&def, &shape), RP_ERR_ARGUMENT, want[fault]);
        CHECK(strstr(rp_last_error(), "repair = true") != NULL);
        def.repair = true;
        shape = shape_of(&def);
        const double above[3] = {0.1, 1.2, 0.3};
        CHECK_NEAR(rp_shape_volume(shape, 3), 8.0, 1e-4);
        CHECK_NEAR(rp_shape_distance(shape, above, NULL), 0.2, 1e-4);
        CHECK(rp_shape_distance(shape, origin, NULL) < 0.0);
        rp_shape_release(shape);
        free_surface(&s);
    }
}

// Triangles turned at random, some missing: what comes out is still near to the ball.
static void a_mangled_ball_is_mended(void)
{
    surface s = make_cube(30, 1.0, origin);
    uint64_t random = 5;
    int64_t kept = 0;
    for (int64_t t = 0; t < s.triangles; t++) {
        if (test_below(&random, 100) > 0) {
            memmove(s.triangle + 3 * kept++, s.triangle + 3 * t, sizeof(int32_t[3]));
            if (test_below(&random, 2) == 0) turn(&s, kept - 1);
        }
    }
    s.triangles = kept;
    rp_mesh_def def = def_of(&s, 0.05);
    def.repair = true;
    rp_shape *shape = shape_of(&def);
    for (int k = 0; k < 20000; k++) {
        double x[3];
        random_place(&random, 1.3, x);
        const double want = sqrt(dot(x, x)) - 1.0;
        CHECK(fabs(want) < 0.02 || rp_shape_distance(shape, x, NULL) * want > 0.0);
        CHECK(fabs(want) > 0.15 || fabs(rp_shape_distance(shape, x, NULL) - want) < 0.02);
    }
    CHECK_NEAR(rp_shape_volume(shape, 3), 4.0 / 3.0 * M_PI, 0.02);
    rp_shape_release(shape);
    free_surface(&s);
}

static void defs_that_make_no_mesh_are_refused(void)
{
    surface s = make_cube(1, 0.0, origin);
    const rp_mesh_def good = def_of(&s, 0.1);
    rp_shape *shape;
#define REFUSE(change, code, text)                                                                 \
    do {                                                                                           \
        rp_mesh_def def = good;                                                                    \
        change;                                                                                    \
        CHECK_ERROR(rp_shape_mesh(&def, &shape), code, text);                                      \
        CHECK(shape == NULL);                                                                      \
    } while (0)
    REFUSE(def.cookie = 0, RP_ERR_ARGUMENT, "rp_default_mesh_def");
    REFUSE(def.scale = 0.0, RP_ERR_ARGUMENT, "mesh.scale");
    REFUSE(def.scale = NAN, RP_ERR_ARGUMENT, "mesh.scale");
    REFUSE(def.resolution = 0.0, RP_ERR_ARGUMENT, "mesh.resolution");
    REFUSE(def.resolution = 1e-6, RP_ERR_LIMIT, "resolution");
    REFUSE(def.scale = 1000.0, RP_ERR_LIMIT, "m large, and its surface has");
    REFUSE(def.vertices = NULL, RP_ERR_ARGUMENT, "got neither");
    REFUSE(def.triangle_count = 0, RP_ERR_ARGUMENT, "got neither");
    REFUSE(def.vertex_count = 20, RP_ERR_ARGUMENT, "wants vertex");
    REFUSE(def.scale = 1e308, RP_ERR_ARGUMENT, "size of inf");
    s.triangle[4] = -1;
    REFUSE((void)0, RP_ERR_ARGUMENT, "wants vertex -1");
    s.triangle[4] = s.triangle[3];
    s.vertex[5] = NAN;
    REFUSE((void)0, RP_ERR_ARGUMENT, "vertex 1 is not finite");
    // a surface without an inside
    memset(s.vertex, 0, (size_t)s.vertices * sizeof(double[3]));
    REFUSE((void)0, RP_ERR_ARGUMENT, "size of 0");
    const int32_t both[6] = {0, 1, 2, 0, 2, 1};
    memcpy(s.triangle, both, sizeof both);
    s.vertex[3] = s.vertex[7] = 1.0;
    REFUSE(def.triangle_count = 2, RP_ERR_ARGUMENT, "encloses nothing");
    free_surface(&s);
}

// ---- time ----

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Printed, not judged. Cells are as long as triangles are.
static void a_hundred_thousand_triangles_take_their_time(void)
{
    const int n = CHECK_SANITIZED ? 24 : 92, places = CHECK_SANITIZED ? 10000 : 1000000;
    surface s = make_cube(n, 1.0, origin);
    rp_mesh_def def = def_of(&s, 1.5 / n);
    def.threads = 1;
    const clock_t before = clock(); // of this process: others may be busy
    rp_shape *shape = shape_of(&def);
    printf("%lld triangles in %.2f s on one thread\n", (long long)s.triangles,
           (double)(clock() - before) / CLOCKS_PER_SEC);
    uint64_t random = 6;
    double sum = 0.0;
    const double began = now();
    for (int k = 0; k < places; k++) {
        double x[3], g[3];
        random_place(&random, 1.0, x);
        sum += rp_shape_distance(shape, x, g);
    }
    printf("%.0f ns a distance\n", 1e9 * (now() - began) / places);
    CHECK(isfinite(sum));
    rp_shape_release(shape);
    free_surface(&s);
}

TEST_MAIN(TEST(a_ball_of_triangles_is_a_ball), TEST(a_cube_has_its_corners),
          TEST(a_mesh_is_turned_as_its_file_wants), TEST(a_torus_has_a_hole),
          TEST(a_shell_is_hollow), TEST(a_mesh_can_be_filled), TEST(threads_do_not_matter),
          TEST(an_open_box_is_refused_and_repaired), TEST(faults_have_names),
          TEST(a_mangled_ball_is_mended), TEST(defs_that_make_no_mesh_are_refused),
          TEST(a_hundred_thousand_triangles_take_their_time))

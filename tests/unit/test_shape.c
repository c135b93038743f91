// Tests src/shape: distances and gradients against brute force, bounds and volumes against samples
// and formulas, operators against the logic of sets.
#include "repose/shape.h"
#include "shape/class.h"

#include "check.h"
#include "random.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define PI              3.14159265358979323846

#ifdef __SANITIZE_ADDRESS__
enum {
    SAMPLES = 500,
    CROWD = 20000
}; // a sanitizer looks at memory; statistics are for fast builds
#else
enum { SAMPLES = 4000, CROWD = 200000 };
#endif

// ---- the shapes under test ----

// All lie within the cube from -1 to 1. `inside` is written down anew, from the definition; `on`
// gives a point of the surface from two numbers in [0, 1).
typedef struct specimen {
    const char *name;
    rp_result (*make)(rp_shape **);
    bool (*inside)(const double x[3]);
    void (*on)(double u, double v, double x[3]);
    double volume; // by formula; 0: infinite
} specimen;

static const double point[3] = {0.1, -0.2, 0.3}, normal[3] = {1.0, 2.0, -2.0};
static const double lower[3] = {-0.5, -0.2, -0.3}, upper[3] = {0.4, 0.6, 0.1};
static const double tilt[3] = {2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0}; // a unit vector

static double square(double x) { return x * x; }

// The same numbers as in the library's own frame, but made differently: r and h about an axis.
static void about_axis(const double base[3], const double axis[3], const double x[3], double *r,
                       double *h)
{
    const double d[3] = {x[0] - base[0], x[1] - base[1], x[2] - base[2]};
    const double c[3] = {d[1] * axis[2] - d[2] * axis[1], d[2] * axis[0] - d[0] * axis[2],
                         d[0] * axis[1] - d[1] * axis[0]};
    *r = sqrt(rp_dot(c, c));
    *h = rp_dot(d, axis);
}

// The place with these cylindrical coordinates.
static void from_axis(const double base[3], const double axis[3], double r, double h, double turn,
                      double x[3])
{
    const double any[3] = {0.3, -0.8, 0.52};
    double e[3], g[3];
    for (int a = 0; a < 3; a++) {
        e[a] = any[a] - rp_dot(any, axis) * axis[a];
    }
    const double length = sqrt(rp_dot(e, e));
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        g[a] = (axis[b] * e[c] - axis[c] * e[b]) / length;
    }
    for (int a = 0; a < 3; a++) {
        x[a] = base[a] + h * axis[a] +
               r * (cos(2.0 * PI * turn) * e[a] / length + sin(2.0 * PI * turn) * g[a]);
    }
}

// The unit sphere from two numbers, and a point along a closed line of corners.
static void on_unit_sphere(double u, double v, double n[3])
{
    const double z = 2.0 * u - 1.0, r = sqrt(1.0 - z * z);
    n[0] = r * cos(2.0 * PI * v);
    n[1] = r * sin(2.0 * PI * v);
    n[2] = z;
}

static void on_line(const double (*p)[2], int points, double u, double out[2])
{
    const double at = u * (points - 1);
    const int i = (int)fmin(at, points - 2);
    for (int a = 0; a < 2; a++) {
        out[a] = p[i][a] + (at - i) * (p[i + 1][a] - p[i][a]);
    }
}

static rp_result make_half_space(rp_shape **s) { return rp_shape_half_space(point, normal, s); }
static bool in_half_space(const double x[3])
{
    return (x[0] - 0.1) + 2.0 * (x[1] + 0.2) - 2.0 * (x[2] - 0.3) < 0.0;
}

static rp_result make_box(rp_shape **s) { return rp_shape_box(lower, upper, s); }
static bool in_box(const double x[3])
{
    return x[0] > -0.5 && x[0] < 0.4 && x[1] > -0.2 && x[1] < 0.6 && x[2] > -0.3 && x[2] < 0.1;
}
static void on_box(double u, double v, double x[3])
{
    const int face = (int)(6.0 * u), a = face / 2;
    const double s[2] = {6.0 * u - face, v};
    x[a] = face % 2 == 0 ? lower[a] : upper[a];
    for (int i = 0; i < 2; i++) {
        const int b = (a + 1 + i) % 3;
        x[b] = lower[b] + s[i] * (upper[b] - lower[b]);
    }
}

static const double rounding = 0.15;
static rp_result make_rounded_box(rp_shape **s)
{
    return rp_shape_rounded_box(lower, upper, rounding, s);
}
static bool in_rounded_box(const double x[3])
{
    double d2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const double low = lower[a] + rounding, high = upper[a] - rounding;
        d2 += square(x[a] < low ? low - x[a] : x[a] > high ? x[a] - high : 0.0);
    }
    return d2 < square(rounding);
}
// each point of the box without round edges, pulled in
static void on_rounded_box(double u, double v, double x[3])
{
    double from[3];
    on_box(u, v, x);
    for (int a = 0; a < 3; a++) {
        const double core = fmin(upper[a] - rounding, fmax(lower[a] + rounding, x[a]));
        from[a] = x[a] - core;
        x[a] = core;
    }
    const double length = sqrt(rp_dot(from, from));
    for (int a = 0; a < 3; a++) {
        x[a] += rounding * from[a] / length;
    }
}

static rp_result make_sphere(rp_shape **s) { return rp_shape_sphere(point, 0.45, s); }
static bool in_sphere(const double x[3])
{
    return square(x[0] - 0.1) + square(x[1] + 0.2) + square(x[2] - 0.3) < 0.45 * 0.45;
}
static void on_sphere(double u, double v, double x[3])
{
    double n[3];
    on_unit_sphere(u, v, n);
    for (int a = 0; a < 3; a++) {
        x[a] = point[a] + 0.45 * n[a];
    }
}

static const double end_a[3] = {-0.4, -0.3, 0.2}, end_b[3] = {0.2, 0.3, -0.1}; // 0.9 apart
static rp_result make_capsule(rp_shape **s) { return rp_shape_capsule(end_a, end_b, 0.25, s); }
static bool in_capsule(const double x[3])
{
    const double axis[3] = {2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0};
    double r, h;
    about_axis(end_a, axis, x, &r, &h);
    const double past = h < 0.0 ? -h : h > 0.9 ? h - 0.9 : 0.0;
    return r * r + past * past < 0.25 * 0.25;
}
static void on_capsule(double u, double v, double x[3])
{
    const double axis[3] = {2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0};
    if (u < 0.5) {
        from_axis(end_a, axis, 0.25, 0.9 * 2.0 * u, v, x);
        return;
    }
    double n[3];
    on_unit_sphere(2.0 * u - 1.0, v, n);
    const double *end = rp_dot(n, axis) < 0.0 ? end_a : end_b;
    for (int a = 0; a < 3; a++) {
        x[a] = end[a] + 0.25 * n[a];
    }
}

static const double foot[3] = {-0.3, -0.2, -0.1};
static rp_result make_cylinder(rp_shape **s) { return rp_shape_cylinder(foot, tilt, 0.3, 0.7, s); }
static bool in_cylinder(const double x[3])
{
    double r, h;
    about_axis(foot, tilt, x, &r, &h);
    return r < 0.3 && h > 0.0 && h < 0.7;
}
static void on_cylinder(double u, double v, double x[3])
{
    const double line[4][2] = {{0.0, 0.0}, {0.3, 0.0}, {0.3, 0.7}, {0.0, 0.7}};
    double p[2];
    on_line(line, 4, u, p);
    from_axis(foot, tilt, p[0], p[1], v, x);
}

static rp_result make_cone(rp_shape **s) { return rp_shape_cone(foot, tilt, 0.4, 0.6, s); }
static bool in_cone(const double x[3])
{
    double r, h;
    about_axis(foot, tilt, x, &r, &h);
    return h > 0.0 && r < 0.4 * (1.0 - h / 0.6);
}
static void on_cone(double u, double v, double x[3])
{
    const double line[3][2] = {{0.0, 0.0}, {0.4, 0.0}, {0.0, 0.6}};
    double p[2];
    on_line(line, 3, u, p);
    from_axis(foot, tilt, p[0], p[1], v, x);
}

static rp_result make_torus(rp_shape **s) { return rp_shape_torus(point, tilt, 0.4, 0.2, s); }
static bool in_torus(const double x[3])
{
    double r, h;
    about_axis(point, tilt, x, &r, &h);
    return square(r - 0.4) + h * h < 0.2 * 0.2;
}
static void on_torus(double u, double v, double x[3])
{
    from_axis(point, tilt, 0.4 + 0.2 * cos(2.0 * PI * u), 0.2 * sin(2.0 * PI * u), v, x);
}

static const double radii[3] = {0.6, 0.15, 0.35};
static rp_result make_ellipsoid(rp_shape **s) { return rp_shape_ellipsoid(point, radii, s); }
static bool in_ellipsoid(const double x[3])
{
    return square((x[0] - 0.1) / 0.6) + square((x[1] + 0.2) / 0.15) + square((x[2] - 0.3) / 0.35) <
           1.0;
}
static void on_ellipsoid(double u, double v, double x[3])
{
    double n[3];
    on_unit_sphere(u, v, n);
    for (int a = 0; a < 3; a++) {
        x[a] = point[a] + radii[a] * n[a];
    }
}

// A vase: wide, narrow, wide.
static const double vase[][2] = {{0.3, -0.1}, {0.4, 0.1}, {0.15, 0.4}, {0.35, 0.7}};
static rp_result make_vase(rp_shape **s)
{
    rp_revolve_def def = rp_default_revolve_def();
    memcpy(def.base, foot, sizeof foot);
    memcpy(def.axis, tilt, sizeof tilt);
    def.profile = vase;
    def.points = 4;
    return rp_shape_revolve(&def, s);
}
static bool in_vase(const double x[3])
{
    double r, h;
    about_axis(foot, tilt, x, &r, &h);
    for (int i = 0; i < 3; i++) {
        if (h >= vase[i][1] && h < vase[i + 1][1]) {
            const double t = (h - vase[i][1]) / (vase[i + 1][1] - vase[i][1]);
            return r < vase[i][0] + t * (vase[i + 1][0] - vase[i][0]);
        }
    }
    return false;
}
static void on_vase(double u, double v, double x[3])
{
    const double line[6][2] = {{0.0, -0.1}, {0.3, -0.1}, {0.4, 0.1},
                               {0.15, 0.4}, {0.35, 0.7}, {0.0, 0.7}};
    double p[2];
    on_line(line, 6, u, p);
    from_axis(foot, tilt, p[0], p[1], v, x);
}

// A cylinder with round edges is a rounded box that was turned.
static rp_result make_pill(rp_shape **s)
{
    static const double profile[][2] = {{0.0, 0.0}, {0.4, 0.0}, {0.4, 0.5}, {0.0, 0.5}};
    rp_revolve_def def = rp_default_revolve_def();
    memcpy(def.base, foot, sizeof foot);
    memcpy(def.axis, tilt, sizeof tilt);
    def.profile = profile;
    def.points = 4;
    def.round = 0.2;
    return rp_shape_revolve(&def, s);
}
static bool in_pill(const double x[3])
{
    double r, h;
    about_axis(foot, tilt, x, &r, &h);
    const double out = fmax(0.0, r - 0.2), up = h < 0.2 ? 0.2 - h : h > 0.3 ? h - 0.3 : 0.0;
    return out * out + up * up < 0.2 * 0.2;
}
static void on_pill(double u, double v, double x[3])
{
    const double t = fmod(4.0 * u, 1.0), turn = PI * (t - 0.5);
    const int part = (int)(4.0 * u);
    const double r = part == 0 || part == 1 ? 0.2 * t : part == 2 ? 0.4 : 0.2 + 0.2 * cos(turn);
    const double h = part == 0   ? 0.0
                     : part == 1 ? 0.5
                     : part == 2 ? 0.2 + 0.1 * t
                                 : (turn < 0.0 ? 0.2 : 0.3) + 0.2 * sin(turn);
    from_axis(foot, tilt, r, h, v, x);
}

// A ring with a square cut: a profile that ends where it began.
static rp_result make_ring(rp_shape **s)
{
    static const double profile[][2] = {{0.3, 0.0}, {0.5, 0.0}, {0.5, 0.3}, {0.3, 0.3}, {0.3, 0.0}};
    rp_revolve_def def = rp_default_revolve_def();
    memcpy(def.base, foot, sizeof foot);
    memcpy(def.axis, tilt, sizeof tilt);
    def.profile = profile;
    def.points = 5;
    return rp_shape_revolve(&def, s);
}
static bool in_ring(const double x[3])
{
    double r, h;
    about_axis(foot, tilt, x, &r, &h);
    return r > 0.3 && r < 0.5 && h > 0.0 && h < 0.3;
}
static void on_ring(double u, double v, double x[3])
{
    const double line[5][2] = {{0.3, 0.0}, {0.5, 0.0}, {0.5, 0.3}, {0.3, 0.3}, {0.3, 0.0}};
    double p[2];
    on_line(line, 5, u, p);
    from_axis(foot, tilt, p[0], p[1], v, x);
}

// Hills on a coarse grid.
enum { COLUMNS = 9, ROWS = 7 };
static double hill(int column, int row)
{
    return 0.25 * sin(1.3 * column) * cos(0.9 * row) + 0.03 * row;
}
static rp_result make_hills(rp_shape **s)
{
    double height[ROWS][COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        height[i / COLUMNS][i % COLUMNS] = hill(i % COLUMNS, i / COLUMNS);
    }
    rp_height_field_def def = rp_default_height_field_def();
    def.min[0] = -0.6;
    def.min[1] = -0.5;
    def.max[0] = 0.6;
    def.max[1] = 0.7;
    def.height = &height[0][0];
    def.columns = COLUMNS;
    def.rows = ROWS;
    return rp_shape_height_field(&def, s);
}
static double hill_at(double x, double z)
{
    const double u = fmin(COLUMNS - 1.0, fmax(0.0, (x + 0.6) / 1.2 * (COLUMNS - 1)));
    const double v = fmin(ROWS - 1.0, fmax(0.0, (z + 0.5) / 1.2 * (ROWS - 1)));
    const int i = (int)fmin(COLUMNS - 2.0, floor(u)), j = (int)fmin(ROWS - 2.0, floor(v));
    const double s = u - i, t = v - j;
    return s + t <= 1.0 ? hill(i, j) * (1.0 - s - t) + hill(i + 1, j) * s + hill(i, j + 1) * t
                        : hill(i + 1, j + 1) * (s + t - 1.0) + hill(i, j + 1) * (1.0 - s) +
                              hill(i + 1, j) * (1.0 - t);
}
static bool in_hills(const double x[3]) { return x[1] < hill_at(x[0], x[2]); }
static void on_hills(double u, double v, double x[3])
{
    x[0] = -2.5 + 5.0 * u;
    x[2] = -2.5 + 5.0 * v;
    x[1] = hill_at(x[0], x[2]);
}

static const specimen specimens[] = {
    {"half-space", make_half_space, in_half_space, NULL, 0.0},
    {"box", make_box, in_box, on_box, 0.9 * 0.8 * 0.4},
    {"rounded box", make_rounded_box, in_rounded_box, on_rounded_box,
     0.6 * 0.5 * 0.1 + 0.3 * (0.3 + 0.05 + 0.06) + PI * 0.0225 * 1.2 + 4.0 / 3.0 * PI * 0.003375},
    {"sphere", make_sphere, in_sphere, on_sphere, 4.0 / 3.0 * PI * 0.091125},
    {"capsule", make_capsule, in_capsule, on_capsule, PI * 0.0625 * (0.9 + 1.0 / 3.0)},
    {"cylinder", make_cylinder, in_cylinder, on_cylinder, PI * 0.09 * 0.7},
    {"cone", make_cone, in_cone, on_cone, PI * 0.16 * 0.2},
    {"torus", make_torus, in_torus, on_torus, 2.0 * PI *PI * 0.4 * 0.04},
    {"ellipsoid", make_ellipsoid, in_ellipsoid, on_ellipsoid, 4.0 / 3.0 * PI * 0.6 * 0.15 * 0.35},
    {"vase", make_vase, in_vase, on_vase,
     PI / 3.0 *
         (0.2 * (0.09 + 0.12 + 0.16) + 0.3 * (0.16 + 0.06 + 0.0225) +
          0.3 * (0.0225 + 0.0525 + 0.1225))},
    // a core, a tube around it, half a circle turned about the axis
    {"pill", make_pill, in_pill, on_pill,
     PI * 0.04 * 0.5 + PI *(0.16 - 0.04) * 0.1 +
         2.0 * PI *(0.5 * PI * 0.04) * (0.2 + 4.0 * 0.2 / (3.0 * PI))},
    {"ring", make_ring, in_ring, on_ring, PI * 0.16 * 0.3},
    {"hills", make_hills, in_hills, on_hills, 0.0},
};
enum { SPECIMENS = sizeof specimens / sizeof specimens[0] };

static rp_shape *must(rp_result result, rp_shape *shape)
{
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no shape: %s", rp_last_error());
        abort();
    }
    return shape;
}

static rp_shape *made(rp_result (*make)(rp_shape **))
{
    rp_shape *shape;
    const rp_result result = make(&shape);
    return must(result, shape);
}

static void random_place(uint64_t *random, double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = test_between(random, -1.0, 1.0);
    }
}

static void step(const double x[3], double by, const double n[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = x[a] + by * n[a];
    }
}

// ---- simple shapes ----

static void the_inside_is_where_it_should_be(void)
{
    uint64_t random = 2;
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        int inside = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x[3];
            random_place(&random, x);
            check_context("%s, sample %d", specimens[i].name, k);
            CHECK((rp_shape_distance(shape, x, NULL) < 0.0) == specimens[i].inside(x));
            inside += specimens[i].inside(x);
        }
        CHECK(inside > SAMPLES / 250 && inside < SAMPLES);
        rp_shape_release(shape);
    }
}

// Is the distance the one of a surface? Walking that far along the gradient crosses it, and no
// point nearer lies on the other side.
static void distance_and_gradient_lead_to_the_surface(void)
{
    uint64_t random = 1;
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        int odd = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x[3], n[3], there[3], way[3];
            random_place(&random, x);
            const double phi = rp_shape_distance(shape, x, n);
            check_context("%s, sample %d", specimens[i].name, k);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-13);
            // round-off of a few operations with numbers up to 3
            step(x, -phi, n, there);
            CHECK_NEAR(rp_shape_distance(shape, there, way), 0.0, 1e-13);
            // beyond a sharp edge the line may come out again
            step(x, -phi - 1e-9, n, there);
            const bool crossed = specimens[i].inside(there);
            step(x, -phi + 1e-9, n, there);
            odd += rp_dot(way, n) > 1.0 - 1e-6 && (!crossed || specimens[i].inside(there));
            // any way, a little less far: still on the same side
            for (int w = 0; w < 8; w++) {
                test_direction(&random, way);
                step(x, 0.999 * fabs(phi), way, there);
                CHECK(specimens[i].inside(there) == (phi < 0.0));
            }
        }
        CHECK(odd <= SAMPLES / 500);
        rp_shape_release(shape);
    }
}

// The nearest of many points of the surface is at least as far as the surface, and not much
// farther: with d the distance and e the spacing of the points, by e at most.
static void no_point_of_the_surface_is_nearer(void)
{
    enum { ALONG = 160, PLACES = 60 };
    uint64_t random = 5;
    double(*points)[3] = calloc((size_t)ALONG * ALONG, sizeof *points);
    for (int i = 0; i < SPECIMENS; i++) {
        if (specimens[i].on == NULL) {
            continue;
        }
        rp_shape *shape = made(specimens[i].make);
        for (int k = 0; k < ALONG * ALONG; k++) {
            specimens[i].on((k / ALONG + 0.5) / ALONG, (k % ALONG + 0.5) / ALONG, points[k]);
            check_context("%s, point %d", specimens[i].name, k);
            CHECK_NEAR(rp_shape_distance(shape, points[k], NULL), 0.0, 1e-13);
        }
        for (int k = 0; k < PLACES; k++) {
            double x[3], nearest2 = INFINITY;
            random_place(&random, x);
            for (int j = 0; j < ALONG * ALONG; j++) {
                nearest2 =
                    fmin(nearest2, square(x[0] - points[j][0]) + square(x[1] - points[j][1]) +
                                       square(x[2] - points[j][2]));
            }
            const double phi = fabs(rp_shape_distance(shape, x, NULL));
            check_context("%s, place %d", specimens[i].name, k);
            CHECK(phi <= sqrt(nearest2) + 1e-13);
            CHECK_NEAR(sqrt(nearest2), phi, 0.05);
        }
        rp_shape_release(shape);
    }
    free(points);
}

// Away from creases, where both sides agree. The error of a central difference is its step squared
// times a third derivative, which is large only near centres and creases.
static void the_gradient_is_that_of_the_distance(void)
{
    uint64_t random = 6;
    const double h = 1e-6;
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        int compared = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x[3], n[3], g[3], near[3];
            random_place(&random, x);
            rp_shape_distance(shape, x, n);
            bool smooth = true;
            for (int a = 0; a < 3; a++) {
                double ahead[3] = {x[0], x[1], x[2]}, behind[3] = {x[0], x[1], x[2]};
                ahead[a] += h;
                behind[a] -= h;
                g[a] = (rp_shape_distance(shape, ahead, near) -
                        rp_shape_distance(shape, behind, NULL)) /
                       (2.0 * h);
                smooth = smooth && rp_dot(near, n) > 1.0 - 1e-8;
            }
            check_context("%s, sample %d", specimens[i].name, k);
            for (int a = 0; a < 3 && smooth; a++) {
                CHECK_NEAR(n[a], g[a], 1e-5);
            }
            compared += smooth;
        }
        CHECK(compared > SAMPLES * 9 / 10);
        rp_shape_release(shape);
    }
}

static void volumes_are_those_of_formulas(void)
{
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        const double volume = rp_shape_volume(shape, 3);
        check_context("%s", specimens[i].name);
        if (specimens[i].volume == 0.0) {
            CHECK(isinf(volume));
        } else {
            CHECK_NEAR(volume, specimens[i].volume, 1e-14);
            // what integrates where there is no formula, where there is one
            CHECK_NEAR(rp_shape_integrate_shape(shape, 3), volume, 2e-5 * volume);
        }
        rp_shape_release(shape);
    }
}

// Within four standard deviations of a count, in 3D and of the cut with z = 0.
static void compare_volumes(const rp_shape *shape, uint64_t *random)
{
    enum { MANY = CROWD };
    int inside = 0, in_plane = 0;
    for (int k = 0; k < MANY; k++) {
        double x[3];
        random_place(random, x);
        inside += rp_shape_distance(shape, x, NULL) < 0.0;
        x[2] = 0.0;
        in_plane += rp_shape_distance(shape, x, NULL) < 0.0;
    }
    const double volume = rp_shape_volume(shape, 3), area = rp_shape_volume(shape, 2);
    CHECK_NEAR(8.0 * inside / MANY, volume, 4.0 * sqrt(8.0 * volume / MANY));
    CHECK_NEAR(4.0 * in_plane / MANY, area, 4.0 * sqrt(4.0 * area / MANY));
}

static void volumes_are_what_samples_say(void)
{
    uint64_t random = 3;
    for (int i = 0; i < SPECIMENS; i++) {
        if (specimens[i].volume > 0.0) {
            rp_shape *shape = made(specimens[i].make);
            check_context("%s", specimens[i].name);
            CHECK_HELPER(compare_volumes(shape, &random));
            rp_shape_release(shape);
        }
    }
}

static void bounds_hold_the_shape(void)
{
    double low[3], high[3];
    for (int i = 0; i < SPECIMENS; i++) {
        rp_shape *shape = made(specimens[i].make);
        check_context("%s", specimens[i].name);
        CHECK(rp_shape_bounds(shape, 3, low, high) == (specimens[i].volume > 0.0));
        double least[3] = {INFINITY, INFINITY, INFINITY},
               most[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int k = 0; k < 100000 && specimens[i].volume > 0.0; k++) {
            double x[3];
            specimens[i].on((k / 316) / 317.0, (k % 316) / 316.0, x);
            for (int a = 0; a < 3; a++) {
                least[a] = fmin(least[a], x[a]);
                most[a] = fmax(most[a], x[a]);
                CHECK(x[a] >= low[a] - 1e-15 && x[a] <= high[a] + 1e-15);
            }
        }
        // and no larger than need be; arcs are held by their tangents
        const double spare = specimens[i].make == make_pill ? 0.1 : 0.01;
        for (int a = 0; a < 3 && specimens[i].volume > 0.0; a++) {
            CHECK_NEAR(low[a], least[a], spare);
            CHECK_NEAR(high[a], most[a], spare);
        }
        rp_shape_release(shape);
    }
}

// Places that formulas divide by zero at: centres, axes, edges, tips.
static void no_place_is_too_special(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 1.0, 0.0}, flat[3] = {0.5, 0.1, 0.3};
    const double disc[3] = {0.5, 0.1, 0.5}, ball[3] = {0.5, 0.5, 0.5}, b[3] = {0.0, 0.5, 0.0};
    const double heights[4] = {0.0, 0.25, 0.5, 0.25};
    rp_height_field_def field = rp_default_height_field_def();
    field.max[0] = field.max[1] = 0.5;
    field.height = heights;
    field.columns = field.rows = 2;
    rp_shape *shape[12];
    int shapes = 0;
    CHECK_OK(rp_shape_capsule(zero, b, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_capsule(zero, zero, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_cylinder(zero, up, 0.5, 0.5, &shape[shapes++]));
    CHECK_OK(rp_shape_cone(zero, up, 0.5, 0.5, &shape[shapes++]));
    CHECK_OK(rp_shape_torus(zero, up, 0.5, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_torus(zero, up, 0.25, 0.25, &shape[shapes++]));
    CHECK_OK(rp_shape_ellipsoid(zero, flat, &shape[shapes++]));
    CHECK_OK(rp_shape_ellipsoid(zero, disc, &shape[shapes++]));
    CHECK_OK(rp_shape_ellipsoid(zero, ball, &shape[shapes++]));
    CHECK_OK(rp_shape_height_field(&field, &shape[shapes++]));
    const double lattice[] = {-2.0,   -0.5,  -0.25, -1e-9, -1e-17, -0.0,
                              1e-300, 1e-12, 0.1,   0.3,   0.5,    1e6};
    for (int i = 0; i < shapes; i++) {
        for (int k = 0; k < 12 * 12 * 12; k++) {
            const double x[3] = {lattice[k / 144], lattice[k / 12 % 12], lattice[k % 12]};
            double n[3], there[3];
            const double phi = rp_shape_distance(shape[i], x, n);
            check_context("shape %d at (%g, %g, %g)", i, x[0], x[1], x[2]);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-12);
            step(x, -phi, n, there);
            CHECK_NEAR(rp_shape_distance(shape[i], there, NULL), 0.0,
                       1e-14 * (1.0 + fabs(phi) * 10.0));
        }
        rp_shape_release(shape[i]);
    }
}

// As thin as paper and as long as a road: Newton's steps must not stop half-way.
static void ellipsoids_may_be_extreme(void)
{
    uint64_t random = 7;
    for (int k = 0; k < 20000; k++) {
        double x[3], n[3], there[3], r[3], grade = 0.0;
        const double zero[3] = {0.0, 0.0, 0.0};
        for (int a = 0; a < 3; a++) {
            r[a] = pow(10.0, test_between(&random, -4.0, 1.0));
            x[a] = r[a] * pow(10.0, test_between(&random, -12.0, 1.0));
            x[a] *= test_below(&random, 2) == 0 ? -1.0 : 1.0;
        }
        rp_shape *shape;
        CHECK_OK(rp_shape_ellipsoid(zero, r, &shape));
        const double phi = rp_shape_distance(shape, x, n);
        step(x, -phi, n, there);
        for (int a = 0; a < 3; a++) {
            grade += square(there[a] / r[a]);
        }
        check_context("radii %g %g %g, at %g %g %g", r[0], r[1], r[2], x[0], x[1], x[2]);
        CHECK((phi < 0.0) ==
              (square(x[0] / r[0]) + square(x[1] / r[1]) + square(x[2] / r[2]) < 1.0));
        // on the surface, up to round-off of the largest number over the least radius
        const double least = fmin(r[0], fmin(r[1], r[2]));
        const double large = fabs(phi) + fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
        CHECK_NEAR(grade, 1.0, 1e-13 * (1.0 + large / least));
        rp_shape_release(shape);
    }
}

// ---- 2D ----

// A rectangle in 2D is a box that is open along the third axis.
static void a_box_may_be_open(void)
{
    const double low[3] = {0.0, 0.0, -INFINITY}, high[3] = {1.0, 2.0, INFINITY};
    const double x[3] = {0.25, 1.0, 0.0}, far[3] = {-3.0, -4.0, 0.0};
    double n[3], a[3], b[3];
    rp_shape *shape;
    CHECK_OK(rp_shape_box(low, high, &shape));
    CHECK_NEAR(rp_shape_distance(shape, x, n), -0.25, 0.0);
    CHECK(n[0] == -1.0 && n[1] == 0.0 && n[2] == 0.0);
    CHECK_NEAR(rp_shape_distance(shape, far, n), 5.0, 1e-15);
    CHECK(rp_shape_bounds(shape, 2, a, b));
    CHECK(!rp_shape_bounds(shape, 3, a, b));
    CHECK_NEAR(rp_shape_volume(shape, 2), 2.0, 0.0);
    rp_shape_release(shape);
    CHECK_OK(rp_shape_rounded_box(low, high, 0.5, &shape));
    CHECK_NEAR(rp_shape_volume(shape, 2), 1.0 + 0.25 * PI, 1e-15);
    CHECK_NEAR(rp_shape_distance(shape, x, n), -0.25, 0.0);
    rp_shape_release(shape);
}

// In the plane z = 0 a shape that lies even with it is its own cut: the gradient stays in the plane
// and areas follow from formulas.
static void a_cut_with_the_plane_is_a_shape_in_2d(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, axis[3] = {3.0, 4.0, 0.0}, b[3] = {0.3, 0.4, 0.0};
    const double ellipse[3] = {0.5, 0.2, INFINITY};
    const double profile[][2] = {{0.2, -0.3}, {0.1, 0.0}, {0.2, 0.3}}, wave[3] = {0.1, 0.4, 0.2};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = profile;
    def.points = 3;
    rp_height_field_def field = rp_default_height_field_def();
    field.max[0] = 1.0;
    field.height = wave;
    field.columns = 3;
    field.rows = 1;
    rp_shape *shape[8];
    CHECK_OK(rp_shape_cylinder(zero, axis, 0.2, 0.5, &shape[0]));
    CHECK_OK(rp_shape_cone(zero, axis, 0.2, 0.5, &shape[1]));
    CHECK_OK(rp_shape_capsule(zero, b, 0.2, &shape[2]));
    CHECK_OK(rp_shape_ellipsoid(zero, ellipse, &shape[3]));
    CHECK_OK(rp_shape_revolve(&def, &shape[4]));
    def.thickness = 0.05;
    CHECK_OK(rp_shape_revolve(&def, &shape[5]));
    CHECK_OK(rp_shape_height_field(&field, &shape[6]));
    const double area[] = {0.2, 0.1, 0.2 + PI * 0.04, PI * 0.1, 0.18};
    for (int i = 0; i < 5; i++) {
        check_context("shape %d", i);
        CHECK_NEAR(rp_shape_volume(shape[i], 2), area[i], 1e-15);
        CHECK_NEAR(rp_shape_integrate_shape(shape[i], 2), area[i], 1e-5 * area[i]);
    }
    // a band of two sides on either side of the axis, each of 0.1 sqrt(10), with a half circle at
    // each end; at the bend the outer side is a sector and on the inner side the two overlap
    const double side = 0.1 * sqrt(10.0), h = 0.025, half_turn = atan(1.0 / 3.0);
    const double band = 2.0 * side * 0.05 + PI * h * h + h * h * (half_turn - tan(half_turn));
    CHECK_NEAR(rp_shape_volume(shape[5], 2), 2.0 * band, 1e-5 * band);
    uint64_t random = 8;
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 2000; k++) {
            double x[3], n[3], there[3];
            random_place(&random, x);
            x[2] = 0.0;
            x[k % 3] = k % 5 == 0 ? 0.0 : x[k % 3];
            const double phi = rp_shape_distance(shape[i], x, n);
            check_context("shape %d at (%g, %g)", i, x[0], x[1]);
            CHECK(n[2] == 0.0);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-13);
            step(x, -phi, n, there);
            // inside a bent shell it is a bound
            if (i != 5 || phi > 0.0) {
                CHECK_NEAR(rp_shape_distance(shape[i], there, NULL), 0.0, 1e-14);
            }
        }
        rp_shape_release(shape[i]);
    }
}

// ---- shells ----

// The glass of an hourglass: within half its thickness of a line that is turned.
static void a_shell_follows_its_profile(void)
{
    const double profile[][2] = {{0.5, -0.6}, {0.5, -0.3}, {0.1, 0.0}, {0.5, 0.3}, {0.5, 0.6}};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = profile;
    def.points = 5;
    def.thickness = 0.1;
    rp_shape *shape;
    uint64_t random = 9;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    for (int k = 0; k < SAMPLES; k++) {
        double x[3], p[2], nearest = INFINITY;
        random_place(&random, x);
        const double r = hypot(x[0], x[2]);
        for (int i = 0; i <= 4000; i++) { // corners among them
            on_line(profile, 5, i / 4000.0, p);
            nearest = fmin(nearest, hypot(r - p[0], x[1] - p[1]));
        }
        CHECK_NEAR(rp_shape_distance(shape, x, NULL), nearest - 0.05, 1e-5 + 1e-7 / nearest);
    }
    CHECK_HELPER(compare_volumes(shape, &random));
    // Pappus and Guldin, for a straight one with its round ends
    const double straight[][2] = {{0.5, 0.0}, {0.5, 0.4}};
    rp_shape *tube;
    def.profile = straight;
    def.points = 2;
    CHECK_OK(rp_shape_revolve(&def, &tube));
    const double volume = 2.0 * PI * 0.5 * (0.04 + PI * 0.0025);
    CHECK_NEAR(rp_shape_volume(tube, 3), volume, 1e-5 * volume);
    rp_shape_release(tube);
    rp_shape_release(shape);
}

// Arcs in place of corners, both ways: what they take from one they give to the other.
static void corners_become_round(void)
{
    const double steps[][2] = {{0.6, -0.5}, {0.6, 0.0}, {0.3, 0.0}, {0.3, 0.5}};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = steps;
    def.points = 4;
    def.round = 0.1;
    rp_shape *shape;
    uint64_t random = 10;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    const double tip[3] = {0.59, -0.01, 0.0}, notch[3] = {0.31, 0.01, 0.0};
    CHECK(rp_shape_distance(shape, tip, NULL) > 0.0);
    CHECK(rp_shape_distance(shape, notch, NULL) < 0.0);
    const double volume = rp_shape_volume(shape, 3);
    CHECK_NEAR(rp_shape_integrate_shape(shape, 3), volume, 2e-5 * volume);
    CHECK_HELPER(compare_volumes(shape, &random));
    for (int k = 0; k < SAMPLES; k++) {
        double x[3], n[3], there[3];
        random_place(&random, x);
        const double phi = rp_shape_distance(shape, x, n);
        step(x, -phi, n, there);
        CHECK_NEAR(rp_shape_distance(shape, there, NULL), 0.0, 1e-13);
    }
    rp_shape_release(shape);
    def.round = 0.16; // two arcs do not fit on the step of 0.3
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT,
                "revolve.round: want one that fits");
    def.thickness = 0.02; // a shell has no corners at its ends, but that step it has
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.round");
    def.round = 0.15;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    rp_shape_release(shape);
}

// ---- operators ----

// A tree of operators with its own idea of what is inside.
typedef struct tree {
    int op; // 0: a specimen, 1: union, 2: intersect, 3: subtract, 4: invert, 5: move
    int which;
    int children;
    struct tree *child[3];
    double position[3], angle, scale;
    rp_shape *shape;
} tree;

static bool in_tree(const tree *t, const double x[3])
{
    double local[3];
    bool inside;
    switch (t->op) {
    case 0:
        return specimens[t->which].inside(x);
    case 1:
    case 2:
        inside = in_tree(t->child[0], x);
        for (int i = 1; i < t->children; i++) {
            inside =
                t->op == 1 ? in_tree(t->child[i], x) || inside : in_tree(t->child[i], x) && inside;
        }
        return inside;
    case 3:
        inside = in_tree(t->child[0], x);
        for (int i = 1; i < t->children; i++) {
            inside = inside && !in_tree(t->child[i], x);
        }
        return inside;
    case 4:
        return !in_tree(t->child[0], x);
    default:
        for (int a = 0; a < 3; a++) {
            local[a] = (x[a] - t->position[a]) / t->scale;
        }
        const double c = cos(t->angle), s = sin(t->angle), u = local[0], v = local[1];
        local[0] = c * u + s * v;
        local[1] = -s * u + c * v;
        return in_tree(t->child[0], local);
    }
}

static tree *grow(uint64_t *random, int depth)
{
    tree *t = calloc(1, sizeof *t);
    t->op = depth == 0 ? 0 : test_below(random, 6);
    t->which = test_below(random, SPECIMENS);
    t->children = t->op == 0 ? 0 : t->op >= 4 ? 1 : 1 + (t->op == 3) + test_below(random, 2);
    rp_shape *child[3] = {NULL, NULL, NULL};
    for (int i = 0; i < t->children; i++) {
        t->child[i] = grow(random, depth - 1);
        child[i] = t->child[i]->shape;
    }
    t->scale = test_between(random, 0.5, 1.5);
    t->angle = test_between(random, -3.0, 3.0);
    for (int a = 0; a < 3; a++) {
        t->position[a] = test_between(random, -0.3, 0.3);
    }
    const double turn[4] = {0.0, 0.0, sin(0.5 * t->angle), cos(0.5 * t->angle)};
    rp_result result = RP_OK;
    switch (t->op) {
    case 0:
        result = specimens[t->which].make(&t->shape);
        break;
    case 1:
        result = rp_shape_union(child, t->children, &t->shape);
        break;
    case 2:
        result = rp_shape_intersect(child, t->children, &t->shape);
        break;
    case 3:
        result = rp_shape_subtract(child[0], child + 1, t->children - 1, &t->shape);
        break;
    case 4:
        result = rp_shape_invert(child[0], &t->shape);
        break;
    default:
        result = rp_shape_move(child[0], t->position, turn, t->scale, &t->shape);
    }
    must(result, t->shape);
    return t;
}

static void fell(tree *t)
{
    for (int i = 0; i < t->children; i++) {
        fell(t->child[i]);
    }
    rp_shape_release(t->shape);
    free(t);
}

static void operators_follow_the_logic_of_sets(void)
{
    uint64_t random = 11;
    for (int k = 0; k < 300; k++) {
        tree *t = grow(&random, 3);
        double low[3], high[3];
        const bool bounded = rp_shape_bounds(t->shape, 3, low, high);
        CHECK(bounded || isinf(rp_shape_volume(t->shape, 3)));
        for (int i = 0; i < 200; i++) {
            double x[3], n[3], way[3], there[3];
            random_place(&random, x);
            const double phi = rp_shape_distance(t->shape, x, n);
            check_context("tree %d, sample %d", k, i);
            CHECK((phi < 0.0) == in_tree(t, x));
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-12);
            // never farther than the surface, and no steeper than 1
            test_direction(&random, way);
            step(x, 0.999 * fabs(phi), way, there);
            CHECK(in_tree(t, there) == (phi < 0.0));
            const double by = test_between(&random, 0.0, 0.5);
            step(x, by, way, there);
            CHECK(fabs(rp_shape_distance(t->shape, there, NULL) - phi) <= by + 1e-13);
            for (int a = 0; a < 3 && phi < 0.0; a++) {
                CHECK(x[a] >= low[a] && x[a] <= high[a]);
            }
        }
        fell(t);
    }
}

static rp_shape *ball_at(double x, double y, double z, double radius)
{
    const double center[3] = {x, y, z};
    rp_shape *shape;
    const rp_result result = rp_shape_sphere(center, radius, &shape);
    return must(result, shape);
}

// Two balls of radius r whose centres are d apart share a lens of this volume.
static double lens(double r, double d) { return PI * (4.0 * r + d) * square(2.0 * r - d) / 12.0; }

static void volumes_of_operators_are_integrated(void)
{
    rp_shape *two[2] = {ball_at(-0.1, 0.0, 0.0, 0.3), ball_at(0.1, 0.0, 0.0, 0.3)};
    const double whole = 4.0 / 3.0 * PI * 0.027, shared = lens(0.3, 0.2);
    const double flat = 2.0 * (0.09 * acos(1.0 / 3.0) - 0.1 * sqrt(0.08)), disc = PI * 0.09;
    rp_shape *shape[8];
    CHECK_OK(rp_shape_union(two, 2, &shape[0]));
    CHECK_OK(rp_shape_intersect(two, 2, &shape[1]));
    CHECK_OK(rp_shape_subtract(two[0], two + 1, 1, &shape[2]));
    CHECK_OK(rp_shape_offset(two[0], 0.1, &shape[3]));
    CHECK_OK(rp_shape_offset(two[0], -0.1, &shape[4]));
    const double position[3] = {0.2, 0.1, 0.0}, turn[4] = {0.0, 0.0, 1.0, 2.0};
    CHECK_OK(rp_shape_move(shape[1], position, turn, 0.5, &shape[5]));
    rp_shape *nest[2] = {ball_at(0.0, 0.0, 0.0, 0.4), ball_at(0.0, 0.0, 0.0, 0.395)};
    CHECK_OK(rp_shape_subtract(nest[0], nest + 1, 1, &shape[6])); // a bubble, 1 % thin
    rp_shape *apart[2] = {two[0], ball_at(2.0, 0.0, 0.0, 0.3)};
    CHECK_OK(rp_shape_intersect(apart, 2, &shape[7]));
    const double want[8][2] = {
        {2.0 * disc - flat, 2.0 * whole - shared},
        {flat, shared},
        {disc - flat, whole - shared},
        {PI * 0.16, 4.0 / 3.0 * PI * 0.064},
        {PI * 0.04, 4.0 / 3.0 * PI * 0.008},
        {0.25 * flat, 0.125 * shared},
        {PI * (0.16 - 0.395 * 0.395), 4.0 / 3.0 * PI * (0.064 - 0.395 * 0.395 * 0.395)},
        {0.0, 0.0},
    };
    for (int i = 0; i < 8; i++) {
        for (int dimension = 2; dimension <= 3; dimension++) {
            const double exact = want[i][dimension - 2];
            check_context("shape %d in %dD", i, dimension);
            CHECK_NEAR(rp_shape_volume(shape[i], dimension), exact, 2e-5 * exact);
            CHECK(rp_shape_volume(shape[i], dimension) == rp_shape_volume(shape[i], dimension));
        }
        rp_shape_release(shape[i]);
    }
    for (int i = 0; i < 2; i++) {
        rp_shape_release(two[i]);
        rp_shape_release(nest[i]);
    }
    rp_shape_release(apart[1]);
}

// Six half-spaces make a box, known to end; a landscape is cut out of one.
static void half_spaces_and_hills_can_be_cut_to_size(void)
{
    rp_shape *side[7], *box, *hills;
    for (int i = 0; i < 6; i++) {
        double at[3] = {0.0, 0.0, 0.0}, out[3] = {0.0, 0.0, 0.0};
        out[i / 2] = i % 2 == 0 ? 2.0 : -2.0;
        at[i / 2] = i % 2 == 0 ? 0.5 : -0.25;
        CHECK_OK(rp_shape_half_space(at, out, &side[i]));
    }
    double low[3], high[3];
    CHECK_OK(rp_shape_intersect(side, 6, &box));
    CHECK(rp_shape_bounds(box, 3, low, high));
    CHECK_NEAR(low[1], -0.25, 0.0);
    CHECK_NEAR(high[2], 0.5, 0.0);
    CHECK_NEAR(rp_shape_volume(box, 3), 0.421875, 1e-6);
    side[6] = made(make_hills);
    CHECK_OK(rp_shape_intersect(side, 7, &hills));
    uint64_t random = 12;
    CHECK_HELPER(compare_volumes(hills, &random));
    rp_shape_release(hills);
    rp_shape_release(box);
    for (int i = 0; i < 7; i++) {
        rp_shape_release(side[i]);
    }
}

// Where a distance is a bound, a thicker shape grows a tip that the bounds must hold.
static void an_offset_of_a_wedge_is_within_its_bounds(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, a[3] = {0.2, 1.0, 0.0}, b[3] = {0.2, -1.0, 0.0};
    rp_shape *part[3], *wedge, *thick;
    CHECK_OK(rp_shape_half_space(zero, a, &part[0]));
    CHECK_OK(rp_shape_half_space(zero, b, &part[1]));
    part[2] = ball_at(0.0, 0.0, 0.0, 1.0);
    CHECK_OK(rp_shape_intersect(part, 3, &wedge));
    CHECK_OK(rp_shape_offset(wedge, 0.15, &thick));
    double low[3], high[3];
    CHECK(rp_shape_bounds(thick, 3, low, high));
    uint64_t random = 13;
    for (int k = 0; k < 20000; k++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = test_between(&random, -1.5, 1.5);
        }
        const bool within = x[0] >= low[0] && x[0] <= high[0] && x[1] >= low[1] &&
                            x[1] <= high[1] && x[2] >= low[2] && x[2] <= high[2];
        CHECK(within || rp_shape_distance(thick, x, NULL) >= 0.0);
    }
    const double tip[3] = {0.7, 0.0, 0.0};
    CHECK(rp_shape_distance(thick, tip, NULL) < 0.0);
    rp_shape_release(thick);
    rp_shape_release(wedge);
    for (int i = 0; i < 3; i++) {
        rp_shape_release(part[i]);
    }
}

// A tree that leaves a part out; in the open, among the balls and inside of them.
static void a_heap_of_balls_is_the_least_of_them(void)
{
    enum { BALLS = 500 };
    uint64_t random = 14;
    rp_shape *ball[BALLS], *heap;
    for (int i = 0; i < BALLS; i++) {
        double x[3];
        random_place(&random, x);
        ball[i] = ball_at(x[0], x[1], x[2], test_between(&random, 0.01, 0.2));
    }
    for (int count = 1; count <= BALLS; count = count < 20 ? count + 1 : count + 37) {
        CHECK_OK(rp_shape_union(ball, count, &heap));
        for (int k = 0; k < 500; k++) {
            double x[3], least = INFINITY;
            random_place(&random, x);
            for (int a = 0; a < 3; a++) {
                x[a] *= k % 3 + 1;
            }
            for (int i = 0; i < count; i++) {
                least = fmin(least, rp_shape_distance(ball[i], x, NULL));
            }
            CHECK_NEAR(rp_shape_distance(heap, x, NULL), least, 0.0);
        }
        rp_shape_release(heap);
    }
    for (int i = 0; i < BALLS; i++) {
        rp_shape_release(ball[i]);
    }
}

// A recursion that eats the stack, or a shape that is used twice at each of forty levels and would
// be asked a million million times.
static void nesting_has_an_end(void)
{
    rp_shape *shape = ball_at(0.0, 0.0, 0.0, 0.5), *next;
    const double x[3] = {0.7, 0.0, 0.0};
    int depth = 0;
    while (depth < 10000 && rp_shape_offset(shape, 1e-4, &next) == RP_OK) {
        rp_shape_release(shape);
        shape = next;
        depth++;
    }
    CHECK_EQUAL(depth, 256);
    CHECK(strstr(rp_last_error(), "offset: want at most 256 operators inside each other") != NULL);
    CHECK_NEAR(rp_shape_distance(shape, x, NULL), 0.2 - 0.0256, 1e-14);
    rp_shape_release(shape);

    shape = ball_at(0.0, 0.0, 0.0, 0.5);
    rp_result result = RP_OK;
    for (depth = 0; depth < 40 && result == RP_OK; depth++) {
        rp_shape *twice[2] = {shape, shape};
        result = rp_shape_union(twice, 2, &next);
        if (result == RP_OK) {
            rp_shape_release(shape);
            shape = next;
        }
    }
    CHECK_ERROR(result, RP_ERR_ARGUMENT, "union: want at most 10000 simple shapes in all");
    rp_shape_release(shape);
}

// ---- pictures ----

static void write_png(const char *path, int columns, int rows, int bits, int color,
                      const unsigned char *bytes, size_t stride)
{
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)columns, (png_uint_32)rows, bits, color,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < rows; y++) {
        png_write_row(png, bytes + (size_t)y * stride);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void grey_pictures_are_read(void)
{
    char path[] = "/tmp/repose_test_XXXXXX";
    close(mkstemp(path));
    double *values;
    int columns, rows;
    const unsigned char eight[] = {0, 51, 255, 102, 0, 204}, wide[] = {0, 0, 0x80, 0, 0xff, 0xff};
    const unsigned char bits[] = {0xa0}, color[] = {1, 2, 3, 4, 5, 6};
    const unsigned char alpha[] = {51, 7, 102, 9};
    write_png(path, 3, 2, 8, PNG_COLOR_TYPE_GRAY, eight, 3);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK_EQUAL(columns, 3);
    CHECK_EQUAL(rows, 2);
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(values[i], eight[i] / 255.0, 1e-16);
    }
    free(values);
    write_png(path, 3, 1, 16, PNG_COLOR_TYPE_GRAY, wide, 6);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK_NEAR(values[1], 32768.0 / 65535.0, 1e-16);
    CHECK_NEAR(values[2], 1.0, 0.0);
    free(values);
    write_png(path, 4, 1, 1, PNG_COLOR_TYPE_GRAY, bits, 1);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK(values[0] == 1.0 && values[1] == 0.0 && values[2] == 1.0 && values[3] == 0.0);
    free(values);
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, alpha, 4);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK_NEAR(values[1], 0.4, 1e-16);
    free(values);
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_RGB, color, 6);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_ARGUMENT,
                "want a grey PNG, got one with colours");
    CHECK(values == NULL);
    // cut short, and no picture at all
    write_png(path, 3, 2, 8, PNG_COLOR_TYPE_GRAY, eight, 3);
    CHECK_EQUAL(truncate(path, 50), 0);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_FILE,
                "cannot be read as a PNG");
    CHECK_EQUAL(truncate(path, 0), 0);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_FILE,
                "cannot be read as a PNG");
    unlink(path);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_FILE, "cannot be opened");
}

// ---- refusals ----

static void what_is_no_shape_is_refused(void)
{
    const double zero[3] = {0}, one[3] = {1.0, 1.0, 1.0}, bad[3] = {0.0, NAN, 0.0};
    const double endless[3] = {INFINITY, 0.0, 0.0};
    rp_shape *shape = (rp_shape *)&shape;
    CHECK_ERROR(rp_shape_half_space(zero, zero, &shape), RP_ERR_ARGUMENT, "half_space.normal");
    CHECK(shape == NULL);
    CHECK_ERROR(rp_shape_half_space(zero, bad, &shape), RP_ERR_ARGUMENT, "half_space.normal");
    CHECK_ERROR(rp_shape_half_space(zero, endless, &shape), RP_ERR_ARGUMENT, "half_space.normal");
    CHECK_ERROR(rp_shape_half_space(bad, one, &shape), RP_ERR_ARGUMENT, "half_space.point");
    CHECK_ERROR(rp_shape_box(one, one, &shape), RP_ERR_ARGUMENT, "box.upper[0]");
    CHECK_ERROR(rp_shape_box(zero, bad, &shape), RP_ERR_ARGUMENT, "box.upper");
    CHECK_ERROR(rp_shape_rounded_box(zero, one, 0.51, &shape), RP_ERR_ARGUMENT, "box.round");
    CHECK_ERROR(rp_shape_rounded_box(zero, one, -0.1, &shape), RP_ERR_ARGUMENT, "box.round");
    CHECK_ERROR(rp_shape_rounded_box(zero, one, NAN, &shape), RP_ERR_ARGUMENT, "box.round");
    CHECK_ERROR(rp_shape_sphere(bad, 1.0, &shape), RP_ERR_ARGUMENT, "sphere.center");
    CHECK_ERROR(rp_shape_sphere(zero, 0.0, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_sphere(zero, -1.0, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_sphere(zero, INFINITY, &shape), RP_ERR_ARGUMENT, "sphere.radius");
    CHECK_ERROR(rp_shape_capsule(bad, one, 1.0, &shape), RP_ERR_ARGUMENT, "capsule.a");
    CHECK_ERROR(rp_shape_capsule(one, endless, 1.0, &shape), RP_ERR_ARGUMENT, "capsule.b");
    CHECK_ERROR(rp_shape_capsule(one, one, NAN, &shape), RP_ERR_ARGUMENT, "capsule.radius");
    CHECK_ERROR(rp_shape_cylinder(bad, one, 1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cylinder.base");
    CHECK_ERROR(rp_shape_cylinder(one, zero, 1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cylinder.axis");
    CHECK_ERROR(rp_shape_cylinder(one, one, 0.0, 1.0, &shape), RP_ERR_ARGUMENT, "cylinder.radius");
    CHECK_ERROR(rp_shape_cylinder(one, one, 1.0, NAN, &shape), RP_ERR_ARGUMENT, "cylinder.height");
    CHECK_ERROR(rp_shape_cone(one, bad, 1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cone.axis");
    CHECK_ERROR(rp_shape_cone(one, one, -1.0, 1.0, &shape), RP_ERR_ARGUMENT, "cone.radius");
    CHECK_ERROR(rp_shape_cone(one, one, 1.0, 0.0, &shape), RP_ERR_ARGUMENT, "cone.height");
    CHECK_ERROR(rp_shape_torus(bad, one, 1.0, 0.5, &shape), RP_ERR_ARGUMENT, "torus.center");
    CHECK_ERROR(rp_shape_torus(one, zero, 1.0, 0.5, &shape), RP_ERR_ARGUMENT, "torus.axis");
    CHECK_ERROR(rp_shape_torus(one, one, 0.0, 0.5, &shape), RP_ERR_ARGUMENT, "torus.major");
    CHECK_ERROR(rp_shape_torus(one, one, 1.0, 0.0, &shape), RP_ERR_ARGUMENT, "torus.minor");
    CHECK_ERROR(rp_shape_torus(one, one, 1.0, 1.5, &shape), RP_ERR_ARGUMENT,
                "torus.minor: want at most");
    CHECK_ERROR(rp_shape_ellipsoid(bad, one, &shape), RP_ERR_ARGUMENT, "ellipsoid.center");
    CHECK_ERROR(rp_shape_ellipsoid(one, zero, &shape), RP_ERR_ARGUMENT, "ellipsoid.radii[0]");
    CHECK_ERROR(rp_shape_ellipsoid(one, bad, &shape), RP_ERR_ARGUMENT, "ellipsoid.radii");
    const double open[3] = {INFINITY, INFINITY, INFINITY};
    CHECK_ERROR(rp_shape_ellipsoid(one, open, &shape), RP_ERR_ARGUMENT,
                "ellipsoid.radii: want a finite");
    rp_shape_release(NULL);
}

static void profiles_that_make_no_sense_are_refused(void)
{
    const double good[][2] = {{1.0, 0.0}, {1.0, 1.0}}, left[][2] = {{1.0, 0.0}, {-1.0, 1.0}};
    const double loop[][2] = {{1.0, 0.0}, {1.0, 2.0}, {2.0, 1.0}, {0.5, 0.5}};
    const double same[][2] = {{1.0, 0.0}, {1.0, 0.0}}, flat[][2] = {{1.0, 0.0}, {2.0, 0.0}};
    rp_shape *shape;
    rp_revolve_def def = {0};
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "rp_default_revolve_def()");
    def = rp_default_revolve_def();
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want 2 to 4096");
    def.profile = good;
    def.points = 1;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want 2 to 4096");
    def.points = 2;
    def.base[1] = NAN;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.base");
    def.base[1] = 0.0;
    def.axis[1] = 0.0;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.axis");
    def.axis[1] = 1.0;
    def.thickness = -1.0;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.thickness");
    def.thickness = 0.0;
    def.round = NAN;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.round");
    def.round = 0.0;
    def.profile = left;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile[2]: want finite");
    def.profile = same;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want");
    def.profile = flat;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "revolve.profile: want");
    def.profile = loop;
    def.points = 4;
    CHECK_ERROR(rp_shape_revolve(&def, &shape), RP_ERR_ARGUMENT, "does not meet itself");
    CHECK(shape == NULL);
    def.thickness = 0.1; // but a shell may
    CHECK_OK(rp_shape_revolve(&def, &shape));
    rp_shape_release(shape);
}

static void height_fields_that_make_no_sense_are_refused(void)
{
    double heights[4] = {0.0, 1.0, 2.0, NAN};
    rp_shape *shape;
    rp_height_field_def def = {0};
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT,
                "rp_default_height_field_def()");
    def = rp_default_height_field_def();
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "height_field.height");
    def.height = heights;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "want at least one column");
    def.columns = def.rows = 1 << 13;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "at most 16777216 heights");
    def.columns = def.rows = 2;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT,
                "height_field.max: want > min along x");
    def.max[0] = 1.0;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT,
                "height_field.max: want > min along z");
    def.max[1] = 1.0;
    CHECK_ERROR(rp_shape_height_field(&def, &shape), RP_ERR_ARGUMENT, "in column 2 of row 2");
    CHECK(shape == NULL);
}

static void operators_without_operands_are_refused(void)
{
    rp_shape *ball = ball_at(0.0, 0.0, 0.0, 1.0), *none[1] = {NULL}, *shape;
    const double zero[3] = {0}, bad[3] = {NAN, 0.0, 0.0}, still[4] = {0.0, 0.0, 0.0, 1.0};
    const double no_turn[4] = {0};
    CHECK_ERROR(rp_shape_union(&ball, 0, &shape), RP_ERR_ARGUMENT,
                "union: want at least one shape");
    CHECK_ERROR(rp_shape_union(none, 1, &shape), RP_ERR_ARGUMENT, "union: want shapes, got NULL");
    CHECK_ERROR(rp_shape_intersect(none, 1, &shape), RP_ERR_ARGUMENT, "intersect: want shapes");
    CHECK_ERROR(rp_shape_intersect(none, 0, &shape), RP_ERR_ARGUMENT, "intersect: want at least");
    CHECK_ERROR(rp_shape_subtract(NULL, &ball, 1, &shape), RP_ERR_ARGUMENT,
                "subtract: want a shape");
    CHECK_ERROR(rp_shape_subtract(ball, &ball, 0, &shape), RP_ERR_ARGUMENT,
                "subtract: want at least");
    CHECK_ERROR(rp_shape_invert(NULL, &shape), RP_ERR_ARGUMENT, "invert: want");
    CHECK_ERROR(rp_shape_offset(NULL, 1.0, &shape), RP_ERR_ARGUMENT, "offset: want");
    CHECK_ERROR(rp_shape_offset(ball, NAN, &shape), RP_ERR_ARGUMENT, "offset.distance");
    CHECK_ERROR(rp_shape_move(NULL, zero, still, 1.0, &shape), RP_ERR_ARGUMENT, "move: want");
    CHECK_ERROR(rp_shape_move(ball, bad, still, 1.0, &shape), RP_ERR_ARGUMENT, "move.position");
    CHECK_ERROR(rp_shape_move(ball, zero, no_turn, 1.0, &shape), RP_ERR_ARGUMENT, "move.rotation");
    CHECK_ERROR(rp_shape_move(ball, zero, still, 0.0, &shape), RP_ERR_ARGUMENT, "move.scale");
    CHECK(shape == NULL);
    rp_shape_release(ball);
}

TEST_MAIN(TEST(the_inside_is_where_it_should_be), TEST(distance_and_gradient_lead_to_the_surface),
          TEST(no_point_of_the_surface_is_nearer), TEST(the_gradient_is_that_of_the_distance),
          TEST(volumes_are_those_of_formulas), TEST(volumes_are_what_samples_say),
          TEST(bounds_hold_the_shape), TEST(no_place_is_too_special),
          TEST(ellipsoids_may_be_extreme), TEST(a_box_may_be_open),
          TEST(a_cut_with_the_plane_is_a_shape_in_2d), TEST(a_shell_follows_its_profile),
          TEST(corners_become_round), TEST(operators_follow_the_logic_of_sets),
          TEST(volumes_of_operators_are_integrated), TEST(half_spaces_and_hills_can_be_cut_to_size),
          TEST(an_offset_of_a_wedge_is_within_its_bounds),
          TEST(a_heap_of_balls_is_the_least_of_them), TEST(nesting_has_an_end),
          TEST(grey_pictures_are_read), TEST(what_is_no_shape_is_refused),
          TEST(profiles_that_make_no_sense_are_refused),
          TEST(height_fields_that_make_no_sense_are_refused),
          TEST(operators_without_operands_are_refused))

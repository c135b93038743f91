#include "specimens.h"

#include "check.h"
#include "shape/class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double point[3] = {0.1, -0.2, 0.3}, normal[3] = {1.0, 2.0, -2.0};
static const double lower[3] = {-0.5, -0.2, -0.3}, upper[3] = {0.4, 0.6, 0.1};
static const double tilt[3] = {2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0}; // a unit vector

double square(double x) { return x * x; }

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

void on_line(const double (*p)[2], int points, double u, double out[2])
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
rp_result make_pill(rp_shape **s)
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
rp_result make_hills(rp_shape **s)
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

const specimen specimens[SPECIMENS] = {
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
rp_shape *must(rp_result result, rp_shape *shape)
{
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no shape: %s", rp_last_error());
        abort();
    }
    return shape;
}

rp_shape *made(rp_result (*make)(rp_shape **))
{
    rp_shape *shape;
    const rp_result result = make(&shape);
    return must(result, shape);
}

void random_place(uint64_t *random, double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = test_between(random, -1.0, 1.0);
    }
}

void step(const double x[3], double by, const double n[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = x[a] + by * n[a];
    }
}

#if CHECK_SANITIZED
enum { CROWD = 20000 }; // a sanitizer looks at memory; fine statistics are for fast builds
#else
enum { CROWD = 200000 };
#endif

void compare_volumes(const rp_shape *shape, uint64_t *random)
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

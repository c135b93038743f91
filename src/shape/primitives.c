// Simple shapes, all with true distances and formulas for their volumes.
#include "base/result.h"
#include "shape/class.h"

#include <string.h>

#define PI 3.14159265358979323846

// ---- half-space ----

typedef struct half_space {
    rp_shape shape;
    double point[3], normal[3];
} half_space;

static double half_space_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const half_space *h = (const half_space *)shape;
    double phi = 0.0;
    for (int a = 0; a < 3; a++) {
        gradient[a] = h->normal[a];
        phi += (x[a] - h->point[a]) * gradient[a];
    }
    return phi;
}

// One that faces along an axis ends there; six of them make a box.
static void half_space_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const half_space *h = (const half_space *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = h->normal[a] == -1.0 ? h->point[a] : -INFINITY;
        upper[a] = h->normal[a] == 1.0 ? h->point[a] : INFINITY;
    }
}

static double half_space_volume(const rp_shape *shape, int dimension)
{
    (void)shape;
    (void)dimension;
    return INFINITY;
}

rp_result rp_shape_half_space(const double point[3], const double normal[3], rp_shape **shape)
{
    static const rp_shape_class class = {
        .distance = half_space_distance, .bounds = half_space_bounds, .volume = half_space_volume};
    double unit[3];
    *shape = NULL;
    RP_TRY(rp_shape_check_point("half_space.point", point));
    RP_TRY(rp_shape_check_direction("half_space.normal", normal, unit));
    RP_TRY(rp_shape_new(&class, sizeof(half_space), shape));
    (*shape)->plane = (*shape)->convex = (*shape)->massive = true;
    memcpy(((half_space *)*shape)->point, point, sizeof unit);
    memcpy(((half_space *)*shape)->normal, unit, sizeof unit);
    return RP_OK;
}

// ---- box ----

// A smaller box with sharp edges, and all that is within `round` of it.
typedef struct box {
    rp_shape shape;
    double lower[3], upper[3], round;
} box;

// Outside the sharp box, the distance to its nearest point; inside, to the nearest face.
static double box_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const box *b = (const box *)shape;
    double beyond[3], side[3], outside2 = 0.0;
    int nearest = 0;
    for (int a = 0; a < 3; a++) {
        const double below = b->lower[a] - x[a], above = x[a] - b->upper[a];
        beyond[a] = fmax(below, above);
        side[a] = below > above ? -1.0 : 1.0;
        gradient[a] = 0.0;
        outside2 += beyond[a] > 0.0 ? beyond[a] * beyond[a] : 0.0;
        nearest = beyond[a] > beyond[nearest] ? a : nearest;
    }
    if (outside2 == 0.0) {
        gradient[nearest] = side[nearest];
        return beyond[nearest] - b->round;
    }
    const double outside = sqrt(outside2);
    for (int a = 0; a < 3; a++) {
        gradient[a] = beyond[a] > 0.0 ? side[a] * beyond[a] / outside : 0.0;
    }
    return outside - b->round;
}

static void box_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const box *b = (const box *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = b->lower[a] - b->round;
        upper[a] = b->upper[a] + b->round;
    }
}

// Steiner's formula: the sharp box, slabs on its faces, quarters of cylinders on its edges, and a
// ball in eight pieces. In 2D the plane z = 0 cuts a rectangle that is rounded less when it passes
// beside the sharp box.
static double box_volume(const rp_shape *shape, int dimension)
{
    const box *b = (const box *)shape;
    const double r = b->round;
    const double x = b->upper[0] - b->lower[0], y = b->upper[1] - b->lower[1];
    if (dimension == 2) {
        const double beside = fmax(0.0, fmax(b->lower[2], -b->upper[2]));
        const double left = sqrt(fmax(0.0, r * r - beside * beside));
        return beside > r ? 0.0 : x * y + 2.0 * left * (x + y) + PI * left * left;
    }
    const double z = b->upper[2] - b->lower[2];
    const double sharp = x * y * z;
    return r > 0.0 ? sharp + 2.0 * r * (x * y + y * z + z * x) + PI * r * r * (x + y + z) +
                         4.0 / 3.0 * PI * r * r * r
                   : sharp;
}

// Twelve, unless its edges are round or the slab passes beside it.
static rp_result box_triangles(const rp_shape *shape, const rp_shape_slab *slab, rp_mesh *out)
{
    // corner c is at the upper end along axis a where bit a of c is set; two triangles a face
    static const int32_t side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const box *b = (const box *)shape;
    double end[2][3];
    memcpy(end[0], b->lower, sizeof end[0]);
    memcpy(end[1], b->upper, sizeof end[1]);
    if (slab != NULL) {
        const bool beside = slab->middle < end[0][2] || slab->middle > end[1][2];
        end[0][2] = beside ? -INFINITY : slab->middle - slab->half;
        end[1][2] = beside ? INFINITY : slab->middle + slab->half;
    }
    if (b->round > 0.0 || !rp_is_finite(end[0]) || !rp_is_finite(end[1])) {
        return RP_OK;
    }
    RP_TRY(rp_mesh_reserve(out, 8, 12));
    out->places = 8;
    out->triangles = 12;
    for (int c = 0; c < 8; c++) {
        for (int a = 0; a < 3; a++) {
            rp_mesh_place(out)[c][a] = end[c >> a & 1][a];
        }
    }
    for (int t = 0; t < 12; t++) {
        const int32_t *face = side[t / 2];
        const int32_t corner[3] = {face[0], face[1 + t % 2], face[2 + t % 2]};
        memcpy(rp_mesh_triangle(out)[t], corner, sizeof corner);
    }
    return RP_OK;
}

rp_result rp_shape_rounded_box(const double lower[3], const double upper[3], double round,
                               rp_shape **shape)
{
    static const rp_shape_class class = {.distance = box_distance,
                                         .bounds = box_bounds,
                                         .volume = box_volume,
                                         .triangles = box_triangles};
    *shape = NULL;
    double most = INFINITY;
    for (int a = 0; a < 3; a++) {
        if (!(lower[a] < upper[a])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "box.upper[%d]: want more than box.lower[%d] = %g, got %g", a, a,
                           lower[a], upper[a]);
        }
        most = fmin(most, 0.5 * (upper[a] - lower[a]));
    }
    if (!(round >= 0.0 && round <= most && isfinite(round))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "box.round: want 0 to half the shortest side, which is %g m, got %g", most,
                       round);
    }
    RP_TRY(rp_shape_new(&class, sizeof(box), shape));
    (*shape)->convex = true;
    box *b = (box *)*shape;
    b->round = round;
    for (int a = 0; a < 3; a++) {
        // when all is round, round-off must not turn the sharp box inside out
        const double middle = 0.5 * (lower[a] + upper[a]);
        b->lower[a] = round > 0.0 && isfinite(middle) ? fmin(lower[a] + round, middle) : lower[a];
        b->upper[a] = round > 0.0 && isfinite(middle) ? fmax(upper[a] - round, middle) : upper[a];
    }
    return RP_OK;
}

rp_result rp_shape_box(const double lower[3], const double upper[3], rp_shape **shape)
{
    return rp_shape_rounded_box(lower, upper, 0.0, shape);
}

// ---- sphere ----

typedef struct sphere {
    rp_shape shape;
    double center[3], radius;
} sphere;

static double sphere_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const sphere *s = (const sphere *)shape;
    double from[3];
    for (int a = 0; a < 3; a++) {
        from[a] = x[a] - s->center[a];
    }
    const double r = sqrt(rp_dot(from, from));
    for (int a = 0; a < 3; a++) {
        gradient[a] = r > 0.0 ? from[a] / r : a == 1; // in the middle every way is out: take up
    }
    return r - s->radius;
}

static void sphere_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const sphere *s = (const sphere *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = s->center[a] - s->radius;
        upper[a] = s->center[a] + s->radius;
    }
}

// In 2D, of the circle that the plane z = 0 cuts.
static double sphere_volume(const rp_shape *shape, int dimension)
{
    const double r = ((const sphere *)shape)->radius, z = ((const sphere *)shape)->center[2];
    return dimension == 3 ? 4.0 / 3.0 * PI * r * r * r : PI * fmax(0.0, r * r - z * z);
}

rp_result rp_shape_sphere(const double center[3], double radius, rp_shape **shape)
{
    static const rp_shape_class class = {
        .distance = sphere_distance, .bounds = sphere_bounds, .volume = sphere_volume};
    *shape = NULL;
    RP_TRY(rp_shape_check_point("sphere.center", center));
    RP_TRY(rp_shape_check_length("sphere.radius", radius));
    RP_TRY(rp_shape_new(&class, sizeof(sphere), shape));
    (*shape)->convex = true;
    memcpy(((sphere *)*shape)->center, center, 3 * sizeof *center);
    ((sphere *)*shape)->radius = radius;
    return RP_OK;
}

// ---- capsule ----

typedef struct capsule {
    rp_shape shape;
    double a[3], b[3], along[3], length2, radius;
    double side[3]; // the way out on the line between the ends
    rp_shape_measure measure;
} capsule;

static double capsule_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const capsule *c = (const capsule *)shape;
    double from[3];
    for (int i = 0; i < 3; i++) {
        from[i] = x[i] - c->a[i];
    }
    const double way = c->length2 > 0.0 ? rp_dot(from, c->along) / c->length2 : 0.0;
    const double t = fmin(1.0, fmax(0.0, way));
    for (int i = 0; i < 3; i++) {
        gradient[i] = from[i] - t * c->along[i];
    }
    const double r = sqrt(rp_dot(gradient, gradient));
    for (int i = 0; i < 3; i++) {
        gradient[i] = r > 1e-15 * sqrt(c->length2) ? gradient[i] / r : c->side[i];
    }
    return r - c->radius;
}

static void capsule_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const capsule *c = (const capsule *)shape;
    for (int i = 0; i < 3; i++) {
        lower[i] = fmin(c->a[i], c->b[i]) - c->radius;
        upper[i] = fmax(c->a[i], c->b[i]) + c->radius;
    }
}

static double capsule_volume(const rp_shape *shape, int dimension)
{
    const capsule *c = (const capsule *)shape;
    const double r = c->radius, length = sqrt(c->length2);
    if (dimension == 3) {
        return PI * r * r * (length + 4.0 / 3.0 * r);
    }
    return c->a[2] == 0.0 && c->b[2] == 0.0
               ? r * (2.0 * length + PI * r)
               : rp_shape_measured(shape, &((capsule *)(uintptr_t)shape)->measure, 2);
}

rp_result rp_shape_capsule(const double a[3], const double b[3], double radius, rp_shape **shape)
{
    static const rp_shape_class class = {
        .distance = capsule_distance, .bounds = capsule_bounds, .volume = capsule_volume};
    *shape = NULL;
    RP_TRY(rp_shape_check_point("capsule.a", a));
    RP_TRY(rp_shape_check_point("capsule.b", b));
    RP_TRY(rp_shape_check_length("capsule.radius", radius));
    RP_TRY(rp_shape_new(&class, sizeof(capsule), shape));
    (*shape)->convex = true;
    capsule *c = (capsule *)*shape;
    c->radius = radius;
    for (int i = 0; i < 3; i++) {
        c->a[i] = a[i];
        c->b[i] = b[i];
        c->along[i] = b[i] - a[i];
    }
    c->length2 = rp_dot(c->along, c->along);
    double unit[3] = {0.0, 0.0, 1.0};
    for (int i = 0; i < 3 && c->length2 > 0.0; i++) {
        unit[i] = c->along[i] / sqrt(c->length2);
    }
    memcpy(c->side, rp_shape_make_axis(a, unit).side, sizeof c->side);
    return RP_OK;
}

// ---- torus ----

typedef struct torus {
    rp_shape shape;
    rp_shape_axis axis;
    double major, minor;
    rp_shape_measure measure;
} torus;

// In a half-plane through the axis it is a circle.
static double torus_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const torus *t = (const torus *)shape;
    double r, h, away[3];
    rp_shape_to_axis(&t->axis, x, &r, &h, away);
    const double out = r - t->major, d = sqrt(out * out + h * h);
    const bool middle = !(d > 1e-15 * t->major);
    for (int a = 0; a < 3; a++) {
        gradient[a] = middle ? t->axis.axis[a] : (out * away[a] + h * t->axis.axis[a]) / d;
    }
    return d - t->minor;
}

static void torus_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const torus *t = (const torus *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = INFINITY;
        upper[a] = -INFINITY;
    }
    rp_shape_bound_circle(&t->axis, t->major, 0.0, lower, upper);
    for (int a = 0; a < 3; a++) {
        lower[a] -= t->minor;
        upper[a] += t->minor;
    }
}

static double torus_volume(const rp_shape *shape, int dimension)
{
    const torus *t = (const torus *)shape;
    return dimension == 3
               ? 2.0 * PI * PI * t->major * t->minor * t->minor
               : rp_shape_measured(shape, &((torus *)(uintptr_t)shape)->measure, dimension);
}

rp_result rp_shape_torus(const double center[3], const double axis[3], double major, double minor,
                         rp_shape **shape)
{
    static const rp_shape_class class = {
        .distance = torus_distance, .bounds = torus_bounds, .volume = torus_volume};
    double unit[3];
    *shape = NULL;
    RP_TRY(rp_shape_check_point("torus.center", center));
    RP_TRY(rp_shape_check_direction("torus.axis", axis, unit));
    RP_TRY(rp_shape_check_length("torus.major", major));
    RP_TRY(rp_shape_check_length("torus.minor", minor));
    if (minor > major) {
        return rp_fail(RP_ERR_ARGUMENT, "torus.minor: want at most major, which is %g m, got %g",
                       major, minor);
    }
    RP_TRY(rp_shape_new(&class, sizeof(torus), shape));
    torus *t = (torus *)*shape;
    t->axis = rp_shape_make_axis(center, unit);
    t->major = major;
    t->minor = minor;
    return RP_OK;
}

// ---- ellipsoid ----

typedef struct ellipsoid {
    rp_shape shape;
    double center[3], radius[3];
    int narrow;      // the axis with the least radius
    double wider[3]; // the squares of the radii less that of the least
} ellipsoid;

// The nearest point q of the surface to a point p with p_i >= 0 fulfils p - q = t n, with the
// normal n_i = q_i / r_i^2: so q_i = r_i^2 p_i / (t + r_i^2), and t is the greatest root of
//
//   g(t) = sum (r_i p_i / (t + r_i^2))^2 - 1
//
// over the axes with p_i > 0. There g falls and is convex, so Newton's steps from a place left of
// the root climb towards it without ever passing. Near the least radius r the sums t + r_i^2 nearly
// vanish, so the unknown is s = t + r^2, and they are s + wider_i with wider_i = r_i^2 - r^2.
static double nearest_parameter(const ellipsoid *e, const double p[3])
{
    double s = -INFINITY;
    for (int a = 0; a < 3; a++) {
        if (p[a] > 0.0) {
            s = fmax(s, e->radius[a] * p[a] - e->wider[a]); // this term alone is 1 here
        }
    }
    for (int step = 0; step < 200; step++) {
        double g = -1.0, slope = 0.0;
        for (int a = 0; a < 3; a++) {
            if (p[a] > 0.0) {
                const double below = s + e->wider[a], term = e->radius[a] * p[a] / below;
                g += term * term;
                slope += 2.0 * term * term / below;
            }
        }
        const double next = s + g / slope;
        if (!(next > s)) {
            break;
        }
        s = next;
    }
    return s;
}

static void nearest_on_ellipsoid(const ellipsoid *e, const double p[3], double q[3])
{
    const double s = fmax(0.0, nearest_parameter(e, p));
    double rest = 1.0;
    for (int a = 0; a < 3; a++) {
        const double r = e->radius[a];
        q[a] = p[a] > 0.0 ? r * (r * p[a] / (s + e->wider[a])) : 0.0;
        rest -= (q[a] / r) * (q[a] / r);
    }
    // in the middle plane of a flat one the nearest point may be off that plane
    if (s == 0.0) {
        q[e->narrow] = e->radius[e->narrow] * sqrt(fmax(0.0, rest));
    }
}

static double ellipsoid_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const ellipsoid *e = (const ellipsoid *)shape;
    double p[3], q[3], side[3], inside = 0.0, n2 = 0.0, d2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const double from = x[a] - e->center[a], r = e->radius[a];
        side[a] = from < 0.0 ? -1.0 : 1.0;
        p[a] = isinf(r) || fabs(from) < 1e-20 * r ? 0.0 : fabs(from);
        inside += isinf(r) ? 0.0 : (p[a] / r) * (p[a] / r);
    }
    nearest_on_ellipsoid(e, p, q);
    for (int a = 0; a < 3; a++) {
        const double r = e->radius[a];
        gradient[a] = isinf(r) ? 0.0 : side[a] * (q[a] / r) / (r / e->radius[e->narrow]);
        n2 += gradient[a] * gradient[a];
        d2 += isinf(r) ? 0.0 : (p[a] - q[a]) * (p[a] - q[a]);
    }
    const double n = sqrt(n2), d = sqrt(d2);
    for (int a = 0; a < 3; a++) {
        gradient[a] /= n;
    }
    return inside < 1.0 ? -d : d;
}

static void ellipsoid_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const ellipsoid *e = (const ellipsoid *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = e->center[a] - e->radius[a];
        upper[a] = e->center[a] + e->radius[a];
    }
}

static double ellipsoid_volume(const rp_shape *shape, int dimension)
{
    const ellipsoid *e = (const ellipsoid *)shape;
    const double *r = e->radius, z = e->center[2] / r[2];
    return dimension == 3 ? 4.0 / 3.0 * PI * r[0] * r[1] * r[2]
                          : PI * r[0] * r[1] * fmax(0.0, 1.0 - z * z);
}

rp_result rp_shape_ellipsoid(const double center[3], const double radii[3], rp_shape **shape)
{
    static const rp_shape_class class = {
        .distance = ellipsoid_distance, .bounds = ellipsoid_bounds, .volume = ellipsoid_volume};
    *shape = NULL;
    RP_TRY(rp_shape_check_point("ellipsoid.center", center));
    int narrow = 0;
    for (int a = 0; a < 3; a++) {
        if (!(radii[a] > 0.0)) {
            return rp_fail(RP_ERR_ARGUMENT, "ellipsoid.radii[%d]: want > 0 m, got %g", a, radii[a]);
        }
        narrow = radii[a] < radii[narrow] ? a : narrow;
    }
    if (isinf(radii[narrow])) {
        return rp_fail(RP_ERR_ARGUMENT, "ellipsoid.radii: want a finite one, got none");
    }
    RP_TRY(rp_shape_new(&class, sizeof(ellipsoid), shape));
    (*shape)->convex = true;
    ellipsoid *e = (ellipsoid *)*shape;
    memcpy(e->center, center, sizeof e->center);
    memcpy(e->radius, radii, sizeof e->radius);
    e->narrow = narrow;
    for (int a = 0; a < 3; a++) {
        e->wider[a] = (radii[a] - radii[narrow]) * (radii[a] + radii[narrow]);
    }
    return RP_OK;
}

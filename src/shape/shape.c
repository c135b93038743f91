// What all shapes share, and the simple ones.
#include "base/memory.h"
#include "base/result.h"
#include "shape/class.h"

#include <math.h>
#include <string.h>

static bool finite_vector(const double x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

rp_result rp_shape_new(const rp_shape_class *class, size_t bytes, rp_shape **out)
{
    *out = rp_new(rp_default_allocator(), bytes, "a shape");
    if (*out == NULL) {
        return RP_ERR_MEMORY;
    }
    (*out)->class = class;
    (*out)->bytes = bytes;
    atomic_init(&(*out)->references, 1);
    return RP_OK;
}

rp_shape *rp_shape_retain(const rp_shape *shape)
{
    rp_shape *kept = (rp_shape *)(uintptr_t)shape;
    atomic_fetch_add(&kept->references, 1);
    return kept;
}

void rp_shape_release(rp_shape *shape)
{
    if (shape != NULL && atomic_fetch_sub(&shape->references, 1) == 1) {
        if (shape->class->free != NULL) {
            shape->class->free(shape);
        }
        rp_delete(rp_default_allocator(), shape, shape->bytes);
    }
}

double rp_shape_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    double unwanted[3];
    return shape->class->distance(shape, x, gradient != NULL ? gradient : unwanted);
}

bool rp_shape_bounds(const rp_shape *shape, int dimension, double lower[3], double upper[3])
{
    shape->class->bounds(shape, lower, upper);
    bool bounded = true;
    for (int a = 0; a < dimension; a++) {
        bounded = bounded && isfinite(lower[a]) && isfinite(upper[a]);
    }
    return bounded;
}

double rp_shape_volume(const rp_shape *shape, int dimension)
{
    return shape->class->volume(shape, dimension);
}

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

static void half_space_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    (void)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = -INFINITY;
        upper[a] = INFINITY;
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
    static const rp_shape_class class = {half_space_distance, half_space_bounds, half_space_volume,
                                         NULL};
    const double length = hypot(hypot(normal[0], normal[1]), normal[2]);
    *shape = NULL;
    if (!finite_vector(point)) {
        return rp_fail(RP_ERR_ARGUMENT, "half_space.point: want finite numbers, got (%g, %g, %g)",
                       point[0], point[1], point[2]);
    }
    if (!(length > 0.0 && isfinite(length))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "half_space.normal: want a direction, got a vector of length %g", length);
    }
    RP_TRY(rp_shape_new(&class, sizeof(half_space), shape));
    half_space *h = (half_space *)*shape;
    for (int a = 0; a < 3; a++) {
        h->point[a] = point[a];
        h->normal[a] = normal[a] / length;
    }
    return RP_OK;
}

// ---- box ----

typedef struct box {
    rp_shape shape;
    double lower[3], upper[3];
} box;

// Outside, the distance to the nearest point of the box; inside, to the nearest face.
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
        return beyond[nearest];
    }
    const double outside = sqrt(outside2);
    for (int a = 0; a < 3; a++) {
        gradient[a] = beyond[a] > 0.0 ? side[a] * beyond[a] / outside : 0.0;
    }
    return outside;
}

static void box_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const box *b = (const box *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = b->lower[a];
        upper[a] = b->upper[a];
    }
}

static double box_volume(const rp_shape *shape, int dimension)
{
    const box *b = (const box *)shape;
    double volume = 1.0;
    for (int a = 0; a < dimension; a++) {
        volume *= b->upper[a] - b->lower[a];
    }
    return volume;
}

rp_result rp_shape_box(const double lower[3], const double upper[3], rp_shape **shape)
{
    static const rp_shape_class class = {box_distance, box_bounds, box_volume, NULL};
    *shape = NULL;
    for (int a = 0; a < 3; a++) {
        if (!(lower[a] < upper[a])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "box.upper[%d]: want more than box.lower[%d] = %g, got %g", a, a,
                           lower[a], upper[a]);
        }
    }
    RP_TRY(rp_shape_new(&class, sizeof(box), shape));
    memcpy(((box *)*shape)->lower, lower, 3 * sizeof *lower);
    memcpy(((box *)*shape)->upper, upper, 3 * sizeof *upper);
    return RP_OK;
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
    const double r = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
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
    return dimension == 3 ? 4.0 / 3.0 * M_PI * r * r * r : M_PI * fmax(0.0, r * r - z * z);
}

rp_result rp_shape_sphere(const double center[3], double radius, rp_shape **shape)
{
    static const rp_shape_class class = {sphere_distance, sphere_bounds, sphere_volume, NULL};
    *shape = NULL;
    if (!finite_vector(center)) {
        return rp_fail(RP_ERR_ARGUMENT, "sphere.center: want finite numbers, got (%g, %g, %g)",
                       center[0], center[1], center[2]);
    }
    if (!(radius > 0.0 && isfinite(radius))) {
        return rp_fail(RP_ERR_ARGUMENT, "sphere.radius: want > 0 m, got %g", radius);
    }
    RP_TRY(rp_shape_new(&class, sizeof(sphere), shape));
    memcpy(((sphere *)*shape)->center, center, 3 * sizeof *center);
    ((sphere *)*shape)->radius = radius;
    return RP_OK;
}

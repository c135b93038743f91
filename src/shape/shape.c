// Signed distances of the simple shapes.
#include "repose/shape.h"

#include "base/memory.h"
#include "base/result.h"

#include <math.h>
#include <stdatomic.h>

// What a kind of shape can say of itself. `gradient` is never NULL here.
typedef struct shape_class {
    double (*distance)(const rp_shape *shape, const double x[3], double gradient[3]);
    void (*bounds)(const rp_shape *shape, double lower[3], double upper[3]);
    double (*volume)(const rp_shape *shape, int dimension);
} shape_class;

struct rp_shape {
    const shape_class *class;
    atomic_int references;
    union {
        struct {
            double point[3], normal[3];
        } half_space;
        struct {
            double lower[3], upper[3];
        } box;
        struct {
            double center[3], radius;
        } sphere;
    };
};

static bool finite_vector(const double x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static rp_result new_shape(const shape_class *class, rp_shape **out)
{
    *out = rp_new(rp_default_allocator(), sizeof **out, "a shape");
    if (*out == NULL) {
        return RP_ERR_MEMORY;
    }
    (*out)->class = class;
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
        rp_delete(rp_default_allocator(), shape, sizeof *shape);
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

static double half_space_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    double phi = 0.0;
    for (int a = 0; a < 3; a++) {
        gradient[a] = shape->half_space.normal[a];
        phi += (x[a] - shape->half_space.point[a]) * gradient[a];
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
    static const shape_class class = {half_space_distance, half_space_bounds, half_space_volume};
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
    RP_TRY(new_shape(&class, shape));
    for (int a = 0; a < 3; a++) {
        (*shape)->half_space.point[a] = point[a];
        (*shape)->half_space.normal[a] = normal[a] / length;
    }
    return RP_OK;
}

// ---- box ----

// Outside, the distance to the nearest point of the box; inside, to the nearest face.
static double box_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    double beyond[3], side[3], outside2 = 0.0;
    int nearest = 0;
    for (int a = 0; a < 3; a++) {
        const double below = shape->box.lower[a] - x[a], above = x[a] - shape->box.upper[a];
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
    for (int a = 0; a < 3; a++) {
        lower[a] = shape->box.lower[a];
        upper[a] = shape->box.upper[a];
    }
}

static double box_volume(const rp_shape *shape, int dimension)
{
    double volume = 1.0;
    for (int a = 0; a < dimension; a++) {
        volume *= shape->box.upper[a] - shape->box.lower[a];
    }
    return volume;
}

rp_result rp_shape_box(const double lower[3], const double upper[3], rp_shape **shape)
{
    static const shape_class class = {box_distance, box_bounds, box_volume};
    *shape = NULL;
    for (int a = 0; a < 3; a++) {
        if (!(lower[a] < upper[a])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "box.upper[%d]: want more than box.lower[%d] = %g, got %g", a, a,
                           lower[a], upper[a]);
        }
    }
    RP_TRY(new_shape(&class, shape));
    for (int a = 0; a < 3; a++) {
        (*shape)->box.lower[a] = lower[a];
        (*shape)->box.upper[a] = upper[a];
    }
    return RP_OK;
}

// ---- sphere ----

static double sphere_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    double from[3];
    for (int a = 0; a < 3; a++) {
        from[a] = x[a] - shape->sphere.center[a];
    }
    const double r = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
    for (int a = 0; a < 3; a++) {
        gradient[a] = r > 0.0 ? from[a] / r : a == 1; // in the middle every way is out: take up
    }
    return r - shape->sphere.radius;
}

static void sphere_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    for (int a = 0; a < 3; a++) {
        lower[a] = shape->sphere.center[a] - shape->sphere.radius;
        upper[a] = shape->sphere.center[a] + shape->sphere.radius;
    }
}

// In 2D, of the circle that the plane z = 0 cuts.
static double sphere_volume(const rp_shape *shape, int dimension)
{
    const double r = shape->sphere.radius, z = shape->sphere.center[2];
    return dimension == 3 ? 4.0 / 3.0 * M_PI * r * r * r : M_PI * fmax(0.0, r * r - z * z);
}

rp_result rp_shape_sphere(const double center[3], double radius, rp_shape **shape)
{
    static const shape_class class = {sphere_distance, sphere_bounds, sphere_volume};
    *shape = NULL;
    if (!finite_vector(center)) {
        return rp_fail(RP_ERR_ARGUMENT, "sphere.center: want finite numbers, got (%g, %g, %g)",
                       center[0], center[1], center[2]);
    }
    if (!(radius > 0.0 && isfinite(radius))) {
        return rp_fail(RP_ERR_ARGUMENT, "sphere.radius: want > 0 m, got %g", radius);
    }
    RP_TRY(new_shape(&class, shape));
    for (int a = 0; a < 3; a++) {
        (*shape)->sphere.center[a] = center[a];
    }
    (*shape)->sphere.radius = radius;
    return RP_OK;
}

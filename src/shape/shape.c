// What all shapes share.
#include "base/memory.h"
#include "base/result.h"
#include "shape/class.h"

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

// ---- refusals ----

rp_result rp_shape_check_point(const char *name, const double x[3])
{
    if (!rp_is_finite(x)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want finite numbers, got (%g, %g, %g)", name, x[0],
                       x[1], x[2]);
    }
    return RP_OK;
}

rp_result rp_shape_check_length(const char *name, double length)
{
    if (!(length > 0.0 && isfinite(length))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want > 0 m, got %g", name, length);
    }
    return RP_OK;
}

rp_result rp_shape_check_direction(const char *name, const double direction[3], double unit[3])
{
    const double length = hypot(hypot(direction[0], direction[1]), direction[2]);
    if (!(length > 0.0 && isfinite(length))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want a direction, got a vector of length %g", name,
                       length);
    }
    for (int a = 0; a < 3; a++) {
        unit[a] = direction[a] / length;
    }
    return RP_OK;
}

// ---- round about an axis ----

rp_shape_axis rp_shape_make_axis(const double base[3], const double unit[3])
{
    // axis x z, unless the axis is z itself
    const double length = sqrt(unit[0] * unit[0] + unit[1] * unit[1]);
    const bool upright = !(length > 1e-8);
    return (rp_shape_axis){
        .base = {base[0], base[1], base[2]},
        .axis = {unit[0], unit[1], unit[2]},
        .side = {upright ? 1.0 : unit[1] / length, upright ? 0.0 : -unit[0] / length, 0.0},
    };
}

void rp_shape_to_axis(const rp_shape_axis *a, const double x[3], double *r, double *h,
                      double away[3])
{
    const double from[3] = {x[0] - a->base[0], x[1] - a->base[1], x[2] - a->base[2]};
    *h = rp_dot(from, a->axis);
    for (int i = 0; i < 3; i++) {
        away[i] = from[i] - *h * a->axis[i];
    }
    *r = sqrt(rp_dot(away, away));
    // nearer to the axis than round-off, every way is away
    const bool on_axis = !(*r > 1e-15 * (fabs(from[0]) + fabs(from[1]) + fabs(from[2])));
    for (int i = 0; i < 3; i++) {
        away[i] = on_axis ? a->side[i] : away[i] / *r;
    }
}

bool rp_shape_axis_is_flat(const rp_shape_axis *a)
{
    return a->base[2] == 0.0 && a->axis[2] == 0.0;
}

void rp_shape_bound_circle(const rp_shape_axis *a, double r, double h, double lower[3],
                           double upper[3])
{
    for (int i = 0; i < 3; i++) {
        const double middle = a->base[i] + h * a->axis[i];
        const double reach = r * sqrt(fmax(0.0, 1.0 - a->axis[i] * a->axis[i]));
        lower[i] = fmin(lower[i], middle - reach);
        upper[i] = fmax(upper[i], middle + reach);
    }
}

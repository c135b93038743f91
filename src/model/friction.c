// What angle, coefficient and yield_fit come down to: one place for every law and every method.
#include "base/result.h"
#include "model/material.h"

#include <math.h>

const char *const rp_yield_fit_names[] = {
    "default", "compression", "plane_strain", "slope", "inscribed", "middle", NULL};

rp_yield_curve rp_yield_curve_of(rp_yield_fit fit, int dim)
{
    const double to_slope = sqrt(2.0) / dim; // alpha for a friction coefficient of 1
    switch (fit) {
    case RP_FIT_DEFAULT:
        return rp_yield_curve_of(dim == 2 ? RP_FIT_PLANE_STRAIN : RP_FIT_COMPRESSION, dim);
    case RP_FIT_COMPRESSION:
        // as printed, sqrt(2/3) 2s / (3 - s), in any dimension
        return (rp_yield_curve){2.0 / 3.0 * sqrt(2.0 / 3.0), -1.0 / 3.0, 0.0};
    case RP_FIT_PLANE_STRAIN:
        return (rp_yield_curve){to_slope, 0.0, 0.0};
    case RP_FIT_SLOPE:
        return (rp_yield_curve){to_slope, 0.0, -1.0};
    case RP_FIT_INSCRIBED:
        return (rp_yield_curve){to_slope, 0.0, 1.0 / 3.0};
    case RP_FIT_MIDDLE:
        return (rp_yield_curve){to_slope * 2.0 / sqrt(3.0), 1.0 / 3.0, 0.0};
    }
    return (rp_yield_curve){NAN, NAN, NAN};
}

double rp_yield_slope(rp_yield_fit fit, double phi, int dim)
{
    const rp_yield_curve k = rp_yield_curve_of(fit, dim);
    const double s = sin(phi);
    return k.scale * s / ((1.0 + k.tilt * s) * sqrt(1.0 + k.bend * s * s));
}

double rp_friction_coefficient(double slope, int dim) { return dim * slope / sqrt(2.0); }

double rp_slope_of_friction(double coefficient, int dim) { return sqrt(2.0) * coefficient / dim; }

double rp_dilation_of(double angle, int dim)
{
    const double s = sin(angle);
    return sqrt(2.0) * s / (dim == 3 ? sqrt(1.0 + s * s / 3.0) : 1.0);
}

double rp_associated_dilation(double coefficient, int dim)
{
    // rp_dilation_of() is then sqrt(2) times the coefficient
    const double left = dim == 3 ? 1.0 - coefficient * coefficient / 3.0 : 1.0;
    return coefficient * coefficient < left ? asin(coefficient / sqrt(left)) : acos(0.0);
}

double rp_plain_friction(const rp_material_def *def, int dim)
{
    return def->friction_coefficient >= 0.0
               ? def->friction_coefficient
               : rp_friction_coefficient(rp_yield_slope(def->yield_fit, def->friction_angle, dim),
                                         dim);
}

void rp_warn_of_friction(const char *name, double coefficient)
{
    if (coefficient >= 1.0) {
        rp_log(RP_LOG_WARNING,
               "%s: friction coefficient %.3g (at its largest): from 1 on, a slope of any angle "
               "can stand in plane strain",
               name, coefficient);
    }
}

double rp_steady_friction(const rp_material_def *def, int dim, double hardening)
{
    (void)hardening;
    return rp_plain_friction(def, dim);
}

double rp_material_friction_after(const rp_material_def *def, int dim, double hardening)
{
    const rp_material_class *class = rp_material_class_of(def->kind);
    return class != NULL && class->friction != NULL ? class->friction(def, dim, hardening) : 0.0;
}

double rp_material_friction(const rp_material_def *def, int dim)
{
    return rp_material_friction_after(def, dim, 0.0);
}

double rp_material_slope(const rp_material_def *def, int dim)
{
    // shear over normal stress of a layer that swells as it is sheared, docs/theory.md (29a)
    const double friction = rp_material_friction(def, dim);
    const double swells = def->dilation_limit > 0.0 ? 0.0 : tan(def->dilation_angle);
    const double across = 2.0 * (dim - 1) / dim * swells;
    return atan(friction / (sqrt(1.0 + across * swells) - friction * across));
}

#include "model/material.h"

#include "base/result.h"

#include <math.h>

#define HALF_PI 1.57079632679489661923
#define DEGREE  (HALF_PI / 90.0)

rp_material_def rp_default_sand_def(void)
{
    return (rp_material_def){
        .kind = RP_SAND,
        .density = 2200.0,
        .young = 3.537e5,
        .poisson = 0.3,
        .friction_angle = 35.0 * DEGREE,
        .yield_fit = RP_FIT_DEFAULT,
        .friction_coefficient = -1.0,
        .hardening = false,
        // the usual curve: 25 degrees at first, 48 at most, 35 in the end
        .hardening_h = {35.0 * DEGREE, 9.0 * DEGREE, 0.2, 10.0 * DEGREE},
        .cohesion = 0.0,
        .volume_correction = true,
        .cookie = RP_DEF_COOKIE,
    };
}

rp_material_def rp_default_elastic_def(void)
{
    rp_material_def def = rp_default_sand_def();
    def.kind = RP_ELASTIC;
    def.volume_correction = false;
    return def;
}

rp_lame rp_lame_parameters(double young, double poisson)
{
    return (rp_lame){
        .lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        .mu = young / (2.0 * (1.0 + poisson)),
    };
}

// The three numbers of docs/theory.md (20), by the table in its section 11.
typedef struct yield_curve {
    double scale, tilt, bend;
} yield_curve;

static yield_curve curve_of(rp_yield_fit fit, int dim)
{
    const double to_slope = sqrt(2.0) / dim; // alpha for a friction coefficient of 1
    switch (fit) {
    case RP_FIT_DEFAULT:
        return curve_of(dim == 2 ? RP_FIT_PLANE_STRAIN : RP_FIT_COMPRESSION, dim);
    case RP_FIT_COMPRESSION:
        // as printed, sqrt(2/3) 2s / (3 - s), in any dimension
        return (yield_curve){2.0 / 3.0 * sqrt(2.0 / 3.0), -1.0 / 3.0, 0.0};
    case RP_FIT_PLANE_STRAIN:
        return (yield_curve){to_slope, 0.0, 0.0};
    case RP_FIT_SLOPE:
        return (yield_curve){to_slope, 0.0, -1.0};
    case RP_FIT_INSCRIBED:
        return (yield_curve){to_slope, 0.0, 1.0 / 3.0};
    case RP_FIT_MIDDLE:
        return (yield_curve){to_slope * 2.0 / sqrt(3.0), 1.0 / 3.0, 0.0};
    }
    return (yield_curve){NAN, NAN, NAN};
}

double rp_yield_slope(rp_yield_fit fit, double phi, int dim)
{
    const yield_curve k = curve_of(fit, dim);
    const double s = sin(phi);
    return k.scale * s / ((1.0 + k.tilt * s) * sqrt(1.0 + k.bend * s * s));
}

double rp_friction_coefficient(double slope, int dim) { return dim * slope / sqrt(2.0); }

double rp_hardened_angle(const double h[4], double q)
{
    return h[0] + (h[1] * q - h[3]) * exp(-h[2] * q);
}

double rp_material_slope(const rp_material_def *def, int dim)
{
    if (def->kind != RP_SAND) {
        return 0.0;
    }
    if (def->friction_coefficient >= 0.0) {
        return atan(def->friction_coefficient);
    }
    const double phi =
        def->hardening ? rp_hardened_angle(def->hardening_h, 0.0) : def->friction_angle;
    return atan(rp_friction_coefficient(rp_yield_slope(def->yield_fit, phi, dim), dim));
}

// Least and largest angle that a hardening curve reaches for q >= 0.
static void hardened_range(const double h[4], double *least, double *most)
{
    // it starts at h0 - h3, ends at h0, and has one turning point in between unless it is monotone
    const double start = rp_hardened_angle(h, 0.0), end = h[0];
    *least = fmin(start, end);
    *most = fmax(start, end);
    const double turn = 1.0 / h[2] + h[3] / h[1];
    if (h[1] != 0.0 && turn > 0.0) {
        const double angle = rp_hardened_angle(h, turn);
        *least = fmin(*least, angle);
        *most = fmax(*most, angle);
    }
}

// Everything that only sand has. Gives the largest friction coefficient it will ever show.
static rp_result check_sand(const rp_material_def *def, int dim, double *coefficient)
{
    if (!((int)def->yield_fit >= RP_FIT_DEFAULT && (int)def->yield_fit <= RP_FIT_MIDDLE)) {
        return rp_fail(RP_ERR_ARGUMENT, "sand.yield_fit: want one of rp_yield_fit, got %d",
                       (int)def->yield_fit);
    }
    if (!(def->cohesion >= 0.0 && isfinite(def->cohesion))) {
        return rp_fail(RP_ERR_ARGUMENT, "sand.cohesion: want >= 0 Pa, got %g", def->cohesion);
    }
    if (!isfinite(def->friction_coefficient)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "sand.friction_coefficient: want >= 0, or < 0 to use the angle, got %g",
                       def->friction_coefficient);
    }

    const bool given = def->friction_coefficient >= 0.0;
    if (given && def->hardening) {
        return rp_fail(
            RP_ERR_ARGUMENT,
            "sand.friction_coefficient: want none with hardening, which makes its own, got %g",
            def->friction_coefficient);
    }
    if (given) {
        *coefficient = def->friction_coefficient;
        return RP_OK;
    }

    double steepest = def->friction_angle;
    if (def->hardening) {
        for (int k = 0; k < 4; k++) {
            if (!isfinite(def->hardening_h[k])) {
                return rp_fail(RP_ERR_ARGUMENT, "sand.hardening_h[%d]: want a number, got %g", k,
                               def->hardening_h[k]);
            }
        }
        if (!(def->hardening_h[2] > 0.0)) {
            return rp_fail(RP_ERR_ARGUMENT, "sand.hardening_h[2]: want > 0, got %g",
                           def->hardening_h[2]);
        }
        double least;
        hardened_range(def->hardening_h, &least, &steepest);
        if (!(least >= 0.0 && steepest < HALF_PI)) {
            return rp_fail(
                RP_ERR_ARGUMENT,
                "sand.hardening_h: want a curve within >= 0 and < pi/2 rad, got %g to %g", least,
                steepest);
        }
    } else if (!(def->friction_angle >= 0.0 && def->friction_angle < HALF_PI)) {
        return rp_fail(RP_ERR_ARGUMENT, "sand.friction_angle: want >= 0 and < pi/2 rad, got %g",
                       def->friction_angle);
    }
    *coefficient = rp_friction_coefficient(rp_yield_slope(def->yield_fit, steepest, dim), dim);
    return RP_OK;
}

rp_result rp_material_check(const rp_material_def *def, int dim)
{
    RP_ASSERT(dim == 2 || dim == 3);
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "material: want a def made by rp_default_sand_def() or "
                                        "rp_default_elastic_def()");
    }
    if (!(def->kind == RP_SAND || def->kind == RP_ELASTIC)) {
        return rp_fail(RP_ERR_ARGUMENT, "material.kind: want RP_SAND or RP_ELASTIC, got %d",
                       (int)def->kind);
    }
    const char *name = def->kind == RP_SAND ? "sand" : "elastic";
    if (!(def->density > 0.0 && isfinite(def->density))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.density: want > 0 kg/m^3, got %g", name, def->density);
    }
    if (!(def->young > 0.0 && isfinite(def->young))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.young: want > 0 Pa, got %g", name, def->young);
    }
    if (!(def->poisson > -1.0 && def->poisson < 0.5)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.poisson: want > -1 and < 0.5, got %g", name,
                       def->poisson);
    }
    if (def->kind == RP_SAND) {
        double coefficient = 0.0;
        RP_TRY(check_sand(def, dim, &coefficient));
        if (coefficient >= 1.0) {
            rp_log(
                RP_LOG_WARNING,
                "sand: friction coefficient %.3g (at its largest): from 1 on, a slope of any angle "
                "can stand in plane strain",
                coefficient);
        }
    }
    return RP_OK;
}

rp_law_id rp_material_law(const rp_material_def *def)
{
    return def->kind == RP_ELASTIC ? RP_LAW_ELASTIC : RP_LAW_DRUCKER_PRAGER;
}

void rp_material_parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    const rp_lame lame = rp_lame_parameters(def->young, def->poisson);
    for (int k = 0; k < RP_PARAM_COUNT; k++) {
        out[k] = 0.0;
    }
    out[RP_PARAM_LAMBDA] = lame.lambda;
    out[RP_PARAM_MU] = lame.mu;
    out[RP_PARAM_DENSITY] = def->density;
    if (def->kind != RP_SAND) {
        return;
    }

    const yield_curve curve = curve_of(def->yield_fit, dim);
    // where hardening decides, this is the slope it starts from
    const double angle =
        def->hardening ? rp_hardened_angle(def->hardening_h, 0.0) : def->friction_angle;
    out[RP_PARAM_SLOPE] = def->friction_coefficient >= 0.0
                              ? sqrt(2.0) * def->friction_coefficient / dim
                              : rp_yield_slope(def->yield_fit, angle, dim);
    out[RP_PARAM_COHESION] = def->cohesion;
    out[RP_PARAM_CORRECTS] = def->volume_correction;
    out[RP_PARAM_HARDENS] = def->hardening;
    for (int k = 0; k < 4; k++) {
        out[RP_PARAM_H0 + k] = def->hardening_h[k];
    }
    out[RP_PARAM_FIT_SCALE] = curve.scale;
    out[RP_PARAM_FIT_TILT] = curve.tilt;
    out[RP_PARAM_FIT_BEND] = curve.bend;
}

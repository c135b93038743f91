// Modified Cam-clay: Hencky elasticity inside an ellipse that grows as clay is compacted and
// shrinks as it dilates (docs/theory.md, section 18; Roscoe & Burland 1968).
//
//   (|dev tau| / M)^2 + p (p - p_c) <= 0,   p = -tr tau / d,   M = sqrt(2) mu_hat          (52)
//   flow is normal to the ellipse; p_c <- p_c exp(-(plastic volume strain) / compression)  (53)
//
// The ellipse is that of the start of the step. With a = 2 B dgamma, B the bulk modulus, and all
// stresses in units of p_c,
//
//   p = (p' + a / 2) / (1 + a),   s = s' / (1 + a r),   r = 2 mu / (B M^2)                 (54)
//
// and the length a of the flow solves s^2 + p (p - 1) = 0, whose left side falls and is convex:
// Newton's method from 0 creeps up on it and cannot miss. The column is the log of p_c over its
// value at the start.
#include "model/variant.h"

enum {
    PARAM_SLOPE = RP_PARAM_OWN, // M
    PARAM_START,                // p_c at the start [Pa]
    PARAM_COMPRESSION,
};

#ifdef RP_DIM // ---- the law ----

#include "model/hencky.h"

enum { MOST_TURNS = 60 };
#define CLOSE (RP_REAL_BITS == 32 ? R(1e-6) : R(1e-13)) // to the ellipse, as (54) measures it

// Clay that has been torn apart keeps a hundredth of its strength.
#define LEAST R(-4.60517018598809136804)

// The length of the flow for p and s outside of the ellipse, lane by lane: a lane that has arrived
// stays where it is, so that neighbours make no difference to it.
RP_INLINE vec flow_length(vec p, vec s, vec r, ivec outside)
{
    const vec one = vset(R(1.0)), half = vset(R(0.5));
    vec a = vset(R(0.0));
    for (int turn = 0; turn < MOST_TURNS && vany(outside); turn++) {
        const vec wide = one + a, across = vfma(a, r, one);
        const vec pa = (p + half * a) / wide, sa = s / across;
        const vec miss = vfma(sa, sa, pa * (pa - one));
        const vec q = (p + p - one) / wide;
        const vec fall = vfma(vset(R(2.0)) * sa * sa, r / across, half * q * q / wide);
        // a NaN fails the comparison and goes on being one
        outside = outside & ~vle(miss, vset(CLOSE));
        a = vselect(outside, a + miss / fall, a);
    }
    return a;
}

static void RP_LAW_VARIANT(cam_clay_update)(const rp_law_tile *tile)
{
    const real over_d = (real)(1.0 / DIM);
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const vec zero = vset(R(0.0)), one = vset(R(1.0));
        real *column = (real *)tile->column[RP_COL_CONSOLIDATION] + lane;
        const vec mu = law_parameter(tile, RP_PARAM_MU, lane);
        const vec bulk =
            vfma(vset(R(2.0) * over_d), mu, law_parameter(tile, RP_PARAM_LAMBDA, lane));
        const vec slope = law_parameter(tile, PARAM_SLOPE, lane);
        const vec grown = vload(column);
        const vec limit = law_parameter(tile, PARAM_START, lane) * vexp(grown);

        const sym trial = hencky_trial(tile, lane);
        const vec trace = sym_trace(trial);
        sym deviator = trial;
        for (int k = 0; k < DIM; k++) {
            deviator.c[k] -= over_d * trace;
        }
        // lanes past the last particle have no limit, and are inside
        const vec p = -bulk * trace / limit;
        const vec s = (mu + mu) * vsqrt(sym_norm2(deviator)) / (slope * limit);
        const ivec inside = vle(vfma(s, s, p * (p - one)), vset(CLOSE)) | vle(limit, zero);
        if (!vany(~inside)) {
            sym_store((real *)tile->column[RP_COL_STRAIN] + lane, trial);
            continue;
        }
        const vec r = (mu + mu) / (bulk * slope * slope);
        const vec a = flow_length(p, s, r, ~inside);
        const vec left = one / vfma(a, r, one);
        const vec now = -limit / bulk * (vfma(vset(R(0.5)), a, p) / (one + a)); // trace
        sym h = sym_scaled(deviator, left);
        for (int k = 0; k < DIM; k++) {
            h.c[k] += over_d * now;
        }
        sym_store((real *)tile->column[RP_COL_STRAIN] + lane, sym_select(inside, trial, h));
        const vec more = grown + (now - trace) / law_parameter(tile, PARAM_COMPRESSION, lane);
        // in this order of operands a NaN stays a NaN
        vstore(column, vselect(inside, grown, vmax(vset(LEAST), more)));
    }
}

RP_HENCKY_ENTRIES(cam_clay)

RP_LAW(cam_clay) = {.stress = RP_LAW_VARIANT(cam_clay_stress),
                    .update = RP_LAW_VARIANT(cam_clay_update),
                    .energy = RP_LAW_VARIANT(cam_clay_energy)};

#else // ---- the material ----

#include "base/result.h"
#include "model/material.h"

// clang-format off
static const rp_property properties[] = {
    RP_ELASTIC_PROPERTIES,
    RP_FRICTION_PROPERTIES,
    {"preconsolidation", RP_PROPERTY_NUMBER, "Pa", RP_POSITIVE, .otherwise = "2e4", RP_AT(preconsolidation),
     .sentence = "The pressure under which it first gives way, as it once lay deeper. It grows as clay is compacted and falls as it dilates, to a hundredth at the least."},
    {"compression", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .otherwise = "0.1", RP_AT(compression),
     .sentence = "Log of the volume that is lost for good when that pressure grows e-fold: lambda* - kappa* of the books."},
};

static const char example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local clay = material.cam_clay { density = 1800, friction_angle = 25, preconsolidation = 5e3 }\n"
    "particles { material = clay, shape = box { min = {0, 0, 0}, max = {0.2, 0.3, 0.2} } }\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n";
// clang-format on

static unsigned needs(const rp_material_def *def)
{
    (void)def;
    return 1u << RP_COL_STRAIN | 1u << RP_COL_CONSOLIDATION;
}

static rp_result check(const rp_material_def *def, int dim)
{
    const double friction = rp_plain_friction(def, dim);
    if (!(friction > 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "cam_clay: want some friction, got a coefficient of %g",
                       friction);
    }
    rp_warn_of_friction("cam_clay", friction);
    return RP_OK;
}

static void parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    rp_elastic_parameters(def, dim, out);
    out[PARAM_SLOPE] = sqrt(2.0) * rp_plain_friction(def, dim);
    out[PARAM_START] = def->preconsolidation;
    out[PARAM_COMPRESSION] = def->compression;
}

const rp_material_class rp_class_cam_clay = {
    .info = {.name = "cam_clay",
             .sentence = "Clay that remembers how hard it was pressed (modified Cam-clay).",
             .example = example,
             .species = "solid",
             .color = {0.62, 0.4, 0.3},
             RP_PROPERTIES(properties)},
    .needs = needs,
    .check = check,
    .parameters = parameters,
    .modulus = rp_elastic_modulus,
    .friction = rp_steady_friction,
    .grains = true,
};

#endif

// Dry or cohesive sand: Hencky elasticity inside a Drucker-Prager cone, with hardening and volume
// correction where the material asks for them (docs/theory.md, sections 9 and 10).
//
// The return mapping changes the trace of the strain and the length of its deviator and keeps the
// axes of both, so that it works on the tensor as it is. All lanes run the same instructions: mu,
// slope, cohesion, hardening and correction may differ from lane to lane.
#include "model/sand.h"

#include "model/variant.h"

#ifdef RP_DIM // ---- the law ----

#include "model/linear.h"

// Part of the cohesion that is lost per volume gain: all of it at 0.05, docs/theory.md (24).
#define FADING R(20.0)

// Volume that slides gain and rest pays back, docs/theory.md (26a): how fast it is paid per
// sqrt(g / dx), the volume that doubles that, and the most that is owed.
#define RESTING_RATE   R(0.2)
#define RESTING_VOLUME R(0.0025)
#define RESTING_MOST   R(0.015)

// How far the logarithm of the density that the grid sees may be off, docs/theory.md (26).
#define DOUBT R(1.0)

// Slope of the cone, theory (20), from the hardening state before the step, theory (28).
RP_INLINE vec cone_slope(const rp_law_tile *tile, int lane, ivec hardens, vec q)
{
    const vec fixed = law_parameter(tile, RP_PARAM_SLOPE, lane);
    if (!vany(hardens)) {
        return fixed;
    }
    const vec h0 = law_parameter(tile, RP_PARAM_H0, lane);
    const vec h1 = law_parameter(tile, RP_PARAM_H1, lane);
    const vec h2 = law_parameter(tile, RP_PARAM_H2, lane);
    const vec h3 = law_parameter(tile, RP_PARAM_H3, lane);
    const vec s = vsin(vfma(vfma(h1, q, -h3), vexp(-h2 * q), h0));

    const vec scale = law_parameter(tile, RP_PARAM_FIT_SCALE, lane);
    const vec tilt = law_parameter(tile, RP_PARAM_FIT_TILT, lane);
    const vec bend = law_parameter(tile, RP_PARAM_FIT_BEND, lane);
    const vec one = vset(R(1.0));
    const vec slope = scale * s / (vfma(tilt, s, one) * vsqrt(vfma(bend * s, s, one)));
    return vselect(hardens, slope, fixed);
}

// No more volume is given back than the density that the grid sees can explain, theory (26). Below
// the doubt that is never so, which saves a logarithm where sand that slides owes a little.
RP_INLINE vec capped_gain(const rp_law_tile *tile, int lane, ivec rests, vec gain)
{
    const vec zero = vset(R(0.0));
    const ivec positive = vlt(vselect(rests, vset(DOUBT), zero), gain);
    if (!vany(positive)) {
        return gain;
    }
    const vec rest = law_parameter(tile, RP_PARAM_DENSITY, lane);
    const vec seen = vload((const real *)tile->density + lane);
    // in this order of operands a NaN density makes the gain NaN
    const vec capped = vmin(gain, vmax(zero, vlog(rest / seen)) + vset(DOUBT));
    return vselect(positive, capped, gain);
}

// What sand at rest pays back in this step, theory (26a): never so much that it pulls. What is owed
// beyond the most is paid at once, as what is gained by flying apart always is.
RP_INLINE vec paid_back(const rp_law_tile *tile, vec owed, vec trace)
{
    const vec one = vset(R(1.0)), step = vset((real)(tile->dt * tile->fall_rate));
    const vec x = step * vset(RESTING_RATE) * vfma(owed, vset(R(1.0) / RESTING_VOLUME), one);
    const vec paid = vmin(owed * x / (one + x), vmax(vset(R(0.0)), -trace));
    return vmax(paid, owed - vset(RESTING_MOST));
}

// Plastic flow from how far the trial strain is outside of the slow cone, theory (22b): sand that
// swells as it slides is pressed by that, and flows less. Where friction grows with the rate,
// (28c).
RP_INLINE vec plastic_flow(const rp_law_tile *tile, int lane, vec over, vec alpha, bool swells,
                           vec eta, vec bulk, vec mu, vec t)
{
    const vec one = vset(R(1.0));
    vec flow = over, pressed = vset(R(0.0)), slow = one;
    if (swells) {
        pressed = eta * bulk / (mu + mu);
        slow = vfma(alpha, pressed, one);
        flow = over / slow;
    }

    const vec zero = vset(R(0.0)), half = vset(R(0.5));
    const vec fast = law_parameter(tile, RP_PARAM_FAST_SLOPE, lane);
    const ivec inertial = vlt(zero, fast);
    if (!vany(inertial)) {
        return flow;
    }
    // pressure, the flow of this step at I0, and how much wider the fast cone is
    const vec pressure = vmax(zero, vset((real)(-1.0 / DIM)) * bulk * t);
    const vec at_number =
        law_parameter(tile, RP_PARAM_FAST_RATE, lane) * vsqrt(pressure) * vset((real)tile->dt);
    const vec wider = vmax(zero, (alpha - fast) * bulk * t / (mu + mu));
    // a x^2 + b x - over at_number = 0, by whichever form has no cancellation
    const vec a = vfma(fast, pressed, one);
    const vec b = vfma(at_number, slow, wider) - over;
    const vec product = over * at_number;
    const vec root = vsqrt(vfma(b, b, vset(R(4.0)) * a * product));
    const ivec falls = vlt(b, zero);
    const vec x = vselect(falls, half * (root - b) / a, (product + product) / (root + vabs(b)));
    return vselect(inertial & vlt(zero, over) & vlt(zero, root + vabs(b)), x, flow);
}

// @param follow what implicit steps ask for instead of a new state; NULL: the new state
RP_INLINE void return_mapping(const rp_law_tile *tile, int lane, linear_follow *follow)
{
    const vec zero = vset(R(0.0)), one = vset(R(1.0));
    const real over_d = (real)(1.0 / DIM);

    // a column that is not kept counts as switched off
    real *const q_column = tile->column[RP_COL_HARDENING];
    real *const gain_column = tile->column[RP_COL_VOLUME_GAIN];
    ivec hardens = viset(0), corrects = viset(0), rests = viset(0);
    vec q = zero, old_gain = zero, gain = zero;
    if (q_column != NULL) {
        hardens = vlt(zero, law_parameter(tile, RP_PARAM_HARDENS, lane));
        q = vload(q_column + lane);
    }
    if (gain_column != NULL) {
        corrects = vlt(zero, law_parameter(tile, RP_PARAM_CORRECTS, lane));
        old_gain = vload(gain_column + lane);
        gain = vselect(corrects, old_gain, zero);
        rests = vlt(zero, law_parameter(tile, RP_PARAM_RESTS, lane));
    }
    const bool some_rest = vany(rests);
    const vec alpha = cone_slope(tile, lane, hardens, q);
    // volume per plastic flow, theory (22a)
    real *const swollen_column = tile->column[RP_COL_PLASTIC_VOLUME];
    vec eta = zero, swollen = zero;
    if (swollen_column != NULL) {
        const vec fading = law_parameter(tile, RP_PARAM_DILATION_FADING, lane);
        swollen = vload(swollen_column + lane);
        eta =
            law_parameter(tile, RP_PARAM_DILATION, lane) * vmax(zero, vfma(swollen, -fading, one));
    }
    const vec mu = law_parameter(tile, RP_PARAM_MU, lane);
    const vec bulk = vfma(vset(DIM), law_parameter(tile, RP_PARAM_LAMBDA, lane), mu + mu);
    vec apart_by = gain; // what it owes for slides does not loosen it
    if (some_rest) {
        apart_by = vselect(rests, vmax(zero, gain - vset(RESTING_MOST)), gain);
    }
    const vec left = vmax(zero, vfma(apart_by, vset(-FADING), one));
    const real *bond = tile->column[RP_COL_BOND]; // water takes it
    const vec dry = law_parameter(tile, RP_PARAM_COHESION, lane) * left;
    const vec cohesion = bond != NULL ? dry * vload(bond + lane) : dry;

    // the trial strain in its parts; the deviator is taken before the gain is added
    const sym trial = hencky_trial(tile, lane);
    const vec trace = sym_trace(trial);
    sym deviator = trial;
    for (int k = 0; k < DIM; k++) {
        deviator.c[k] -= over_d * trace;
    }
    const vec shear2 = sym_norm2(deviator), shear = vsqrt(shear2);
    const vec lasting = eta; // the rest of what it will be is owed
    vec owed = zero;
    if (some_rest) {
        const vec paid = paid_back(tile, old_gain, trace);
        owed = vselect(rests, old_gain - paid, zero);
        gain = vselect(rests, paid, gain);
        eta = vselect(rests, vset(DIM) * alpha, eta); // associated
    }
    const vec t = trace + gain; // theory (21)

    // the cone's radius at t, its tip, the plastic flow: theory (22). Without friction a cohesive
    // cone is a cylinder, and c / 0 puts its tip at infinity
    const vec radius = (cohesion - bulk * alpha * t) / (mu + mu);
    const ivec coheres = vlt(zero, cohesion);
    const vec tip = vany(coheres) ? vselect(coheres, cohesion / (alpha * bulk), zero) : zero;
    const vec over = shear - radius;
    const vec flow = plastic_flow(tile, lane, over, alpha, some_rest || swollen_column != NULL, eta,
                                  bulk, mu, t);
    const vec swelling = eta * flow;

    // theory (23): I inside, II apart, III sliding
    const ivec inside = vle(over, zero);
    const vec far = vfma(eta, shear, tip);
    const ivec apart = ~inside & (vle(far, t) | vle(shear, zero));

    // only II forgets the strain: `nothing` is 0, or NaN where something was
    const vec nothing = zero * vabs(flow);
    const vec reached = radius + (over - flow);
    const vec scale = vselect(inside, one, vselect(apart, nothing, reached / shear));
    const vec mean = over_d * vselect(apart, tip, t - swelling);
    const vec shift = over_d * gain;
    sym h = sym_scaled(deviator, scale);
    for (int k = 0; k < DIM; k++) {
        // inside, without a gain to pay back, the strain keeps its bits
        h.c[k] = vselect(inside, trial.c[k] + shift, h.c[k] + mean);
    }
    if (follow != NULL) {
        // sliding flows by w (ds + k dt) more, theory (I4)
        const vec k = alpha * bulk / (mu + mu), w = one / vfma(k, eta, one);
        const ivec slides = ~inside & ~apart;
        const vec keeps = vselect(inside, one, zero);
        follow->trial = trial;
        follow->strain = h;
        follow->rate[0] = vselect(slides, one - eta * w * k, keeps);
        follow->rate[1] = vselect(slides, -eta * w, zero);
        follow->rate[2] = vselect(slides, -w * k, zero);
        follow->rate[3] = vselect(slides, one - w, keeps);
        return;
    }
    sym_store((real *)tile->column[RP_COL_STRAIN] + lane, h);

    const vec plastic = vselect(inside, zero, vselect(apart, shear, flow));

    // theory (25): paid back inside and sliding; (26b) where it rests
    if (gain_column != NULL) {
        vec gained = vselect(apart, t - far, nothing);
        if (some_rest) {
            const vec slid = vfma(eta - lasting, plastic, owed);
            gained = vselect(rests, slid + vselect(corrects, gained, nothing), gained);
        }
        gained = capped_gain(tile, lane, rests, gained);
        vstore(gain_column + lane, vselect(corrects | rests, gained, old_gain));
    }

    // theory (25a)
    if (swollen_column != NULL) {
        vstore(swollen_column + lane, swollen + lasting * plastic);
    }

    // theory (27): the trial strain counts without the gain
    if (q_column != NULL) {
        const vec size = vsqrt(vfma(over_d * trace, trace, shear2));
        const vec step = vselect(inside, zero, vselect(apart, size, flow));
        vstore(q_column + lane, vselect(hardens, q + step, q));
    }
}

static void RP_LAW_VARIANT(sand_update)(const rp_law_tile *tile)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        return_mapping(tile, lane, NULL);
    }
}

RP_INLINE linear_follow sand_follow(const rp_law_tile *tile, int lane)
{
    linear_follow follow;
    return_mapping(tile, lane, &follow);
    return follow;
}

RP_LINEAR_ENTRIES(sand)

RP_HENCKY_ENTRIES(sand)

RP_LAW(sand) = {.stress = RP_LAW_VARIANT(sand_stress),
                .update = RP_LAW_VARIANT(sand_update),
                .energy = RP_LAW_VARIANT(sand_energy)};

#else // ---- the material ----

#include "base/result.h"
#include "model/material.h"

static const char *const flow_names[] = {"paper", "resting", NULL};

// clang-format off
static const rp_property hardening_form[] = {
    {"h0", RP_PROPERTY_NUMBER, "degrees", RP_ANY, .otherwise = "35", RP_AT(hardening_h[0]),
     .sentence = "Friction angle in the end."},
    {"h1", RP_PROPERTY_NUMBER, "degrees", RP_ANY, .otherwise = "9", RP_AT(hardening_h[1]),
     .sentence = "How steeply it rises at first."},
    {"h2", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .otherwise = "0.2", RP_AT(hardening_h[2]),
     .sentence = "How soon it settles."},
    {"h3", RP_PROPERTY_NUMBER, "degrees", RP_ANY, .otherwise = "10", RP_AT(hardening_h[3]),
     .sentence = "What is missing from `h0` at the start."},
};

static const rp_property inertial_form[] = {
    {"friction", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .absent = "0.26 more than at rest, as of glass beads",
     .none = -1.0, RP_AT(inertial_friction),
     .sentence = "Friction coefficient at high rates of shear, as `friction_coefficient` is that of slow flow."},
    {"number", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .otherwise = "0.279", RP_AT(inertial_number),
     .sentence = "I0: the inertial number at which half of the way is gone. Glass beads have 0.279."},
    {"grain", RP_PROPERTY_NUMBER, "m", RP_POSITIVE, .otherwise = "5e-4", RP_AT(inertial_grain),
     .sentence = "Diameter of grains."},
    {"density", RP_PROPERTY_NUMBER, "kg/m^3", RP_POSITIVE, .absent = "density / (1 - porosity)", .none = -1.0,
     RP_AT(inertial_density), .sentence = "Density in the inertial number; by default that of grains."},
};

static const rp_property properties[] = {
    RP_ELASTIC_PROPERTIES,
    RP_FRICTION_PROPERTIES,
    {"hardening", RP_PROPERTY_TABLE, .otherwise = "false", RP_AT(hardening), .form = hardening_form, .forms = 4,
     .sentence = "The friction angle changes as sand deforms: h0 + (h1 q - h3) exp(-h2 q). "
                 "It then replaces `friction_angle`; `true` takes all defaults."},
    {"cohesion", RP_PROPERTY_NUMBER, "Pa", RP_NOT_NEGATIVE, .otherwise = "0", RP_AT(cohesion),
     .sentence = "Strength without pressure, as of damp sand."},
    {"porosity", RP_PROPERTY_NUMBER, NULL, .low = 0.0, .high = 1.0, .below_high = true, .otherwise = "0.4",
     RP_AT(porosity), .sentence = "Share of the volume at rest that is pores: 0.4 of round grains, poured."},
    {"conductivity", RP_PROPERTY_NUMBER, "m/s", .low = 1e-9, .high = 1e3, .otherwise = "0.01", .not_with = "permeability drag",
     RP_AT(conductivity), .sentence = "How fast the water of the scene seeps through it under its own weight, per area of sand and pores: gravel 0.01 and more, "
                 "sand 1e-4, silt 1e-7. Only with `method = \"mixture\"`."},
    {"permeability", RP_PROPERTY_NUMBER, "m^2", .low = 1e-17, .high = 1e-4, .absent = "follows from `conductivity`", .none = -1.0,
     .not_with = "conductivity drag", RP_AT(permeability), .sentence = "Instead of `conductivity`: of the pores alone. A liquid without `viscosity` counts as 0.001 Pa s thick."},
    {"drag", RP_PROPERTY_NUMBER, "kg/(m^3 s)", .low = 1e-3, .high = 1e11, .absent = "follows from `conductivity`", .none = -1.0,
     .not_with = "conductivity permeability", RP_AT(drag), .sentence = "Force between sand and water per volume and difference of velocities, instead of `conductivity`."},
    {"dilation_angle", RP_PROPERTY_NUMBER, "degrees", .low = 0.0, .high = 90.0, .below_high = true, .otherwise = "0",
     RP_AT(dilation_angle), .sentence = "How steeply sheared sand swells: by its tangent times the way that grains slide over each other. "
                 "Up to the angle at which flow is associated; 0 as in the paper, of sand that has flowed for long."},
    {"dilation_limit", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .absent = "without end", .none = -1.0, RP_AT(dilation_limit),
     .sentence = "Log of the volume that sand gains in this way in all: dilation fades in proportion to what is left of it."},
    {"volume_correction", RP_PROPERTY_BOOLEAN, .otherwise = "true", RP_AT(volume_correction),
     .sentence = "Undo the volume that sand gains when it separates and falls together again."},
    {"flow", RP_PROPERTY_CHOICE, .choices = flow_names, .otherwise = "\"paper\"", RP_AT(flow),
     .sentence = "How sand slides: at constant volume, as in the paper; or resting: it swells a little as it slides, by 1.5 % at most, and "
                 "pays that back with time, the faster the stronger gravity is and never without it. Layers that should rest then do so on fine grids, too (docs/theory.md)."},
    {"inertial", RP_PROPERTY_TABLE, .otherwise = "false", RP_AT(inertial), .form = inertial_form, .forms = 4,
     .sentence = "Friction grows with the inertial number I = grain * rate * sqrt(density / pressure), from that of slow "
                 "flow to `friction`: by I / (I + number) of the way; `true` takes all defaults."},
};

static const char example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local dry = material.sand { name = \"dry\", friction_angle = 30 }\n"
    "local damp = material.sand { name = \"damp\", friction_angle = 38, cohesion = 200 }\n"
    "local dense = material.sand { name = \"dense\", hardening = { h0 = 30, h1 = 3, h3 = 5 } }\n"
    "for i, sand in ipairs { dry, damp, dense } do\n"
    "    particles { material = sand, shape = sphere { center = {i, 0.2, 0}, radius = 0.2 } }\n"
    "end\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n";
// clang-format on

static unsigned needs(const rp_material_def *def)
{
    return 1u << RP_COL_STRAIN | (unsigned)def->hardening << RP_COL_HARDENING |
           (unsigned)(def->volume_correction || def->flow == RP_FLOW_RESTING)
               << RP_COL_VOLUME_GAIN |
           (unsigned)(def->dilation_angle > 0.0) << RP_COL_PLASTIC_VOLUME;
}

double rp_hardened_angle(const double h[4], double q)
{
    return h[0] + (h[1] * q - h[3]) * exp(-h[2] * q);
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

// Glass beads: 0.38 at rest, 0.64 at most (Jop, Forterre and Pouliquen 2006).
static double inertial_friction(const rp_material_def *def, double slow)
{
    return !def->inertial                  ? slow
           : def->inertial_friction >= 0.0 ? def->inertial_friction
                                           : slow + 0.26;
}

double rp_material_inertial_friction(const rp_material_def *def, int dim)
{
    const double slow = rp_material_friction(def, dim);
    return def->kind == RP_SAND ? inertial_friction(def, slow) : slow;
}

double rp_material_inertial_density(const rp_material_def *def)
{
    return def->inertial_density >= 0.0 ? def->inertial_density
                                        : def->density / (1.0 - def->porosity);
}

static rp_result check(const rp_material_def *def, int dim)
{
    if (def->hardening && def->friction_coefficient >= 0.0) {
        return rp_fail(
            RP_ERR_ARGUMENT,
            "sand.friction_coefficient: want none with hardening, which makes its own, got %g",
            def->friction_coefficient);
    }
    rp_material_def steepest = *def, flattest = *def;
    if (def->hardening) {
        double least;
        hardened_range(def->hardening_h, &least, &steepest.friction_angle);
        flattest.friction_angle = least;
        if (!(least >= 0.0 && steepest.friction_angle < 1.57079632679489661923)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "sand.hardening: want a curve within >= 0 and < pi/2 rad, got %g to %g",
                           least, steepest.friction_angle);
        }
    }
    const double slow = rp_plain_friction(&steepest, dim), fast = inertial_friction(def, slow);
    if (!(fast >= slow)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "sand.inertial.friction: want at least that of slow flow, %g, got %g", slow,
                       fast);
    }
    // beyond associated flow it would make energy; the slack is for angles that were rounded
    const double most = rp_associated_dilation(rp_plain_friction(&flattest, dim), dim);
    if (!(def->dilation_angle <= most * (1.0 + 1e-9))) {
        const double degrees = 57.29577951308232;
        return rp_fail(RP_ERR_ARGUMENT,
                       "sand.dilation_angle: want at most %.4g degrees, at which flow is "
                       "associated with the yield cone, got %g",
                       degrees * most, degrees * def->dilation_angle);
    }
    rp_warn_of_friction("sand", slow);
    return RP_OK;
}

static double angle_after(const rp_material_def *def, double q)
{
    return def->hardening ? rp_hardened_angle(def->hardening_h, q) : def->friction_angle;
}

static double friction(const rp_material_def *def, int dim, double hardening)
{
    rp_material_def hardened = *def;
    hardened.friction_angle = angle_after(def, hardening);
    return rp_plain_friction(&hardened, dim);
}

static void parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    const rp_yield_curve curve = rp_yield_curve_of(def->yield_fit, dim);
    rp_elastic_parameters(def, dim, out);
    // where hardening decides, this is the slope it starts from
    out[RP_PARAM_SLOPE] = def->friction_coefficient >= 0.0
                              ? rp_slope_of_friction(def->friction_coefficient, dim)
                              : rp_yield_slope(def->yield_fit, angle_after(def, 0.0), dim);
    out[RP_PARAM_COHESION] = def->cohesion;
    out[RP_PARAM_CORRECTS] = def->volume_correction;
    out[RP_PARAM_HARDENS] = def->hardening;
    out[RP_PARAM_RESTS] = def->flow == RP_FLOW_RESTING;
    for (int k = 0; k < 4; k++) {
        out[RP_PARAM_H0 + k] = def->hardening_h[k];
    }
    // drag that lets through what Darcy says, docs/theory.md (P2)
    const double n2 = def->porosity * def->porosity;
    out[RP_PARAM_POROSITY] = def->porosity;
    if (def->drag > 0.0) {
        out[RP_PARAM_DRAG] = def->drag;
    } else if (def->permeability > 0.0) {
        out[RP_PARAM_DRAG_THICKNESS] = n2 / def->permeability;
    } else {
        out[RP_PARAM_DRAG_WEIGHT] = n2 / def->conductivity;
    }
    out[RP_PARAM_FIT_SCALE] = curve.scale;
    out[RP_PARAM_FIT_TILT] = curve.tilt;
    out[RP_PARAM_FIT_BEND] = curve.bend;
    out[RP_PARAM_DILATION] = rp_dilation_of(def->dilation_angle, dim);
    out[RP_PARAM_DILATION_FADING] = def->dilation_limit > 0.0 ? 1.0 / def->dilation_limit : 0.0;
    if (def->inertial) {
        const double density = rp_material_inertial_density(def);
        out[RP_PARAM_FAST_SLOPE] =
            rp_slope_of_friction(rp_material_inertial_friction(def, dim), dim);
        out[RP_PARAM_FAST_RATE] =
            def->inertial_number / (sqrt(2.0 * density) * def->inertial_grain);
    }
}

const rp_material_class rp_class_sand = {
    .info = {.name = "sand",
             .sentence = "Grains with inner friction: a material to hand to `particles`.",
             .example = example,
             .species = "solid",
             .color = {-1.0},
             RP_PROPERTIES(properties)},
    .needs = needs,
    .check = check,
    .parameters = parameters,
    .modulus = rp_elastic_modulus,
    .friction = friction,
    .gained = RP_COL_PLASTIC_VOLUME,
    .grains = true,
};

#endif

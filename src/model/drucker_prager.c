// Dry or cohesive sand: Hencky elasticity inside a Drucker-Prager cone, with hardening and volume
// correction where the material asks for them (docs/theory.md, sections 9 and 10).
//
// The return mapping changes the trace of the strain and the length of its deviator and keeps the
// axes of both, so that it works on the tensor as it is. All lanes run the same instructions: mu,
// slope, cohesion, hardening and correction may differ from lane to lane.
#include "model/hencky.h"

// Part of the cohesion that is lost per volume gain: all of it at 0.05, docs/theory.md (24).
#define FADING R(20.0)

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

// No more volume is given back than the density that the grid sees can explain, theory (26).
RP_INLINE vec capped_gain(const rp_law_tile *tile, int lane, vec gain)
{
    const vec zero = vset(R(0.0));
    const ivec positive = vlt(zero, gain);
    if (!vany(positive)) {
        return gain;
    }
    const vec rest = law_parameter(tile, RP_PARAM_DENSITY, lane);
    const vec seen = vload((const real *)tile->density + lane);
    // in this order of operands a NaN density makes the gain NaN
    const vec capped = vmin(gain, vmax(zero, vlog(rest / seen)) + vset(DOUBT));
    return vselect(positive, capped, gain);
}

RP_INLINE void return_mapping(const rp_law_tile *tile, int lane)
{
    const vec zero = vset(R(0.0)), one = vset(R(1.0));
    const real over_d = (real)(1.0 / DIM);

    // a column that is not kept counts as switched off
    real *const q_column = tile->hardening, *const gain_column = tile->volume_gain;
    ivec hardens = viset(0), corrects = viset(0);
    vec q = zero, old_gain = zero, gain = zero;
    if (q_column != NULL) {
        hardens = vlt(zero, law_parameter(tile, RP_PARAM_HARDENS, lane));
        q = vload(q_column + lane);
    }
    if (gain_column != NULL) {
        corrects = vlt(zero, law_parameter(tile, RP_PARAM_CORRECTS, lane));
        old_gain = vload(gain_column + lane);
        gain = vselect(corrects, old_gain, zero);
    }
    const vec alpha = cone_slope(tile, lane, hardens, q);
    const vec mu = law_parameter(tile, RP_PARAM_MU, lane);
    const vec bulk = vfma(vset(DIM), law_parameter(tile, RP_PARAM_LAMBDA, lane), mu + mu);
    const vec left = vmax(zero, vfma(gain, vset(-FADING), one));
    const vec cohesion = law_parameter(tile, RP_PARAM_COHESION, lane) * left;

    // the trial strain in its parts; the deviator is taken before the gain is added
    const sym trial = hencky_trial(tile, lane);
    const vec trace = sym_trace(trial);
    sym deviator = trial;
    for (int k = 0; k < DIM; k++) {
        deviator.c[k] -= over_d * trace;
    }
    const vec shear2 = sym_norm2(deviator), shear = vsqrt(shear2);
    const vec t = trace + gain; // theory (21)

    // the cone's radius at t, its tip, the plastic flow: theory (22). Without friction a cohesive
    // cone is a cylinder, and c / 0 puts its tip at infinity
    const vec radius = (cohesion - bulk * alpha * t) / (mu + mu);
    const ivec coheres = vlt(zero, cohesion);
    const vec tip = vany(coheres) ? vselect(coheres, cohesion / (alpha * bulk), zero) : zero;
    const vec flow = shear - radius;

    // theory (23): I inside, II apart, III sliding
    const ivec inside = vle(flow, zero);
    const ivec apart = ~inside & (vle(tip, t) | vle(shear, zero));

    // only II forgets the strain: `nothing` is 0, or NaN where something was
    const vec nothing = zero * vabs(flow);
    const vec scale = vselect(inside, one, vselect(apart, nothing, radius / shear));
    const vec mean = over_d * vselect(apart, tip, t);
    const vec shift = over_d * gain;
    sym h = sym_scaled(deviator, scale);
    for (int k = 0; k < DIM; k++) {
        // inside, without a gain to pay back, the strain keeps its bits
        h.c[k] = vselect(inside, trial.c[k] + shift, h.c[k] + mean);
    }
    sym_store((real *)tile->strain + lane, h);

    // theory (25): paid back inside and sliding
    if (gain_column != NULL) {
        const vec gained = capped_gain(tile, lane, vselect(apart, t - tip, nothing));
        vstore(gain_column + lane, vselect(corrects, gained, old_gain));
    }

    // theory (27): the trial strain counts without the gain
    if (q_column != NULL) {
        const vec size = vsqrt(vfma(over_d * trace, trace, shear2));
        const vec step = vselect(inside, zero, vselect(apart, size, flow));
        vstore(q_column + lane, vselect(hardens, q + step, q));
    }
}

void RP_LAW_VARIANT(drucker_prager_update)(const rp_law_tile *tile)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        return_mapping(tile, lane);
    }
}

// From what a user says about a material to what laws are told: moduli, cone slope, hardening
// curve. Cold code, in double.
#pragma once

#include "model/law.h"
#include "repose/world.h"

// Whether laws can work with this def in this dimension. Names the field that they cannot; warns
// where a value is allowed but unlikely to be meant.
rp_result rp_material_check(const rp_material_def *def, int dim);

// Which law moves it, and the numbers for it. The def must have passed the check.
rp_law_id rp_material_law(const rp_material_def *def);
void rp_material_parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT]);

typedef struct rp_lame {
    double lambda, mu; // [Pa]
} rp_lame;

rp_lame rp_lame_parameters(double young, double poisson);

// Slope alpha of the yield cone at the friction angle phi [rad], docs/theory.md (20).
double rp_yield_slope(rp_yield_fit fit, double phi, int dim);

// Shear over normal stress in plain shear at yield, docs/theory.md (29): a flowing slope settles at
// the arc tangent of it.
double rp_friction_coefficient(double slope, int dim);

// The friction angle [rad] after hardening by q, docs/theory.md (28).
double rp_hardened_angle(const double h[4], double q);

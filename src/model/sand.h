// What sand's law is told besides moduli and density.
#pragma once

#include "model/law.h"

enum {
    RP_PARAM_SLOPE = RP_PARAM_OWN, // alpha of the yield cone where it does not harden, theory (20)
    RP_PARAM_COHESION,             // c_C [Pa], theory (24)
    RP_PARAM_CORRECTS,             // 1 with volume correction, else 0
    RP_PARAM_RESTS,                // 1 where slides swell and rest pays back, else 0
    RP_PARAM_HARDENS,              // 1 with hardening, else 0
    RP_PARAM_H0, // hardening curve phi(q) = h0 + (h1 q - h3) exp(-h2 q), h0 h1 h3 in [rad]
    RP_PARAM_H1,
    RP_PARAM_H2,
    RP_PARAM_H3,
    RP_PARAM_FIT_SCALE, // of rp_yield_curve
    RP_PARAM_FIT_TILT,
    RP_PARAM_FIT_BEND,
    RP_PARAM_FAST_SLOPE, // alpha at high rates of shear; 0: friction does not depend on the rate
    RP_PARAM_FAST_RATE, // I0 / (sqrt(2) d_g sqrt(rho)): times sqrt(p), the rate at I0, theory (28b)
    RP_PARAM_POROSITY,
    // drag of water that seeps through it, theory (P2), one of them, others 0:
    RP_PARAM_DRAG,            // as given [kg/(m^3 s)]
    RP_PARAM_DRAG_WEIGHT,     // per weight of the water that there is [s/m]
    RP_PARAM_DRAG_THICKNESS,  // per its viscosity [1/m^2]
    RP_PARAM_DILATION,        // eta: volume per plastic flow, theory (22a)
    RP_PARAM_DILATION_FADING, // part of it that is lost per log of volume gained by it
};
_Static_assert((int)RP_PARAM_DILATION_FADING < (int)RP_PARAM_COUNT, "sand has the most to tell");

// The friction angle [rad] after hardening by q, docs/theory.md (28).
double rp_hardened_angle(const double h[4], double q);

// What the elastic strain of a particle says about the last return mapping.
#pragma once

#include "repose/world.h"

// I, II, III of sand, and what has no cone
typedef enum rp_case { RP_CASE_INSIDE, RP_CASE_APART, RP_CASE_SLIDING, RP_CASE_NONE } rp_case;

// Numbers of a material that do not change from particle to particle.
typedef struct rp_yield {
    const rp_material_def *def;
    int dimension;
    double lambda, mu; // [Pa]
    double slope;      // of the cone, as it is before it hardens
} rp_yield;

rp_yield rp_yield_of(const rp_material_def *def, int dimension);

// Kirchhoff stress along its own axes, the greatest first [Pa]; two of them in 2D.
// @param strain xx yy zz xy xz yz
void rp_stress_principal(const rp_yield *y, const double strain[6], double out[3]);
// The case that the return mapping ended in, as far as the strain it left behind tells: nothing
// left, on the cone to a part in a thousand, or inside.
rp_case rp_stress_case(const rp_yield *y, const double strain[6], double gain, double hardening);
// Slope of the cone for a particle that has hardened by q.
double rp_yield_slope_at(const rp_yield *y, double q);

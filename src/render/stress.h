// What the elastic strain of a particle says about its stress and about the last return mapping.
#pragma once

#include "repose/world.h"

typedef enum rp_case { RP_CASE_INSIDE, RP_CASE_APART, RP_CASE_SLIDING } rp_case; // I, II, III

// Numbers of a material that do not change from particle to particle.
typedef struct rp_yield {
    const rp_material_def *def;
    int dimension;
    double lambda, mu; // [Pa]
    double slope;      // of the cone, as it is before it hardens
} rp_yield;

rp_yield rp_yield_of(const rp_material_def *def, int dimension);

// @param strain as frames have it: xx yy xy, or xx yy zz xy xz yz
double rp_stress_pressure(const rp_yield *y, const double *strain); // [Pa]
// Kirchhoff stress along its own axes, the greatest first [Pa]; two of them in 2D.
void rp_stress_principal(const rp_yield *y, const double *strain, double out[3]);
// The case that the return mapping ended in, as far as the strain it left behind tells: nothing
// left, on the cone to a part in a thousand, or inside.
// @param gain, hardening of the particle; 0 where there is no such column
rp_case rp_stress_case(const rp_yield *y, const double *strain, double gain, double hardening);
// Slope of the cone for a particle that has hardened by q.
double rp_yield_slope_at(const rp_yield *y, double q);

// The smoothing kernels of granular SPH (Mueller 2003): poly6 for density, spiky for gradients.
// Lengths in units of the support H, so that W is per H^dim and a gradient per H^(dim + 1).
//
//     poly6  W(r) = c (1 - r^2)^3        spiky  W(r) = s (1 - r)^3,  -dW/dr = 3 s (1 - r)^2
//
// A particle counts with the volume that makes a lattice of spacing H / 2 exactly full; that is
// 0.990 (0.986 in 2D) of its share of space, since poly6 adds up to a little more than 1 there.
#pragma once

#include <stdbool.h>

enum { RP_SPH_TABLE = 512 };

typedef struct rp_sph_kernel {
    int dim;
    double density;   // c of poly6
    double gradient;  // 3 s of spiky
    double volume;    // of a particle [H^dim]
    double steepness; // of a row: |g| = steepness (1 - r)^2 [1/H]
    double stiffness; // sum of |g|^2 over a lattice [1/H^2]
    // of half-spaces, by distance from 0 to H
    double wall_fill[RP_SPH_TABLE + 1], wall_slope[RP_SPH_TABLE + 1];
} rp_sph_kernel;

rp_sph_kernel rp_sph_kernel_make(int dim);

// Both take the distance over H, from 0 on, and are 0 from 1 on.
double rp_sph_poly6(const rp_sph_kernel *k, double r);
double rp_sph_slope(const rp_sph_kernel *k, double r); // -dW/dr of spiky

// A half-space full of particles, that a lattice beginning H / 4 from it is full with, seen from a
// distance over H: what share of the support lies in it (poly6), and the gradient of the kernels in
// it, towards its outside (spiky) [1/H]. A distance below 0 is inside.
double rp_sph_wall_fill(const rp_sph_kernel *k, double d);
double rp_sph_wall_slope(const rp_sph_kernel *k, double d);

// The smoothing kernels of granular SPH (Mueller 2003): poly6 for density, spiky for gradients.
// Lengths in units of the support H, so that W is per H^dim and a gradient per H^(dim + 1).
//
//     poly6  W(r) = c (1 - r^2)^3        spiky  W(r) = s (1 - r)^3,  -dW/dr = 3 s (1 - r)^2
//
// A particle counts with the volume that makes a lattice of spacing H / 2 exactly full; that is
// 0.990 (0.986 in 2D) of its share of space, since poly6 adds up to a little more than 1 there.
#pragma once

typedef struct rp_sph_kernel {
    int dim;
    double density;   // c of poly6
    double gradient;  // 3 s of spiky
    double volume;    // of a particle [H^dim]
    double stiffness; // sum over a lattice of |volume grad W|^2 [1/H^2]
} rp_sph_kernel;

rp_sph_kernel rp_sph_kernel_make(int dim);

// Both take the distance over H, from 0 on, and are 0 from 1 on.
double rp_sph_poly6(const rp_sph_kernel *k, double r);
double rp_sph_slope(const rp_sph_kernel *k, double r); // -dW/dr of spiky

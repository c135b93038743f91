// How a constitutive law plugs in: a table of functions with a name, compiled per dimension,
// precision and instruction set. Kernels hand over tiles of sixteen particles, lane by lane; a law
// sees no pages, no grid and no neighbours. docs/adding-a-material.md walks through the smallest
// one.
#pragma once

#include "base/isa.h"
#include "repose/base.h"

// What a law may be told per material. Kernels spread these over the lanes of a tile, so that a
// tile of mixed materials is no special case for a law. A law ignores what it does not need.
typedef enum rp_parameter {
    RP_PARAM_LAMBDA,   // Lame's first parameter [Pa]
    RP_PARAM_MU,       // shear modulus [Pa]
    RP_PARAM_DENSITY,  // bulk density at rest [kg/m^3] (kg/m^2 in 2D: a slice one metre thick)
    RP_PARAM_SLOPE,    // alpha of the yield cone where it does not harden, theory (20)
    RP_PARAM_COHESION, // c_C [Pa], theory (24)
    RP_PARAM_CORRECTS, // 1 with volume correction, else 0
    RP_PARAM_HARDENS,  // 1 with hardening, else 0
    RP_PARAM_H0,       // hardening curve phi(q) = h0 + (h1 q - h3) exp(-h2 q), h0 h1 h3 in [rad]
    RP_PARAM_H1,
    RP_PARAM_H2,
    RP_PARAM_H3,
    RP_PARAM_FIT_SCALE, // alpha = scale s / ((1 + tilt s) sqrt(1 + bend s^2)), s = sin phi
    RP_PARAM_FIT_TILT,
    RP_PARAM_FIT_BEND,
    RP_PARAM_COUNT,
} rp_parameter;

// Sixteen particles as a law sees them. Each pointer is to real[components][16], real being float
// or double by variant; symmetric tensors are xx yy xy in 2D and xx yy zz xy xz yz in 3D.
typedef struct rp_law_tile {
    const void *parameter; // [RP_PARAM_COUNT][16]
    const void *increment; // dt grad v, row-major [d * d][16]
    const void *density;   // [16] density the grid sees at the particle [kg/m^3]
    void *strain;          // Hencky tensor h, in and out
    void *hardening;       // q, in and out; NULL where the set keeps none
    void *volume_gain;     // v_c, in and out; NULL where the set keeps none
} rp_law_tile;

typedef enum rp_law_need {
    RP_NEEDS_STRAIN = 1,
    RP_NEEDS_HARDENING = 2,
    RP_NEEDS_VOLUME_GAIN = 4
} rp_law_need;

typedef struct rp_law {
    const char *name;
    unsigned
        needs; // rp_law_need: columns it cannot work without (it may use others that are there)
    // Kirchhoff stress tau [Pa] of the current elastic state; out is real[sym][16]
    void (*stress)(const rp_law_tile *tile, void *out);
    // elastic trial state from the velocity gradient, then the return mapping
    void (*update)(const rp_law_tile *tile);
} rp_law;

// The laws there are, in the order that materials number them.
typedef enum rp_law_id { RP_LAW_ELASTIC, RP_LAW_DRUCKER_PRAGER, RP_LAW_COUNT } rp_law_id;

// All laws of one variant: laws[RP_LAW_COUNT]. NULL when this build lacks the instruction set.
const rp_law *rp_laws_find(int dim, int real_bits, int isa);

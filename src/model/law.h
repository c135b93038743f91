// How a constitutive law plugs in: a table of functions, compiled per dimension, precision and
// instruction set. Kernels hand over tiles of sixteen particles, lane by lane; a law sees no pages,
// no grid and no neighbours. A law and what users say of its material are one file,
// src/model/NAME.c; the list of names is RP_MATERIALS. docs/adding-a-material.md walks through one.
#pragma once

#include "base/isa.h"
#include "repose/material.h"

// What a law may be told per material. Kernels spread these over the lanes of a tile, so that a
// tile of mixed materials is no special case for a law. Those from RP_PARAM_OWN on mean what the
// law that reads them says: each names its own.
typedef enum rp_parameter {
    RP_PARAM_LAMBDA,  // Lame's first parameter [Pa]
    RP_PARAM_MU,      // shear modulus [Pa]
    RP_PARAM_DENSITY, // bulk density at rest [kg/m^3] (kg/m^2 in 2D: a slice one metre thick)
    RP_PARAM_OWN,
    RP_PARAM_COUNT = 23,
} rp_parameter;

// Sixteen particles as a law sees them. Each pointer is to real[components][16], real being float
// or double by variant; symmetric tensors are xx yy xy in 2D and xx yy zz xy xz yz in 3D.
typedef struct rp_law_tile {
    const void *parameter; // [RP_PARAM_COUNT][16]
    const void *increment; // dt grad v, row-major [d * d][16]; in `update` only
    const void *density;   // [16] density the grid sees at the particle [kg/m^3]; likewise
    double dt;             // of the step [s]
    double fall_rate;      // sqrt(gravity / dx): what is let go falls by half a cell in 1 / that
    void *column[RP_COL_COUNT]; // in and out in `update`; NULL where the set does not keep it, as
                                // it does all that rp_material_needs() names
} rp_law_tile;

typedef struct rp_law {
    // Kirchhoff stress tau [Pa] of the current state; out is real[sym][16]
    void (*stress)(const rp_law_tile *tile, void *out);
    // the state after the step: from the velocity gradient, then the return mapping
    void (*update)(const rp_law_tile *tile);
    // stored energy per volume at rest [J/m^3]; out is real[16]
    void (*energy)(const rp_law_tile *tile, void *out);
    // change of the stress after `update` for a change of the increment by real[d * d][16]; out is
    // real[sym][16] and the tile stays as it is. NULL: rp_law_tangent() finds it by differences
    void (*tangent)(const rp_law_tile *tile, const void *direction, void *out);
} rp_law;

// All laws of one variant by kind: laws[RP_MATERIAL_KINDS]. NULL when this build lacks the
// instruction set. A law without functions is of particles that have no stress.
const rp_law *const *rp_laws_find(int dim, int real_bits, int isa);

// The tangent of a law in double: its own, or central differences of update and stress, which cost
// two of each. What implicit steps linearise with.
void rp_law_tangent(const rp_law *law, int dim, const rp_law_tile *tile,
                    const double (*direction)[RP_LANES], double (*out)[RP_LANES]);

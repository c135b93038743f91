// What laws on the Hencky strain share: reading a tile, the elastic trial state, the stress.
#pragma once

#include "model/sym.h"

// one parameter of LANES particles
RP_INLINE vec law_parameter(const rp_law_tile *tile, rp_parameter which, int lane)
{
    return vload((const real *)tile->parameter + RP_LANES * which + lane);
}

// Trial strain after the velocity gradient of a step, docs/theory.md (3).
RP_INLINE sym hencky_trial(const rp_law_tile *tile, int lane)
{
    const sym h = sym_load((const real *)tile->strain + lane);
    vec L[DIM * DIM];
    for (int k = 0; k < DIM * DIM; k++) {
        L[k] = vload((const real *)tile->increment + RP_LANES * k + lane);
    }
    return sym_half_log1p(sym_push_forward(sym_expm1(sym_scaled(h, vset(R(2.0)))), L));
}

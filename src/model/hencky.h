// What laws on the Hencky strain share: reading a tile, the elastic trial state, stress and energy.
//
//   h   <- ln((I + L) exp(2h) (I + L)^T) / 2,  L = dt grad v     docs/theory.md (3)
//   tau  = 2 mu h + lambda tr(h) I                               docs/theory.md (18)
//   W    = mu h : h + lambda tr(h)^2 / 2
#pragma once

#include "model/sym.h"

// one parameter of LANES particles
RP_INLINE vec law_parameter(const rp_law_tile *tile, int which, int lane)
{
    return vload((const real *)tile->parameter + RP_LANES * which + lane);
}

// a column of the tile, from this lane on; NULL where there is none
RP_INLINE real *law_column(const rp_law_tile *tile, rp_column_id column, int lane)
{
    return tile->column[column] != NULL ? (real *)tile->column[column] + lane : NULL;
}

// Trial strain after the velocity gradient of a step, docs/theory.md (3).
RP_INLINE sym hencky_trial(const rp_law_tile *tile, int lane)
{
    const sym h = sym_load((const real *)tile->column[RP_COL_STRAIN] + lane);
    vec L[DIM * DIM];
    for (int k = 0; k < DIM * DIM; k++) {
        L[k] = vload((const real *)tile->increment + RP_LANES * k + lane);
    }
    return sym_half_log1p(sym_push_forward(sym_expm1(sym_scaled(h, vset(R(2.0)))), L));
}

// The strain of an elastic body: nothing is mapped back.
RP_INLINE void hencky_update(const rp_law_tile *tile)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        sym_store((real *)tile->column[RP_COL_STRAIN] + lane, hencky_trial(tile, lane));
    }
}

RP_INLINE void hencky_stress(const rp_law_tile *tile, void *out)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const sym h = sym_load((const real *)tile->column[RP_COL_STRAIN] + lane);
        const vec mu = law_parameter(tile, RP_PARAM_MU, lane);
        const vec pressure = law_parameter(tile, RP_PARAM_LAMBDA, lane) * sym_trace(h);

        sym tau = sym_scaled(h, mu + mu);
        for (int k = 0; k < DIM; k++) {
            tau.c[k] += pressure;
        }
        sym_store((real *)out + lane, tau);
    }
}

RP_INLINE void hencky_energy(const rp_law_tile *tile, void *out)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const sym h = sym_load((const real *)tile->column[RP_COL_STRAIN] + lane);
        const vec mu = law_parameter(tile, RP_PARAM_MU, lane);
        const vec lambda = law_parameter(tile, RP_PARAM_LAMBDA, lane), trace = sym_trace(h);
        vstore((real *)out + lane, mu * sym_norm2(h) + vset(R(0.5)) * lambda * trace * trace);
    }
}

// For laws whose stress and energy are those of the elastic part.
#define RP_HENCKY_ENTRIES(name)                                                                    \
    static void RP_LAW_VARIANT(name##_stress)(const rp_law_tile *tile, void *out)                  \
    {                                                                                              \
        hencky_stress(tile, out);                                                                  \
    }                                                                                              \
    static void RP_LAW_VARIANT(name##_energy)(const rp_law_tile *tile, void *out)                  \
    {                                                                                              \
        hencky_energy(tile, out);                                                                  \
    }

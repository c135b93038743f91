// Isotropic elasticity in the Hencky strain h = ln(F F^T) / 2.
//
//   h   <- ln((I + L) exp(2h) (I + L)^T) / 2,  L = dt grad v     docs/theory.md (3)
//   tau  = 2 mu h + lambda tr(h) I                               docs/theory.md (18)
#include "model/hencky.h"

void RP_LAW_VARIANT(hencky_update)(const rp_law_tile *tile)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        sym_store((real *)tile->strain + lane, hencky_trial(tile, lane));
    }
}

void RP_LAW_VARIANT(hencky_stress)(const rp_law_tile *tile, void *out)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const sym h = sym_load((const real *)tile->strain + lane);
        const vec mu = law_parameter(tile, RP_PARAM_MU, lane);
        const vec pressure = law_parameter(tile, RP_PARAM_LAMBDA, lane) * sym_trace(h);

        sym tau = sym_scaled(h, mu + mu);
        for (int k = 0; k < DIM; k++) {
            tau.c[k] += pressure;
        }
        sym_store((real *)out + lane, tau);
    }
}

// SPDX-License-Identifier: Apache-2.0
// How bodies of particles went as a whole.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Particles then and now. Those without mass have no say.
typedef struct rp_fit_def {
    int64_t count;
    const double (*then)[3], (*now)[3]; ///< [m]
    const double *mass;                 ///< [kg]
    const int *body;                    ///< number of the body of each; -1: of none
    double away; ///< what is farther from where its body takes it has left it [m]
} rp_fit_def;

/// A particle that was at x is near q x q* + shift.
typedef struct rp_fit {
    double shift[3], q[4]; ///< [m]; x, y, z, w
    double misfit;         ///< root mean square of what is left over [m]
    int64_t particles;
    int64_t debris; ///< of them, those that have left the body: they have no say
} rp_fit;

/// The best of all bodies at once, by mass.
/// @param[out] fit [bodies]
/// @param[out] left [count] which have left their body; may be NULL
RP_API rp_result rp_fit_bodies(const rp_fit_def *def, int bodies, rp_fit *fit, bool *left);

#ifdef __cplusplus
}
#endif

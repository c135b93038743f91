// SPDX-License-Identifier: Apache-2.0
// The nearest known spelling, for "did you mean".
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Feed candidates one by one, then look at `best`; NULL when none was near enough to be meant.
typedef struct rp_nearest {
    const char *wanted;
    const char *best;
    int distance;
} rp_nearest;

RP_API rp_nearest rp_nearest_start(const char *wanted);
/// The candidate must outlive the search.
RP_API void rp_nearest_try(rp_nearest *n, const char *candidate);

#ifdef __cplusplus
}
#endif

// Random numbers for tests: the same ones on every machine. Start from any state; two states that
// differ give unrelated sequences.
#pragma once

#include "base/hash.h"

#include <math.h>

static inline uint64_t test_bits(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    return rp_hash(*state, 0, RP_FOR_TEST, 0);
}

// In [0, 1).
static inline double test_uniform(uint64_t *state) { return rp_unit(test_bits(state)); }

// In [low, high).
static inline double test_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * test_uniform(state);
}

// A whole number in [0, count).
static inline int test_below(uint64_t *state, int count)
{
    return (int)(test_uniform(state) * count);
}

// Mean 0, variance 1 (Box and Muller; 1 - u is never 0).
static inline double test_normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(1.0 - test_uniform(state)));
    return radius * cos(6.283185307179586 * test_uniform(state));
}

// A unit vector without preference.
static inline void test_direction(uint64_t *state, double n[3])
{
    const double z = test_between(state, -1.0, 1.0),
                 angle = test_between(state, 0.0, 6.283185307179586);
    const double r = sqrt(1.0 - z * z);
    n[0] = r * cos(angle);
    n[1] = r * sin(angle);
    n[2] = z;
}

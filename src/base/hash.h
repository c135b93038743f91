// Random numbers without streams: hash(seed, id, purpose, step). The same particle draws the same
// number on any thread, rank or resume.
#pragma once

#include <stdint.h>

typedef enum rp_purpose {
    RP_FOR_JITTER = 1,
    RP_FOR_DITHER,
    RP_FOR_TEST,
    RP_FOR_SAMPLES,
    RP_FOR_LAYER,
    RP_FOR_SITES,
    RP_FOR_STRENGTH
} rp_purpose;

// Finaliser with full avalanche (the murmur3 constants).
static inline uint64_t rp_mix64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static inline uint64_t rp_hash(uint64_t seed, uint64_t id, rp_purpose purpose, uint64_t step)
{
    const uint64_t a = rp_mix64(seed + 0x9e3779b97f4a7c15ull * (uint64_t)purpose);
    const uint64_t b = rp_mix64(a ^ id);
    return rp_mix64(b + 0x9e3779b97f4a7c15ull * (step + 1));
}

// Uniform in [0, 1) from the high bits of a hash.
static inline double rp_unit(uint64_t hash) { return (double)(hash >> 11) * 0x1p-53; }

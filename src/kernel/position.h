// Stored positions: int32 fixed point with 2^-26 cell in single precision, double otherwise.
#pragma once

#include "base/simd.h"
#include "core/layout.h"

typedef struct split_position {
    ivec cell; // base node relative to the block
    vec frac;  // in [0, 1]
} split_position;

#if RP_REAL_BITS == 32

typedef int32_t stored;

RP_INLINE split_position position_split(const stored *at)
{
    ivec x;
    memcpy(&x, at, sizeof x);
    const ivec one = viset((lane_int)1 << RP_FIXED_BITS);
    return (split_position){
        .cell = x >> RP_FIXED_BITS,
        .frac = vtoreal(x & (one - 1)) * R(0x1p-26),
    };
}

#ifdef RP_PLAIN
typedef uint32_t uvec;
#else
typedef uint32_t uvec __attribute__((vector_size(VEC_BYTES)));
#endif

RP_INLINE uvec mix32(uvec u)
{
    u ^= u >> 16;
    u *= 0x7feb352du;
    u ^= u >> 15;
    u *= 0x846ca68bu;
    u ^= u >> 16;
    return u;
}

// Random numbers in [0, 1) per axis for rounding a move to the grid of positions without bias: an
// undithered sum of tiny moves would stand still. A hash of the low half of the id and the step.
RP_INLINE vec dither(ivec id, uint32_t step_hash, int axis)
{
    const uvec particle = mix32((uvec)id ^ (step_hash - (uvec){0}));
    const uvec h = mix32(particle + 0x9e3779b9u * (uint32_t)(axis + 1));
    // 23 bits, and the mean is centred
    return vfma(vtoreal((ivec)(h >> 9)), vset(0x1p-23f), vset(0x1p-24f));
}

// Move by `cells`, at most four either way (more is a runaway, caught elsewhere).
RP_INLINE void position_move(stored *at, vec cells, ivec id, uint32_t step_hash, int axis)
{
    ivec x;
    memcpy(&x, at, sizeof x);
    const vec bound = vset(4);
    const vec bounded = vmax(vmin(cells, bound), -bound);
    x += vtoint(vfloor(bounded * R(0x1p26) + dither(id, step_hash, axis)));
    memcpy(at, &x, sizeof x);
}

#else

typedef double stored;

RP_INLINE split_position position_split(const stored *at)
{
    const vec x = vload(at), cell = vfloor(x);
    return (split_position){.cell = vtoint(cell), .frac = x - cell};
}

RP_INLINE void position_move(stored *at, vec cells, ivec id, uint32_t step_hash, int axis)
{
    (void)id, (void)step_hash, (void)axis;
    vstore(at, vload(at) + cells);
}

#endif

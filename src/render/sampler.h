// Numbers in [0, 1) that are spread evenly over the samples of a pixel: Sobol' points, scrambled
// and shuffled by hashes of the pixel and of what they are for. They depend on nothing else, so a
// picture has the same bits on any number of threads.
#pragma once

#include <stdint.h>

enum { SAMPLER_MOST = 1 << 16 }; // samples of a pixel

typedef struct sampler {
    uint32_t pixel; // hash of the pixel
    uint32_t index; // of the sample
    uint32_t use;   // counts what was drawn so far
} sampler;

static inline uint32_t sampler_hash(uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)a << 32 | b) + 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    return (uint32_t)(x >> 32);
}

static inline uint32_t sampler_reverse(uint32_t x)
{
    x = __builtin_bswap32(x);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    return (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
}

// Of numbers whose digits are reversed: flips each digit by a coin that depends on the seed and on
// the digits before it. Sums, and products with even numbers, carry only upwards.
static inline uint32_t sampler_flip(uint32_t x, uint32_t seed)
{
    x += seed;
    x ^= x * (seed << 1 | 2u);
    x ^= x * 0x9e3779b2u;
    x ^= x * (seed >> 7 << 1);
    x ^= x * 0x51ed2702u;
    return x;
}

// The second Sobol' sequence; the first is the reversed index.
static inline uint32_t sampler_second(uint32_t index)
{
    uint32_t x = 0;
    for (uint32_t v = 1u << 31; index != 0; index >>= 1, v ^= v >> 1) {
        x ^= index & 1 ? v : 0;
    }
    return x;
}

static inline float sampler_unit(uint32_t x) { return (float)(x >> 8) * 0x1p-24f; }

// The next two numbers of this sample.
static inline void sampler_draw(sampler *s, float *u, float *v)
{
    const uint32_t seed = sampler_hash(s->pixel, s->use++);
    // another order of the same points, so that what is drawn for two uses does not go together
    const uint32_t index = sampler_flip(s->index, seed) & (SAMPLER_MOST - 1);
    const uint32_t first = sampler_hash(seed, 1), second = sampler_hash(seed, 2);
    *u = sampler_unit(sampler_reverse(sampler_flip(index, first)));
    *v =
        sampler_unit(sampler_reverse(sampler_flip(sampler_reverse(sampler_second(index)), second)));
}

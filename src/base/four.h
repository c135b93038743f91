// What lists of neighbours need beyond base/simd.h: lanes picked out by a mask, and vectors of four
// numbers that are four on every instruction set.
#pragma once

#include "base/simd.h"

// A bit per lane of a mask, lane 0 lowest.
RP_INLINE unsigned vbitmask(ivec m)
{
#if defined(RP_PLAIN)
    return m != 0;
#elif defined(__AVX512F__) && RP_REAL_BITS == 32
    return _mm512_movepi32_mask((__m512i)m);
#elif defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)m);
#elif RP_REAL_BITS == 32
    return (unsigned)_mm256_movemask_ps((__m256)m);
#else
    return (unsigned)_mm256_movemask_pd((__m256d)m);
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// Where packed lanes come from: the numbers of the bits of a mask, lowest first, a byte each.
#define BIT_(m, i)                                                                                 \
    ((uint64_t)((m) >> (i)&1 ? (i) : 0) << 8 * __builtin_popcount((m) & ((1u << (i)) - 1)))
#define ORDER_(m)                                                                                  \
    (BIT_(m, 0) | BIT_(m, 1) | BIT_(m, 2) | BIT_(m, 3) | BIT_(m, 4) | BIT_(m, 5) | BIT_(m, 6) |    \
     BIT_(m, 7))
#define ORDERS_4(m)  ORDER_(m), ORDER_((m) + 1), ORDER_((m) + 2), ORDER_((m) + 3)
#define ORDERS_16(m) ORDERS_4(m), ORDERS_4((m) + 4), ORDERS_4((m) + 8), ORDERS_4((m) + 12)
#define ORDERS_64(m) ORDERS_16(m), ORDERS_16((m) + 16), ORDERS_16((m) + 32), ORDERS_16((m) + 48)
static const uint64_t pack_order[256] = {ORDERS_64(0u), ORDERS_64(64u), ORDERS_64(128u),
                                         ORDERS_64(192u)};
#if RP_REAL_BITS == 64
static const uint8_t lane_pairs[16] = {0x00, 0x03, 0x0c, 0x0f, 0x30, 0x33, 0x3c, 0x3f,
                                       0xc0, 0xc3, 0xcc, 0xcf, 0xf0, 0xf3, 0xfc, 0xff};
#define PACK_MASK(bits) lane_pairs[bits]
#else
#define PACK_MASK(bits) bits
#endif
#endif

// The lanes whose bits are set, one after the other; what is written past them is of no use, and
// may be up to a whole vec.
RP_INLINE void vpack(real *to, vec a, unsigned bits)
{
#if defined(__AVX512F__) && RP_REAL_BITS == 32
    vstore(to, (vec)_mm512_maskz_compress_ps((__mmask16)bits, (__m512)a));
#elif defined(__AVX512F__)
    vstore(to, (vec)_mm512_maskz_compress_pd((__mmask8)bits, (__m512d)a));
#elif defined(__AVX2__)
    // lanes are moved as pairs of 32 bits in double precision
    const __m128i low = _mm_cvtsi64_si128((long long)pack_order[PACK_MASK(bits)]);
    const __m256 packed = _mm256_permutevar8x32_ps((__m256)a, _mm256_cvtepu8_epi32(low));
    vstore(to, (vec)packed);
#else
    real lane[LANES];
    vstore(lane, a);
    for (; bits != 0; bits &= bits - 1) {
        *to++ = lane[__builtin_ctz(bits)];
    }
#endif
}

// All lanes added up, halves onto halves.
RP_INLINE real vsum(vec a)
{
    real lane[LANES];
    vstore(lane, a);
    _Pragma("GCC unroll 4") for (int half = LANES / 2; half > 0; half /= 2)
    {
        _Pragma("GCC unroll 8") for (int i = 0; i < half; i++) { lane[i] += lane[i + half]; }
    }
    return lane[0];
}

// Four numbers, whatever the instruction set: a vector in space and one more.
typedef real four __attribute__((vector_size(4 * sizeof(real))));
typedef four four_unaligned __attribute__((aligned(sizeof(real)), may_alias));

RP_INLINE four fload(const real *p) { return *(const four_unaligned *)p; }
RP_INLINE void fstore(real *p, four a) { *(four_unaligned *)p = a; }
RP_INLINE four fset(real x) { return (four){x, x, x, x}; }
RP_INLINE four ffma(four a, four b, four c)
{
#if defined(RP_PLAIN)
    return a * b + c;
#elif RP_REAL_BITS == 32
    return (four)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#else
    return (four)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
}

// A row: the WIDTH nodes that a particle reaches along the fastest axis, four numbers each, in as
// few vectors as hold them. What lies past the last node is multiplied by a weight of zero.
#pragma once

#include "kernel/variant.h"

enum { ROW_VECS = (WIDTH * RP_QUAD + LANES - 1) / LANES };

typedef struct row {
    vec v[ROW_VECS];
} row;

#define FOR_ROW _Pragma("GCC unroll 16") for (int r = 0; r < ROW_VECS; r++)

RP_INLINE row row_load(const real *p)
{
    row a;
    FOR_ROW a.v[r] = vload(p + r * LANES);
    return a;
}

RP_INLINE void row_store(real *p, row a) { FOR_ROW vstore(p + r * LANES, a.v[r]); }

// s * a + b, with s the same for all
RP_INLINE row row_axpy(real s, row a, row b)
{
    const vec sv = vset(s);
    FOR_ROW b.v[r] = vfma(sv, a.v[r], b.v[r]);
    return b;
}

RP_INLINE row row_scale(real s, row a)
{
    const vec sv = vset(s);
    FOR_ROW a.v[r] = sv * a.v[r];
    return a;
}

RP_INLINE row row_mul(row a, row b)
{
    FOR_ROW a.v[r] = a.v[r] * b.v[r];
    return a;
}

RP_INLINE row row_fma(row a, row b, row c)
{
    FOR_ROW c.v[r] = vfma(a.v[r], b.v[r], c.v[r]);
    return c;
}

RP_INLINE row row_zero(void)
{
    row a;
    FOR_ROW a.v[r] = vset(0);
    return a;
}

// node n of the row gets w[n], for each of its four numbers
RP_INLINE row row_spread(const real w[RP_QUAD])
{
    row a;
#if defined(RP_PLAIN)
    FOR_ROW a.v[r] = w[r / RP_QUAD];
#elif defined(__AVX512F__) && RP_REAL_BITS == 32
    const __m512i by_node = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    a.v[0] = (vec)_mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(w)), by_node);
#elif defined(__AVX512F__)
    FOR_ROW a.v[r] =
        (vec)_mm512_mask_blend_pd(0xf0, _mm512_set1_pd(w[2 * r]), _mm512_set1_pd(w[2 * r + 1]));
#elif RP_REAL_BITS == 32
    FOR_ROW a.v[r] =
        (vec)_mm256_blend_ps(_mm256_set1_ps(w[2 * r]), _mm256_set1_ps(w[2 * r + 1]), 0xf0);
#else
    FOR_ROW a.v[r] = vset(w[r]);
#endif
    return a;
}

// every node of the row gets the same four numbers
RP_INLINE row row_repeat(const real q[RP_QUAD])
{
    row a;
#if defined(RP_PLAIN)
    FOR_ROW a.v[r] = q[r % RP_QUAD];
#elif defined(__AVX512F__) && RP_REAL_BITS == 32
    FOR_ROW a.v[r] = (vec)_mm512_broadcast_f32x4(_mm_loadu_ps(q));
#elif defined(__AVX512F__)
    FOR_ROW a.v[r] = (vec)_mm512_broadcast_f64x4(_mm256_loadu_pd(q));
#elif RP_REAL_BITS == 32
    FOR_ROW a.v[r] = (vec)_mm256_broadcast_ps((const __m128 *)q);
#else
    FOR_ROW a.v[r] = vload(q);
#endif
    return a;
}

// sum over the nodes of the row: four numbers
RP_INLINE void row_sum(row a, real out[RP_QUAD])
{
#if defined(RP_PLAIN)
    for (int c = 0; c < RP_QUAD; c++) {
        out[c] = a.v[c];
        for (int n = 1; n < WIDTH; n++) {
            out[c] += a.v[n * RP_QUAD + c];
        }
    }
#else
    vec s = a.v[0];
    _Pragma("GCC unroll 16") for (int r = 1; r < ROW_VECS; r++) { s = s + a.v[r]; }
#if defined(__AVX512F__) && RP_REAL_BITS == 32
    const __m256 half =
        _mm256_add_ps(_mm512_castps512_ps256((__m512)s), _mm512_extractf32x8_ps((__m512)s, 1));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
#elif defined(__AVX512F__)
    _mm256_storeu_pd(out, _mm256_add_pd(_mm512_castpd512_pd256((__m512d)s),
                                        _mm512_extractf64x4_pd((__m512d)s, 1)));
#elif RP_REAL_BITS == 32
    _mm_storeu_ps(
        out, _mm_add_ps(_mm256_castps256_ps128((__m256)s), _mm256_extractf128_ps((__m256)s, 1)));
#else
    vstore(out, s);
#endif
#endif
}

// Between lanes (number by number, sixteen particles) and quads (particle by particle, four
// numbers).
RP_INLINE void lanes_to_quads(const real *const in[RP_QUAD], real out[RP_LANES][RP_QUAD])
{
#if !defined(RP_PLAIN) && RP_REAL_BITS == 32
    _Pragma("GCC unroll 4") for (int l = 0; l < RP_LANES; l += 4)
    {
        __m128 a = _mm_loadu_ps(in[0] + l), b = _mm_loadu_ps(in[1] + l);
        __m128 c = _mm_loadu_ps(in[2] + l), d = _mm_loadu_ps(in[3] + l);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(out[l], a);
        _mm_storeu_ps(out[l + 1], b);
        _mm_storeu_ps(out[l + 2], c);
        _mm_storeu_ps(out[l + 3], d);
    }
#else
    for (int l = 0; l < RP_LANES; l++) {
        for (int c = 0; c < RP_QUAD; c++) {
            out[l][c] = in[c][l];
        }
    }
#endif
}

RP_INLINE void quads_to_lanes(real in[RP_LANES][RP_QUAD], real out[RP_QUAD][RP_LANES])
{
#if !defined(RP_PLAIN) && RP_REAL_BITS == 32
    _Pragma("GCC unroll 4") for (int l = 0; l < RP_LANES; l += 4)
    {
        __m128 a = _mm_loadu_ps(in[l]), b = _mm_loadu_ps(in[l + 1]);
        __m128 c = _mm_loadu_ps(in[l + 2]), d = _mm_loadu_ps(in[l + 3]);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(out[0] + l, a);
        _mm_storeu_ps(out[1] + l, b);
        _mm_storeu_ps(out[2] + l, c);
        _mm_storeu_ps(out[3] + l, d);
    }
#else
    for (int c = 0; c < RP_QUAD; c++) {
        for (int l = 0; l < RP_LANES; l++) {
            out[c][l] = in[l][c];
        }
    }
#endif
}

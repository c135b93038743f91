// A row: the WIDTH nodes that a particle reaches along the fastest axis, four numbers each, in as
// few vectors as hold them. What lies past the last node is multiplied by a weight of zero.
//
// A cell: the rows that a particle reaches. Particles of a page are in the order of their cells, so
// that the rows of a cell stay in registers from one particle to the next.
//
// A quad: the four numbers of a node, or of a particle when it scatters and gathers. Sixteen
// particles are turned from lanes to quads and back in whole vectors.
#pragma once

#include "kernel/variant.h"

enum {
    ROW_VECS = (WIDTH * RP_QUAD + LANES - 1) / LANES,
    DEEP = DIM == 3 ? WIDTH : 1, // rows along the second axis
};

typedef struct row {
    vec v[ROW_VECS];
} row;

typedef struct cell_rows {
    row r[WIDTH][DEEP];
} cell_rows;

#define FOR_ROW  UNROLL(16) for (int r = 0; r < ROW_VECS; r++)
#define FOR_CELL UNROLL(4) for (int i = 0; i < WIDTH; i++) UNROLL(4) for (int j = 0; j < DEEP; j++)

RP_INLINE row row_load(const real *p)
{
    row a;
    FOR_ROW a.v[r] = vload(p + r * LANES);
    return a;
}

RP_INLINE void row_store(real *p, row a) { FOR_ROW vstore(p + r * LANES, a.v[r]); }

// A number out of memory, for all lanes. Written out where vectors have 512 bits: on Zen 4
// vbroadcastss takes one of the four pipes for arithmetic, as a shuffle does, and vpbroadcastd
// takes none; compilers choose the former.
RP_INLINE vec spread(const real *s)
{
#if !defined(RP_PLAIN) && defined(__AVX512F__) && RP_REAL_BITS == 32
    vec a;
    __asm__("vpbroadcastd %1, %0" : "=v"(a) : "m"(*s));
    return a;
#elif !defined(RP_PLAIN) && defined(__AVX512F__)
    vec a;
    __asm__("vpbroadcastq %1, %0" : "=v"(a) : "m"(*s));
    return a;
#else
    return vset(*s);
#endif
}

// s * a + b, with s the same for all
RP_INLINE row row_axpy(vec s, row a, row b)
{
    FOR_ROW b.v[r] = vfma(s, a.v[r], b.v[r]);
    return b;
}

RP_INLINE row row_scale(vec s, row a)
{
    FOR_ROW a.v[r] = s * a.v[r];
    return a;
}

RP_INLINE row row_add(row a, row b)
{
    FOR_ROW a.v[r] = a.v[r] + b.v[r];
    return a;
}

RP_INLINE row row_sub(row a, row b)
{
    FOR_ROW a.v[r] = a.v[r] - b.v[r];
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

RP_INLINE cell_rows cell_load(const real *node)
{
    cell_rows c;
    FOR_CELL { c.r[i][j] = row_load(node + i * STEP_X + (DIM == 3 ? j * STEP_Y : 0)); }
    return c;
}

RP_INLINE cell_rows cell_zero(void)
{
    cell_rows c;
    FOR_CELL { c.r[i][j] = row_zero(); }
    return c;
}

RP_INLINE void cell_add(real *node, const cell_rows *c)
{
    FOR_CELL
    {
        real *at = node + i * STEP_X + (DIM == 3 ? j * STEP_Y : 0);
        row_store(at, row_add(row_load(at), c->r[i][j]));
    }
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

// How far each node is from node 1 of its row [cells]: -1, 0, 1, 2.
RP_INLINE row row_places(void)
{
    static const real place[RP_QUAD] = {-1, 0, 1, 2};
    return row_spread(place);
}

// The places of the rows themselves are small whole numbers, and multiplying with them is adding:
// sum = sum_n w_n r_n,  first = sum_n (n - 1) w_n r_n, for n in [0, WIDTH)
RP_INLINE void row_moments(const row r[WIDTH], const vec w[WIDTH], row *sum, row *first)
{
    const row before = row_scale(w[0], r[0]);
#if RP_ORDER == 1
    *sum = row_axpy(w[1], r[1], before);
    *first = row_sub(row_zero(), before);
#elif RP_ORDER == 2
    const row after = row_scale(w[2], r[2]);
    *sum = row_axpy(w[1], r[1], row_add(before, after));
    *first = row_sub(after, before);
#else
    const row last = row_scale(w[3], r[3]), after = row_axpy(w[2], r[2], last);
    *sum = row_axpy(w[1], r[1], row_add(before, after));
    *first = row_add(row_sub(after, before), last);
#endif
}

// a row of velocities at the middle to those of the rows around it: r[n] = middle + (n - 1) step
RP_INLINE void row_fan(row middle, row step, row r[WIDTH])
{
    r[0] = row_sub(middle, step);
    r[1] = middle;
    UNROLL(4) for (int n = 2; n < WIDTH; n++) { r[n] = row_add(r[n - 1], step); }
}

// Four rows summed over their nodes: four quads.
RP_INLINE void row_sums(row a, row b, row c, row d, real out[4 * RP_QUAD])
{
    const row *in[4] = {&a, &b, &c, &d};
#if defined(RP_PLAIN)
    for (int k = 0; k < 4; k++) {
        for (int q = 0; q < RP_QUAD; q++) {
            real sum = in[k]->v[q];
            for (int n = 1; n < WIDTH; n++) {
                sum += in[k]->v[n * RP_QUAD + q];
            }
            out[k * RP_QUAD + q] = sum;
        }
    }
#else
    vec s[4];
    UNROLL(4) for (int k = 0; k < 4; k++)
    {
        s[k] = in[k]->v[0];
        UNROLL(16) for (int r = 1; r < ROW_VECS; r++) { s[k] = s[k] + in[k]->v[r]; }
    }
#if defined(__AVX512F__) && RP_REAL_BITS == 32
    // halves of two rows are added at once, then quarters of four
    const __m512 A = (__m512)s[0], B = (__m512)s[1], C = (__m512)s[2], D = (__m512)s[3];
    const __m512 ac = _mm512_add_ps(_mm512_mask_blend_ps(0xff00, A, C),
                                    _mm512_shuffle_f32x4(A, C, 0x4e)); // a a c c
    const __m512 bd = _mm512_add_ps(_mm512_mask_blend_ps(0xff00, B, D),
                                    _mm512_shuffle_f32x4(B, D, 0x4e)); // b b d d
    const __m512 even = _mm512_mask_blend_ps(0xf0f0, ac, bd);
    const __m512 odd = _mm512_mask_blend_ps(0xf0f0, bd, ac);
    vstore(out, (vec)_mm512_add_ps(even, _mm512_shuffle_f32x4(odd, odd, 0xb1)));
#elif defined(__AVX512F__)
    UNROLL(2) for (int k = 0; k < 4; k += 2)
    {
        const __m512d A = (__m512d)s[k], B = (__m512d)s[k + 1];
        vstore(out + k * RP_QUAD, (vec)_mm512_add_pd(_mm512_mask_blend_pd(0xf0, A, B),
                                                     _mm512_shuffle_f64x2(A, B, 0x4e)));
    }
#elif RP_REAL_BITS == 32
    UNROLL(2) for (int k = 0; k < 4; k += 2)
    {
        const __m256 A = (__m256)s[k], B = (__m256)s[k + 1];
        vstore(out + k * RP_QUAD,
               (vec)_mm256_add_ps(_mm256_blend_ps(A, B, 0xf0), _mm256_permute2f128_ps(A, B, 0x21)));
    }
#else
    UNROLL(4) for (int k = 0; k < 4; k++) { vstore(out + k * RP_QUAD, s[k]); }
#endif
#endif
}

// ---- lanes and quads ----

// Where the quad of lane l is. Turning vectors leaves every fourth particle side by side.
enum { QUAD_GROUP = (int)LANES >= (int)RP_QUAD ? LANES / RP_QUAD : 1 };
RP_INLINE int quad_at(int l)
{
    const int p = l % LANES;
    return QUAD_GROUP == 1 ? l : l - p + (p & 3) * QUAD_GROUP + (p >> 2);
}

#ifndef RP_PLAIN
// The fourth number of every quad, in all four places.
RP_INLINE vec quad_mass(vec q)
{
#if defined(__AVX512F__) && RP_REAL_BITS == 32
    return (vec)_mm512_permute_ps((__m512)q, 0xff);
#elif defined(__AVX512F__)
    return (vec)_mm512_permutex_pd((__m512d)q, 0xff);
#elif RP_REAL_BITS == 32
    return (vec)_mm256_permute_ps((__m256)q, 0xff);
#else
    return (vec)_mm256_permute4x64_pd((__m256d)q, 0xff);
#endif
}

// v with the fourth number of every quad from q
RP_INLINE vec quad_with_mass(vec v, vec q)
{
#if defined(__AVX512F__) && RP_REAL_BITS == 32
    return (vec)_mm512_mask_blend_ps(0x8888, (__m512)v, (__m512)q);
#elif defined(__AVX512F__)
    return (vec)_mm512_mask_blend_pd(0x88, (__m512d)v, (__m512d)q);
#elif RP_REAL_BITS == 32
    return (vec)_mm256_blend_ps((__m256)v, (__m256)q, 0x88);
#else
    return (vec)_mm256_blend_pd((__m256d)v, (__m256d)q, 0x8);
#endif
}

// Four vectors of one number each become four vectors of whole quads, and the other way round.
RP_INLINE void turn(vec a[RP_QUAD])
{
#if defined(__AVX512F__) && RP_REAL_BITS == 32
    const __m512 ab = _mm512_unpacklo_ps((__m512)a[0], (__m512)a[1]),
                 AB = _mm512_unpackhi_ps((__m512)a[0], (__m512)a[1]),
                 cd = _mm512_unpacklo_ps((__m512)a[2], (__m512)a[3]),
                 CD = _mm512_unpackhi_ps((__m512)a[2], (__m512)a[3]);
    a[0] = (vec)_mm512_unpacklo_pd((__m512d)ab, (__m512d)cd);
    a[1] = (vec)_mm512_unpackhi_pd((__m512d)ab, (__m512d)cd);
    a[2] = (vec)_mm512_unpacklo_pd((__m512d)AB, (__m512d)CD);
    a[3] = (vec)_mm512_unpackhi_pd((__m512d)AB, (__m512d)CD);
#elif RP_REAL_BITS == 32
    const __m256 ab = _mm256_unpacklo_ps((__m256)a[0], (__m256)a[1]),
                 AB = _mm256_unpackhi_ps((__m256)a[0], (__m256)a[1]),
                 cd = _mm256_unpacklo_ps((__m256)a[2], (__m256)a[3]),
                 CD = _mm256_unpackhi_ps((__m256)a[2], (__m256)a[3]);
    a[0] = (vec)_mm256_unpacklo_pd((__m256d)ab, (__m256d)cd);
    a[1] = (vec)_mm256_unpackhi_pd((__m256d)ab, (__m256d)cd);
    a[2] = (vec)_mm256_unpacklo_pd((__m256d)AB, (__m256d)CD);
    a[3] = (vec)_mm256_unpackhi_pd((__m256d)AB, (__m256d)CD);
#elif defined(__AVX512F__)
    const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0),
                  high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    const __m512d ab = _mm512_unpacklo_pd((__m512d)a[0], (__m512d)a[1]),
                  AB = _mm512_unpackhi_pd((__m512d)a[0], (__m512d)a[1]),
                  cd = _mm512_unpacklo_pd((__m512d)a[2], (__m512d)a[3]),
                  CD = _mm512_unpackhi_pd((__m512d)a[2], (__m512d)a[3]);
    a[0] = (vec)_mm512_permutex2var_pd(ab, low, cd);
    a[1] = (vec)_mm512_permutex2var_pd(AB, low, CD);
    a[2] = (vec)_mm512_permutex2var_pd(ab, high, cd);
    a[3] = (vec)_mm512_permutex2var_pd(AB, high, CD);
#else
    const __m256d ab = _mm256_unpacklo_pd((__m256d)a[0], (__m256d)a[1]),
                  AB = _mm256_unpackhi_pd((__m256d)a[0], (__m256d)a[1]),
                  cd = _mm256_unpacklo_pd((__m256d)a[2], (__m256d)a[3]),
                  CD = _mm256_unpackhi_pd((__m256d)a[2], (__m256d)a[3]);
    a[0] = (vec)_mm256_permute2f128_pd(ab, cd, 0x20);
    a[1] = (vec)_mm256_permute2f128_pd(AB, CD, 0x20);
    a[2] = (vec)_mm256_permute2f128_pd(ab, cd, 0x31);
    a[3] = (vec)_mm256_permute2f128_pd(AB, CD, 0x31);
#endif
}
#endif

// LANES particles from lane l on, number by number, as quads at quad_at(l), ...
RP_INLINE void quads_store(const vec in[RP_QUAD], int l, real out[RP_LANES][RP_QUAD])
{
#if defined(RP_PLAIN)
    for (int c = 0; c < RP_QUAD; c++) {
        out[l][c] = in[c];
    }
#else
    vec a[RP_QUAD] = {in[0], in[1], in[2], in[3]};
    turn(a);
    real *at = &out[l][0]; // and on through the rows that follow
    for (int k = 0; k < RP_QUAD; k++) {
        vstore(at + k * LANES, a[k]);
    }
#endif
}

// `quads` quads of each of sixteen particles, one particle after the other, number by number.
RP_INLINE void quads_to_lanes(int quads, const real *in, real (*out)[RP_LANES])
{
#if defined(RP_PLAIN)
    for (int l = 0; l < RP_LANES; l++) {
        for (int c = 0; c < quads * RP_QUAD; c++) {
            out[c][l] = in[l * quads * RP_QUAD + c];
        }
    }
#else
    for (int l = 0; l < RP_LANES; l += LANES) {
#if defined(__AVX512F__) && RP_REAL_BITS == 32
        // four quads of every fourth particle at a time: blocks of a quad are turned first
        for (int first = 0; first < quads; first += 4) {
            vec block[4][RP_QUAD]; // [quad][k]: of particles k, k + 4, k + 8, k + 12
            UNROLL(4) for (int k = 0; k < 4; k++)
            {
                const real *from = in + (k * quads + first) * RP_QUAD;
                const int four = 4 * quads * RP_QUAD;
                const __m512 p = (__m512)vload(from), q = (__m512)vload(from + four),
                             r = (__m512)vload(from + 2 * four), s = (__m512)vload(from + 3 * four);
                const __m512 pq = _mm512_shuffle_f32x4(p, q, 0x44),
                             PQ = _mm512_shuffle_f32x4(p, q, 0xee),
                             rs = _mm512_shuffle_f32x4(r, s, 0x44),
                             RS = _mm512_shuffle_f32x4(r, s, 0xee);
                block[0][k] = (vec)_mm512_shuffle_f32x4(pq, rs, 0x88);
                block[1][k] = (vec)_mm512_shuffle_f32x4(pq, rs, 0xdd);
                block[2][k] = (vec)_mm512_shuffle_f32x4(PQ, RS, 0x88);
                block[3][k] = (vec)_mm512_shuffle_f32x4(PQ, RS, 0xdd);
            }
            UNROLL(4) for (int q = 0; q < 4; q++)
            {
                turn(block[q]);
                for (int c = 0; c < RP_QUAD; c++) {
                    vstore(out[(first + q) * RP_QUAD + c], block[q][c]);
                }
            }
        }
#else
        for (int q = 0; q < quads; q++) {
            vec a[RP_QUAD];
            for (int k = 0; k < RP_QUAD; k++) {
                const real *from = in + ((l + k) * quads + q) * RP_QUAD;
                const int four = 4 * quads * RP_QUAD;
#if RP_REAL_BITS == 32
                a[k] = (vec)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)),
                                                 _mm_loadu_ps(from + four), 1);
#elif defined(__AVX512F__)
                a[k] = (vec)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(from)),
                                               _mm256_loadu_pd(from + four), 1);
#else
                a[k] = vload(from);
                (void)four;
#endif
            }
            turn(a);
            for (int c = 0; c < RP_QUAD; c++) {
                vstore(&out[q * RP_QUAD + c][l], a[c]);
            }
        }
#endif
    }
#endif
}

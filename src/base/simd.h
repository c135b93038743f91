// One wide type for kernels: `vec` holds LANES numbers of type `real`, `ivec` as many integers of
// the same size. A kernel is written once on top of it and compiled per precision and instruction
// set.
//
//   RP_REAL_BITS  32 or 64          set by cmake/variants.cmake
//   RP_ISA        plain, avx2, avx512 (the suffix of exported names); the compiler's own macros
//                 decide which implementation below is used
//   RP_ONE_LANE   for code that calls a law or a formula with plain numbers (tests do): plain C on
//                 any machine
//
// Comparisons give a mask: an ivec of all ones (true) or all zeros. In plain C a vec is one number.
// vfma() is the hardware's fused multiply-add where there is one and a * b + c elsewhere; compilers
// are told not to contract on their own, so the bits do not depend on the optimisation level.
#pragma once

#include <stdint.h>
#include <string.h>

#if !defined(RP_REAL_BITS) || !defined(RP_ISA)
#error "built by cmake/variants.cmake, which sets RP_REAL_BITS and RP_ISA"
#endif

#if RP_REAL_BITS == 32
typedef float real;
typedef int32_t lane_int; // an integer of the same size
#define R(x) x##f
#else
typedef double real;
typedef int64_t lane_int;
#define R(x) x
#endif

#define RP_INLINE static inline __attribute__((always_inline))

#if defined(RP_ONE_LANE) || !(defined(__AVX2__) && defined(__FMA__))
#define RP_PLAIN 1
enum { VEC_BYTES = sizeof(real) };
#elif defined(__AVX512F__)
#include <immintrin.h>
enum { VEC_BYTES = 64 };
#else
#include <immintrin.h>
enum { VEC_BYTES = 32 };
#endif

enum { LANES = VEC_BYTES / sizeof(real) };

#ifdef RP_PLAIN

typedef real vec;
typedef lane_int ivec;

RP_INLINE vec vset(real x) { return x; }
RP_INLINE ivec viset(lane_int x) { return x; }
RP_INLINE vec vfma(vec a, vec b, vec c) { return a * b + c; }
RP_INLINE ivec vlt(vec a, vec b) { return -(lane_int)(a < b); }
RP_INLINE ivec vle(vec a, vec b) { return -(lane_int)(a <= b); }
RP_INLINE vec vselect(ivec mask, vec a, vec b) { return mask ? a : b; }
RP_INLINE int vany(ivec mask) { return mask != 0; }
RP_INLINE vec vmin(vec a, vec b) { return a < b ? a : b; }
RP_INLINE vec vmax(vec a, vec b) { return a > b ? a : b; }
RP_INLINE vec vtoreal(ivec i) { return (vec)i; }
RP_INLINE ivec vtoint(vec a) { return (ivec)a; } // towards zero
RP_INLINE ivec vbits(vec a)
{
    ivec i;
    memcpy(&i, &a, sizeof i);
    return i;
}
RP_INLINE vec vfrombits(ivec i)
{
    vec a;
    memcpy(&a, &i, sizeof a);
    return a;
}
#if RP_REAL_BITS == 32
RP_INLINE vec vsqrt(vec a) { return __builtin_sqrtf(a); }
RP_INLINE vec vabs(vec a) { return __builtin_fabsf(a); }
#else
RP_INLINE vec vsqrt(vec a) { return __builtin_sqrt(a); }
RP_INLINE vec vabs(vec a) { return __builtin_fabs(a); }
#endif
RP_INLINE vec vfloor(vec a) // for |a| that an lane_int can hold
{
    const vec t = (vec)(lane_int)a;
    return t > a ? t - 1 : t;
}

#else // vectors

typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef lane_int ivec __attribute__((vector_size(VEC_BYTES)));

RP_INLINE vec vset(real x) { return x - (vec){0}; }
RP_INLINE ivec viset(lane_int x) { return x - (ivec){0}; }
RP_INLINE ivec vlt(vec a, vec b) { return (ivec)(a < b); }
RP_INLINE ivec vle(vec a, vec b) { return (ivec)(a <= b); }
RP_INLINE ivec vbits(vec a) { return (ivec)a; }
RP_INLINE vec vfrombits(ivec i) { return (vec)i; }
RP_INLINE vec vtoreal(ivec i) { return __builtin_convertvector(i, vec); }
RP_INLINE ivec vtoint(vec a) { return __builtin_convertvector(a, ivec); } // towards zero

#if defined(__AVX512F__) && RP_REAL_BITS == 32
RP_INLINE vec vfma(vec a, vec b, vec c)
{
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
RP_INLINE vec vsqrt(vec a) { return (vec)_mm512_sqrt_ps((__m512)a); }
RP_INLINE vec vabs(vec a) { return (vec)_mm512_abs_ps((__m512)a); }
RP_INLINE vec vmin(vec a, vec b) { return (vec)_mm512_min_ps((__m512)a, (__m512)b); }
RP_INLINE vec vmax(vec a, vec b) { return (vec)_mm512_max_ps((__m512)a, (__m512)b); }
RP_INLINE vec vfloor(vec a) { return (vec)_mm512_floor_ps((__m512)a); }
RP_INLINE vec vselect(ivec m, vec a, vec b)
{
    return (vec)_mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)m), (__m512)b, (__m512)a);
}
RP_INLINE int vany(ivec m) { return _mm512_movepi32_mask((__m512i)m) != 0; }
#elif defined(__AVX512F__)
RP_INLINE vec vfma(vec a, vec b, vec c)
{
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
RP_INLINE vec vsqrt(vec a) { return (vec)_mm512_sqrt_pd((__m512d)a); }
RP_INLINE vec vabs(vec a) { return (vec)_mm512_abs_pd((__m512d)a); }
RP_INLINE vec vmin(vec a, vec b) { return (vec)_mm512_min_pd((__m512d)a, (__m512d)b); }
RP_INLINE vec vmax(vec a, vec b) { return (vec)_mm512_max_pd((__m512d)a, (__m512d)b); }
RP_INLINE vec vfloor(vec a) { return (vec)_mm512_floor_pd((__m512d)a); }
RP_INLINE vec vselect(ivec m, vec a, vec b)
{
    return (vec)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)m), (__m512d)b, (__m512d)a);
}
RP_INLINE int vany(ivec m) { return _mm512_movepi64_mask((__m512i)m) != 0; }
#elif RP_REAL_BITS == 32
RP_INLINE vec vfma(vec a, vec b, vec c)
{
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
RP_INLINE vec vsqrt(vec a) { return (vec)_mm256_sqrt_ps((__m256)a); }
RP_INLINE vec vabs(vec a) { return (vec)_mm256_andnot_ps(_mm256_set1_ps(-0.0f), (__m256)a); }
RP_INLINE vec vmin(vec a, vec b) { return (vec)_mm256_min_ps((__m256)a, (__m256)b); }
RP_INLINE vec vmax(vec a, vec b) { return (vec)_mm256_max_ps((__m256)a, (__m256)b); }
RP_INLINE vec vfloor(vec a) { return (vec)_mm256_floor_ps((__m256)a); }
RP_INLINE vec vselect(ivec m, vec a, vec b)
{
    return (vec)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
}
RP_INLINE int vany(ivec m) { return _mm256_movemask_ps((__m256)m) != 0; }
#else
RP_INLINE vec vfma(vec a, vec b, vec c)
{
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
RP_INLINE vec vsqrt(vec a) { return (vec)_mm256_sqrt_pd((__m256d)a); }
RP_INLINE vec vabs(vec a) { return (vec)_mm256_andnot_pd(_mm256_set1_pd(-0.0), (__m256d)a); }
RP_INLINE vec vmin(vec a, vec b) { return (vec)_mm256_min_pd((__m256d)a, (__m256d)b); }
RP_INLINE vec vmax(vec a, vec b) { return (vec)_mm256_max_pd((__m256d)a, (__m256d)b); }
RP_INLINE vec vfloor(vec a) { return (vec)_mm256_floor_pd((__m256d)a); }
RP_INLINE vec vselect(ivec m, vec a, vec b)
{
    return (vec)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
}
RP_INLINE int vany(ivec m) { return _mm256_movemask_pd((__m256d)m) != 0; }
#endif

#endif // vectors

// columns and scratch are aligned to whole tiles, so memory may be read as vec directly
typedef vec vec_unaligned __attribute__((aligned(sizeof(real)), may_alias));

RP_INLINE vec vload(const real *p) { return *(const vec_unaligned *)p; }
RP_INLINE void vstore(real *p, vec a) { *(vec_unaligned *)p = a; }

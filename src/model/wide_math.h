// exp, log and sin of whole vecs, made of +, *, /, sqrt and vfma alone: libm chooses its code by
// the processor, and then a result would depend on more than build, instruction set and precision.
//
// Within 2 ulp of the exact value in either precision. A NaN comes out as a NaN. Every series is a
// plain Taylor series on a reduced range; the number of terms makes the remainder smaller than half
// an ulp.
#pragma once

#include "base/simd.h"

#if RP_REAL_BITS == 32
typedef uint32_t urint;
#else
typedef uint64_t urint;
#endif
#ifdef RP_PLAIN
typedef urint uvec;
#else
typedef urint uvec __attribute__((vector_size(VEC_BYTES)));
#endif

#if RP_REAL_BITS == 32
enum { MANTISSA_BITS = 23, EXPONENT_BIAS = 127 };
#define ROUNDING_SHIFT 0x1.8p23f  // adding it leaves a number rounded to an integer in the low bits
#define LN2_HIGH       0x1.63p-1f // few bits, so that a multiple of it is exact without vfma, too
#define LN2_LOW        -0x1.bd0106p-13f
#define PI_HIGH        0x1.921fb6p+1f
#define PI_LOW         -0x1.777a5cp-24f
#define REAL_INFINITY  __builtin_inff()
#else
enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023 };
#define ROUNDING_SHIFT 0x1.8p52
#define LN2_HIGH       0x1.62e42feep-1
#define LN2_LOW        0x1.a39ef35793c76p-33
#define PI_HIGH        0x1.921fb54442d18p+1
#define PI_LOW         0x1.1a62633145c07p-53
#define REAL_INFINITY  __builtin_inf()
#endif
#define LOG2_E R(0x1.71547652b82fep+0)

// 1 / (k + 1)!, the series of exp(x) - 1 from its x on
static const real inverse_factorial[] = {
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
    1.0 / 87178291200.0,
    1.0 / 1307674368000.0,
};

// c[0] + c[1] x + ... + c[count - 1] x^(count - 1)
RP_INLINE vec polynomial(vec x, const real *c, int count)
{
    vec sum = vset(c[count - 1]);
    for (int k = count - 2; k >= 0; k--) {
        sum = vfma(sum, x, vset(c[k]));
    }
    return sum;
}

// Splits exp(x) into 2^n and exp(r) - 1 with |r| <= ln(2)/2. x must lie where 2^n is a normal
// number.
RP_INLINE vec exp_parts(vec x, vec *power)
{
    // remainder at |r| = 0.347: r^9/9! = 2e-10, and r^15/15! = 1e-19
    enum { TERMS = RP_REAL_BITS == 32 ? 8 : 14 };

    const vec shifted = vfma(x, vset(LOG2_E), vset(ROUNDING_SHIFT));
    const vec n = shifted - ROUNDING_SHIFT;
    const vec r = vfma(n, vset(-LN2_LOW), vfma(n, vset(-LN2_HIGH), x));

    *power = vfrombits((ivec)(((uvec)vbits(shifted) + EXPONENT_BIAS) << MANTISSA_BITS));
    return vfma(r * r, polynomial(r, inverse_factorial + 1, TERMS - 1), r);
}

// Beyond these, exp_parts() has no power of two to offer. The NaN-able operand stands second, where
// vmin and vmax let a NaN through.
#define EXP_MOST ((EXPONENT_BIAS + R(0.4)) * R(0.6931471805599453))
RP_INLINE vec exp_clamped(vec x) { return vmin(vset(EXP_MOST), vmax(vset(-EXP_MOST + R(1.0)), x)); }

// exp(x): infinite from 2^(bias + 0.4) on, 0 below 2^(1 - bias).
RP_INLINE vec vexp(vec x)
{
    vec power;
    const vec p = exp_parts(exp_clamped(x), &power);
    const vec y = vfma(power, p, power);
    const vec low = vselect(vlt(x, vset(-EXP_MOST + R(1.0))), vset(R(0.0)), y);
    return vselect(vlt(vset(EXP_MOST), x), vset(REAL_INFINITY), low);
}

// exp(x) - 1, exact to the last bits near 0 as well.
RP_INLINE vec vexpm1(vec x)
{
    vec power;
    const vec p = exp_parts(exp_clamped(x), &power);
    const vec y = vfma(power, p, power - R(1.0));
    return vselect(vlt(vset(EXP_MOST), x), vset(REAL_INFINITY), y);
}

// ln(x) + tail, tail being small against x; x normal and positive.
RP_INLINE vec log_of_normal(vec x, vec tail)
{
    // with |s| <= 0.172: s^12/13 = 5e-11 and s^24/25 = 2e-20, both relative
    static const real c[] = {
        2.0 / 3.0,  2.0 / 5.0,  2.0 / 7.0,  2.0 / 9.0,  2.0 / 11.0, 2.0 / 13.0,
        2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0, 2.0 / 23.0,
    };
    enum { TERMS = RP_REAL_BITS == 32 ? 5 : 11 };

    // x = 2^n m with m from sqrt(1/2) to sqrt(2); n as a number from the low bits of a shifted one
    const real root_half = R(0.70710678118654752440);
    urint root_bits, shift_bits;
    const real rounding_shift = ROUNDING_SHIFT;
    memcpy(&root_bits, &root_half, sizeof root_bits);
    memcpy(&shift_bits, &rounding_shift, sizeof shift_bits);
    const uvec above = (uvec)vbits(x) - root_bits + ((urint)EXPONENT_BIAS << MANTISSA_BITS);
    const uvec exponent = above >> MANTISSA_BITS; // n + bias
    const vec n = vfrombits((ivec)(exponent - EXPONENT_BIAS + shift_bits)) - ROUNDING_SHIFT;
    const vec m = vfrombits((ivec)((uvec)vbits(x) - ((exponent - EXPONENT_BIAS) << MANTISSA_BITS)));

    // ln(1 + f) = f - (f^2/2 - s (f^2/2 + R(s))), s = f/(2 + f): the leading f stays exact
    const vec f = m - R(1.0), s = f / (f + R(2.0)), s2 = s * s;
    const vec half = R(0.5) * f * f;
    const vec rest = half - s * (half + s2 * polynomial(s2, c, TERMS));
    return vfma(n, vset(LN2_HIGH), f - (rest - vfma(n, vset(LN2_LOW), tail)));
}

// ln(x) of normal numbers; -infinity at 0, NaN below.
RP_INLINE vec vlog(vec x)
{
    const vec y = log_of_normal(x, vset(R(0.0)));
    const ivec ordinary = vlt(vset(R(0.0)), x) & vlt(x, vset(REAL_INFINITY));
    if (__builtin_expect(vany(~ordinary), 0)) {
        // gives the limit at 0 and at infinity, NaN for negative numbers and NaN
        return vselect(ordinary, y, vsqrt(x) - R(1.0) / x);
    }
    return y;
}

// ln(1 + x), exact to the last bits near 0 as well; -infinity at -1, NaN below.
RP_INLINE vec vlog1p(vec x)
{
    const vec u = x + R(1.0);
    const vec lost = x - (u - R(1.0)); // by the rounding of u
    const vec y = log_of_normal(u, lost / u);
    const ivec ordinary = vlt(vset(R(0.0)), u) & vlt(u, vset(REAL_INFINITY));
    if (__builtin_expect(vany(~ordinary), 0)) {
        return vselect(ordinary, y, vsqrt(u) - R(1.0) / u);
    }
    return y;
}

// sin(x) for |x| <= pi.
RP_INLINE vec vsin(vec x)
{
    // (-1)^k / (2k + 1)! from k = 1; remainder at pi/2: x^15/15! = 7e-10 and x^23/23! = 1e-18
    static const real c[] = {
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362880.0,
        -1.0 / 39916800.0,
        1.0 / 6227020800.0,
        -1.0 / 1307674368000.0,
        1.0 / 355687428096000.0,
        -1.0 / 121645100408832000.0,
        1.0 / 51090942171709440000.0,
    };
    enum { TERMS = RP_REAL_BITS == 32 ? 6 : 10 };

    // sin(pi - y) = sin(y)
    const vec y = vabs(x);
    const vec r = vselect(vlt(vset(R(0.5) * PI_HIGH), y), (PI_HIGH - y) + PI_LOW, y);
    const vec r2 = r * r;
    const vec s = vfma(r * r2, polynomial(r2, c, TERMS), r);
    return vselect(vlt(x, vset(R(0.0))), -s, s);
}

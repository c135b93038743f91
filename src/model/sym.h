// Symmetric matrices, a vec per component, and the analytic functions of them that a Hencky strain
// needs. Everything near the identity is kept as its difference from the identity: exp(x) - I and
// ln(I + b) lose no digits for small x and b.
//
// A function f(x) = c0 x + c1 x^2 + ... of a symmetric matrix is summed without matrix products. By
// Cayley and Hamilton x^DIM is a combination of lower powers, so that every partial sum is too:
//
//     3D   p = a x^2 + b x + e I,    x^3 = I1 x^2 - I2 x + I3 I
//          p x = (a I1 + b) x^2 + (e - a I2) x + a I3 I
//     2D   p = b x + e I,            x^2 = I1 x - I2 I
//          p x = (b I1 + e) x - b I2 I
//
// and a step of Horner's rule costs three (two) operations. The Frobenius norm bounds every
// eigenvalue and so tells how many terms are enough:
//
//     to 0.04   the shortest series. Sand mostly stays here.
//     to 0.14   short ones. Soft sand.
//     to 0.5    longer ones. Soft solids, and spray whose velocity gradient nears its limit.
//     beyond    eigenvalues by Jacobi's rotations, ten times the cost.
//
// A lane's bits depend on that lane alone: a slower path runs when any lane needs it, and its
// result goes to those lanes only.
//
// Components are xx yy xy in 2D and xx yy zz xy xz yz in 3D. #if RP_DIM is confined to this file.
#pragma once

#include "model/variant.h"
#include "model/wide_math.h"

typedef struct sym {
    vec c[SYM];
} sym;

// i <= j
#if RP_DIM == 2
enum { XX, YY, XY };
static const int sym_row[SYM] = {0, 1, 0}, sym_column[SYM] = {0, 1, 1};
static const int sym_at[DIM][DIM] = {{XX, XY}, {XY, YY}};
#else
enum { XX, YY, ZZ, XY, XZ, YZ };
static const int sym_row[SYM] = {0, 1, 2, 0, 0, 1}, sym_column[SYM] = {0, 1, 2, 1, 2, 2};
static const int sym_at[DIM][DIM] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};
#endif

// out of real[SYM][RP_LANES]
RP_INLINE sym sym_load(const real *p)
{
    sym a;
    for (int k = 0; k < SYM; k++) {
        a.c[k] = vload(p + RP_LANES * k);
    }
    return a;
}

RP_INLINE void sym_store(real *p, sym a)
{
    for (int k = 0; k < SYM; k++) {
        vstore(p + RP_LANES * k, a.c[k]);
    }
}

RP_INLINE sym sym_select(ivec mask, sym a, sym b)
{
    for (int k = 0; k < SYM; k++) {
        a.c[k] = vselect(mask, a.c[k], b.c[k]);
    }
    return a;
}

RP_INLINE sym sym_scaled(sym a, vec s)
{
    for (int k = 0; k < SYM; k++) {
        a.c[k] *= s;
    }
    return a;
}

RP_INLINE vec sym_trace(sym a)
{
    vec t = a.c[XX] + a.c[YY];
    for (int k = 2; k < DIM; k++) {
        t += a.c[k];
    }
    return t;
}

// Frobenius norm squared.
RP_INLINE vec sym_norm2(sym a)
{
    vec off = a.c[DIM] * a.c[DIM], sum = a.c[0] * a.c[0];
    for (int k = DIM + 1; k < SYM; k++) {
        off = vfma(a.c[k], a.c[k], off);
    }
    for (int k = 1; k < DIM; k++) {
        sum = vfma(a.c[k], a.c[k], sum);
    }
    return sum + (off + off);
}

// a b for matrices that commute, which makes it symmetric
RP_INLINE sym sym_product(sym a, sym b)
{
    sym p;
    for (int k = 0; k < SYM; k++) {
        const int i = sym_row[k], j = sym_column[k];
        p.c[k] = a.c[sym_at[i][0]] * b.c[sym_at[0][j]];
        for (int m = 1; m < DIM; m++) {
            p.c[k] = vfma(a.c[sym_at[i][m]], b.c[sym_at[m][j]], p.c[k]);
        }
    }
    return p;
}

// The inverse times the determinant, which is given as well.
RP_INLINE sym sym_adjugate(sym a, vec *determinant)
{
    sym adj;
#if RP_DIM == 2
    adj.c[XX] = a.c[YY];
    adj.c[YY] = a.c[XX];
    adj.c[XY] = -a.c[XY];
    *determinant = vfma(a.c[XX], a.c[YY], -(a.c[XY] * a.c[XY]));
#else
    const vec xx = a.c[XX], yy = a.c[YY], zz = a.c[ZZ], xy = a.c[XY], xz = a.c[XZ], yz = a.c[YZ];
    adj.c[XX] = vfma(yy, zz, -(yz * yz));
    adj.c[YY] = vfma(xx, zz, -(xz * xz));
    adj.c[ZZ] = vfma(xx, yy, -(xy * xy));
    adj.c[XY] = vfma(xz, yz, -(xy * zz));
    adj.c[XZ] = vfma(xy, yz, -(xz * yy));
    adj.c[YZ] = vfma(xy, xz, -(yz * xx));
    *determinant = vfma(xx, adj.c[XX], vfma(xy, adj.c[XY], xz * adj.c[XZ]));
#endif
    return adj;
}

// (I + L)(I + g)(I + L)^T - I, L row-major
RP_INLINE sym sym_push_forward(sym g, const vec *L)
{
    // K = (I + L)(I + g) - I
    vec K[DIM][DIM];
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            vec product = L[DIM * i] * g.c[sym_at[0][j]];
            for (int m = 1; m < DIM; m++) {
                product = vfma(L[DIM * i + m], g.c[sym_at[m][j]], product);
            }
            K[i][j] = (L[DIM * i + j] + g.c[sym_at[i][j]]) + product;
        }
    }

    sym b;
    for (int k = 0; k < SYM; k++) {
        const int i = sym_row[k], j = sym_column[k];
        vec product = K[i][0] * L[DIM * j];
        for (int m = 1; m < DIM; m++) {
            product = vfma(K[i][m], L[DIM * j + m], product);
        }
        b.c[k] = (K[i][j] + L[DIM * j + i]) + product;
    }
    return b;
}

// c[0] x + c[1] x^2 + ... + c[count - 1] x^count, count at least 4
// @param[out] norm2 of x, Frobenius, squared: I1^2 - 2 I2, which the series knows
RP_INLINE sym sym_series(sym x, const real *c, int count, vec *norm2)
{
    // c[0] x is left to the end, where it is added with a single rounding
    sym sum;
#if RP_DIM == 2
    vec I2;
    sym_adjugate(x, &I2);
    const vec I1 = sym_trace(x), minus_I2 = -I2;
    vec b = vset(c[count - 1]), e = vset(c[count - 2]);
    for (int k = count - 3; k >= -1; k--) {
        const vec next_b = vfma(b, I1, e);
        e = k >= 1 ? vfma(b, minus_I2, vset(c[k])) : b * minus_I2;
        b = next_b;
    }
    sum = sym_scaled(x, b);
#else
    // x^2 is the adjugate + I1 x - I2 I, and the adjugate is there already
    vec I3;
    const sym adjugate = sym_adjugate(x, &I3);
    const vec I1 = sym_trace(x), minus_I2 = -sym_trace(adjugate);
    vec a = vset(c[count - 1]), b = vset(c[count - 2]), e = vset(c[count - 3]);
    for (int k = count - 4; k >= -1; k--) {
        const vec next_a = vfma(a, I1, b), next_b = vfma(a, minus_I2, e);
        e = k >= 1 ? vfma(a, I3, vset(c[k])) : a * I3;
        a = next_a;
        b = next_b;
    }
    b = vfma(a, I1, b);
    e = vfma(a, minus_I2, e);
    for (int k = 0; k < SYM; k++) {
        sum.c[k] = vfma(a, adjugate.c[k], b * x.c[k]);
    }
#endif
    *norm2 = vfma(I1, I1, minus_I2 + minus_I2);
    for (int k = 0; k < SYM; k++) {
        const vec rest = k < DIM ? sum.c[k] + e : sum.c[k];
        sum.c[k] = c[0] == R(1.0) ? x.c[k] + rest : vfma(vset(c[0]), x.c[k], rest);
    }
    return sum;
}

// Turns rows and columns p and q of a so that a[p][q] vanishes; the columns of v turn along.
RP_INLINE void jacobi_rotate(vec a[DIM][DIM], vec v[DIM][DIM], int p, int q)
{
    // below this both the entry and the gap are nothing beside a radius of 0.14
    const vec tiny = vset(RP_REAL_BITS == 32 ? R(1e-15) : R(1e-30));

    // the smaller root of t^2 + 2 t cot(2 theta) - 1; a NaN passes t = 0 and spreads by t * apq
    const vec apq = a[p][q], gap = a[q][q] - a[p][p], twice = apq + apq;
    const vec reach = vabs(gap) + vsqrt(vfma(gap, gap, twice * twice));
    const vec slope = vselect(vlt(tiny, reach), twice / reach, vset(R(0.0)));
    const vec t = vselect(vlt(gap, vset(R(0.0))), -slope, slope);
    const vec c = R(1.0) / vsqrt(vfma(t, t, vset(R(1.0)))), s = t * c;

    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    a[p][q] = a[q][p] = vset(R(0.0));
    for (int k = 0; k < DIM; k++) {
        if (k != p && k != q) {
            const vec akp = a[k][p], akq = a[k][q];
            a[k][p] = a[p][k] = vfma(c, akp, -s * akq);
            a[k][q] = a[q][k] = vfma(s, akp, c * akq);
        }
        const vec vkp = v[k][p], vkq = v[k][q];
        v[k][p] = vfma(c, vkp, -s * vkq);
        v[k][q] = vfma(s, vkp, c * vkq);
    }
}

// Eigenvalues, and eigenvectors as the columns of v.
RP_INLINE void sym_eigen(sym x, vec value[DIM], vec v[DIM][DIM])
{
    // One rotation solves 2D. In 3D, of a million random matrices with zeros and nearly equal
    // entries among them, the worst had 3e-5 of its norm off the diagonal after 3 sweeps and 3e-20
    // after 4.
    enum { SWEEPS = DIM == 2 ? 1 : RP_REAL_BITS == 32 ? 4 : 5 };

    vec a[DIM][DIM];
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            a[i][j] = x.c[sym_at[i][j]];
            v[i][j] = vset(i == j ? R(1.0) : R(0.0));
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        jacobi_rotate(a, v, 0, 1);
        if (DIM == 3) {
            jacobi_rotate(a, v, 0, DIM - 1);
            jacobi_rotate(a, v, 1, DIM - 1);
        }
    }
    for (int i = 0; i < DIM; i++) {
        value[i] = a[i][i];
    }
}

RP_INLINE sym sym_from_eigen(const vec value[DIM], vec v[DIM][DIM])
{
    sym x;
    for (int k = 0; k < SYM; k++) {
        const int i = sym_row[k], j = sym_column[k];
        x.c[k] = value[0] * v[i][0] * v[j][0];
        for (int m = 1; m < DIM; m++) {
            x.c[k] = vfma(value[m] * v[i][m], v[j][m], x.c[k]);
        }
    }
    return x;
}

#define TINY_RADIUS R(0.04)
#define NEAR_RADIUS R(0.14)
#define FAR_RADIUS  R(0.5)

// Lanes whose Frobenius norm is not within the radius, NaN among them.
RP_INLINE ivec sym_beyond(vec norm2, real radius) { return ~vle(norm2, vset(radius * radius)); }

static __attribute__((noinline)) void sym_expm1_far(sym *x)
{
    // relative remainder at 0.5: 0.5^8/9! = 1e-8 and 0.5^15/16! = 1e-18
    enum { TERMS = RP_REAL_BITS == 32 ? 8 : 15 };

    vec norm2;
    sym y = sym_series(*x, inverse_factorial, TERMS, &norm2);
    const ivec farther = sym_beyond(norm2, FAR_RADIUS);
    if (vany(farther)) {
        vec value[DIM], v[DIM][DIM];
        sym_eigen(*x, value, v);
        for (int k = 0; k < DIM; k++) {
            value[k] = vexpm1(value[k]);
        }
        y = sym_select(farther, sym_from_eigen(value, v), y);
    }
    *x = y;
}

static __attribute__((noinline)) void sym_half_log1p_far(sym *x)
{
    // ln(1 + b)/2 = atanh(z) = z (1 + z^2/3 + z^4/5 + ...), z = b/(2 + b); |z| <= 1/3 where |b| <=
    // 0.5. Relative remainder: 9^-7/15 = 1e-8 and 9^-16/33 = 2e-17
    static const real c[] = {
        1.0 / 3.0,  1.0 / 5.0,  1.0 / 7.0,  1.0 / 9.0,  1.0 / 11.0,
        1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0,
        1.0 / 23.0, 1.0 / 25.0, 1.0 / 27.0, 1.0 / 29.0, 1.0 / 31.0,
    };
    enum { TERMS = RP_REAL_BITS == 32 ? 6 : 15 };

    sym shifted = *x;
    for (int k = 0; k < DIM; k++) {
        shifted.c[k] += R(2.0);
    }
    vec determinant;
    const sym adjugate = sym_adjugate(shifted, &determinant);
    const sym z = sym_scaled(sym_product(*x, adjugate), R(1.0) / determinant);
    vec unused;
    sym y = sym_product(z, sym_series(sym_product(z, z), c, TERMS, &unused));
    for (int k = 0; k < SYM; k++) {
        y.c[k] += z.c[k];
    }

    const ivec farther = sym_beyond(sym_norm2(*x), FAR_RADIUS);
    if (vany(farther)) {
        // I + b is positive; rounding alone can bring its least eigenvalue to 0. The operand that
        // may be NaN stands second, where vmax lets it through.
        const vec least = vset(R(-1.0) + (RP_REAL_BITS == 32 ? R(0x1p-23) : R(0x1p-52)));
        vec value[DIM], v[DIM][DIM];
        sym_eigen(*x, value, v);
        for (int k = 0; k < DIM; k++) {
            value[k] = R(0.5) * vlog1p(vmax(least, value[k]));
        }
        y = sym_select(farther, sym_from_eigen(value, v), y);
    }
    *x = y;
}

// The series where x is within the radius, and `farther` for the lanes that are not.
RP_INLINE sym sym_within(sym x, real radius, const real *c, int terms, void (*farther)(sym *))
{
    vec norm2;
    sym y = sym_series(x, c, terms, &norm2);
    const ivec beyond = sym_beyond(norm2, radius);
    if (__builtin_expect(vany(beyond), 0)) {
        sym slow = x;
        farther(&slow);
        y = sym_select(beyond, slow, y);
    }
    return y;
}

// half_log[k] = (-1)^k / (2 k + 2)
static const real half_log[] = {
    0.5,        -0.5 / 2.0,  0.5 / 3.0,  -0.5 / 4.0,  0.5 / 5.0,  -0.5 / 6.0,
    0.5 / 7.0,  -0.5 / 8.0,  0.5 / 9.0,  -0.5 / 10.0, 0.5 / 11.0, -0.5 / 12.0,
    0.5 / 13.0, -0.5 / 14.0, 0.5 / 15.0, -0.5 / 16.0, 0.5 / 17.0, -0.5 / 18.0,
};

static __attribute__((noinline)) void sym_expm1_near(sym *x)
{
    // relative remainder at 0.14: 0.14^6/7! = 1.5e-9 and 0.14^11/12! = 8e-19
    enum { TERMS = RP_REAL_BITS == 32 ? 6 : 11 };
    *x = sym_within(*x, NEAR_RADIUS, inverse_factorial, TERMS, sym_expm1_far);
}

static __attribute__((noinline)) void sym_half_log1p_near(sym *x)
{
    // relative remainder at 0.14: 0.14^8/9 = 2e-8 and 0.14^18/19 = 2e-17
    enum { TERMS = RP_REAL_BITS == 32 ? 8 : 18 };
    *x = sym_within(*x, NEAR_RADIUS, half_log, TERMS, sym_half_log1p_far);
}

// exp(x) - I
RP_INLINE sym sym_expm1(sym x)
{
    // relative remainder at 0.04: 0.04^4/5! = 2e-8 and 0.04^8/9! = 2e-17
    enum { TERMS = RP_REAL_BITS == 32 ? 4 : 8 };
    return sym_within(x, TINY_RADIUS, inverse_factorial, TERMS, sym_expm1_near);
}

// ln(I + x) / 2
RP_INLINE sym sym_half_log1p(sym x)
{
    // relative remainder at 0.04: 0.04^5/6 = 2e-8 and 0.04^12/13 = 1e-18
    enum { TERMS = RP_REAL_BITS == 32 ? 5 : 12 };
    return sym_within(x, TINY_RADIUS, half_log, TERMS, sym_half_log1p_near);
}

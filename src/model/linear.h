// How implicit steps linearise laws on the Hencky strain (docs/theory.md, section 26), for any law
// that maps the trial strain to one with the same axes: what it makes of the trace and of the
// length of the deviator is all that differs.
//
// With N the trial deviator over its length s, and D and W the two halves of dL A^-1,
//
//   d tau = 2 mu (s'/s X(dev D) + N (s_t tr D + (s_s - s'/s) N:D)) + K (t_t tr D + t_s N:D) I
//   d(tau A^-T) = (d tau + W tau - tau D) A^-T,   K = lambda + 2 mu / d
//
// X multiplies what is off the diagonal in the axes of N by x coth x, x the difference of two
// strains. It is a series in commutators with the strain, so that nobody needs those axes:
// [N, [N, D]]_ij = (N_i - N_j)^2 D_ij.
#pragma once

#include "model/hencky.h"
#include "model/linear_law.h"

// Lanes of what a law does: strains, and how trace and length of the deviator of the new strain
// change with those of the trial strain: t_t, t_s, s_t, s_s.
typedef struct linear_follow {
    sym trial, strain;
    vec rate[4];
} linear_follow;

// Numbers of a linearisation, as lanes are stored.
enum {
    LINEAR_INVERSE,                           // A^-1, by rows
    LINEAR_AXIS = LINEAR_INVERSE + DIM * DIM, // N
    LINEAR_LENGTH = LINEAR_AXIS + SYM,        // s of the trial strain
    LINEAR_MEAN,                              // tau = mean I + shear N
    LINEAR_SHEAR,
    LINEAR_DEVIATOR, // 2 mu s'/s
    LINEAR_TT,       // K t_t, K t_s, 2 mu s_t, 2 mu (s_s - s'/s)
    LINEAR_TS,
    LINEAR_ST, // the one that makes the matrix unsymmetric
    LINEAR_SS,
    LINEAR_REALS,
};

RP_INLINE void matrix_load(const real *from, vec out[DIM][DIM])
{
    for (int k = 0; k < DIM * DIM; k++) {
        out[k / DIM][k % DIM] = vload(from + RP_LANES * k);
    }
}

// a A^-T, from the inverse.
RP_INLINE void matrix_store_times_inverse(vec a[DIM][DIM], vec inverse[DIM][DIM], real *out)
{
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            vec sum = a[i][0] * inverse[j][0];
            for (int k = 1; k < DIM; k++) {
                sum = vfma(a[i][k], inverse[j][k], sum);
            }
            vstore(out + RP_LANES * (i * DIM + j), sum);
        }
    }
}

// @return the determinant
RP_INLINE vec matrix_invert(vec a[DIM][DIM], vec out[DIM][DIM])
{
#if RP_DIM == 2
    const vec det = a[0][0] * a[1][1] - a[0][1] * a[1][0], over = R(1.0) / det;
    out[0][0] = a[1][1] * over;
    out[1][1] = a[0][0] * over;
    out[0][1] = -a[0][1] * over;
    out[1][0] = -a[1][0] * over;
#else
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) { // the cofactor of a[j][i]
            const int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
            out[i][j] = a[p][r] * a[q][s] - a[p][s] * a[q][r];
        }
    }
    const vec det = a[0][0] * out[0][0] + a[0][1] * out[1][0] + a[0][2] * out[2][0];
    const vec over = R(1.0) / det;
    for (int k = 0; k < 9; k++) {
        out[k / 3][k % 3] *= over;
    }
#endif
    return det;
}

RP_INLINE void linear_find(const rp_law_tile *tile, int lane, const linear_follow *f, real *press,
                           real *det, real *linear)
{
    const vec zero = vset(R(0.0)), one = vset(R(1.0));
    const real over_d = (real)(1.0 / DIM);
    const vec mu = law_parameter(tile, RP_PARAM_MU, lane), two_mu = mu + mu;
    const vec bulk = vfma(vset(over_d), two_mu, law_parameter(tile, RP_PARAM_LAMBDA, lane)); // K
    vec A[DIM][DIM], inverse[DIM][DIM], tau[DIM][DIM];
    matrix_load((const real *)tile->increment + lane, A);
    for (int i = 0; i < DIM; i++) {
        A[i][i] += one;
    }
    vstore(det + lane, matrix_invert(A, inverse));

    const vec trace = sym_trace(f->strain);
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            tau[i][j] = two_mu * f->strain.c[sym_at[i][j]];
        }
        tau[i][i] += law_parameter(tile, RP_PARAM_LAMBDA, lane) * trace;
    }
    matrix_store_times_inverse(tau, inverse, press + lane);
    if (linear == NULL) {
        return;
    }

    sym axis = f->trial, after = f->strain;
    const vec mean = over_d * sym_trace(f->trial);
    for (int k = 0; k < DIM; k++) {
        axis.c[k] -= mean;
        after.c[k] -= over_d * trace;
    }
    // where all strains are alike, any axis is one, and none is taken
    const vec length = vsqrt(sym_norm2(axis));
    const ivec turned = vlt(zero, length);
    const vec kept = vselect(turned, vsqrt(sym_norm2(after)) / length, f->rate[3]);
    axis = sym_scaled(axis, vselect(turned, one / length, zero));

    real *out = linear + lane;
    for (int k = 0; k < DIM * DIM; k++) {
        vstore(out + RP_LANES * (LINEAR_INVERSE + k), inverse[k / DIM][k % DIM]);
    }
    sym_store(out + RP_LANES * LINEAR_AXIS, axis);
    vstore(out + RP_LANES * LINEAR_LENGTH, length);
    vstore(out + RP_LANES * LINEAR_MEAN, bulk * trace);
    vstore(out + RP_LANES * LINEAR_SHEAR, two_mu * kept * length);
    vstore(out + RP_LANES * LINEAR_DEVIATOR, two_mu * kept);
    vstore(out + RP_LANES * LINEAR_TT, bulk * f->rate[0]);
    vstore(out + RP_LANES * LINEAR_TS, bulk * f->rate[1]);
    vstore(out + RP_LANES * LINEAR_ST, two_mu * f->rate[2]);
    vstore(out + RP_LANES * LINEAR_SS, two_mu * (f->rate[3] - kept));
}

// a b - sign b a, of symmetric a and of b that is symmetric or, with sign -1, skew: both are sums
// of a product and its transpose.
RP_INLINE void commutator(vec a[DIM][DIM], vec b[DIM][DIM], real sign, vec out[DIM][DIM])
{
    vec p[DIM][DIM];
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            p[i][j] = a[i][0] * b[0][j];
            for (int k = 1; k < DIM; k++) {
                p[i][j] = vfma(a[i][k], b[k][j], p[i][j]);
            }
        }
    }
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            out[i][j] = p[i][j] - sign * p[j][i];
        }
    }
}

// X: the series of x coth x, as far as it matters to a lane. It ends at differences of about two.
RP_INLINE void linear_turn(vec N[DIM][DIM], vec length, vec X[DIM][DIM])
{
    // 2 zeta(2 n) / pi^(2 n), with alternating signs
    static const real series[] = {1.0 / 3.0,
                                  -1.0 / 45.0,
                                  2.0 / 945.0,
                                  -1.0 / 4725.0,
                                  2.0 / 93555.0,
                                  -1382.0 / 638512875.0,
                                  2.1925947851873786e-07,
                                  -2.2214608789979688e-08,
                                  2.2507846516809011e-09,
                                  -2.2805151204592199e-10,
                                  2.3106432599002644e-11,
                                  -2.3411706819824906e-12};
    enum { TERMS = sizeof series / sizeof series[0] };
    const real enough = RP_REAL_BITS == 32 ? R(1e-4) : R(1e-9);
    const vec square = length * length, most = square + square; // of x^2
    vec term[DIM][DIM], skew[DIM][DIM], size = most, power = square;
    memcpy(term, X, sizeof term);
    for (int k = 0; k < TERMS; k++, size *= most, power *= square) {
        if (!vany(vlt(vset(enough), vabs(vset(series[k])) * size))) {
            return;
        }
        commutator(N, term, R(1.0), skew);
        commutator(N, skew, R(-1.0), term);
        const vec share = series[k] * power;
        for (int i = 0; i < DIM * DIM; i++) {
            X[i / DIM][i % DIM] = vfma(share, term[i / DIM][i % DIM], X[i / DIM][i % DIM]);
        }
    }
}

RP_INLINE void linear_respond(const real *linear, real *change)
{
    const real half = R(0.5), over_d = (real)(1.0 / DIM);
    vec inverse[DIM][DIM], N[DIM][DIM], dL[DIM][DIM], L[DIM][DIM];
    vec D[DIM][DIM], W[DIM][DIM], X[DIM][DIM], tau[DIM][DIM], sum[DIM][DIM];
    matrix_load(linear + RP_LANES * LINEAR_INVERSE, inverse);
    matrix_load(change, dL);
    const sym axis = sym_load(linear + RP_LANES * LINEAR_AXIS);
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            N[i][j] = axis.c[sym_at[i][j]];
            L[i][j] = dL[i][0] * inverse[0][j];
            for (int k = 1; k < DIM; k++) {
                L[i][j] = vfma(dL[i][k], inverse[k][j], L[i][j]);
            }
        }
    }
    vec trace = L[0][0], along = vset(R(0.0)); // tr D, N:D
    for (int i = 1; i < DIM; i++) {
        trace += L[i][i];
    }
    const vec mean = vload(linear + RP_LANES * LINEAR_MEAN);
    const vec shear = vload(linear + RP_LANES * LINEAR_SHEAR);
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            D[i][j] = half * (L[i][j] + L[j][i]);
            W[i][j] = half * (L[i][j] - L[j][i]);
            X[i][j] = i == j ? D[i][j] - over_d * trace : D[i][j];
            tau[i][j] = i == j ? vfma(shear, N[i][j], mean) : shear * N[i][j];
            along = vfma(N[i][j], D[i][j], along);
        }
    }
    linear_turn(N, vload(linear + RP_LANES * LINEAR_LENGTH), X);

    const vec deviator = vload(linear + RP_LANES * LINEAR_DEVIATOR);
    const vec pressure = vfma(vload(linear + RP_LANES * LINEAR_TT), trace,
                              vload(linear + RP_LANES * LINEAR_TS) * along);
    const vec slide = vfma(vload(linear + RP_LANES * LINEAR_ST), trace,
                           vload(linear + RP_LANES * LINEAR_SS) * along);
    for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) {
            sum[i][j] = vfma(deviator, X[i][j], slide * N[i][j]);
            sum[i][j] = i == j ? sum[i][j] + pressure : sum[i][j];
            for (int k = 0; k < DIM; k++) {
                sum[i][j] += W[i][k] * tau[k][j] - tau[i][k] * D[k][j];
            }
        }
    }
    matrix_store_times_inverse(sum, inverse, change);
}

#define RP_LINEAR_ENTRIES(name)                                                                    \
    static void RP_LAW_VARIANT(name##_linearise)(const rp_law_tile *tile, void *press, void *det,  \
                                                 void *linear)                                     \
    {                                                                                              \
        for (int lane = 0; lane < RP_LANES; lane += LANES) {                                       \
            const linear_follow follow = name##_follow(tile, lane);                                \
            linear_find(tile, lane, &follow, press, det, linear);                                  \
        }                                                                                          \
    }                                                                                              \
    static void RP_LAW_VARIANT(name##_respond)(const void *linear, void *change)                   \
    {                                                                                              \
        for (int lane = 0; lane < RP_LANES; lane += LANES) {                                       \
            linear_respond((const real *)linear + lane, (real *)change + lane);                    \
        }                                                                                          \
    }                                                                                              \
    extern const rp_linear_law RP_LAW_VARIANT(name##_linear);                                      \
    const rp_linear_law RP_LAW_VARIANT(name##_linear) = {RP_LAW_VARIANT(name##_linearise),         \
                                                         RP_LAW_VARIANT(name##_respond)};

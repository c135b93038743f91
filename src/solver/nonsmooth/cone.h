// The Drucker-Prager cone of rigid grains, as Daviet and Bertails-Descoubes write it: a map chi
// takes R^n (n = 3 in 2D, 6 in 3D) to symmetric tensors so that the inner product s : t / 2 becomes
// the plain one, the first component is the pressure and the others are the deviator. The law of
// sand is then the law of Coulomb in R^n (docs/theory.md, section 20): with the stress l and the
// rate of deformation g at a point, N the first component and T the others,
//
//     0 <= g_N  |_  l_N >= 0,     |l_T| <= mu l_N,     l_T = -mu l_N g_T / |g_T| where g_T != 0.
//
// Tensors have their components in the order xx yy zz xy xz yz, and xx yy xy in 2D. All functions
// work on lanes; `dim` and `n` are constants where they are called.
#pragma once

#include "base/simd.h"

#define CONE_SIZE(dim) ((dim) * ((dim) + 1) / 2)

enum { CONE_MOST = 18 }; // of a cell: 6, and 12 ways to bend

// Friction below which the residual takes sand for a liquid.
#define CONE_WIDTH R(1e-3)

// X = chi(l)
RP_INLINE void cone_tensor(int dim, const vec *l, vec *X)
{
    if (dim == 2) {
        X[0] = l[0] + l[1];
        X[1] = l[0] - l[1];
        X[2] = l[2];
        return;
    }
    const vec p = R(0.81649658092772603273) * l[0]; // sqrt(2/3)
    const vec c = R(0.57735026918962576451) * l[2]; // sqrt(1/3)
    X[0] = p + l[1] - c;
    X[1] = p - l[1] - c;
    X[2] = p + c + c;
    X[3] = l[3];
    X[4] = l[4];
    X[5] = l[5];
}

// g_a = chi(e_a) : G for any matrix G[row * dim + column], so that l . g = chi(l) : G
RP_INLINE void cone_dual(int dim, const vec *G, vec *g)
{
    if (dim == 2) {
        g[0] = G[0] + G[3];
        g[1] = G[0] - G[3];
        g[2] = G[1] + G[2];
        return;
    }
    g[0] = R(0.81649658092772603273) * (G[0] + G[4] + G[8]);
    g[1] = G[0] - G[4];
    g[2] = R(0.57735026918962576451) * (G[8] + G[8] - G[0] - G[4]);
    g[3] = G[1] + G[3];
    g[4] = G[2] + G[6];
    g[5] = G[5] + G[7];
}

// |t_T|^2
RP_INLINE vec cone_shear2(int n, const vec *t)
{
    vec sum = t[1] * t[1];
    for (int a = 2; a < n; a++) {
        sum = vfma(t[a], t[a], sum);
    }
    return sum;
}

// One step towards the law at a point where the rate is g: pressure first, then shear into the ball
// that the new pressure allows. It ends the matter where the point's own block is isotropic, and is
// at rest where the law holds.
// @param per_n, per_t stress per rate along N and across
RP_INLINE void cone_step(int n, vec *l, const vec *g, vec per_n, vec per_t, vec mu)
{
    const vec zero = vset(0), tiny = vset(R(1e-30));
    l[0] = vmax(l[0] - g[0] * per_n, zero);
    for (int a = 1; a < n; a++) {
        l[a] = l[a] - g[a] * per_t;
    }
    const vec radius = mu * l[0], length = vsqrt(cone_shear2(n, l));
    const vec scale = vselect(vlt(radius, length), radius / vmax(length, tiny), vset(1));
    for (int a = 1; a < n; a++) {
        l[a] *= scale;
    }
}

// How far a stress x, in units of the rate, and a rate y are from the law: the square of the
// Fischer-Burmeister function of the second-order cone after De Saxce's change of variables. It is
// zero where the law holds and only there. Without friction it is the one of pressure and volume.
RP_INLINE vec cone_residual2(int n, const vec *x, const vec *y, vec mu)
{
    const vec half = vset(R(0.5)), tiny = vset(R(1e-30)), zero = vset(0);
    vec a[CONE_MOST], b[CONE_MOST], z[CONE_MOST] = {zero};
    a[0] = mu * x[0];
    b[0] = vfma(mu, vsqrt(cone_shear2(n, y)), y[0]);
    vec sum = vfma(a[0], a[0], b[0] * b[0]);
    for (int i = 1; i < n; i++) {
        a[i] = x[i];
        b[i] = mu * y[i];
        z[i] = vfma(a[0], a[i], b[0] * b[i]);
        sum = vfma(a[i], a[i], vfma(b[i], b[i], sum));
    }
    // the square root in the cone's algebra of a o a + b o b = (sum, 2 z)
    const vec length = vsqrt(cone_shear2(n, z));
    const vec low = vsqrt(vmax(sum - (length + length), zero)), high = vsqrt(sum + length + length);
    const vec along = vselect(vlt(tiny, length), half * (high - low) / vmax(length, tiny), zero);
    const vec f = a[0] + b[0] - half * (low + high);
    vec out = f * f;
    for (int i = 1; i < n; i++) {
        const vec t = a[i] + b[i] - along * z[i];
        out = vfma(t, t, out);
    }
    // a cone without width does not feel its pressure any more
    const vec p = x[0] + y[0] - vsqrt(vfma(x[0], x[0], y[0] * y[0]));
    return vselect(vlt(mu, vset(CONE_WIDTH)), vfma(p, p, cone_shear2(n, x)), out);
}

// Cardinal B-splines along one axis, docs/theory.md (4) to (7). The only file that knows the
// polynomials.
#pragma once

#include "kernel/variant.h"

// Weights of the WIDTH nodes from the base node on, for a particle f in [0, 1) past the place where
// that node became its base; derivatives in 1 / cell. The weights sum to one and the derivatives to
// zero by construction, not by luck of rounding. Places are told from node 1, the middle of a
// quadratic stencil: node n is `away` + n - 1 from the particle [cells].
typedef struct axis_weights {
    vec w[WIDTH], d[WIDTH], away;
} axis_weights;

RP_INLINE axis_weights spline_at(vec f)
{
    axis_weights s;
#if RP_ORDER == 1
    s.w[0] = vset(1) - f;
    s.w[1] = f;
    s.d[0] = vset(-1);
    s.d[1] = vset(1);
#elif RP_ORDER == 2
    const vec g = vset(1) - f;
    s.w[0] = R(0.5) * g * g;
    s.w[2] = R(0.5) * f * f;
    s.w[1] = vset(1) - s.w[0] - s.w[2];
    s.d[0] = -g;
    s.d[2] = f;
    s.d[1] = g - f;
#else
    const vec g = vset(1) - f;
    const vec ff = f * f, gg = g * g;
    s.w[0] = (R(1.0) / 6) * gg * g;
    s.w[1] = vfma(ff, vfma(vset(R(0.5)), f, vset(-1)), vset(R(2.0) / 3));
    s.w[3] = (R(1.0) / 6) * ff * f;
    s.w[2] = vset(1) - s.w[0] - s.w[1] - s.w[3];
    s.d[0] = R(-0.5) * gg;
    s.d[1] = vfma(vset(R(1.5)), f, vset(-2)) * f;
    s.d[3] = R(0.5) * ff;
    s.d[2] = -s.d[0] - s.d[1] - s.d[3];
#endif
    s.away = vset(R(0.5) * (3 - RP_ORDER)) - f;
    return s;
}

// 1 / D of the affine transfer in units of 1 / cell^2; linear splines have no constant one.
#define SPLINE_INERTIA_INVERSE (RP_ORDER == 3 ? R(3.0) : R(4.0))

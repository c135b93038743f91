// Vectors of three numbers.
#pragma once

#include <math.h>
#include <stdbool.h>

static inline double rp_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void rp_cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline bool rp_is_finite(const double x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

// Two unit vectors across a unit vector, and across each other: with it they are right-handed.
static inline void rp_across(const double along[3], double one[3], double two[3])
{
    const double other[3] = {fabs(along[0]) < 0.6 ? 1.0 : 0.0, fabs(along[0]) < 0.6 ? 0.0 : 1.0,
                             0.0};
    rp_cross(along, other, one);
    const double size = sqrt(rp_dot(one, one));
    for (int a = 0; a < 3; a++) {
        one[a] /= size;
    }
    rp_cross(along, one, two);
}

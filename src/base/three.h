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

// The angle of which these are sine and cosine, between 0 and half a turn. Not by libm, whose bits
// depend on the processor: the angle is halved until its tangent is below 0.1, where the series
// needs eight terms.
static inline double rp_angle_of(double sine, double cosine)
{
    enum { HALVINGS = 4, TERMS = 8 };
    for (int i = 0; i < HALVINGS; i++) {
        const double half = sqrt(0.5 * (1.0 + cosine));
        sine /= 2.0 * half;
        cosine = half;
    }
    const double t = sine / cosine;
    double sum = 0.0;
    for (int n = TERMS - 1; n >= 0; n--) {
        sum = 1.0 / (2 * n + 1) - t * t * sum;
    }
    return (1 << HALVINGS) * t * sum;
}

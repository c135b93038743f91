// A body in pieces, and the sides of its cuts: for whoever asks where its pieces are.
#pragma once

#include "repose/fracture.h"

#include <math.h>
#include <stdatomic.h>

struct rp_cut {
    rp_cut_def def;            // its arrays are those below
    double (*point)[3];        // [count]
    double (*normal)[3];       // [count], of length 1
    double lower[3], upper[3]; // of the body
    int64_t *label;            // [pieces], in ascending order
    int pieces;
    atomic_int references;
};

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double height_over(const rp_cut *cut, int plane, const double x[3])
{
    const double *p = cut->point[plane], *n = cut->normal[plane];
    return (x[0] - p[0]) * n[0] + (x[1] - p[1]) * n[1] + (x[2] - p[2]) * n[2];
}

// How high the teeth are, so far along them: half a tooth down at 0, up again at the next tooth.
static inline double tooth_at(const rp_cut *cut, double s)
{
    const double t = cut->def.tooth, turn = s / (2.0 * t);
    return t * (2.0 * fabs(turn - floor(turn) - 0.5) - 0.5);
}

static inline double way_along(const rp_cut *cut, const double x[3])
{
    double way = 0.0;
    for (int a = 0; a < 3; a++) {
        way += (x[a] - cut->point[0][a]) * cut->def.along[a];
    }
    return way;
}

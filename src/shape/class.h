// How a kind of shape is made: a struct that begins with an rp_shape, and a table of functions.
//
// All distances rest on one rule. A shape's distance changes no faster than the place it is asked
// for (its slope is at most 1) and has the sign of the side it is on. Then it is never larger in
// magnitude than the true distance to the surface: a ball of that radius lies on one side. Simple
// shapes give the true distance; operators that take the least or the greatest of such functions,
// turn their sign or add to them keep the rule, and give a bound.
//
// Colliders ask for distances in the middle of a step, so that these use no functions of libm other
// than exact ones such as sqrt: the same bits on every processor.
#pragma once

#include "base/three.h"
#include "repose/shape.h"
#include "shape/mesh.h"

#include <math.h>
#include <stdatomic.h>

// In 2D, what is drawn of a shape: its cut with the plane z = middle, so far to either side [m].
typedef struct rp_shape_slab {
    double middle, half;
} rp_shape_slab;

typedef struct rp_shape_class {
    // `gradient` is never NULL here. Never more than the true distance, on either side, but for
    // round-off or what a cell of a field loses: whole pieces of space are filled or skipped by it
    double (*distance)(const rp_shape *shape, const double x[3], double gradient[3]);
    // may be infinite
    void (*bounds)(const rp_shape *shape, double lower[3], double upper[3]);
    // NaN: there is none in this dimension
    double (*volume)(const rp_shape *shape, int dimension);
    // what the shape owns besides its own struct; NULL: nothing
    void (*free)(rp_shape *shape);
    // the surface as triangles of its own, into an empty mesh that stays empty where there are
    // none; NULL: there never are any. `slab` is NULL in 3D
    rp_result (*triangles)(const rp_shape *shape, const rp_shape_slab *slab, rp_mesh *out);
} rp_shape_class;

struct rp_shape {
    const rp_shape_class *class;
    size_t bytes; // of the whole struct
    atomic_int references;
    int depth;  // operators on the longest way down; 0: not an operator
    int parts;  // simple shapes below an operator; 0: not an operator
    bool plane; // a half-space: its distance costs no more than looking one up
    // no line leaves it and comes back; and behind every point of its surface it goes on without
    // end, as outside of a convex shape: for sure, if not for all that are so
    bool convex, massive;
};

static inline bool rp_shape_is_plane(const rp_shape *shape) { return shape->plane; }

// A zeroed struct of `bytes` that begins with an rp_shape, with one reference.
rp_result rp_shape_new(const rp_shape_class *class, size_t bytes, rp_shape **out);

// What a volume is made of where there is no formula: a signed distance (a bound will do) within a
// box.
typedef struct rp_shape_region {
    double (*distance)(const void *context, const double x[3], double gradient[3]);
    const void *context;
    int dimension; // in 2D, x[2] is 0
    double lower[3], upper[3];
    bool revolved; // volumes count 2 pi x[0] times: the region is turned about the second axis
    int cost;      // of one distance, in distances of a simple shape; 0 counts as 1
} rp_shape_region;

// To a relative 1e-4 and most often 1e-6, unless details are finer than a thousandth of the box.
// Depends on nothing but the region.
double rp_shape_integrate(const rp_shape_region *region);
// The same for a whole shape; infinite when its bounds are.
double rp_shape_integrate_shape(const rp_shape *shape, int dimension);

// How the volume of a shape is spread, for bodies that are made of it.
typedef struct rp_shape_moments {
    double volume;       // [m^3], in 2D [m^2]; 0 or infinite: the rest is not known
    double center[3];    // [m]
    double second[3][3]; // mean of (x - center) (x - center)^T over the volume [m^2]
} rp_shape_moments;
// Exact for boxes and meshes, which have triangles; otherwise integrated as volumes are.
rp_result rp_shape_find_moments(const rp_shape *shape, int dimension, rp_shape_moments *out);

// A volume that is found when somebody asks for it first; two that ask at once find the same.
typedef struct rp_shape_measure {
    _Atomic double volume[2]; // in 2D and 3D; 0: not yet known, -1: it is 0
} rp_shape_measure;
double rp_shape_measured(const rp_shape *shape, rp_shape_measure *measure, int dimension);

// ---- for the checks of a def ----

// Refusals that many shapes share: `name` is "sphere.center".
rp_result rp_shape_check_point(const char *name, const double x[3]);
rp_result rp_shape_check_length(const char *name, double length); // > 0
// Also gives the unit vector.
rp_result rp_shape_check_direction(const char *name, const double direction[3], double unit[3]);

// ---- shapes that are round about an axis ----

typedef struct rp_shape_axis {
    double base[3], axis[3];
    double side[3]; // at right angles to the axis, and in the plane z = 0 of a 2D world
} rp_shape_axis;

rp_shape_axis rp_shape_make_axis(const double base[3], const double unit[3]);
// Distance from the axis, height along it, and the unit vector away from it.
void rp_shape_to_axis(const rp_shape_axis *a, const double x[3], double *r, double *h,
                      double away[3]);
// Does the plane z = 0 hold the axis? Then it cuts a half-plane through the axis twice.
bool rp_shape_axis_is_flat(const rp_shape_axis *a);
// Grow bounds by the circle of points (r, h).
void rp_shape_bound_circle(const rp_shape_axis *a, double r, double h, double lower[3],
                           double upper[3]);

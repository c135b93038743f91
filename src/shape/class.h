// How a kind of shape is made: a struct that begins with an rp_shape, and a table of functions.
#pragma once

#include "repose/shape.h"

#include <stdatomic.h>

typedef struct rp_shape_class {
    // `gradient` is never NULL here
    double (*distance)(const rp_shape *shape, const double x[3], double gradient[3]);
    // may be infinite
    void (*bounds)(const rp_shape *shape, double lower[3], double upper[3]);
    double (*volume)(const rp_shape *shape, int dimension);
    // what the shape owns besides its own struct; NULL: nothing
    void (*free)(rp_shape *shape);
} rp_shape_class;

struct rp_shape {
    const rp_shape_class *class;
    size_t bytes; // of the whole struct
    atomic_int references;
};

// A zeroed struct of `bytes` that begins with an rp_shape, with one reference.
rp_result rp_shape_new(const rp_shape_class *class, size_t bytes, rp_shape **out);

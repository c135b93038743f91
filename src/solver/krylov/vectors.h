// Vectors of a solve: what the three methods do with them, piece by piece.
#pragma once

#include "solver/krylov/krylov.h"

enum { RP_PIECE = 1024 }; // numbers of a piece

typedef struct rp_vectors {
    int64_t length, pieces;
    int threads;
    double *partial; // [pieces][most sums at once]
} rp_vectors;

// Room for so many vectors, each beginning on a cache line, and for so many sums at once.
// @return the first; the others follow `stride` numbers apart
rp_result rp_vectors_get(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job,
                         int vectors, int sums, rp_vectors *out, double **first, int64_t *stride);

double rp_vectors_dot(const rp_vectors *v, const double *x, const double *y);
// out[i] = x_i . y for `count` vectors that lie `stride` apart
void rp_vectors_dots(const rp_vectors *v, const double *x, int64_t stride, int count,
                     const double *y, double *out);
// y = scale y + sum_i c_i x_i
void rp_vectors_combine(const rp_vectors *v, double scale, double *y, const double *c,
                        const double *x, int64_t stride, int count);
// y = x
void rp_vectors_copy(const rp_vectors *v, const double *x, double *y);

// r = b - A x, or b where there is no guess, and x = 0 then.
rp_result rp_krylov_residual(const rp_vectors *v, const rp_krylov_job *job, const double *b,
                             double *x, double *r);
// z = P r
rp_result rp_krylov_precondition(const rp_vectors *v, const rp_krylov_job *job, const double *r,
                                 double *z);

// Linear systems that are known by their products only: GMRES, MINRES and CG.
//
// Vectors are arrays of doubles, such as the unknowns of numbered nodes in key order
// (core/nodes.h). They are cut into pieces of one length; products of vectors are added up piece by
// piece and pieces in their order, so that answers have the same bits for any number of threads.
//
// GMRES takes any matrix and minimises |b - A x|; it starts anew after `restart` vectors. MINRES
// takes symmetric ones, indefinite and singular ones among them, CG positive definite ones; both
// keep a handful of vectors. A preconditioner P is something like the inverse of A: GMRES solves A
// P (P^-1 x) = b, so that its residual is that of A; MINRES and CG want P symmetric and positive
// definite, and measure residuals as sqrt(r . P r).
#pragma once

#include "base/memory.h"

#include <stdint.h>

// y = A x; both of the same length and never the same.
typedef struct rp_linear {
    rp_result (*apply)(void *context, const double *x, double *y);
    void *context;
} rp_linear;

typedef struct rp_krylov_job {
    int64_t length; // of vectors
    rp_linear matrix;
    rp_linear preconditioner; // without `apply`: none
    double tolerance;         // of the residual, as a share of that of x = 0
    double absolute;          // a residual that is good enough whatever b is
    int most;                 // iterations
    int restart;              // GMRES: vectors that it keeps at most
    bool guess;               // x holds one; false: it starts from 0
    int threads;
} rp_krylov_job;

typedef enum rp_krylov_end {
    RP_KRYLOV_CONVERGED,
    RP_KRYLOV_OUT_OF_TURNS,
    RP_KRYLOV_STUCK,     // the best answer there is, and still a residual: A is singular
    RP_KRYLOV_NOT_MEANT, // CG: A is not positive definite; MINRES, CG: P is not
    RP_KRYLOV_NO_NUMBER, // something was not finite; x is not to be used
} rp_krylov_end;

typedef struct rp_krylov_report {
    rp_krylov_end end;
    int iterations;  // products with A, those for residuals apart
    double residual; // at the end, as GMRES, MINRES or CG knows it
    double first;    // of x = 0
} rp_krylov_report;

// Memory that is kept from solve to solve. Zero-initialise before first use.
typedef struct rp_krylov {
    rp_buffer vectors, partial;
} rp_krylov;
void rp_krylov_free(rp_krylov *krylov, const rp_allocator *a);
static inline size_t rp_krylov_bytes(const rp_krylov *krylov)
{
    return krylov->vectors.bytes + krylov->partial.bytes;
}

// x . y, with the same bits for any number of threads.
// @param partial room for rp_krylov_pieces() numbers
double rp_krylov_dot(const double *x, const double *y, int64_t length, int threads,
                     double *partial);
int64_t rp_krylov_pieces(int64_t length);

// Each: @param x [length] the answer, the best there was when turns ran out
// @return only what kept it from working: no memory, or a product that failed
rp_result rp_gmres(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job,
                   const double *b, double *x, rp_krylov_report *report);
rp_result rp_minres(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job,
                    const double *b, double *x, rp_krylov_report *report);
rp_result rp_cg(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job, const double *b,
                double *x, rp_krylov_report *report);

// Conjugate gradients, Hestenes and Stiefel (1952), with a preconditioner.
#include "solver/krylov/vectors.h"

#include <math.h>

rp_result rp_cg(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job, const double *b,
                double *x, rp_krylov_report *report)
{
    rp_vectors v;
    double *r;
    int64_t stride;
    RP_TRY(rp_vectors_get(krylov, a, job, 4, 1, &v, &r, &stride));
    double *z = r + stride, *p = z + stride, *product = p + stride;
    *report = (rp_krylov_report){0};
    if (job->guess) {
        RP_TRY(rp_krylov_precondition(&v, job, b, z));
        report->first = sqrt(fmax(rp_vectors_dot(&v, b, z), 0.0));
    }
    RP_TRY(rp_krylov_residual(&v, job, b, x, r));
    RP_TRY(rp_krylov_precondition(&v, job, r, z));
    rp_vectors_copy(&v, z, p);
    double square = rp_vectors_dot(&v, r, z);
    report->first = job->guess ? report->first : sqrt(fmax(square, 0.0));
    const double goal = fmax(job->tolerance * report->first, job->absolute);
    for (;;) {
        if (!isfinite(square)) {
            report->end = RP_KRYLOV_NO_NUMBER;
            return RP_OK;
        }
        if (square < 0.0) {
            report->end = RP_KRYLOV_NOT_MEANT;
            return RP_OK;
        }
        report->residual = sqrt(square);
        if (report->residual <= goal) {
            report->end = RP_KRYLOV_CONVERGED;
            return RP_OK;
        }
        if (report->iterations >= job->most) {
            report->end = RP_KRYLOV_OUT_OF_TURNS;
            return RP_OK;
        }
        RP_TRY(job->matrix.apply(job->matrix.context, p, product));
        report->iterations++;
        const double bend = rp_vectors_dot(&v, p, product);
        if (!isfinite(bend)) {
            report->end = RP_KRYLOV_NO_NUMBER;
            return RP_OK;
        }
        if (!(bend > 0.0)) {
            report->end = RP_KRYLOV_NOT_MEANT;
            return RP_OK;
        }
        const double step = square / bend;
        rp_vectors_combine(&v, 1.0, x, &step, p, 0, 1);
        rp_vectors_combine(&v, 1.0, r, &(double){-step}, product, 0, 1);
        RP_TRY(rp_krylov_precondition(&v, job, r, z));
        const double next = rp_vectors_dot(&v, r, z);
        rp_vectors_combine(&v, next / square, p, &(double){1.0}, z, 0, 1);
        square = next;
    }
}

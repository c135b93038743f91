// MINRES (Paige and Saunders 1975), with a preconditioner as in Elman, Silvester and Wathen,
// "Finite elements and fast iterative solvers", algorithm 4.1: Lanczos vectors q, orthogonal in the
// measure of P, and a QR factorisation of their tridiagonal matrix that is three columns deep.
#include "solver/krylov/vectors.h"

#include <math.h>
#include <string.h>

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

rp_result rp_minres(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job,
                    const double *b, double *x, rp_krylov_report *report)
{
    rp_vectors v;
    double *first;
    int64_t stride;
    RP_TRY(rp_vectors_get(krylov, a, job, 9, 1, &v, &first, &stride));
    double *q = first, *q_old = q + stride, *q_new = q_old + stride; // Lanczos vectors
    double *z = q_new + stride, *z_new = z + stride;                 // P q
    double *w = z_new + stride, *w_old = w + stride, *w_new = w_old + stride;
    double *product = w_new + stride;
    *report = (rp_krylov_report){0};

    // the measure of b, unless the first residual is b itself
    if (job->guess) {
        RP_TRY(rp_krylov_precondition(&v, job, b, z));
        report->first = sqrt(fmax(rp_vectors_dot(&v, b, z), 0.0));
    }
    RP_TRY(rp_krylov_residual(&v, job, b, x, q));
    RP_TRY(rp_krylov_precondition(&v, job, q, z));
    double gamma = rp_vectors_dot(&v, q, z), gamma_old = 1.0;
    if (!isfinite(gamma)) {
        report->end = RP_KRYLOV_NO_NUMBER;
        return RP_OK;
    }
    if (gamma < 0.0) {
        report->end = RP_KRYLOV_NOT_MEANT;
        return RP_OK;
    }
    gamma = sqrt(gamma);
    report->first = job->guess ? report->first : gamma;
    report->residual = gamma;
    const double goal = fmax(job->tolerance * report->first, job->absolute);
    double eta = gamma, sine = 0.0, sine_old = 0.0, cosine = 1.0, cosine_old = 1.0;
    double largest = 0.0; // entry of the tridiagonal matrix: what rounding is measured by
    memset(q_old, 0, sizeof(double) * (size_t)v.length);
    memset(w, 0, sizeof(double) * (size_t)v.length);
    memset(w_old, 0, sizeof(double) * (size_t)v.length);
    report->end = RP_KRYLOV_CONVERGED;
    while (report->residual > goal) {
        if (report->iterations >= job->most) {
            report->end = RP_KRYLOV_OUT_OF_TURNS;
            return RP_OK;
        }
        // z becomes of length 1; A z less what lies along the last two
        rp_vectors_combine(&v, 1.0 / gamma, z, NULL, NULL, 0, 0);
        RP_TRY(job->matrix.apply(job->matrix.context, z, product));
        report->iterations++;
        const double delta = rp_vectors_dot(&v, product, z);
        rp_vectors_copy(&v, product, q_new);
        rp_vectors_combine(&v, 1.0, q_new, &(double){-delta / gamma}, q, 0, 1);
        rp_vectors_combine(&v, 1.0, q_new, &(double){-gamma / gamma_old}, q_old, 0, 1);
        RP_TRY(rp_krylov_precondition(&v, job, q_new, z_new));
        const double square = rp_vectors_dot(&v, q_new, z_new);
        if (!isfinite(square) || !isfinite(delta)) {
            report->end = RP_KRYLOV_NO_NUMBER;
            return RP_OK;
        }
        // the first gamma is the length of the residual, no entry of the matrix
        largest = fmax(largest, fmax(fabs(delta), report->iterations > 1 ? gamma : 0.0));
        if (square < -1e-12 * largest * largest) {
            report->end = RP_KRYLOV_NOT_MEANT;
            return RP_OK;
        }
        const double gamma_new = sqrt(fmax(square, 0.0));

        // the new column of the triangle
        const double a0 = cosine * delta - cosine_old * sine * gamma;
        const double a1 = sqrt(a0 * a0 + gamma_new * gamma_new);
        const double a2 = sine * delta + cosine_old * cosine * gamma, a3 = sine_old * gamma;
        // |A r| / |r| of the last residual (Choi, Paige and Saunders 2011)
        const double turned = sqrt(a0 * a0 + cosine * gamma_new * cosine * gamma_new);
        if (!(turned > 1e-13 * largest)) {
            // A is singular, and what is left of b is out of its reach
            report->end = RP_KRYLOV_STUCK;
            return RP_OK;
        }
        const double cosine_new = a0 / a1, sine_new = gamma_new / a1;
        rp_vectors_copy(&v, z, w_new);
        rp_vectors_combine(&v, 1.0, w_new, &(double){-a3}, w_old, 0, 1);
        rp_vectors_combine(&v, 1.0 / a1, w_new, &(double){-a2 / a1}, w, 0, 1);
        rp_vectors_combine(&v, 1.0, x, &(double){cosine_new * eta}, w_new, 0, 1);
        eta = -sine_new * eta;
        report->residual = fabs(eta);

        swap(&w_old, &w);
        swap(&w, &w_new);
        swap(&q_old, &q);
        swap(&q, &q_new);
        swap(&z, &z_new);
        gamma_old = gamma;
        gamma = gamma_new;
        cosine_old = cosine;
        cosine = cosine_new;
        sine_old = sine;
        sine = sine_new;
        if (gamma == 0.0 && report->residual > goal) {
            report->end = RP_KRYLOV_STUCK;
            return RP_OK;
        }
    }
    return RP_OK;
}

// GMRES(m), Saad and Schultz (1986), preconditioned from the right. New vectors are made orthogonal
// to all others at once, twice: as stable as one after the other, and two passes over memory
// instead of one per vector.
#include "solver/krylov/vectors.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

enum { RESTART_MOST = 512 };

// The least-squares problem of one round: the triangle of the Hessenberg matrix after rotations.
typedef struct triangle {
    int columns; // room for
    double *h;   // [column][columns + 1]
    double *cosine, *sine, *right;
} triangle;

// Turn a new column by the rotations so far and by one that makes its last entry vanish.
static void add_column(triangle *t, int k, double *column)
{
    for (int i = 0; i < k; i++) {
        const double upper = t->cosine[i] * column[i] + t->sine[i] * column[i + 1];
        column[i + 1] = t->cosine[i] * column[i + 1] - t->sine[i] * column[i];
        column[i] = upper;
    }
    const double length = sqrt(column[k] * column[k] + column[k + 1] * column[k + 1]);
    t->cosine[k] = length > 0.0 ? column[k] / length : 1.0;
    t->sine[k] = length > 0.0 ? column[k + 1] / length : 0.0;
    column[k] = length;
    t->right[k + 1] = -t->sine[k] * t->right[k];
    t->right[k] *= t->cosine[k];
}

// Back substitution; a column without a length of its own adds nothing.
static void solve_triangle(const triangle *t, int count, double *y)
{
    for (int i = count - 1; i >= 0; i--) {
        double sum = t->right[i];
        for (int k = i + 1; k < count; k++) {
            sum -= t->h[(size_t)k * (size_t)(t->columns + 1) + (size_t)i] * y[k];
        }
        const double pivot = t->h[(size_t)i * (size_t)(t->columns + 1) + (size_t)i];
        y[i] = pivot > 0.0 ? sum / pivot : 0.0;
    }
}

// A w that is orthogonal to `count` vectors; what was taken away is added to `column`, and its
// length comes last.
static void make_orthogonal(const rp_vectors *v, const double *basis, int64_t stride, int count,
                            double *w, double *column, double *room)
{
    memset(column, 0, sizeof *column * (size_t)(count + 1));
    for (int pass = 0; pass < 2; pass++) {
        rp_vectors_dots(v, basis, stride, count, w, room);
        for (int i = 0; i < count; i++) {
            column[i] += room[i];
            room[i] = -room[i];
        }
        rp_vectors_combine(v, 1.0, w, room, basis, stride, count);
    }
    column[count] = sqrt(rp_vectors_dot(v, w, w));
}

rp_result rp_gmres(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job,
                   const double *b, double *x, rp_krylov_report *report)
{
    RP_ASSERT(job->restart >= 1 && job->restart <= RESTART_MOST);
    const int m = job->restart < job->most ? job->restart : job->most > 0 ? job->most : 1;
    rp_vectors v;
    double *basis;
    int64_t stride;
    // the basis, a vector that P makes, and room for small numbers in the buffer of sums
    const int small = (m + 1) * m + 5 * (m + 1);
    RP_TRY(rp_vectors_get(krylov, a, job, m + 2, m + 1, &v, &basis, &stride));
    const size_t sums = sizeof(double) * (size_t)v.pieces * (size_t)(m + 1);
    RP_TRY(rp_buffer_reserve(&krylov->partial, a, sums + sizeof(double) * (size_t)small, 0,
                             "products of Krylov vectors"));
    v.partial = krylov->partial.data;
    double *made = basis + (m + 1) * stride, *numbers = v.partial + v.pieces * (m + 1);
    triangle t = {.columns = m, .h = numbers};
    t.cosine = t.h + (m + 1) * m;
    t.sine = t.cosine + m + 1;
    t.right = t.sine + m + 1;
    double *y = t.right + m + 1, *room = y + m + 1;

    *report = (rp_krylov_report){.first = sqrt(rp_vectors_dot(&v, b, b))};
    const double goal = fmax(job->tolerance * report->first, job->absolute);
    rp_krylov_job round = *job;
    for (;;) {
        RP_TRY(rp_krylov_residual(&v, &round, b, x, basis));
        round.guess = true;
        const double beta = sqrt(rp_vectors_dot(&v, basis, basis));
        report->residual = beta;
        if (!isfinite(beta)) {
            report->end = RP_KRYLOV_NO_NUMBER;
            return RP_OK;
        }
        if (beta <= goal) {
            report->end = RP_KRYLOV_CONVERGED;
            return RP_OK;
        }
        if (report->iterations >= job->most) {
            report->end = RP_KRYLOV_OUT_OF_TURNS;
            return RP_OK;
        }
        rp_vectors_combine(&v, 1.0 / beta, basis, NULL, NULL, 0, 0);
        memset(t.right, 0, sizeof(double) * (size_t)(m + 1));
        t.right[0] = beta;
        int k = 0;
        bool closed = false;
        while (k < m && report->iterations < job->most && report->residual > goal && !closed) {
            double *w = basis + (k + 1) * stride, *column = t.h + (size_t)k * (size_t)(m + 1);
            const double *from = basis + k * stride;
            if (job->preconditioner.apply != NULL) {
                RP_TRY(rp_krylov_precondition(&v, job, from, made));
                from = made;
            }
            RP_TRY(job->matrix.apply(job->matrix.context, from, w));
            report->iterations++;
            make_orthogonal(&v, basis, stride, k + 1, w, column, room);
            const double left = column[k + 1];
            double size = 0.0;
            for (int i = 0; i <= k + 1; i++) {
                size += column[i] * column[i];
            }
            if (!isfinite(size)) {
                report->end = RP_KRYLOV_NO_NUMBER;
                return RP_OK;
            }
            // what is left is rounding: the vectors so far hold all that A makes of b
            closed = !(left > 1e-14 * sqrt(size));
            column[k + 1] = closed ? 0.0 : left;
            add_column(&t, k, column);
            report->residual = fabs(t.right[k + 1]);
            if (closed && !(column[k] > 1e-13 * sqrt(size))) {
                // and A makes nothing of this one: what the column would have taken is left
                report->residual = fabs(t.right[k]);
                column[k] = 0.0;
            }
            k++;
            if (!closed) {
                rp_vectors_combine(&v, 1.0 / left, w, NULL, NULL, 0, 0);
            }
        }
        solve_triangle(&t, k, y);
        if (job->preconditioner.apply != NULL) {
            double *sum = basis + m * stride; // the last vector of a round is not needed any more
            if (k == m) {
                rp_vectors_combine(&v, 0.0, sum, y, basis, stride, k);
            } else {
                rp_vectors_combine(&v, 0.0, basis + k * stride, y, basis, stride, k);
                sum = basis + k * stride;
            }
            RP_TRY(rp_krylov_precondition(&v, job, sum, made));
            rp_vectors_combine(&v, 1.0, x, &(double){1.0}, made, 0, 1);
        } else {
            rp_vectors_combine(&v, 1.0, x, y, basis, stride, k);
        }
        if (report->residual <= goal) {
            report->end = RP_KRYLOV_CONVERGED;
            return RP_OK;
        }
        if (closed) {
            report->end = RP_KRYLOV_STUCK;
            return RP_OK;
        }
        if (report->iterations >= job->most) {
            report->end = RP_KRYLOV_OUT_OF_TURNS;
            return RP_OK;
        }
    }
}

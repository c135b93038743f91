// Tests src/solver/krylov: answers against direct ones, and iterations against theory: as many as
// the matrix has different eigenvalues.
#include "solver/krylov/krylov.h"

#include "base/result.h"
#include "check.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 3001 }; // some pieces, the last of them short

// Tridiagonal: y_i = low x_{i-1} + middle_i x_i + high x_{i+1}
typedef struct band {
    double low, high, middle[LENGTH];
    int products;
} band;

static rp_result multiply(void *context, const double *x, double *y)
{
    band *A = context;
    A->products++;
    for (int i = 0; i < LENGTH; i++) {
        y[i] = A->middle[i] * x[i] + (i > 0 ? A->low * x[i - 1] : 0.0) +
               (i + 1 < LENGTH ? A->high * x[i + 1] : 0.0);
    }
    return RP_OK;
}

static rp_result divide_by_middle(void *context, const double *x, double *y)
{
    const band *A = context;
    for (int i = 0; i < LENGTH; i++) {
        y[i] = x[i] / fabs(A->middle[i]);
    }
    return RP_OK;
}

static rp_result fail(void *context, const double *x, double *y)
{
    (void)context, (void)x, (void)y;
    return rp_fail(RP_ERR_ARGUMENT, "no product today");
}

typedef rp_result (*method)(rp_krylov *, const rp_allocator *, const rp_krylov_job *,
                            const double *, double *, rp_krylov_report *);
static const method methods[] = {rp_gmres, rp_minres, rp_cg};
static const char *const names[] = {"gmres", "minres", "cg"};

static band A;
static double b[LENGTH], x[LENGTH], r[LENGTH];

static void make(double low, double high, double middle, double spread)
{
    uint64_t random = 7;
    A.low = low;
    A.high = high;
    A.products = 0;
    for (int i = 0; i < LENGTH; i++) {
        A.middle[i] = middle * exp(spread * test_between(&random, -1.0, 1.0));
        b[i] = test_between(&random, -1.0, 1.0);
    }
}

static rp_krylov_job job_of(double tolerance)
{
    return (rp_krylov_job){.length = LENGTH,
                           .matrix = {multiply, &A},
                           .tolerance = tolerance,
                           .most = 4000,
                           .restart = 40,
                           .threads = 1};
}

// |b - A x| / |b|, worked out
static double true_residual(void)
{
    double sum = 0.0, whole = 0.0;
    multiply(&A, x, r);
    for (int i = 0; i < LENGTH; i++) {
        sum += (b[i] - r[i]) * (b[i] - r[i]);
        whole += b[i] * b[i];
    }
    return sqrt(sum / whole);
}

// Catches wrong recurrences, a restart that forgets, and a preconditioner on the wrong side.
static void systems_are_solved(void)
{
    for (int m = 0; m < 3; m++) {
        for (int preconditioned = 0; preconditioned < 2; preconditioned++) {
            for (int guess = 0; guess < 2; guess++) {
                check_context("%s, %s, %s", names[m], preconditioned ? "preconditioned" : "plain",
                              guess ? "from a guess" : "from 0");
                rp_krylov krylov = {0};
                rp_krylov_report report;
                // GMRES gets one that is not symmetric
                make(-1.0, m == 0 ? -0.3 : -1.0, 4.0, 0.5);
                rp_krylov_job job = job_of(1e-10);
                job.guess = guess;
                for (int i = 0; i < LENGTH; i++) {
                    x[i] = 0.1 * i;
                }
                if (preconditioned) {
                    job.preconditioner = (rp_linear){divide_by_middle, &A};
                }
                CHECK_OK(methods[m](&krylov, rp_default_allocator(), &job, b, x, &report));
                CHECK_EQUAL(report.end, RP_KRYLOV_CONVERGED);
                CHECK_EQUAL(
                    A.products,
                    report.iterations + guess +
                        (m == 0 && report.iterations > 40 ? (report.iterations - 1) / 40 : 0));
                CHECK(report.residual <= 1e-10 * report.first);
                // P lies between 1 / 6.6 and 1 / 2.4, so that measures differ by less than 1.7
                CHECK(true_residual() < 2e-10);
                rp_krylov_free(&krylov, rp_default_allocator());
            }
        }
    }
}

// A matrix with k different eigenvalues has an answer in k iterations, and none sooner: Krylov
// spaces end there. Two of them are negative for those that can.
static void iterations_are_as_many_as_eigenvalues(void)
{
    static const double value[] = {3.0, 1.0, 10.0, 0.5, 7.0, 2.0};
    for (int m = 0; m < 3; m++) {
        check_context("%s", names[m]);
        rp_krylov krylov = {0};
        rp_krylov_report report;
        make(0.0, 0.0, 1.0, 0.0);
        for (int i = 0; i < LENGTH; i++) {
            A.middle[i] = value[i % 6] * (m < 2 && i % 6 > 3 ? -1.0 : 1.0);
        }
        rp_krylov_job job = job_of(1e-12);
        CHECK_OK(methods[m](&krylov, rp_default_allocator(), &job, b, x, &report));
        CHECK_EQUAL(report.end, RP_KRYLOV_CONVERGED);
        CHECK_EQUAL(report.iterations, 6);
        for (int i = 0; i < LENGTH; i++) {
            CHECK_NEAR(x[i], b[i] / A.middle[i], 1e-10);
        }
        rp_krylov_free(&krylov, rp_default_allocator());
    }
}

// Catches sums in the order of threads.
static void answers_do_not_depend_on_threads(void)
{
    static double one[LENGTH];
    for (int m = 0; m < 3; m++) {
        for (int threads = 1; threads <= 5; threads++) {
            check_context("%s, %d threads", names[m], threads);
            rp_krylov krylov = {0};
            rp_krylov_report report;
            make(-1.0, -1.0, 3.0, 0.3);
            rp_krylov_job job = job_of(1e-8);
            job.threads = threads;
            CHECK_OK(methods[m](&krylov, rp_default_allocator(), &job, b, x, &report));
            if (threads == 1) {
                memcpy(one, x, sizeof one);
            }
            CHECK(memcmp(one, x, sizeof one) == 0);
            rp_krylov_free(&krylov, rp_default_allocator());
        }
    }
}

// Catches answers that are no answers and pass for some.
static void ends_are_told_apart(void)
{
    rp_krylov krylov = {0};
    rp_krylov_report report;
    const rp_allocator *a = rp_default_allocator();
    rp_krylov_job job = job_of(1e-10);

    // nothing is asked for
    for (int m = 0; m < 3; m++) {
        check_context("%s", names[m]);
        make(-1.0, -1.0, 3.0, 0.0);
        memset(b, 0, sizeof b);
        CHECK_OK(methods[m](&krylov, a, &job, b, x, &report));
        CHECK_EQUAL(report.end, RP_KRYLOV_CONVERGED);
        CHECK_EQUAL(report.iterations, 0);
        CHECK(x[0] == 0.0 && x[LENGTH - 1] == 0.0);

        make(-1.0, -1.0, 3.0, 0.0);
        job.most = 3;
        CHECK_OK(methods[m](&krylov, a, &job, b, x, &report));
        CHECK_EQUAL(report.end, RP_KRYLOV_OUT_OF_TURNS);
        CHECK_EQUAL(report.iterations, 3);
        CHECK(true_residual() < 0.5); // the best there was
        job.most = 4000;

        b[LENGTH / 2] = NAN;
        CHECK_OK(methods[m](&krylov, a, &job, b, x, &report));
        CHECK_EQUAL(report.end, RP_KRYLOV_NO_NUMBER);

        rp_krylov_job failing = job;
        failing.matrix.apply = fail;
        make(-1.0, -1.0, 3.0, 0.0);
        CHECK_ERROR(methods[m](&krylov, a, &failing, b, x, &report), RP_ERR_ARGUMENT, "no product");
    }

    // what lies outside the reach of a singular matrix stays, and the rest is solved
    for (int m = 0; m < 2; m++) {
        check_context("%s, singular", names[m]);
        make(0.0, 0.0, 2.0, 0.0);
        A.middle[5] = 0.0;
        b[5] = 1.0;
        CHECK_OK(methods[m](&krylov, a, &job, b, x, &report));
        CHECK_EQUAL(report.end, RP_KRYLOV_STUCK);
        CHECK_NEAR(report.residual, 1.0, 1e-9);
        CHECK_NEAR(x[6], b[6] / 2.0, 1e-9);
    }
    check_context("cg, indefinite");
    make(0.0, 0.0, 2.0, 0.0);
    A.middle[5] = -2000.0;
    b[5] = 100.0;
    CHECK_OK(rp_cg(&krylov, a, &job, b, x, &report));
    CHECK_EQUAL(report.end, RP_KRYLOV_NOT_MEANT);
    rp_krylov_free(&krylov, a);
}

TEST_MAIN(TEST(systems_are_solved), TEST(iterations_are_as_many_as_eigenvalues),
          TEST(answers_do_not_depend_on_threads), TEST(ends_are_told_apart))

#include "base/isa.h"

#include "check.h"
#include "random.h"
#include "wide_math_tables.h"

#include <float.h>
#include <math.h>

typedef long double exact_function(long double x);

enum { TABLES = 4, DRAWS = 40000 };

static int tables(const wide_math_table *out[TABLES])
{
    int count = 0;
    out[count++] = &wide_math_f32_plain;
    out[count++] = &wide_math_f64_plain;
#ifdef WIDE_MATH_AVX2
    if (rp_isa_supported(RP_ISA_AVX2)) {
        out[count++] = &wide_math_f32_avx2;
        out[count++] = &wide_math_f64_avx2;
    }
#endif
    return count;
}

// Distance of two neighbouring numbers at x.
static double ulp(int bits, double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent - (bits == 32 ? FLT_MANT_DIG : DBL_MANT_DIG));
}

// Draws evenly between low and high; with `logarithmic`, evenly in orders of magnitude and of
// either sign that fits.
static void check_within_two_ulp(const wide_math_table *t, wide_math_function *f,
                                 exact_function *exact, double low, double high, bool logarithmic)
{
    static double x[DRAWS], y[DRAWS];
    uint64_t random = 7;
    for (int i = 0; i < DRAWS; i++) {
        x[i] = logarithmic ? exp(test_between(&random, log(low), log(high)))
                           : test_between(&random, low, high);
        if (t->bits == 32) {
            x[i] = (double)(float)x[i];
        }
    }
    f(x, y, DRAWS);
    for (int i = 0; i < DRAWS; i++) {
        const long double want = exact(x[i]);
        const double error = (double)fabsl((long double)y[i] - want) / ulp(t->bits, (double)want);
        if (!(error <= 2.0)) {
            check_record(__FILE__, __LINE__, "x = %.17g: got %.17g, want %.17Lg, %.3g ulp", x[i],
                         y[i], want, error);
            return;
        }
    }
}

// Each function is within two ulp of long double wherever laws may use it. Catches a mistyped
// coefficient, a series that ends too early, a range reduction that loses digits.
static void functions_are_exact_to_two_ulp(void)
{
    const wide_math_table *all[TABLES];
    const int count = tables(all);
    for (int n = 0; n < count; n++) {
        const wide_math_table *t = all[n];
        const double most = t->bits == 32 ? 88.0 : 708.0;
        check_context("table %d, f%d", n, t->bits);
        CHECK_HELPER(check_within_two_ulp(t, t->exp, expl, -most + 1.5, most, false));
        CHECK_HELPER(check_within_two_ulp(t, t->exp, expl, -1.0, 1.0, false));
        CHECK_HELPER(check_within_two_ulp(t, t->expm1, expm1l, -most + 1.5, most, false));
        CHECK_HELPER(check_within_two_ulp(t, t->expm1, expm1l, -1.0, 1.0, false));
        CHECK_HELPER(check_within_two_ulp(t, t->expm1, expm1l, 1e-30, 1.0, true));
        CHECK_HELPER(check_within_two_ulp(t, t->log, logl, 1e-37, 1e38, true));
        CHECK_HELPER(check_within_two_ulp(t, t->log, logl, 0.5, 2.0, false));
        CHECK_HELPER(check_within_two_ulp(t, t->log, logl, 0.999, 1.001, false));
        CHECK_HELPER(check_within_two_ulp(t, t->log1p, log1pl, -0.999, 3.0, false));
        CHECK_HELPER(check_within_two_ulp(t, t->log1p, log1pl, 1e-30, 1e30, true));
        CHECK_HELPER(check_within_two_ulp(t, t->sin, sinl, -1.5707, 1.5707, false));
        CHECK_HELPER(check_within_two_ulp(t, t->sin, sinl, -3.1415926, 3.1415926, false));
        CHECK_HELPER(check_within_two_ulp(t, t->sin, sinl, 1e-30, 1.0, true));
    }
}

// The ends: exact values, limits, and NaN for NaN. Catches a clamp that swallows a NaN.
static void the_ends_are_right(void)
{
    const wide_math_table *all[TABLES];
    const int count = tables(all);
    for (int n = 0; n < count; n++) {
        const wide_math_table *t = all[n];
        check_context("table %d, f%d", n, t->bits);
        const double x[] = {0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e4, -1e4, -2.0};
        enum { COUNT = sizeof x / sizeof *x };
        double y[COUNT];

        t->exp(x, y, COUNT);
        CHECK(y[0] == 1.0 && y[3] == INFINITY && y[4] == 0.0 && isnan(y[5]));
        CHECK(y[6] == INFINITY && y[7] == 0.0);
        t->expm1(x, y, COUNT);
        CHECK(y[0] == 0.0 && y[3] == INFINITY && y[4] == -1.0 && isnan(y[5]));
        CHECK(y[6] == INFINITY && y[7] == -1.0);
        t->log(x, y, COUNT);
        CHECK(y[0] == -INFINITY && y[1] == 0.0 && isnan(y[2]) && y[3] == INFINITY);
        CHECK(isnan(y[4]) && isnan(y[5]));
        t->log1p(x, y, COUNT);
        CHECK(y[0] == 0.0 && y[2] == -INFINITY && y[3] == INFINITY && isnan(y[5]) && isnan(y[8]));
        t->sin(x, y, COUNT);
        CHECK(y[0] == 0.0 && isnan(y[5]));
    }
}

TEST_MAIN(TEST(functions_are_exact_to_two_ulp), TEST(the_ends_are_right))

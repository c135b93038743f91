// The functions of src/model/wide_math.h, over arrays of doubles that hold numbers of the table's
// precision.
#pragma once

typedef void wide_math_function(const double *x, double *y, int count);

typedef struct wide_math_table {
    int bits;
    wide_math_function *exp, *expm1, *log, *log1p, *sin;
} wide_math_table;

extern const wide_math_table wide_math_f32_plain, wide_math_f64_plain;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE_MATH_AVX2 1
extern const wide_math_table wide_math_f32_avx2, wide_math_f64_avx2;
#endif

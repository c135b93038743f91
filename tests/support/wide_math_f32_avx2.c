// The wide functions of src/model/wide_math.h, single precision, avx2.
// Only gcc lets a file choose its instruction set like this; elsewhere these functions are not
// there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma")
#define RP_REAL_BITS 32
#define RP_ISA       avx2
#include "wide_math_arrays.h"
#endif

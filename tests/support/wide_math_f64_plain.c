// The wide functions of src/model/wide_math.h, double precision, plain.
#define RP_REAL_BITS 64
#define RP_ISA       plain
#include "wide_math_arrays.h"

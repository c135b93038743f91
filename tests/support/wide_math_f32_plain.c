// The wide functions of src/model/wide_math.h, single precision, plain.
#define RP_REAL_BITS 32
#define RP_ISA       plain
#include "wide_math_arrays.h"

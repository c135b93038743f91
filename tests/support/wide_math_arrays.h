// Runs each function of model/wide_math.h over an array, for one precision and instruction set:
// included by the files that say which. The functions it defines are declared in wide_math.h of
// this folder.
#include "wide_math_tables.h"

#include "model/wide_math.h"

#define RP_JOIN_TABLE_(bits, isa) wide_math_f##bits##_##isa
#define RP_JOIN_TABLE(bits, isa)  RP_JOIN_TABLE_(bits, isa)

enum { MOST_LANES = 16 };

#define OVER_ARRAY(name)                                                                           \
    static void name##_array(const double *x, double *y, int count)                                \
    {                                                                                              \
        for (int i = 0; i < count; i += MOST_LANES) {                                              \
            real in[MOST_LANES], out[MOST_LANES];                                                  \
            for (int k = 0; k < MOST_LANES; k++) {                                                 \
                in[k] = (real)x[i + k < count ? i + k : count - 1];                                \
            }                                                                                      \
            for (int k = 0; k < MOST_LANES; k += LANES) {                                          \
                vstore(out + k, name(vload(in + k)));                                              \
            }                                                                                      \
            for (int k = 0; k < MOST_LANES && i + k < count; k++) {                                \
                y[i + k] = (double)out[k];                                                         \
            }                                                                                      \
        }                                                                                          \
    }

OVER_ARRAY(vexp)
OVER_ARRAY(vexpm1)
OVER_ARRAY(vlog)
OVER_ARRAY(vlog1p)
OVER_ARRAY(vsin)

const wide_math_table RP_JOIN_TABLE(RP_REAL_BITS, RP_ISA) = {
    RP_REAL_BITS, vexp_array, vexpm1_array, vlog_array, vlog1p_array, vsin_array,
};

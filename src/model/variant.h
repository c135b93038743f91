// Included first by every source that is compiled per dimension, precision and instruction set.
//
// Such a source keeps its helpers static, sizes its loops with DIM and SYM, and exports its entry
// points as RP_LAW_VARIANT(name). The one list of variants is in cmake/variants.cmake.
#pragma once

#if !defined(RP_DIM) || !defined(RP_REAL_BITS) || !defined(RP_ISA)
#error "built by cmake/variants.cmake, which sets RP_DIM, RP_REAL_BITS and RP_ISA"
#endif

#include "base/simd.h"
#include "model/entry.h"

enum {
    DIM = RP_DIM,
    SYM = DIM * (DIM + 1) / 2, // components of a symmetric tensor
};

// rp_hencky_update_3d_f32_avx2 for name = hencky_update: the variant shows in profiles and
// backtraces
#define RP_LAW_VARIANT(name) RP_LAW_NAME(name, RP_DIM, RP_REAL_BITS, RP_ISA)

RP_DECLARE_LAWS(RP_DIM, RP_REAL_BITS, RP_ISA)

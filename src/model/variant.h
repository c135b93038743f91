// Included first by every source that is compiled per dimension, precision and instruction set.
//
// Such a source keeps its helpers static, sizes its loops with DIM and SYM, and exports its law:
//
//     RP_LAW(sand) = {.stress = …, .update = …, .energy = …};
//
// The one list of variants is in cmake/variants.cmake. Sources of laws are compiled once more
// without a variant: what users say of the material, which stands under #else, is the same for all.
#pragma once

#include "model/law.h"

#ifdef RP_DIM

#include "base/simd.h"
#include "model/entry.h"

enum {
    DIM = RP_DIM,
    SYM = DIM * (DIM + 1) / 2, // components of a symmetric tensor
};

// rp_sand_update_3d_f32_avx2 for name = sand_update: the variant shows in profiles and backtraces
#define RP_LAW_VARIANT(name) RP_LAW_NAME(name, RP_DIM, RP_REAL_BITS, RP_ISA)
#define RP_LAW(name)                                                                               \
    extern const rp_law RP_LAW_VARIANT(name);                                                      \
    const rp_law RP_LAW_VARIANT(name)

#endif

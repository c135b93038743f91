// Instruction sets that kernels and laws are compiled for, chosen at run time.
#pragma once

#include <stdbool.h>

enum {
    RP_LANES = 16, // particles in a tile, on every machine: layout and sums never depend on it
    RP_ISA_PLAIN = 0,
    RP_ISA_AVX2,
    RP_ISA_AVX512,
    RP_ISA_COUNT,
};

// Does this processor have it? Whether this build does is the tables' business.
bool rp_isa_supported(int isa);
const char *rp_isa_name(int isa);

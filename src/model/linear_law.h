// What laws know for implicit steps (docs/theory.md, section 26), besides what they do in any step:
// a table of functions per law and variant. Laws that are not in it cannot be in such a step.
#pragma once

#include "model/law.h"

typedef struct rp_linear_law {
    // What the state after `update` presses with, tau A^-T with A = I + increment, real[d * d][16];
    // det A, real[16]; and what `respond` wants to know, real[rp_linear_reals(d)][16], or NULL. The
    // tile stays as it is.
    void (*linearise)(const rp_law_tile *tile, void *press, void *det, void *linear);
    // the change of tau A^-T for a change of the increment, both real[d * d][16] and in one place
    void (*respond)(const void *linear, void *change);
} rp_linear_law;

// Numbers of a linearisation.
static inline int rp_linear_reals(int dim) { return dim * dim + dim * (dim + 1) / 2 + 8; }

// NULL where the law has none, or this build lacks the variant.
const rp_linear_law *rp_linear_law_find(rp_material_kind kind, int dim, int real_bits, int isa);

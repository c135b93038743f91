// Included first by every source that is compiled once per dimension, order, precision and
// instruction set. Such a source keeps its helpers static, sizes its loops with DIM and WIDTH, and
// exports its entry points as RP_VARIANT(name) (kernel/entry.h).
#pragma once

#include "base/simd.h"
#include "core/layout.h"

#if !defined(RP_DIM) || !defined(RP_ORDER)
#error "built by cmake/variants.cmake, which sets RP_DIM and RP_ORDER"
#endif

enum {
    DIM = RP_DIM,
    SYM = DIM == 3 ? 6 : 3,
    WIDTH = RP_ORDER + 1, // nodes reached along one axis
    ROW = DIM - 1,        // the axis that is fastest in memory
    OUTER = DIM - 1,      // the axes before it

    BLOCK_X = RP_BLOCK_CELLS(DIM, 0),
    BLOCK_Y = RP_BLOCK_CELLS(DIM, 1),
    BLOCK_Z = RP_BLOCK_CELLS(DIM, 2),
    BLOCK_NODES = BLOCK_X * BLOCK_Y * BLOCK_Z,
    ARENA_X = RP_ARENA_NODES(DIM, RP_ORDER, 0),
    ARENA_Y = RP_ARENA_NODES(DIM, RP_ORDER, 1),
    ARENA_Z = RP_ARENA_NODES(DIM, RP_ORDER, 2),
    ARENA_NODES = ARENA_X * ARENA_Y * ARENA_Z,
    // steps in numbers of an arena from one node to the next along each axis
    STEP_X = ARENA_Y * ARENA_Z * RP_QUAD,
    STEP_Y = ARENA_Z * RP_QUAD,
    STEP_Z = RP_QUAD,
};

// Before a loop whose turns must be written out, or rows of a cell could not stay in registers.
// Plain C has no registers for them and leaves loops to the compiler: written out, p2g.c took four
// times as long to compile, and G2P was a sixth slower.
#ifdef RP_PLAIN
#define UNROLL(turns)
#else
#define UNROLL_PRAGMA(text) _Pragma(#text)
#define UNROLL(turns)       UNROLL_PRAGMA(GCC unroll turns)
#endif

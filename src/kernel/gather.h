// The nodes around a page, in an arena for those who gather.
#pragma once

#include "kernel/arena.h"
#include "kernel/tile.h"

typedef struct local_arena {
    _Alignas(64) real node[(ARENA_NODES + RP_ARENA_OVERHANG) * RP_QUAD];
} local_arena;

// Rows of `nodes` nodes, a constant where this is called, so that a row is a few moves.
RP_INLINE void copy_rows(const overlap *o, int nodes, const real *from, real *to)
{
    FOR_OVERLAP(*o, x, y)
    {
        memcpy(to + overlap_in_arena(o, x, y) * RP_QUAD, from + overlap_in_block(o, x, y) * RP_QUAD,
               sizeof(real) * (size_t)nodes * RP_QUAD);
    }
}

static inline void load_arena(const rp_grid *grid, int channel, const rp_page *page,
                              local_arena *out)
{
    // what a row hangs over is multiplied by zero, so it must be a number, copied or not
    const int copied = reaches_all(page) ? ARENA_NODES : 0;
    memset(&out->node[copied * RP_QUAD], 0,
           sizeof(real) * (size_t)(ARENA_NODES - copied + RP_ARENA_OVERHANG) * RP_QUAD);
    for (int n = 0; n < RP_NEAR; n++) {
        if (page->near[n] == RP_NO_PAGE) {
            continue; // out of reach
        }
        int32_t offset[3];
        rp_near_offset(n, offset);
        const overlap o = overlap_reached(overlap_at(offset), page);
        const real *from = rp_grid_nodes(grid, channel, (rp_local)page->near[n]);
        switch (offset[ROW]) {
        case -1:
            copy_rows(&o, NODES_BEFORE, from, out->node);
            break;
        case 0:
            copy_rows(&o, NODES_WITHIN, from, out->node);
            break;
        default:
            copy_rows(&o, NODES_AFTER, from, out->node);
        }
    }
}

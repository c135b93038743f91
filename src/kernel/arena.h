// Where a page's arena and a block of nodes overlap: P2G's sums and G2P's copies walk the same
// rows.
#pragma once

#include "core/set.h"
#include "kernel/variant.h"

// Nodes along the row axis that an arena shares with the blocks before, at and after its own.
enum {
    NODES_BEFORE = 1,
    NODES_WITHIN = DIM == 3 ? BLOCK_Z : BLOCK_Y,
    NODES_AFTER = (DIM == 3 ? ARENA_Z : ARENA_Y) - NODES_BEFORE - NODES_WITHIN,
};

typedef struct overlap {
    int lo[3], hi[3]; // nodes of the block, [lo, hi) along each axis
    int at[3];        // where node lo lies in the arena
} overlap;

// The block of nodes lies `offset` blocks from the arena's page; the arena begins one cell before
// its page.
RP_INLINE overlap overlap_at(const int32_t offset[3])
{
    static const int block[3] = {BLOCK_X, BLOCK_Y, BLOCK_Z}, arena[3] = {ARENA_X, ARENA_Y, ARENA_Z};
    overlap o = {.hi = {1, 1, 1}};
    for (int a = 0; a < DIM; a++) {
        const int first = offset[a] * block[a] + 1; // the block's node 0 in the arena
        o.lo[a] = first < 0 ? -first : 0;
        o.hi[a] = arena[a] - first < block[a] ? arena[a] - first : block[a];
        o.at[a] = first + o.lo[a];
    }
    return o;
}

// Less what particles of the arena's page do not reach: the slower axes only, rows stay whole.
RP_INLINE overlap overlap_reached(overlap o, const rp_page *page)
{
    for (int a = 0; a < OUTER; a++) {
        const int before = page->reach_lo[a] - o.at[a],
                  past = o.at[a] + o.hi[a] - o.lo[a] - page->reach_hi[a];
        if (before > 0) {
            o.lo[a] += before;
            o.at[a] += before;
        }
        o.hi[a] -= past > 0 ? past : 0;
    }
    return o;
}

// Does a page reach all of its arena?
RP_INLINE bool reaches_all(const rp_page *page)
{
    static const int arena[3] = {ARENA_X, ARENA_Y, ARENA_Z};
    bool all = true;
    for (int a = 0; a < DIM; a++) {
        all = all && page->reach_lo[a] == 0 && page->reach_hi[a] == arena[a];
    }
    return all;
}

// All rows of an overlap, as x and y of the block; 2D rows lie along y.
#define FOR_OVERLAP(o, x, y)                                                                       \
    for (int x = (o).lo[0]; x < (o).hi[0]; x++)                                                    \
        for (int y = (o).lo[1]; y < (DIM == 3 ? (o).hi[1] : (o).lo[1] + 1); y++)

// Where such a row begins, in nodes.
RP_INLINE int overlap_in_block(const overlap *o, int x, int y)
{
    return (x * BLOCK_Y + y) * BLOCK_Z + o->lo[2];
}

RP_INLINE int overlap_in_arena(const overlap *o, int x, int y)
{
    return ((o->at[0] + x - o->lo[0]) * ARENA_Y + o->at[1] + y - o->lo[1]) * ARENA_Z + o->at[2];
}

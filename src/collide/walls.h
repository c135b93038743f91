// What is remembered of colliders that stand still.
//
// Distance and way out at the nodes of a block are worked out once, when the block first comes near
// the collider, and looked up in every step after that. Blocks that no page needs any more are
// forgotten when they are more than those that are needed. Whether a number was looked up or worked
// out makes no difference: in single precision distances are rounded to it either way. Of thin
// colliders the other face is remembered, too (collide/thin.h).
#pragma once

#include "collide/collider.h"

typedef struct rp_touches rp_touches; // collide/touches.h

typedef struct rp_walls {
    rp_buffer table; // open addressing: (block, collider) -> entry
    size_t table_size;
    rp_buffer entry; // [entry][node][4]: distance, way out; of the world's precision
    int32_t entries;
    rp_buffer other; // [other][node][4]: the same of other faces
    int32_t others;
    rp_buffer near; // [node page]: a bit per collider that stands still and is near
    uint64_t build; // of the grid that `near` is for
    int colliders;  // how many there were
} rp_walls;

void rp_walls_free(rp_walls *walls, const rp_allocator *a);

// The numbers of an entry's nodes: [node][4], of the world's precision.
static inline const void *rp_walls_at(const rp_walls *walls, const rp_layout *l, int32_t entry)
{
    return (const char *)walls->entry.data +
           (size_t)entry * (size_t)l->nodes * 4 * (size_t)rp_real_bytes(l);
}
static inline const void *rp_walls_other_at(const rp_walls *walls, const rp_layout *l,
                                            int32_t other)
{
    return (const char *)walls->other.data +
           (size_t)other * (size_t)l->nodes * 4 * (size_t)rp_real_bytes(l);
}

// Distance and way out of a collider that stands still, with no more digits than nodes have.
void rp_wall_numbers(const rp_collider *c, const rp_layout *l, const double x[3], double out[4]);
// The same of the other face, from what rp_wall_numbers() gave.
void rp_wall_other_numbers(const rp_collider *c, const rp_layout *l, const double x[3],
                           const double numbers[4], double out[4]);

// An entry for every pair of a page and a collider that stands still; new ones are filled.
rp_result rp_walls_find(rp_walls *walls, rp_touches *t, const rp_grid *grid, int threads,
                        rp_scratch *scratch);

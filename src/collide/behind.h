// What lies behind walls, by blocks of nodes: which nodes do, the lines along which free nodes may
// speak for them, and in which cells particles may touch a wall.
//
// All of it is geometry. Where nothing moves it is worked out once, when a page first comes near;
// where a collider moves it is worked out in every step.
#pragma once

#include "collide/collider.h"

#define RP_BEHIND_CUT     0.5 // nodes less deep than this are free [cells along their axis]
#define RP_BEHIND_ROOM    0.75 // sand does not go between two walls that are nearer than this [cells]
#define RP_BEHIND_OPPOSED (-0.5) // cosine of the ways out of two walls with a slit between them
#define RP_BEHIND_WAKE    0.15   // beyond half a particle's width a surface feels it [cells]
#define RP_BEHIND_DEEP    1.5    // particles deeper than this are lost to a wall [cells]

enum {
    RP_LINES_MOST = 8,    // that a node remembers
    RP_LINE_FARTHEST = 4, // nodes to its first free one
};

// A node behind a wall and the ways out to two free nodes, the cheapest first.
typedef struct rp_behind_node {
    int16_t node;  // in its block
    int8_t lines;  // -1: nobody has asked yet
    bool slit;     // between two that leave no room
    double out[3]; // of all that it is behind of
    struct {
        int8_t way[3], k; // the free ones are k and k + 1 ways away
        float cost;
    } line[RP_LINES_MOST];
} rp_behind_node;

// Cells of a block, by their base node, where a particle may touch a collider.
typedef struct rp_wake {
    uint16_t collider;
    uint64_t cell[4]; // a bit each
} rp_wake;

typedef struct rp_behind_block {
    uint64_t key;
    int32_t first, count;      // of its nodes
    int32_t wake_first, wakes; // of its wakes
    int32_t near_first, nears; // of colliders that reach it
} rp_behind_block;

typedef struct rp_behind {
    rp_buffer table; // open addressing: block -> number of its rp_behind_block
    size_t table_size;
    int32_t known;                     // blocks in it
    rp_buffer block, node, wake, near; // near: uint16_t, numbers of colliders
    int32_t blocks, nodes, wakes, nears;
    int32_t kept[4]; // of these, that stay from step to step
    int colliders;   // that all of it is for
} rp_behind;

void rp_behind_free(rp_behind *behind, const rp_allocator *a);

// @param[out] of [node page] numbers of blocks, -1 where nothing is near
rp_result rp_behind_find(rp_behind *behind, const rp_collider *collider, int colliders,
                         const rp_grid *grid, int32_t *of);

// The lines of a node behind walls are worked out when somebody asks for them.
void rp_behind_look(const rp_behind *behind, const rp_collider *collider, const rp_layout *layout,
                    const rp_behind_block *block, const int32_t at[3], rp_behind_node *node);

static inline const rp_behind_block *rp_behind_block_at(const rp_behind *b, int32_t block)
{
    return (const rp_behind_block *)b->block.data + block;
}

// The block-sparse grid: node pages (one field's nodes in one block) wherever particles reach, in
// key order.
//
// A particle page scatters into its private arena; the grid pass adds up, for every node page, the
// arenas around it in the order of the neighbours. No atomics, and the same sums for any number of
// threads. A channel is four numbers per node, in arenas and in node pages alike.
#pragma once

#include "core/set.h"

typedef enum rp_channel_id {
    RP_CH_MOMENTUM, // momentum and mass; after the grid update velocity and mass
    RP_CH_IMPULSE, // impulse of internal forces apart; after the grid update the change of velocity
    RP_CH_COUNT,
} rp_channel_id;

enum { RP_SET_LIMIT = 8 }; // particle sets on one grid

typedef struct rp_node_page {
    uint64_t key;
    int32_t block[3];
    uint16_t field;
} rp_node_page;

typedef struct rp_grid {
    rp_layout layout;
    const rp_allocator *allocator;
    int channels; // in use, of rp_channel_id
    rp_local pages;
    uint64_t builds; // counts rp_grid_build(): another number, other pages
    rp_buffer page_buffer;
    rp_buffer node[RP_CH_COUNT];    // [page][node][4]
    rp_buffer source[RP_SET_LIMIT]; // per set: [page][RP_NEAR] particle pages around, or RP_NO_PAGE
    rp_buffer table;                // open addressing: (key, field) -> index
    size_t table_size;
    rp_buffer
        arena[RP_SET_LIMIT]; // per set: [page][channel][arena_reals]; also scratch of the sort
} rp_grid;

void rp_grid_init(rp_grid *grid, const rp_layout *layout, int channels, const rp_allocator *a);
void rp_grid_free(rp_grid *grid);

static inline rp_node_page *rp_grid_page(const rp_grid *grid) { return grid->page_buffer.data; }
static inline const uint32_t *rp_grid_source(const rp_grid *grid, int set, rp_local page)
{
    return (const uint32_t *)grid->source[set].data + (size_t)page * RP_NEAR;
}
static inline void *rp_grid_nodes(const rp_grid *grid, rp_channel_id channel, rp_local page)
{
    return (char *)grid->node[channel].data +
           (size_t)page * grid->layout.nodes * RP_QUAD * rp_real_bytes(&grid->layout);
}
static inline void *rp_grid_arena(const rp_grid *grid, int set, rp_local page,
                                  rp_channel_id channel)
{
    return (char *)grid->arena[set].data + ((size_t)page * grid->channels + channel) *
                                               grid->layout.arena_reals *
                                               rp_real_bytes(&grid->layout);
}

// Node pages for the current pages of these sets, their neighbours, room for arenas; fills in
// near[] of the particle pages. Call after any of the sets was sorted.
// @return on failure the grid is empty and must be built again
rp_result rp_grid_build(rp_grid *grid, rp_set *set, int sets);

// What rp_grid_build() would need for these pages, without making room for it: node pages, and the
// bytes that a step will use.
rp_result rp_grid_measure(rp_grid *grid, const rp_set *set, int sets, rp_local *pages,
                          size_t *bytes);

size_t rp_grid_bytes(const rp_grid *grid);

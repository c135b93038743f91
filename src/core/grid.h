// The block-sparse grid: node pages (one field's nodes in one block) wherever particles reach, in
// key order.
//
// A particle page scatters into its private arena; the grid pass adds up, for every node page, the
// arenas around it in the order of the neighbours. No atomics, and the same sums for any number of
// threads. Both follow what particles can reach before the next sort (rp_set_find_reach()): a grain
// that flies alone has a few node pages around it and a slice of an arena, not 27 and a whole one.
//
// A channel is some numbers at every node. Those that particles scatter into have arenas; others
// are the solver's own. The list of channels belongs to the method (rp_needs).
#pragma once

#include "core/set.h"

enum {
    RP_SET_LIMIT = 8,      // particle sets on one grid
    RP_CHANNEL_LIMIT = 16, // channels of one grid
};

// The channels that kernels know. Others are numbered from RP_CH_OWN on by the method that has
// them; one without components is not there.
enum {
    RP_CH_MOMENTUM, // momentum and mass; after the grid update velocity and mass
    RP_CH_IMPULSE,  // impulse of internal forces apart; in the end what rp_kernels.keep leaves
    RP_CH_OWN,
};
#define RP_FROM_ALL_WITH_MASS "*"

typedef struct rp_channel {
    const char *name;
    int comps; // numbers a node has: RP_QUAD for what the transfers of momentum read and write
    // who scatters into it: a species by name, RP_FROM_ALL_WITH_MASS, or NULL: nobody does
    const char *from;
} rp_channel;

typedef struct rp_node_page {
    uint64_t key;
    int32_t block[3];
    uint16_t field;
    uint16_t clean; // channels whose nodes that nobody reaches are known to be zero: 1u << channel
    uint8_t lo[2], hi[2]; // rows that particles reach, [lo, hi) along the slower axes
} rp_node_page;

// Node pages that share a block, one for each field that reaches it: what contact between bodies
// and drag between species walk.
typedef struct rp_node_block {
    rp_local first, count;
} rp_node_block;

// Something that this rank shares with another.
typedef struct rp_shared {
    int32_t rank, set; // set: of a page's arenas
    rp_local page;
} rp_shared;

// What crosses to other ranks, each list by rank (core/exchange.h).
typedef struct rp_halo {
    rp_buffer give, take; // rp_shared: pages whose arenas others want, ghosts
    rp_local gives, takes;
    rp_buffer nodes; // rp_shared: node pages, and who else holds them
    rp_local nodes_count;
    rp_buffer lowest;  // uint16_t: per node page the lowest rank that holds it
    rp_buffer message; // that is being written
} rp_halo;

typedef struct rp_grid {
    rp_layout layout;
    const rp_allocator *allocator;
    rp_comm *comm; // of the ranks that share the nodes; NULL: there is only this one
    rp_halo halo;
    rp_channel channel[RP_CHANNEL_LIMIT];
    unsigned scatters[RP_SET_LIMIT]; // by set: the channels it scatters into, 1u << channel
    rp_local pages, blocks;
    uint64_t builds; // counts rp_grid_build(): another number, other pages
    rp_buffer page_buffer, block_buffer;
    rp_buffer node[RP_CHANNEL_LIMIT]; // [page][node][comps]
    rp_buffer source[RP_SET_LIMIT]; // per set: [page][RP_NEAR] particle pages around, or RP_NO_PAGE
    rp_buffer table;                // open addressing: (key, field) -> index
    size_t table_size;
    rp_buffer arena[RP_SET_LIMIT]; // per set: [channel][node][comps]; also scratch of the sort
    size_t arena_at[RP_SET_LIMIT][RP_CHANNEL_LIMIT]; // where a channel's arenas begin [numbers]
} rp_grid;

void rp_grid_init(rp_grid *grid, const rp_layout *layout,
                  const rp_channel channel[RP_CHANNEL_LIMIT], const rp_allocator *a);
void rp_grid_free(rp_grid *grid);
// Let a set scatter into the channels that are for a species of this name. Before the first build.
void rp_grid_let_scatter(rp_grid *grid, int set, const char *species, bool has_mass);

// The block at the n-th place around a page; false where its particles do not get before the next
// sort.
bool rp_page_near_block(const rp_layout *l, const rp_page *page, int n, int32_t out[3]);
// The number of a node page, or RP_NO_PAGE.
uint32_t rp_grid_find(const rp_grid *grid, uint64_t key, uint16_t field);

static inline rp_node_page *rp_grid_page(const rp_grid *grid) { return grid->page_buffer.data; }
static inline const rp_node_block *rp_grid_block(const rp_grid *grid)
{
    return grid->block_buffer.data;
}
static inline const uint32_t *rp_grid_source(const rp_grid *grid, int set, rp_local page)
{
    return (const uint32_t *)grid->source[set].data + (size_t)page * RP_NEAR;
}
static inline void *rp_grid_nodes(const rp_grid *grid, int channel, rp_local page)
{
    return (char *)grid->node[channel].data + (size_t)page * (size_t)grid->layout.nodes *
                                                  (size_t)grid->channel[channel].comps *
                                                  (size_t)rp_real_bytes(&grid->layout);
}
static inline bool rp_grid_has(const rp_grid *grid, int channel)
{
    return grid->channel[channel].comps > 0;
}
// Node 0 of a page's arena of one channel. Only the planes from reach_lo[0] to reach_hi[0] of the
// page are there, so that this may point before its first byte, but never before the buffer's.
static inline void *rp_grid_arena(const rp_grid *grid, int set, const rp_page *page, int channel)
{
    const size_t comps = (size_t)grid->channel[channel].comps;
    const size_t skipped =
        (size_t)page->reach_lo[0] * (size_t)(grid->layout.arena[1] * grid->layout.arena[2]);
    return (char *)grid->arena[set].data +
           (grid->arena_at[set][channel] + (page->arena - skipped) * comps) *
               (size_t)rp_real_bytes(&grid->layout);
}
// How many of its nodes there are, the overhang among them.
static inline size_t rp_page_arena_nodes(const rp_layout *l, const rp_page *page)
{
    return (size_t)(page->reach_hi[0] - page->reach_lo[0]) * (size_t)(l->arena[1] * l->arena[2]) +
           RP_ARENA_OVERHANG;
}

// Forget the pages: particles are in others now. The next step builds the grid again.
static inline void rp_grid_forget(rp_grid *grid) { grid->pages = grid->blocks = 0; }

// Node pages for the current pages of these sets, their neighbours, room for arenas; fills in
// near[], reach and arena of the particle pages. Call after any of the sets was sorted.
// @return on failure the grid is empty and must be built again
rp_result rp_grid_build(rp_grid *grid, rp_set *set, int sets);

// What rp_grid_build() would need for these pages, whose reach is known, without making room for
// it: node pages, and the bytes that a step will use.
rp_result rp_grid_measure(rp_grid *grid, rp_set *set, int sets, rp_local *pages, size_t *bytes);

size_t rp_grid_bytes(const rp_grid *grid);

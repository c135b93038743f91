#include "core/grid.h"

#include "base/hash.h"
#include "base/result.h"
#include "core/exchange.h"

#include <stdlib.h>
#include <string.h>

typedef struct slot {
    uint64_t key;
    uint32_t index; // RP_NO_PAGE: free
    uint16_t field;
} slot;

void rp_grid_init(rp_grid *grid, const rp_layout *layout,
                  const rp_channel channel[RP_CHANNEL_LIMIT], const rp_allocator *a)
{
    *grid = (rp_grid){.layout = *layout, .allocator = a};
    memcpy(grid->channel, channel, sizeof grid->channel);
}

void rp_grid_let_scatter(rp_grid *grid, int set, const char *species, bool has_mass)
{
    grid->scatters[set] = 0;
    for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
        const char *from = grid->channel[c].from;
        const bool all = from != NULL && strcmp(from, RP_FROM_ALL_WITH_MASS) == 0;
        if (rp_grid_has(grid, c) && from != NULL && (all ? has_mass : strcmp(from, species) == 0)) {
            grid->scatters[set] |= 1u << c;
        }
    }
}

void rp_grid_free(rp_grid *grid)
{
    rp_buffer_free(&grid->page_buffer, grid->allocator);
    rp_buffer_free(&grid->block_buffer, grid->allocator);
    rp_buffer_free(&grid->table, grid->allocator);
    rp_buffer_free(&grid->halo.give, grid->allocator);
    rp_buffer_free(&grid->halo.take, grid->allocator);
    rp_buffer_free(&grid->halo.nodes, grid->allocator);
    rp_buffer_free(&grid->halo.lowest, grid->allocator);
    rp_buffer_free(&grid->halo.message, grid->allocator);
    for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
        rp_buffer_free(&grid->node[c], grid->allocator);
    }
    for (int s = 0; s < RP_SET_LIMIT; s++) {
        rp_buffer_free(&grid->source[s], grid->allocator);
        rp_buffer_free(&grid->arena[s], grid->allocator);
    }
}

size_t rp_grid_bytes(const rp_grid *grid)
{
    size_t bytes = grid->page_buffer.bytes + grid->block_buffer.bytes + grid->table.bytes;
    for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
        bytes += grid->node[c].bytes;
    }
    for (int s = 0; s < RP_SET_LIMIT; s++) {
        bytes += grid->source[s].bytes + grid->arena[s].bytes;
    }
    return bytes;
}

// Room with a quarter to spare when the buffer has to grow at all: a spreading heap grows it often.
static rp_result reserve(rp_grid *grid, rp_buffer *buffer, size_t bytes, const char *what)
{
    if (buffer->bytes >= bytes) {
        return RP_OK;
    }
    return rp_buffer_reserve(buffer, grid->allocator, bytes + bytes / 4, 0, what);
}

static rp_result table_clear(rp_grid *grid, size_t entries)
{
    size_t size = 64;
    while (size < 2 * entries) {
        size *= 2;
    }
    RP_TRY(reserve(grid, &grid->table, size * sizeof(slot), "the table of blocks"));
    grid->table_size = size;
    slot *table = grid->table.data;
    for (size_t i = 0; i < size; i++) {
        table[i].index = RP_NO_PAGE;
    }
    return RP_OK;
}

// Where (key, field) is, or the free place where it would go.
static slot *table_at(const rp_grid *grid, uint64_t key, uint16_t field)
{
    slot *table = grid->table.data;
    size_t i = (size_t)rp_mix64(key * RP_NEAR + field) & (grid->table_size - 1);
    while (table[i].index != RP_NO_PAGE && (table[i].key != key || table[i].field != field)) {
        i = (i + 1) & (grid->table_size - 1);
    }
    return &table[i];
}

uint32_t rp_grid_find(const rp_grid *grid, uint64_t key, uint16_t field)
{
    return table_at(grid, key, field)->index;
}

static void table_set(const rp_grid *grid, uint64_t key, uint16_t field, uint32_t index)
{
    *table_at(grid, key, field) = (slot){.key = key, .field = field, .index = index};
}

// The arena's nodes 1 to `cells` are those of the page's own block.
bool rp_page_near_block(const rp_layout *l, const rp_page *page, int n, int32_t out[3])
{
    rp_near_offset(n, out);
    for (int a = 0; a < 3; a++) {
        const bool reached = out[a] < 0   ? page->reach_lo[a] == 0
                             : out[a] > 0 ? page->reach_hi[a] > 1 + l->cells[a]
                                          : true;
        if (!reached || (a >= l->dim && out[a] != 0)) {
            return false;
        }
        out[a] += page->block[a];
    }
    rp_block_wrap(l, out);
    return true;
}

static int compare_pages(const void *pa, const void *pb)
{
    const rp_node_page *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->field < b->field ? -1 : a->field > b->field;
}

// All (block, field) that a particle can reach, each once, in key order.
static rp_result collect_pages(rp_grid *grid, const rp_set *set, int sets)
{
    const rp_layout *l = &grid->layout;
    size_t most = 0;
    for (int s = 0; s < sets; s++) {
        most += (size_t)set[s].pages * (l->dim == 3 ? 27 : 9);
    }
    RP_TRY(table_clear(grid, most));
    for (int s = 0; s < sets; s++) {
        for (rp_local p = 0; p < set[s].pages; p++) {
            const rp_page *page = &rp_set_page(&set[s])[p];
            for (int n = 0; n < RP_NEAR; n++) {
                int32_t block[3];
                if (!rp_page_near_block(l, page, n, block)) {
                    continue;
                }
                const uint64_t key = rp_block_key(block);
                if (rp_grid_find(grid, key, page->field) != RP_NO_PAGE) {
                    continue;
                }
                const size_t used = (size_t)grid->pages * sizeof(rp_node_page);
                if (grid->page_buffer.bytes < used + sizeof(rp_node_page)) {
                    RP_TRY(rp_buffer_reserve(&grid->page_buffer, grid->allocator,
                                             2 * used + 64 * sizeof(rp_node_page), used,
                                             "node pages"));
                }
                rp_node_page *node_page = &rp_grid_page(grid)[grid->pages];
                *node_page = (rp_node_page){.key = key, .field = page->field};
                memcpy(node_page->block, block, sizeof block);
                table_set(grid, key, page->field, (uint32_t)grid->pages++);
            }
        }
    }
    if (grid->pages > 0) {
        qsort(grid->page_buffer.data, (size_t)grid->pages, sizeof(rp_node_page), compare_pages);
    }
    for (rp_local p = 0; p < grid->pages; p++) {
        table_set(grid, rp_grid_page(grid)[p].key, rp_grid_page(grid)[p].field, (uint32_t)p);
    }
    return RP_OK;
}

// Runs of pages in one block.
static rp_result list_blocks(rp_grid *grid)
{
    RP_TRY(reserve(grid, &grid->block_buffer, (size_t)grid->pages * sizeof(rp_node_block),
                   "blocks of node pages"));
    rp_node_block *block = grid->block_buffer.data;
    grid->blocks = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        if (p == 0 || rp_grid_page(grid)[p].key != rp_grid_page(grid)[p - 1].key) {
            block[grid->blocks++] = (rp_node_block){.first = p};
        }
        block[grid->blocks - 1].count++;
    }
    return RP_OK;
}

// Rows of a block that nobody reaches yet. In 2D there is one row along the second axis.
static void reach_nothing(const rp_layout *l, rp_node_page *page)
{
    for (int a = 0; a < 2; a++) {
        page->lo[a] = (uint8_t)(a < l->dim - 1 ? l->cells[a] : 0);
        page->hi[a] = (uint8_t)(a < l->dim - 1 ? 0 : 1);
    }
}

// ... and what a particle page reaches of the block at its n-th place.
static void reach_rows(const rp_layout *l, const rp_page *from, int n, rp_node_page *page)
{
    int32_t offset[3];
    rp_near_offset(n, offset);
    for (int a = 0; a < l->dim - 1; a++) {
        const int first = offset[a] * l->cells[a] + 1; // the block's node 0 in the arena
        const int lo = from->reach_lo[a] - first, hi = from->reach_hi[a] - first;
        page->lo[a] = (uint8_t)(lo < page->lo[a] ? lo > 0 ? lo : 0 : page->lo[a]);
        page->hi[a] =
            (uint8_t)(hi > page->hi[a] ? hi < l->cells[a] ? hi : l->cells[a] : page->hi[a]);
    }
}

// Who scatters to whom, in both directions.
static void link_pages(rp_grid *grid, rp_set *set, int index)
{
    const rp_layout *l = &grid->layout;
    uint32_t *source = grid->source[index].data;
    for (size_t i = 0; i < (size_t)grid->pages * RP_NEAR; i++) {
        source[i] = RP_NO_PAGE;
    }
    for (rp_local p = 0; p < set->pages + set->ghosts; p++) {
        rp_page *page = &rp_set_page(set)[p];
        for (int n = 0; n < RP_NEAR; n++) {
            int32_t block[3];
            page->near[n] = RP_NO_PAGE;
            if (rp_page_near_block(l, page, n, block)) {
                page->near[n] = rp_grid_find(grid, rp_block_key(block), page->field);
                // a ghost reaches node pages, too, that only other ranks have
                if (grid->scatters[index] != 0 && page->near[n] != RP_NO_PAGE) {
                    // seen from there, this page lies on the opposite side
                    source[(size_t)page->near[n] * RP_NEAR + (size_t)(RP_NEAR - 1 - n)] =
                        (uint32_t)p;
                    reach_rows(l, page, n, &rp_grid_page(grid)[page->near[n]]);
                }
            }
        }
    }
}

// Bytes of what the build makes room for.
static size_t node_bytes(const rp_grid *grid, int channel)
{
    const rp_layout *l = &grid->layout;
    return (size_t)grid->pages * (size_t)l->nodes * (size_t)grid->channel[channel].comps *
           (size_t)rp_real_bytes(l);
}

static size_t link_bytes(const rp_grid *grid)
{
    return (size_t)grid->pages * RP_NEAR * sizeof(uint32_t);
}

// Lays the arenas of a set one after the other, channel by channel. In front of all lies room for
// the planes that the first page has not: rp_grid_arena() may point there.
static rp_result lay_arenas(rp_grid *grid, rp_set *set, int index, size_t *bytes)
{
    const rp_layout *l = &grid->layout;
    size_t nodes = (size_t)l->arena_nodes, numbers = 0;
    for (rp_local p = 0; p < set->pages + set->ghosts; p++) {
        rp_page *page = &rp_set_page(set)[p];
        page->arena = (uint32_t)nodes;
        nodes += rp_page_arena_nodes(l, page);
    }
    if (nodes > UINT32_MAX) {
        return rp_fail(RP_ERR_LIMIT, "arenas of %zu nodes: want at most %u in a species", nodes,
                       UINT32_MAX);
    }
    for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
        grid->arena_at[index][c] = numbers;
        if (grid->scatters[index] >> c & 1) {
            numbers += nodes * (size_t)grid->channel[c].comps;
        }
    }
    *bytes = numbers * (size_t)rp_real_bytes(l);
    return RP_OK;
}

rp_result rp_grid_measure(rp_grid *grid, rp_set *set, int sets, rp_local *pages, size_t *bytes)
{
    rp_grid_forget(grid);
    rp_result result = collect_pages(grid, set, sets);
    *pages = grid->pages;
    *bytes = grid->table_size * sizeof(slot) +
             (size_t)grid->pages * (sizeof(rp_node_page) + sizeof(rp_node_block));
    for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
        *bytes += node_bytes(grid, c);
    }
    for (int s = 0; s < sets && result == RP_OK; s++) {
        size_t arenas = 0;
        result = lay_arenas(grid, &set[s], s, &arenas);
        *bytes += link_bytes(grid) + arenas;
    }
    rp_grid_forget(grid);
    return result;
}

rp_result rp_grid_build(rp_grid *grid, rp_set *set, int sets)
{
    rp_grid_forget(grid);
    grid->builds++;
    for (int s = 0; s < sets; s++) {
        rp_set_find_reach(&set[s]);
    }
    rp_result result = collect_pages(grid, set, sets);
    result = result == RP_OK ? list_blocks(grid) : result;
    result = rp_halo_find(grid, set, sets, result);
    for (int c = 0; c < RP_CHANNEL_LIMIT && result == RP_OK; c++) {
        result = reserve(grid, &grid->node[c], node_bytes(grid, c), "grid nodes");
    }
    for (int s = 0; s < sets && result == RP_OK; s++) {
        result = reserve(grid, &grid->source[s], link_bytes(grid), "neighbours of node pages");
        if (result == RP_OK) {
            size_t bytes = 0;
            result = lay_arenas(grid, &set[s], s, &bytes);
            result =
                result != RP_OK ? result : reserve(grid, &grid->arena[s], bytes, "page arenas");
        }
    }
    result = rp_agree(grid->comm, result, NULL, 0);
    if (result != RP_OK) {
        rp_grid_forget(grid);
        return result;
    }
    for (rp_local p = 0; p < grid->pages; p++) {
        reach_nothing(&grid->layout, &rp_grid_page(grid)[p]);
    }
    for (int s = 0; s < sets; s++) {
        link_pages(grid, &set[s], s);
    }
    return RP_OK;
}

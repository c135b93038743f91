#include "core/grid.h"

#include "base/hash.h"
#include "base/result.h"

#include <stdlib.h>
#include <string.h>

typedef struct slot {
    uint64_t key;
    uint32_t index; // RP_NO_PAGE: free
    uint16_t field;
} slot;

void rp_grid_init(rp_grid *grid, const rp_layout *layout, int channels, const rp_allocator *a)
{
    *grid = (rp_grid){.layout = *layout, .allocator = a, .channels = channels};
}

void rp_grid_free(rp_grid *grid)
{
    rp_buffer_free(&grid->page_buffer, grid->allocator);
    rp_buffer_free(&grid->table, grid->allocator);
    for (int c = 0; c < RP_CH_COUNT; c++) {
        rp_buffer_free(&grid->node[c], grid->allocator);
    }
    for (int s = 0; s < RP_SET_LIMIT; s++) {
        rp_buffer_free(&grid->source[s], grid->allocator);
        rp_buffer_free(&grid->arena[s], grid->allocator);
    }
}

size_t rp_grid_bytes(const rp_grid *grid)
{
    size_t bytes = grid->page_buffer.bytes + grid->table.bytes;
    for (int c = 0; c < RP_CH_COUNT; c++) {
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

static uint32_t table_find(const rp_grid *grid, uint64_t key, uint16_t field)
{
    return table_at(grid, key, field)->index;
}

static void table_set(const rp_grid *grid, uint64_t key, uint16_t field, uint32_t index)
{
    *table_at(grid, key, field) = (slot){.key = key, .field = field, .index = index};
}

// The block at the n-th place around another; false where 2D has none.
static bool near_block(const rp_layout *l, const int32_t block[3], int n, int32_t out[3])
{
    rp_near_offset(n, out);
    if (l->dim == 2 && out[2] != 0) {
        return false;
    }
    for (int a = 0; a < 3; a++) {
        out[a] += block[a];
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
                if (!near_block(l, page->block, n, block)) {
                    continue;
                }
                const uint64_t key = rp_block_key(block);
                if (table_find(grid, key, page->field) != RP_NO_PAGE) {
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

// Who scatters to whom, in both directions.
static void link_pages(rp_grid *grid, rp_set *set, int index)
{
    const rp_layout *l = &grid->layout;
    uint32_t *source = grid->source[index].data;
    for (size_t i = 0; i < (size_t)grid->pages * RP_NEAR; i++) {
        source[i] = RP_NO_PAGE;
    }
    for (rp_local p = 0; p < set->pages; p++) {
        rp_page *page = &rp_set_page(set)[p];
        for (int n = 0; n < RP_NEAR; n++) {
            int32_t block[3];
            page->near[n] = RP_NO_PAGE;
            if (near_block(l, page->block, n, block)) {
                page->near[n] = table_find(grid, rp_block_key(block), page->field);
                if (rp_set_has_mass(set)) {
                    // seen from there, this page lies on the opposite side
                    source[(size_t)page->near[n] * RP_NEAR + (size_t)(RP_NEAR - 1 - n)] =
                        (uint32_t)p;
                }
            }
        }
    }
}

// Bytes of what the build makes room for.
static size_t node_bytes(const rp_grid *grid)
{
    const rp_layout *l = &grid->layout;
    return (size_t)grid->pages * l->nodes * RP_QUAD * rp_real_bytes(l);
}

static size_t link_bytes(const rp_grid *grid)
{
    return (size_t)grid->pages * RP_NEAR * sizeof(uint32_t);
}

static size_t arena_bytes(const rp_grid *grid, const rp_set *set)
{
    const rp_layout *l = &grid->layout;
    const size_t page = (size_t)grid->channels * l->arena_reals * rp_real_bytes(l);
    return rp_set_has_mass(set) ? (size_t)set->pages * page : 0;
}

rp_result rp_grid_measure(rp_grid *grid, const rp_set *set, int sets, rp_local *pages,
                          size_t *bytes)
{
    grid->pages = 0;
    const rp_result result = collect_pages(grid, set, sets);
    *pages = grid->pages;
    *bytes = grid->table_size * sizeof(slot) + (size_t)grid->pages * sizeof(rp_node_page) +
             (size_t)grid->channels * node_bytes(grid);
    for (int s = 0; s < sets; s++) {
        *bytes += link_bytes(grid) + arena_bytes(grid, &set[s]);
    }
    grid->pages = 0;
    return result;
}

rp_result rp_grid_build(rp_grid *grid, rp_set *set, int sets)
{
    grid->pages = 0;
    grid->builds++;
    rp_result result = collect_pages(grid, set, sets);
    for (int c = 0; c < grid->channels && result == RP_OK; c++) {
        result = reserve(grid, &grid->node[c], node_bytes(grid), "grid nodes");
    }
    for (int s = 0; s < sets && result == RP_OK; s++) {
        result = reserve(grid, &grid->source[s], link_bytes(grid), "neighbours of node pages");
        if (result == RP_OK) {
            result = reserve(grid, &grid->arena[s], arena_bytes(grid, &set[s]), "page arenas");
        }
    }
    if (result != RP_OK) {
        grid->pages = 0;
        return result;
    }
    for (int s = 0; s < sets; s++) {
        link_pages(grid, &set[s], s);
    }
    return RP_OK;
}

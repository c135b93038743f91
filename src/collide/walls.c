#include "collide/walls.h"

#include "base/hash.h"
#include "base/result.h"
#include "base/threads.h"
#include "collide/thin.h"
#include "collide/touches.h"
#include "shape/class.h"

typedef struct wall_slot {
    uint64_t key;  // of the block
    int32_t entry; // -1: free
    int32_t other; // -1: there is none
    uint16_t collider;
} wall_slot;

void rp_walls_free(rp_walls *walls, const rp_allocator *a)
{
    rp_buffer_free(&walls->table, a);
    rp_buffer_free(&walls->entry, a);
    rp_buffer_free(&walls->other, a);
    rp_buffer_free(&walls->near, a);
}

static wall_slot *wall_at(const rp_walls *walls, uint64_t key, int collider)
{
    wall_slot *table = walls->table.data;
    size_t i =
        (size_t)rp_mix64(key * RP_COLLIDER_LIMIT + (uint64_t)collider) & (walls->table_size - 1);
    while (table[i].entry >= 0 && (table[i].key != key || table[i].collider != collider)) {
        i = (i + 1) & (walls->table_size - 1);
    }
    return &table[i];
}

static size_t wall_bytes(const rp_layout *l)
{
    return (size_t)l->nodes * 4 * (size_t)rp_real_bytes(l);
}

// Forget all, and make room for as many as twice what is wanted.
static rp_result walls_clear(rp_walls *walls, const rp_grid *grid, int64_t wanted)
{
    size_t size = 64;
    while (size < 4 * (size_t)wanted) {
        size *= 2;
    }
    walls->entries = walls->others = 0;
    walls->table_size = 0;
    RP_TRY(rp_buffer_reserve(&walls->table, grid->allocator, size * sizeof(wall_slot), 0,
                             "the table of walls"));
    walls->table_size = size;
    for (size_t i = 0; i < size; i++) {
        ((wall_slot *)walls->table.data)[i].entry = -1;
    }
    return RP_OK;
}

static void round_numbers(const rp_layout *l, double out[4])
{
    if (l->precision == RP_SINGLE) {
        float rounded[4];
        for (int i = 0; i < 4; i++) {
            rounded[i] = (float)out[i];
        }
        for (int i = 0; i < 4; i++) {
            out[i] = (double)rounded[i];
        }
    }
}

// Not inlined: gcc 12 then left two of the four numbers as they were, and a test saw it.
__attribute__((noinline)) void rp_wall_numbers(const rp_collider *c, const rp_layout *l,
                                               const double x[3], double out[4])
{
    out[0] = rp_shape_distance(c->shape, x, out + 1);
    round_numbers(l, out);
}

__attribute__((noinline)) void rp_wall_other_numbers(const rp_collider *c, const rp_layout *l,
                                                     const double x[3], const double numbers[4],
                                                     double out[4])
{
    rp_thin_other(c, l, x, numbers[0], numbers + 1, out);
    round_numbers(l, out);
}

typedef struct wall_job {
    rp_walls *walls;
    const rp_collider *collider;
    const rp_grid *grid;
    const struct wall_order {
        int32_t entry, other;
        rp_local page;
        uint16_t collider;
    } * order;
} wall_job;

static void put_numbers(const rp_layout *l, rp_buffer *buffer, int32_t entry, int node,
                        const double numbers[4])
{
    char *out = (char *)buffer->data + (size_t)entry * wall_bytes(l);
    for (int k = 0; k < 4; k++) {
        if (l->precision == RP_SINGLE) {
            ((float *)out)[4 * node + k] = (float)numbers[k];
        } else {
            ((double *)out)[4 * node + k] = numbers[k];
        }
    }
}

static void fill_wall(void *context, int64_t i, int thread)
{
    (void)thread;
    const wall_job *job = context;
    const struct wall_order *order = &job->order[i];
    const rp_layout *l = &job->grid->layout;
    const rp_collider *c = &job->collider[order->collider];
    for (int n = 0; n < l->nodes; n++) {
        double x[3], numbers[4], other[4];
        rp_layout_node(l, rp_grid_page(job->grid)[order->page].block, n, x);
        rp_wall_numbers(c, l, x, numbers);
        put_numbers(l, &job->walls->entry, order->entry, n, numbers);
        if (order->other >= 0) {
            rp_wall_other_numbers(c, l, x, numbers, other);
            put_numbers(l, &job->walls->other, order->other, n, other);
        }
    }
}

// @param old entries that are kept
static rp_result make_room(const rp_grid *grid, rp_buffer *buffer, int32_t entries, int64_t old)
{
    const size_t bytes = (size_t)entries * wall_bytes(&grid->layout);
    return buffer->bytes >= bytes
               ? RP_OK
               : rp_buffer_reserve(buffer, grid->allocator, bytes + bytes / 8,
                                   (size_t)old * wall_bytes(&grid->layout), "walls");
}

rp_result rp_walls_find(rp_walls *walls, rp_touches *t, const rp_grid *grid, int threads,
                        rp_scratch *scratch)
{
    wall_job job = {.walls = walls, .collider = t->collider, .grid = grid};
    struct wall_order *order =
        rp_scratch_get(scratch, (size_t)t->pairs * sizeof *order, "walls to look at");
    int64_t standing = 0, orders = 0, others = 0;
    if (order == NULL) {
        return RP_ERR_MEMORY;
    }
    for (int64_t i = 0; i < t->pairs; i++) {
        const rp_collider *c = &t->collider[t->near[i]];
        standing += !c->moves && !rp_shape_is_plane(c->shape);
    }
    // too many that nobody needs, or too few places: begin anew
    if (walls->entries > 2 * standing + 64 ||
        walls->table_size < 2 * ((size_t)walls->entries + (size_t)standing)) {
        RP_TRY(walls_clear(walls, grid, walls->entries + standing));
    }
    for (rp_local p = 0; p < grid->pages; p++) {
        for (int k = 0; k < t->page[p].count; k++) {
            const uint32_t pair = t->page[p].first + (uint32_t)k;
            const uint16_t collider = t->near[pair];
            t->wall[pair] = t->other[pair] = -1;
            // a plane is worked out as fast as it is looked up
            if (t->collider[collider].moves || rp_shape_is_plane(t->collider[collider].shape)) {
                continue;
            }
            // fields share what is the same for all
            const uint64_t key = rp_grid_page(grid)[p].key;
            wall_slot *slot = wall_at(walls, key, collider);
            if (slot->entry < 0) {
                const bool thin = t->collider[collider].thin;
                *slot = (wall_slot){key, walls->entries++, thin ? walls->others++ : -1, collider};
                order[orders++] = (struct wall_order){slot->entry, slot->other, p, collider};
                others += thin;
            }
            t->wall[pair] = slot->entry;
            t->other[pair] = slot->other;
        }
    }
    if (make_room(grid, &walls->entry, walls->entries, walls->entries - orders) != RP_OK ||
        make_room(grid, &walls->other, walls->others, walls->others - others) != RP_OK) {
        walls->table_size = 0; // what was promised is not there
        walls->entries = walls->others = 0;
        return RP_ERR_MEMORY;
    }
    t->walls = walls;
    job.order = order;
    rp_parallel_for(threads, orders, 4, fill_wall, &job);
    return RP_OK;
}

// What a world would need, from counting particles per block instead of making them.
#include "base/hash.h"
#include "base/result.h"
#include "core/state.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rp_plan_free(rp_world *world) { rp_buffer_free(&world->plan.buffer, &world->allocator); }

static rp_plan_block *find(const rp_plan_table *table, uint64_t key, int field)
{
    rp_plan_block *block = table->buffer.data;
    size_t i = (size_t)rp_mix64(key * RP_NEAR + (uint64_t)field) & (table->size - 1);
    while (block[i].count > 0 && (block[i].key != key || block[i].field != field)) {
        i = (i + 1) & (table->size - 1);
    }
    return &block[i];
}

static rp_result grow(rp_world *world)
{
    rp_plan_table old = world->plan, new = old;
    new.size = old.size > 0 ? 2 * old.size : 1024;
    new.used = 0;
    new.buffer = (rp_buffer){0};
    RP_TRY(rp_buffer_reserve(&new.buffer, &world->allocator, new.size * sizeof(rp_plan_block), 0,
                             "planned blocks"));
    memset(new.buffer.data, 0, new.size * sizeof(rp_plan_block));
    for (size_t i = 0; i < old.size; i++) {
        const rp_plan_block *block = (rp_plan_block *)old.buffer.data + i;
        if (block->count > 0) {
            *find(&new, block->key, block->field) = *block;
            new.used++;
        }
    }
    rp_buffer_free(&old.buffer, &world->allocator);
    world->plan = new;
    return RP_OK;
}

rp_result rp_plan_count(rp_world *world, const double x[3], rp_material material, int field,
                        double volume)
{
    int32_t block[3];
    double local[3];
    RP_TRY(rp_layout_place(&world->set.layout, x, block, local));
    rp_block_wrap(&world->set.layout, block);
    if (2 * world->plan.used >= world->plan.size) {
        RP_TRY(grow(world));
    }
    const double mass = world->material[material.index].density * volume;
    const uint64_t key = rp_block_key(block);
    const bool first = world->plan.used == 0;
    rp_plan_block *found = find(&world->plan, key, field);
    if (found->count == 0) {
        *found = (rp_plan_block){.key = key, .field = (uint16_t)field};
        memcpy(found->block, block, sizeof block);
        memcpy(found->x, x, sizeof found->x);
        world->plan.used++;
    }
    found->count++;
    found->volume += volume;
    found->coarse = fmax(found->coarse, volume);
    found->mass += mass;
    world->plan.mass[material.index] += mass;
    for (int a = 0; a < world->def.dimension; a++) {
        world->plan.lower[a] = first ? x[a] : fmin(world->plan.lower[a], x[a]);
        world->plan.upper[a] = first ? x[a] : fmax(world->plan.upper[a], x[a]);
    }
    return RP_OK;
}

// Pages as the sort would make them, in any order. Only the grid's measure looks at them.
static rp_result list_pages(const rp_world *world, rp_set *set)
{
    RP_TRY(rp_buffer_reserve(&set->page_buffer, &world->allocator,
                             (world->plan.used + 1) * sizeof(rp_page), 0, "pages"));
    int64_t slots = 0, count = 0;
    set->pages = 0;
    for (size_t i = 0; i < world->plan.size; i++) {
        const rp_plan_block *block = (rp_plan_block *)world->plan.buffer.data + i;
        if (block->count > 0) {
            rp_page *page = &rp_set_page(set)[set->pages++];
            *page = (rp_page){.key = block->key, .field = block->field};
            memcpy(page->block, block->block, sizeof page->block);
            slots += (block->count + RP_LANES - 1) / RP_LANES * RP_LANES;
            count += block->count;
        }
    }
    if (slots > INT32_MAX / 2) {
        return rp_fail(RP_ERR_LIMIT, "%lld particles are more than the %d that a world holds",
                       (long long)count, INT32_MAX / 2);
    }
    set->slots = (rp_local)slots;
    set->count = (rp_local)count;
    return RP_OK;
}

// Of an array that is in use up to `bytes` and has room for more: whole huge pages where it is big.
static size_t resident(size_t bytes, size_t room)
{
    const size_t huge = RP_HUGE_PAGE, whole = (bytes + huge - 1) / huge * huge;
    return bytes < huge ? bytes : whole < room ? whole : room;
}

// Bytes of all particles in their columns, and while they wait to be born.
static void column_bytes(const rp_set *set, size_t *slots, size_t *births, size_t *packed)
{
    *slots = *births = *packed = 0;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const rp_column *column = &set->column[c];
        const size_t wide = c == RP_COL_POSITION ? sizeof(double) : column->bytes;
        const size_t bytes = (size_t)set->slots * column->comps * column->bytes;
        *slots += resident(bytes, bytes / 16 * 17); // as the sort reserves
        *packed += bytes;
        *births += (size_t)set->count * column->comps * wide;
    }
}

static rp_result measure(const rp_world *world, rp_set *set, rp_grid *grid, rp_plan *out)
{
    RP_TRY(list_pages(world, set));
    rp_local node_pages;
    size_t grid_bytes, slots, births, packed;
    RP_TRY(rp_grid_measure(grid, set, 1, &node_pages, &grid_bytes));
    column_bytes(set, &slots, &births, &packed);
    const size_t pages = (size_t)set->pages * sizeof(rp_page);
    out->particles = set->count;
    out->pages = set->pages;
    out->node_pages = node_pages;
    out->bytes = slots + pages + resident(grid_bytes, grid_bytes / 4 * 5);
    // columns come in as births go out, so the most is needed while births are being sorted
    out->setup_bytes = births + (size_t)set->count * RP_SORT_BIRTH_BYTES;
    out->state_bytes = packed + (size_t)set->pages * sizeof(rp_state_page);
    return RP_OK;
}

rp_result rp_world_plan(const rp_world *world, rp_plan *out)
{
    *out = (rp_plan){0};
    if (!world->def.plan) {
        return rp_fail(RP_ERR_ARGUMENT, "this world is not planned: set rp_world_def.plan");
    }
    // beside the world: its own set and grid stay empty
    rp_set set = world->set;
    rp_grid grid;
    set.page_buffer = (rp_buffer){0};
    rp_grid_init(&grid, &set.layout, world->grid.channels, &world->allocator);
    const rp_result result = measure(world, &set, &grid, out);
    rp_buffer_free(&set.page_buffer, &world->allocator);
    rp_grid_free(&grid);
    RP_TRY(result);

    for (int i = 0; i < world->materials; i++) {
        out->mass += world->plan.mass[i];
    }
    memcpy(out->lower, world->plan.lower, sizeof out->lower);
    memcpy(out->upper, world->plan.upper, sizeof out->upper);

    rp_world *stepped = (rp_world *)(uintptr_t)world; // a step only looks at it here
    rp_matter matter;
    rp_step step = rp_world_make_step(stepped, &matter);
    const rp_stats stats = world->stats;
    double steps;
    const rp_result chosen = rp_world_choose_dt(stepped, &step, &steps);
    out->dt = step.dt;
    out->limiter = stepped->stats.limiter;
    stepped->stats = stats;
    return chosen;
}

// What a world would need, from counting particles per block instead of making them.
#include "base/hash.h"
#include "base/result.h"
#include "core/state.h"
#include "io/frame.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rp_plan_free(rp_world *world) { rp_buffer_free(&world->plan.buffer, &world->allocator); }

// -1 pending: taken once, by particles that came to nothing
static bool is_free(const rp_plan_block *b) { return b->count == 0 && b->pending == 0; }

static rp_plan_block *find(const rp_plan_table *table, uint64_t key, int species, int field)
{
    rp_plan_block *block = table->buffer.data;
    const uint64_t which = key * RP_NEAR + (uint64_t)field + ((uint64_t)species << 56);
    size_t i = (size_t)rp_mix64(which) & (table->size - 1);
    while (!is_free(&block[i]) &&
           (block[i].key != key || block[i].field != field || block[i].species != species)) {
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
        if (!is_free(block)) {
            *find(&new, block->key, block->species, block->field) = *block;
            new.used++;
        }
    }
    rp_buffer_free(&old.buffer, &world->allocator);
    world->plan = new;
    return RP_OK;
}

rp_result rp_plan_count(rp_world *world, const double x[3], rp_material material, int field)
{
    const rp_layout *l = &world->grid.layout;
    int32_t block[3];
    double local[3];
    RP_TRY(rp_layout_place(l, x, block, local));
    rp_block_wrap(l, block);
    if (2 * world->plan.used >= world->plan.size) {
        RP_TRY(grow(world));
    }
    const uint64_t key = rp_block_key(block);
    const bool first = world->plan.used == 0;
    const int species = world->species_of[material.index];
    field = rp_world_field_of(world, material, field);
    rp_plan_block *found = find(&world->plan, key, species, field);
    if (is_free(found)) {
        *found =
            (rp_plan_block){.key = key, .species = (uint16_t)species, .field = (uint16_t)field};
        memcpy(found->block, block, sizeof block);
        memcpy(found->x, x, sizeof found->x);
        memcpy(found->least, l->cells, sizeof found->least);
        world->plan.used++;
    }
    for (int a = 0; a < l->dim; a++) {
        const int32_t cell = (int32_t)local[a];
        found->least[a] = cell < found->least[a] ? cell : found->least[a];
        found->most[a] = cell > found->most[a] ? cell : found->most[a];
    }
    found->pending = found->pending < 0 ? 1 : found->pending + 1;
    for (int a = 0; a < world->def.dimension; a++) {
        world->plan.lower[a] = first ? x[a] : fmin(world->plan.lower[a], x[a]);
        world->plan.upper[a] = first ? x[a] : fmax(world->plan.upper[a], x[a]);
    }
    return RP_OK;
}

void rp_plan_commit(rp_world *world, rp_material material, double volume)
{
    const double mass = world->material[material.index].density * volume;
    for (size_t i = 0; i < world->plan.size; i++) {
        rp_plan_block *block = (rp_plan_block *)world->plan.buffer.data + i;
        if (block->pending > 0) {
            const double count = (double)block->pending;
            block->count += block->pending;
            block->pending = 0;
            block->volume += count * volume;
            block->coarse = fmax(block->coarse, volume);
            block->mass += count * mass;
            world->plan.mass[material.index] += count * mass;
        }
    }
}

void rp_plan_drop(rp_world *world)
{
    for (size_t i = 0; i < world->plan.size; i++) {
        rp_plan_block *block = (rp_plan_block *)world->plan.buffer.data + i;
        // a place in a chain must stay taken; nobody counts one without particles
        if (block->pending > 0) {
            block->pending = block->count == 0 ? -1 : 0;
        }
    }
}

// Pages of a species as the sort would make them, in any order. Only the grid's measure looks at
// them.
static rp_result list_pages(const rp_world *world, int species, rp_set *set)
{
    RP_TRY(rp_buffer_reserve(&set->page_buffer, &world->allocator,
                             (world->plan.used + 1) * sizeof(rp_page), 0, "pages"));
    int64_t slots = 0, count = 0;
    set->pages = 0;
    for (size_t i = 0; i < world->plan.size; i++) {
        const rp_plan_block *block = (rp_plan_block *)world->plan.buffer.data + i;
        if (block->count > 0 && block->species == species) {
            rp_page *page = &rp_set_page(set)[set->pages++];
            *page = (rp_page){.key = block->key, .field = block->field};
            memcpy(page->block, block->block, sizeof page->block);
            rp_page_reach(page, &set->layout, block->least, block->most);
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
    rp_local node_pages = 0;
    size_t grid_bytes = 0, slots, births, packed;
    for (int s = 0; s < world->species_count; s++) {
        RP_TRY(list_pages(world, s, &set[s]));
    }
    if (world->needs.grid) {
        RP_TRY(rp_grid_measure(grid, set, world->species_count, &node_pages, &grid_bytes));
    }
    out->node_pages = node_pages;
    out->bytes = resident(grid_bytes, grid_bytes / 4 * 5);
    for (int s = 0; s < world->species_count; s++) {
        column_bytes(&set[s], &slots, &births, &packed);
        out->particles += set[s].count;
        out->pages += set[s].pages;
        out->bytes += slots + (size_t)set[s].pages * sizeof(rp_page);
        out->bytes += (size_t)set[s].slots * world->needs.particle_bytes;
        // columns come in as births go out, so the most is needed while births are being sorted
        out->setup_bytes += births + (size_t)set[s].count * RP_SORT_BIRTH_BYTES;
        out->state_bytes += packed + (size_t)set[s].pages * sizeof(rp_state_page);
    }
    return RP_OK;
}

// Of a particle in a frame of chosen columns: where it is, what it belongs to, and those.
static size_t row_bytes(const rp_world *world)
{
    const rp_frame_choice *choice = &world->choice;
    const size_t real = (size_t)rp_real_bytes(&world->grid.layout);
    size_t bytes = 3 * sizeof(double) + 2 * sizeof(uint16_t) + sizeof(uint8_t) + sizeof(uint64_t);
    for (int c = RP_COL_VELOCITY; c < RP_COL_GROUP; c++) {
        if ((choice->columns >> c & 1) != 0) {
            bytes += real * (size_t)rp_layout_comps(&world->grid.layout, c);
        }
    }
    for (int k = 0; k < RP_DERIVED_COUNT; k++) {
        bytes += (choice->derived >> k & 1) != 0 ? real * (size_t)rp_derived_table[k].comps : 0;
    }
    return bytes;
}

rp_result rp_world_plan(const rp_world *world, rp_plan *out)
{
    *out = (rp_plan){.row_bytes = world->chosen ? row_bytes(world) : 0};
    if (!world->def.plan) {
        return rp_fail(RP_ERR_ARGUMENT, "this world is not planned: set rp_world_def.plan");
    }
    // beside the world: its own sets and grid stay empty
    rp_set set[RP_SET_LIMIT];
    rp_grid grid;
    for (int s = 0; s < world->species_count; s++) {
        set[s] = world->set[s];
        set[s].page_buffer = (rp_buffer){0};
    }
    rp_grid_init(&grid, &world->grid.layout, world->grid.channel, &world->allocator);
    memcpy(grid.scatters, world->grid.scatters, sizeof grid.scatters);
    const rp_result result = measure(world, set, &grid, out);
    for (int s = 0; s < world->species_count; s++) {
        rp_buffer_free(&set[s].page_buffer, &world->allocator);
    }
    rp_grid_free(&grid);
    RP_TRY(result);

    for (int i = 0; i < world->materials; i++) {
        out->mass += world->plan.mass[i];
    }
    memcpy(out->lower, world->plan.lower, sizeof out->lower);
    memcpy(out->upper, world->plan.upper, sizeof out->upper);

    rp_world *stepped = (rp_world *)(uintptr_t)world; // a step only looks at it here
    rp_step step = rp_world_make_step(stepped);
    const rp_stats stats = world->stats;
    double steps;
    RP_TRY(rp_world_gravity(world, step.gravity));
    const rp_result chosen = rp_world_choose_dt(stepped, &step, &steps);
    out->dt = step.dt;
    memcpy(out->limiter, stepped->stats.limiter, sizeof out->limiter);
    stepped->stats = stats;
    RP_TRY(chosen);
    if (!(out->dt > RP_LEAST_STEP / world->def.fps)) {
        return rp_fail(
            RP_ERR_ARGUMENT,
            "a frame of %g s would take %.2g steps of %.3g s, bounded by %s, and %.0e are "
            "the most: choose a larger fps, a larger dx or a softer material",
            1.0 / world->def.fps, 1.0 / (world->def.fps * out->dt), out->dt, out->limiter,
            1.0 / RP_LEAST_STEP);
    }
    return RP_OK;
}

// The whole state of a world as one block of bytes: a header, what owners registered, the page
// table and the columns in memory order. Restoring does not sort, so that a run goes on bit for
// bit.
#include "base/result.h"
#include "sim/world.h"

#include <math.h>
#include <string.h>

#define STATE_MAGIC 0x3145544154535052ull // "RPSTATE1", little-endian
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "states are little-endian");

typedef struct state_header {
    uint64_t magic, bytes;
    uint64_t seed;
    double h, fps;
    int32_t period[3], fields;
    int32_t dim, order, precision, columns; // bit mask
    int32_t groups, pages, slots, count, doomed, births;
    double travel;
} state_header;

// Stands before a saved state, so that it can be freed after its world is gone.
typedef struct saved_block {
    _Alignas(RP_CACHE_LINE) rp_allocator allocator;
    size_t bytes;
} saved_block;

typedef struct page_record {
    int32_t block[3], field, first, count;
} page_record;

// Walks the same places in the same order for measuring, writing and reading.
typedef struct cursor {
    char *out;      // writing to, or NULL
    const char *in; // reading from, or NULL
    size_t at;
} cursor;

static void pass(cursor *c, void *data, size_t bytes)
{
    if (c->out != NULL && bytes > 0) {
        memcpy(c->out + c->at, data, bytes);
    } else if (c->in != NULL && bytes > 0) {
        memcpy(data, c->in + c->at, bytes);
    }
    c->at += bytes;
}

static state_header header_of(const rp_world *world)
{
    const rp_set *set = &world->set;
    state_header h = {
        .magic = STATE_MAGIC,
        .seed = world->def.seed,
        .h = set->layout.h,
        .fps = world->def.fps,
        .period = {set->layout.period[0], set->layout.period[1], set->layout.period[2]},
        .fields = world->def.fields,
        .dim = set->layout.dim,
        .order = set->layout.order,
        .precision = (int32_t)set->layout.precision,
        .groups = set->groups,
        .pages = set->pages,
        .slots = set->slots,
        .count = set->count,
        .doomed = set->doomed,
        .births = set->inbox.count,
        .travel = set->travel,
    };
    for (int c = 0; c < RP_COL_COUNT; c++) {
        h.columns |= (int32_t)rp_set_has(set, c) << c;
    }
    return h;
}

// Bytes of a column's slots or of its births.
static size_t column_bytes(const rp_set *set, int c, rp_local particles, bool births)
{
    const rp_column *column = &set->column[c];
    const size_t each = births && c == RP_COL_POSITION ? sizeof(double) : column->bytes;
    return (size_t)particles * column->comps * each;
}

// Everything after the header.
static void pass_body(rp_world *world, cursor *c, const state_header *h)
{
    rp_set *set = &world->set;
    for (int i = 0; i < world->registry.entries; i++) {
        const rp_registry_entry *entry = &world->registry.entry[i];
        pass(c, entry->data, entry->bytes);
    }
    for (int32_t p = 0; p < h->pages; p++) {
        page_record record = {0};
        if (c->out != NULL) {
            const rp_page *page = &rp_set_page(set)[p];
            record = (page_record){.block = {page->block[0], page->block[1], page->block[2]},
                                   .field = page->field,
                                   .first = page->first,
                                   .count = page->count};
        }
        pass(c, &record, sizeof record);
        if (c->in != NULL) {
            rp_page *page = &rp_set_page(set)[p];
            *page = (rp_page){.key = rp_block_key(record.block),
                              .field = (uint16_t)record.field,
                              .first = record.first,
                              .count = record.count};
            memcpy(page->block, record.block, sizeof page->block);
        }
    }
    for (int i = 0; i < RP_COL_COUNT; i++) {
        if (rp_set_has(set, i)) {
            pass(c, set->column[i].buffer.data, column_bytes(set, i, h->slots, false));
            pass(c, set->inbox.column[i].data, column_bytes(set, i, h->births, true));
        }
    }
}

rp_result rp_world_save(const rp_world *world, void **data, size_t *size)
{
    // the walk is the same in both directions, so it takes a world that it may write to; here it
    // reads
    rp_world *readable = (rp_world *)(uintptr_t)world;
    state_header h = header_of(world);
    *data = NULL;
    cursor measure = {0};
    pass_body(readable, &measure, &h);
    h.bytes = sizeof h + measure.at;
    saved_block *block = rp_new(&world->allocator, sizeof *block + h.bytes, "a saved state");
    if (block == NULL) {
        return RP_ERR_MEMORY;
    }
    *block = (saved_block){.allocator = world->allocator, .bytes = sizeof *block + h.bytes};
    *data = block + 1;
    memcpy(*data, &h, sizeof h);
    cursor write = {.out = (char *)*data + sizeof h};
    pass_body(readable, &write, &h);
    *size = h.bytes;
    return RP_OK;
}

void rp_state_free(void *data)
{
    if (data != NULL) {
        saved_block *block = (saved_block *)data - 1;
        const rp_allocator a = block->allocator;
        rp_delete(&a, block, block->bytes);
    }
}

// Would these pages and particles make a set? A state comes from outside: nothing in it is trusted.
static rp_result check_pages(const rp_world *world, const state_header *h, const char *pages)
{
    int64_t end = 0, alive = 0;
    uint64_t last_key = 0;
    int32_t last_field = -1;
    for (int32_t p = 0; p < h->pages; p++) {
        page_record r;
        memcpy(&r, pages + (size_t)p * sizeof r, sizeof r);
        bool good = r.first % RP_LANES == 0 && r.first >= end && r.count > 0 &&
                    (int64_t)r.first + r.count <= h->slots && r.field >= 0 &&
                    r.field < world->def.fields && (h->dim == 3 || r.block[2] == 0);
        for (int a = 0; a < 3; a++) {
            good = good && r.block[a] > -RP_BLOCK_LIMIT && r.block[a] < RP_BLOCK_LIMIT - 1;
        }
        // in key order, and none twice
        const uint64_t key = good ? rp_block_key(r.block) : 0;
        good = good && (p == 0 || key > last_key || (key == last_key && r.field > last_field));
        if (!good) {
            return rp_fail(RP_ERR_ARGUMENT, "state: page %d is damaged", p);
        }
        last_key = key;
        last_field = r.field;
        end = (int64_t)r.first + r.count;
        alive += r.count;
    }
    if (alive != h->count) {
        return rp_fail(RP_ERR_ARGUMENT, "state: pages hold %lld particles, the header says %d",
                       (long long)alive, h->count);
    }
    return RP_OK;
}

static rp_result check_time(const rp_world *world, const char *registry)
{
    for (int i = 0; i < world->registry.entries; i++) {
        const rp_registry_entry *entry = &world->registry.entry[i];
        if (entry->data == &world->time) {
            rp_time t;
            memcpy(&t, registry, sizeof t);
            if (!(t.frame >= 0 && t.step >= 0 && t.part >= 0.0 && t.part < 1.0)) {
                return rp_fail(RP_ERR_ARGUMENT, "state: frame %lld, step %lld, part %g is no time",
                               (long long)t.frame, (long long)t.step, t.part);
            }
        }
        registry += entry->bytes;
    }
    return RP_OK;
}

static rp_result check_header(const rp_world *world, const void *data, size_t size, state_header *h)
{
    const rp_set *set = &world->set;
    if (size < sizeof *h) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes are too few for a state", size);
    }
    memcpy(h, data, sizeof *h);
    if (h->magic != STATE_MAGIC) {
        return rp_fail(RP_ERR_ARGUMENT, "state: these bytes are no state of this version");
    }
    const state_header own = header_of(world);
    const struct {
        const char *name;
        double state, world;
    } same[] = {
        {"dimension", h->dim, own.dim},
        {"order", h->order, own.order},
        {"precision", h->precision, own.precision},
        {"dx", h->h, own.h},
        {"fps", h->fps, own.fps},
        {"period[0] in blocks", h->period[0], own.period[0]},
        {"period[1] in blocks", h->period[1], own.period[1]},
        {"period[2] in blocks", h->period[2], own.period[2]},
        {"fields", h->fields, own.fields},
        {"columns", h->columns, own.columns},
        {"groups", h->groups, own.groups},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (same[i].state != same[i].world) {
            return rp_fail(RP_ERR_ARGUMENT, "state: made by another world: %s is %g there, %g here",
                           same[i].name, same[i].state, same[i].world);
        }
    }
    if (h->seed != own.seed) {
        return rp_fail(RP_ERR_ARGUMENT, "state: made by another world: its seed differs");
    }
    if (h->pages < 0 || h->slots < 0 || h->births < 0 || h->slots % RP_LANES != 0 || h->count < 0 ||
        h->doomed < 0 || h->doomed > h->count) {
        return rp_fail(RP_ERR_ARGUMENT, "state: negative counts");
    }
    size_t want = sizeof *h + (size_t)h->pages * sizeof(page_record);
    for (int i = 0; i < world->registry.entries; i++) {
        want += world->registry.entry[i].bytes;
    }
    for (int i = 0; i < RP_COL_COUNT; i++) {
        want += column_bytes(set, i, h->slots, false) + column_bytes(set, i, h->births, true);
    }
    if (h->bytes != want || size < want) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes, want %zu: cut off or damaged", size,
                       want);
    }
    return RP_OK;
}

static uint16_t group_at(const char *groups, int64_t i)
{
    uint16_t group;
    memcpy(&group, groups + i * (int64_t)sizeof group, sizeof group);
    return group;
}

// Every group must exist, in lanes past a page's end too: kernels index tables with it. Only births
// have none that are dead.
static rp_result check_groups(const rp_world *world, const char *groups, int64_t count,
                              int64_t *dead)
{
    *dead = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint16_t group = group_at(groups, i);
        *dead += group == RP_GROUP_DEAD;
        if (group >= world->set.groups && group != RP_GROUP_DEAD) {
            return rp_fail(RP_ERR_ARGUMENT, "state: a particle of group %d, this world has %d",
                           group, world->set.groups);
        }
    }
    return RP_OK;
}

// The dead wait for a sort, which nothing else would ask for: they must be as many as the header
// says, and all of them particles.
static rp_result check_dead(const rp_world *world, const state_header *h, const char *pages,
                            const char *slot_groups, const char *birth_groups)
{
    int64_t in_slots, in_births, in_pages = 0;
    RP_TRY(check_groups(world, slot_groups, h->slots, &in_slots));
    RP_TRY(check_groups(world, birth_groups, h->births, &in_births));
    for (int32_t p = 0; p < h->pages; p++) {
        page_record r;
        memcpy(&r, pages + (size_t)p * sizeof r, sizeof r);
        for (int64_t slot = r.first; slot < (int64_t)r.first + r.count; slot++) {
            in_pages += group_at(slot_groups, slot) == RP_GROUP_DEAD;
        }
    }
    if (in_births != 0 || in_slots != h->doomed || in_pages != h->doomed) {
        return rp_fail(RP_ERR_ARGUMENT, "state: the dead are not as many as the header says");
    }
    return RP_OK;
}

// Kernels address arenas by position, so a particle must be where its page and `travel` say it can
// be. Beyond the limit of travel the next step sorts first, and the sort looks for itself.
static rp_result check_positions(const rp_world *world, const state_header *h, const char *pages,
                                 const char *column)
{
    const rp_layout *l = &world->set.layout;
    if (!(h->travel >= 0.0 && isfinite(h->travel))) {
        return rp_fail(RP_ERR_ARGUMENT, "state: travel of %g cells", h->travel);
    }
    for (int32_t p = 0; p < h->pages && h->travel <= RP_TRAVEL_LIMIT; p++) {
        page_record r;
        memcpy(&r, pages + (size_t)p * sizeof r, sizeof r);
        for (int64_t slot = r.first; slot < (int64_t)r.first + r.count; slot++) {
            for (int a = 0; a < l->dim; a++) {
                const char *at =
                    column + (((slot / RP_LANES) * l->dim + a) * RP_LANES + slot % RP_LANES) *
                                 rp_real_bytes(l);
                int32_t fixed;
                double cell;
                if (l->precision == RP_SINGLE) {
                    memcpy(&fixed, at, sizeof fixed);
                    cell = fixed >> RP_FIXED_BITS;
                } else {
                    memcpy(&cell, at, sizeof cell);
                    cell = floor(cell);
                }
                if (!(cell >= -1.0 && cell <= l->cells[a])) {
                    return rp_fail(RP_ERR_ARGUMENT, "state: a particle of page %d lies outside it",
                                   p);
                }
            }
        }
    }
    return RP_OK;
}

rp_result rp_world_restore(rp_world *world, const void *data, size_t size)
{
    rp_set *set = &world->set;
    const rp_allocator *a = &world->allocator;
    state_header h;
    RP_TRY(check_header(world, data, size, &h));

    // find the parts that must be checked before anything is overwritten
    const char *registry = (const char *)data + sizeof h, *pages = registry;
    for (int i = 0; i < world->registry.entries; i++) {
        pages += world->registry.entry[i].bytes;
    }
    RP_TRY(check_time(world, registry));
    RP_TRY(check_pages(world, &h, pages));
    const char *at = pages + (size_t)h.pages * sizeof(page_record);
    for (int i = 0; i < RP_COL_COUNT; i++) {
        const size_t slots = column_bytes(set, i, h.slots, false);
        if (i == RP_COL_POSITION) {
            RP_TRY(check_positions(world, &h, pages, at));
        } else if (i == RP_COL_GROUP) {
            RP_TRY(check_dead(world, &h, pages, at, at + slots));
        }
        at += slots + column_bytes(set, i, h.births, true);
    }

    // room for everything, keeping what is there in case one of them fails
    RP_TRY(rp_buffer_reserve(&set->page_buffer, a, (size_t)h.pages * sizeof(rp_page),
                             (size_t)set->pages * sizeof(rp_page), "pages"));
    for (int i = 0; i < RP_COL_COUNT; i++) {
        if (rp_set_has(set, i)) {
            RP_TRY(
                rp_buffer_reserve(&set->column[i].buffer, a, column_bytes(set, i, h.slots, false),
                                  column_bytes(set, i, set->slots, false), rp_field_table[i].name));
            RP_TRY(rp_buffer_reserve(&set->inbox.column[i], a, column_bytes(set, i, h.births, true),
                                     column_bytes(set, i, set->inbox.count, true),
                                     "particles to be born"));
        }
    }

    cursor read = {.in = (const char *)data + sizeof h};
    pass_body(world, &read, &h);
    set->pages = h.pages;
    set->slots = h.slots;
    set->count = h.count;
    set->doomed = h.doomed;
    set->inbox.count = h.births;
    set->travel = h.travel;
    for (int i = 0; i < RP_COL_COUNT && h.births == 0; i++) {
        rp_buffer_free(&set->inbox.column[i], a);
    }
    rp_set_mark_mixed(set);
    world->grid.pages = 0; // built again by the next step
    world->failed = false;
    return RP_OK;
}

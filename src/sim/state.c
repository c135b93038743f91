// The whole state of a world as one block of bytes (core/state.h). Restoring does not sort, so that
// a run goes on bit for bit.
#include "core/state.h"

#include "base/result.h"
#include "base/threads.h"
#include "sim/world.h"

#include <math.h>
#include <string.h>

static rp_state_header header_of(const rp_world *world)
{
    const rp_layout *l = &world->grid.layout;
    rp_state_header h = {
        .magic = RP_STATE_MAGIC,
        .seed = world->def.seed,
        .h = l->h,
        .fps = world->def.fps,
        .period = {l->period[0], l->period[1], l->period[2]},
        .fields = world->def.fields,
        .dim = l->dim,
        .order = l->order,
        .precision = (int32_t)l->precision,
        .entries = world->registry.entries,
        .species = world->species_count,
    };
    strncpy(h.method, world->solver->info.name, sizeof h.method - 1);
    return h;
}

static void species_of(const rp_world *world, rp_state_species out[RP_SET_LIMIT])
{
    memset(out, 0, RP_SET_LIMIT * sizeof *out);
    for (int i = 0; i < world->species_count; i++) {
        const rp_set *set = &world->set[i];
        out[i] = (rp_state_species){
            .travel = set->travel,
            .groups = set->groups,
            .pages = set->pages,
            .slots = set->slots,
            .count = set->count,
            .doomed = set->doomed,
            .births = set->inbox.count,
        };
        strncpy(out[i].name, world->species[i].name, sizeof out[i].name - 1);
        for (int c = 0; c < RP_COL_COUNT; c++) {
            out[i].columns |= (int32_t)rp_set_has(set, c) << c;
        }
    }
}

static void entries_of(const rp_world *world, rp_state_entry entry[RP_REGISTRY_LIMIT])
{
    memset(entry, 0, RP_REGISTRY_LIMIT * sizeof *entry);
    for (int i = 0; i < world->registry.entries; i++) {
        const rp_registry_entry *from = &world->registry.entry[i];
        RP_ASSERT(strlen(from->name) < sizeof entry[i].name);
        strcpy(entry[i].name, from->name);
        entry[i].bytes = rp_registry_bytes(from);
        entry[i].columns = (uint64_t)from->columns;
    }
}

// Bytes of a column's slots or of its births.
static size_t column_bytes(const rp_set *set, int c, rp_local particles, bool births)
{
    const rp_column *column = &set->column[c];
    const size_t each = births && c == RP_COL_POSITION ? sizeof(double) : column->bytes;
    return (size_t)particles * column->comps * each;
}

// Copy a part to its place and clear what lies between it and the next.
static void put(char *state, size_t at, const void *data, size_t bytes)
{
    if (bytes > 0) {
        memcpy(state + at, data, bytes);
    }
    memset(state + at + bytes, 0, -(at + bytes) % RP_STATE_ALIGN);
}

// Columns are most of a state, and steps wait while they are copied: all threads help.
enum { PIECE = 1 << 20 };

typedef struct column_copy {
    char *to;
    const char *from;
    size_t bytes;
    int64_t first; // piece of it, counted over all columns
} column_copy;

typedef struct copying {
    column_copy column[RP_SET_LIMIT * RP_COL_COUNT];
    int columns;
    int64_t pieces;
} copying;

static void add_copy(copying *c, char *to, const void *from, size_t bytes)
{
    c->column[c->columns++] = (column_copy){to, from, bytes, c->pieces};
    c->pieces += (int64_t)((bytes + PIECE - 1) / PIECE);
}

static void copy_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    const copying *c = context;
    int k = c->columns - 1;
    while (c->column[k].first > i) {
        k--;
    }
    const column_copy *column = &c->column[k];
    const size_t at = (size_t)(i - column->first) * PIECE, left = column->bytes - at;
    memcpy(column->to + at, column->from + at, left < PIECE ? left : PIECE);
}

static void put_tables(char *state, const rp_state_part *part, const rp_set *set)
{
    for (rp_local i = 0; i < set->groups; i++) {
        const rp_group *g = &rp_set_group(set)[i];
        const rp_state_group group = {
            .material = g->material, .field = g->field, .volume = g->volume, .mass = g->mass};
        put(state, part->group_at + (size_t)i * sizeof group, &group, sizeof group);
    }
    for (rp_local i = 0; i < set->pages; i++) {
        const rp_page *p = &rp_set_page(set)[i];
        const rp_state_page page = {.block = {p->block[0], p->block[1], p->block[2]},
                                    .field = p->field,
                                    .first = p->first,
                                    .count = p->count};
        put(state, part->page_at + (size_t)i * sizeof page, &page, sizeof page);
    }
}

static void put_species(char *state, const rp_state_part *part, const rp_set *set, copying *slots)
{
    put_tables(state, part, set);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (rp_set_has(set, c)) {
            // whole tiles need no padding
            add_copy(slots, state + part->slots_at[c], set->column[c].buffer.data,
                     column_bytes(set, c, set->slots, false));
            put(state, part->births_at[c], set->inbox.column[c].data,
                column_bytes(set, c, set->inbox.count, true));
        }
    }
}

// Room for a state, with its tables of species and entries; NULL when there is no memory.
static char *begin_state(const rp_world *world, const rp_state_view *view, rp_state_header *h,
                         const rp_state_species *species)
{
    char *state = rp_state_new(&world->given, view->bytes);
    if (state != NULL) {
        const size_t species_bytes = (size_t)h->species * sizeof *species;
        h->bytes = view->bytes;
        put(state, 0, h, sizeof *h);
        put(state, sizeof *h, species, species_bytes);
        put(state, sizeof *h + species_bytes, view->entry,
            (size_t)h->entries * sizeof *view->entry);
    }
    return state;
}

// Of this rank.
static rp_result save_own(const rp_world *world, void **data, size_t *size)
{
    rp_state_header h = header_of(world);
    rp_state_species species[RP_SET_LIMIT];
    rp_state_entry entry[RP_REGISTRY_LIMIT];
    rp_state_view view;
    *data = NULL;
    species_of(world, species);
    entries_of(world, entry);
    RP_TRY(rp_state_measure(&h, species, entry, &view));
    char *state = begin_state(world, &view, &h, species);
    if (state == NULL) {
        return RP_ERR_MEMORY;
    }
    for (int i = 0; i < h.entries; i++) {
        put(state, view.entry_at[i], rp_registry_data(&world->registry.entry[i]), entry[i].bytes);
    }
    copying slots = {0};
    for (int s = 0; s < world->species_count; s++) {
        put_species(state, &view.part[s], &world->set[s], &slots);
    }
    rp_parallel_for(world->threads, slots.pieces, 1, copy_piece, &slots);
    *data = state;
    *size = view.bytes;
    return RP_OK;
}

// ---- the states of several ranks are one ----

// What all of them hold, from what each holds. Pages are in key order rank by rank, and begin on
// tiles, so that one column after the other is the column of the whole.
static void join_species(const rp_world *world, const rp_state_view *rank, int s, int32_t *slots,
                         rp_state_species *out)
{
    *out = *rank[0].part[s].about;
    out->pages = out->slots = out->count = out->doomed = 0;
    for (int r = 0; r < world->comm->size; r++) {
        const rp_state_species *own = rank[r].part[s].about;
        slots[r] = out->slots;
        out->pages += own->pages;
        out->slots += own->slots;
        out->count += own->count;
        out->doomed += own->doomed;
    }
}

static void put_joined(const rp_world *world, const rp_state_view *rank, int s,
                       const int32_t *slots, char *state, const rp_state_part *part)
{
    const rp_set *set = &world->set[s];
    const rp_state_part *first = &rank[0].part[s];
    size_t page_at = part->page_at, slot_at[RP_COL_COUNT];
    memcpy(slot_at, part->slots_at, sizeof slot_at);
    put(state, part->group_at, first->group, (size_t)part->about->groups * sizeof *first->group);
    for (int r = 0; r < world->comm->size; r++) {
        const rp_state_part *own = &rank[r].part[s];
        for (int32_t p = 0; p < own->about->pages; p++) {
            rp_state_page page = own->page[p];
            page.first += slots[r];
            put(state, page_at, &page, sizeof page);
            page_at += sizeof page;
        }
        for (int c = 0; c < RP_COL_COUNT; c++) {
            const size_t bytes = column_bytes(set, c, own->about->slots, false);
            if (bytes > 0) {
                put(state, slot_at[c], rp_state_at(&rank[r], own->slots_at[c]), bytes);
                slot_at[c] += bytes;
            }
        }
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (rp_set_has(set, c)) {
            put(state, part->births_at[c], rp_state_at(&rank[0], first->births_at[c]),
                column_bytes(set, c, first->about->births, true));
        }
    }
}

// Particles, pages and columns of all ranks; all else, births too, is the same on all of them.
static rp_result join_states(const rp_world *world, const rp_state_view *rank, int32_t *slots,
                             void **data, size_t *size)
{
    const int ranks = world->comm->size;
    rp_state_header h = *rank[0].header;
    rp_state_species species[RP_SET_LIMIT];
    rp_state_view view;
    for (int s = 0; s < h.species; s++) {
        join_species(world, rank, s, slots + s * ranks, &species[s]);
    }
    RP_TRY(rp_state_measure(&h, species, rank[0].entry, &view));
    char *state = begin_state(world, &view, &h, species);
    if (state == NULL) {
        return RP_ERR_MEMORY;
    }
    for (int i = 0; i < h.entries; i++) {
        put(state, view.entry_at[i], rp_state_at(&rank[0], rank[0].entry_at[i]),
            rank[0].entry[i].bytes);
    }
    for (int s = 0; s < h.species; s++) {
        put_joined(world, rank, s, slots + s * ranks, state, &view.part[s]);
    }
    *data = state;
    *size = view.bytes;
    return RP_OK;
}

// What every rank has saved becomes the state of the whole, on each of them.
static rp_result save_joined(const rp_world *world, const void *own, size_t own_size, void **data,
                             size_t *size)
{
    rp_bytes in[RP_RANK_LIMIT];
    const int ranks = world->comm->size;
    rp_buffer views = {0}, slots = {0};
    RP_TRY(rp_tell_all(world->comm, own, own_size, in));
    rp_result result = rp_buffer_reserve(&views, &world->given,
                                         (size_t)ranks * sizeof(rp_state_view), 0, "a saved state");
    if (result == RP_OK) {
        result =
            rp_buffer_reserve(&slots, &world->given, (size_t)ranks * RP_SET_LIMIT * sizeof(int32_t),
                              0, "a saved state");
    }
    for (int r = 0; r < ranks && result == RP_OK; r++) {
        result = rp_state_view_make(in[r].data, in[r].bytes, (rp_state_view *)views.data + r);
    }
    if (result == RP_OK) {
        result = join_states(world, views.data, slots.data, data, size);
    }
    rp_buffer_free(&views, &world->given);
    rp_buffer_free(&slots, &world->given);
    result = rp_agree(world->comm, result, NULL, 0);
    if (result != RP_OK) {
        rp_state_free(*data);
        *data = NULL;
    }
    return result;
}

rp_result rp_world_save(const rp_world *world, void **data, size_t *size)
{
    if (rp_comm_alone(world->comm)) {
        return save_own(world, data, size);
    }
    void *own;
    size_t own_size = 0;
    *data = NULL;
    rp_result result = rp_agree(world->comm, save_own(world, &own, &own_size), NULL, 0);
    result = result == RP_OK ? save_joined(world, own, own_size, data, size) : result;
    rp_state_free(own);
    return result;
}

// ---- is it a state of this world? It comes from outside: nothing in it is trusted ----

static rp_result another_world(const char *what)
{
    return rp_fail(RP_ERR_ARGUMENT, "state: made by another world: %s", what);
}

static rp_result check_species(const rp_world *world, const rp_state_view *view)
{
    rp_state_species own[RP_SET_LIMIT];
    species_of(world, own);
    for (int s = 0; s < world->species_count; s++) {
        const rp_state_species *there = view->part[s].about;
        if (memcmp(there->name, own[s].name, sizeof own[s].name) != 0) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "state: made by another world: species %d is '%.*s' there, '%s' here", s,
                           RP_SPECIES_NAME, there->name, own[s].name);
        }
        // mass and volume by particle come with particles, both or neither
        const int32_t may = 1 << RP_COL_MASS | 1 << RP_COL_VOLUME;
        const int32_t brings = there->columns & may;
        if ((there->columns | may) != (own[s].columns | may) || (brings != 0 && brings != may)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "state: made by another world: columns of %s are %#x there, %#x here",
                           own[s].name, (unsigned)there->columns, (unsigned)own[s].columns);
        }
    }
    return RP_OK;
}

// Everything that owners registered, by name and size; arrays may have any length.
static rp_result check_entries(const rp_world *world, const rp_state_view *view)
{
    rp_state_entry own[RP_REGISTRY_LIMIT];
    entries_of(world, own);
    for (int i = 0; i < world->registry.entries; i++) {
        const rp_registry_entry *entry = &world->registry.entry[i];
        const rp_state_entry *there = &view->entry[i];
        if (entry->buffer != NULL && there->bytes % entry->each == 0 &&
            there->bytes / entry->each <= INT32_MAX) {
            own[i].bytes = there->bytes;
        }
        if (memcmp(&own[i], there, sizeof own[i]) != 0) {
            return another_world("it saves other things (another version of Repose may, too)");
        }
    }
    return RP_OK;
}

static rp_result check_header(const rp_world *world, const rp_state_view *view)
{
    const rp_state_header *h = view->header, own = header_of(world);
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
        {"the number of species", h->species, own.species},
    };
    if (memcmp(h->method, own.method, sizeof own.method) != 0) {
        return rp_fail(RP_ERR_ARGUMENT, "state: made by another method: it is %.*s there, %s here",
                       RP_SPECIES_NAME, h->method, own.method);
    }
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (same[i].state != same[i].world) {
            return rp_fail(RP_ERR_ARGUMENT, "state: made by another world: %s is %g there, %g here",
                           same[i].name, same[i].state, same[i].world);
        }
    }
    if (h->seed != own.seed) {
        return another_world("its seed differs");
    }
    if (h->entries != own.entries) {
        return another_world("it saves other things (another version of Repose may, too)");
    }
    RP_TRY(check_entries(world, view));
    return check_species(world, view);
}

static rp_result check_time(const rp_world *world, const rp_state_view *view)
{
    for (int i = 0; i < world->registry.entries; i++) {
        if (world->registry.entry[i].data == &world->time) {
            const rp_time *t = rp_state_at(view, view->entry_at[i]);
            if (!(t->frame >= 0 && t->step >= 0 && t->part >= 0.0 && t->part < 1.0)) {
                return rp_fail(RP_ERR_ARGUMENT, "state: frame %lld, step %lld, part %g is no time",
                               (long long)t->frame, (long long)t->step, t->part);
            }
        }
    }
    return RP_OK;
}

static rp_result check_groups(const rp_world *world, int species, const rp_state_part *part)
{
    for (int32_t i = 0; i < part->about->groups; i++) {
        const rp_state_group *g = &part->group[i];
        if (g->material < 0 || g->material >= world->materials ||
            world->species_of[g->material] != species || g->field < 0 ||
            g->field >= rp_world_fields(world) || !(g->volume > 0.0 && isfinite(g->volume))) {
            return rp_fail(RP_ERR_ARGUMENT, "state: group %d is damaged", i);
        }
        const double mass = world->material[g->material].density * g->volume;
        if (g->mass != mass) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "state: made by another world: a particle of group %d weighs %g kg "
                           "there, %g kg here",
                           i, g->mass, mass);
        }
    }
    return RP_OK;
}

// Would these pages make a set?
static rp_result check_pages(const rp_world *world, const rp_state_part *part)
{
    const rp_state_species *h = part->about;
    int64_t end = 0, alive = 0;
    uint64_t last_key = 0;
    int32_t last_field = -1;
    for (int32_t p = 0; p < h->pages; p++) {
        const rp_state_page *r = &part->page[p];
        bool good = r->first % RP_LANES == 0 && r->first >= end && r->count > 0 &&
                    (int64_t)r->first + r->count <= h->slots && r->field >= 0 &&
                    r->field < rp_world_fields(world) &&
                    (world->def.dimension == 3 || r->block[2] == 0);
        for (int a = 0; a < 3; a++) {
            good = good && r->block[a] > -RP_BLOCK_LIMIT && r->block[a] < RP_BLOCK_LIMIT - 1;
        }
        // in key order, and none twice
        const uint64_t key = good ? rp_block_key(r->block) : 0;
        good = good && (p == 0 || key > last_key || (key == last_key && r->field > last_field));
        if (!good) {
            return rp_fail(RP_ERR_ARGUMENT, "state: page %d is damaged", p);
        }
        last_key = key;
        last_field = r->field;
        end = (int64_t)r->first + r->count;
        alive += r->count;
    }
    if (alive != h->count) {
        return rp_fail(RP_ERR_ARGUMENT, "state: pages hold %lld particles, the header says %d",
                       (long long)alive, h->count);
    }
    return RP_OK;
}

// Every group must exist, in lanes past a page's end too: kernels index tables with it.
static rp_result count_dead(const rp_state_part *part, const uint16_t *group, int64_t count,
                            int64_t *dead)
{
    *dead = 0;
    for (int64_t i = 0; i < count; i++) {
        *dead += group[i] == RP_GROUP_DEAD;
        if (group[i] >= part->about->groups && group[i] != RP_GROUP_DEAD && group[i] != 0) {
            return rp_fail(RP_ERR_ARGUMENT, "state: a particle of group %d, there are %d", group[i],
                           part->about->groups);
        }
    }
    return RP_OK;
}

// The dead wait for a sort, which nothing else would ask for: they must be as many as the header
// says, and all of them particles; none is born dead.
static rp_result check_dead(const rp_state_view *view, const rp_state_part *part)
{
    const rp_state_species *h = part->about;
    const uint16_t *slots = rp_state_at(view, part->slots_at[RP_COL_GROUP]);
    const uint16_t *births = rp_state_at(view, part->births_at[RP_COL_GROUP]);
    int64_t in_slots, in_births, in_pages = 0;
    RP_TRY(count_dead(part, slots, h->slots, &in_slots));
    RP_TRY(count_dead(part, births, h->births, &in_births));
    for (int32_t p = 0; p < h->pages; p++) {
        for (int32_t i = 0; i < part->page[p].count; i++) {
            in_pages += slots[part->page[p].first + i] == RP_GROUP_DEAD;
        }
    }
    if (in_births != 0 || in_slots != h->doomed || in_pages != h->doomed) {
        return rp_fail(RP_ERR_ARGUMENT, "state: the dead are not as many as the header says");
    }
    if (h->groups == 0 && h->count + (int64_t)h->births > 0) {
        return rp_fail(RP_ERR_ARGUMENT, "state: particles, but no group that they belong to");
    }
    return RP_OK;
}

// Kernels address arenas by position, so a particle must be where its page and `travel` say it can
// be. Beyond the limit of travel the next step sorts first, and the sort looks for itself.
static rp_result check_positions(const rp_state_view *view, const rp_state_part *part)
{
    const rp_state_species *h = part->about;
    const rp_layout *l = &view->layout;
    const int32_t *fixed = rp_state_at(view, part->slots_at[RP_COL_POSITION]);
    const double *real = rp_state_at(view, part->slots_at[RP_COL_POSITION]);
    if (!(h->travel >= 0.0 && isfinite(h->travel))) {
        return rp_fail(RP_ERR_ARGUMENT, "state: travel of %g cells", h->travel);
    }
    // what a sort leaves on the far face of a block by rounding, within what RP_TRAVEL_LIMIT spares
    const double slack = h->travel + 0.5 * (1.0 - RP_TRAVEL_LIMIT);
    for (int32_t p = 0; p < h->pages && h->travel <= RP_TRAVEL_LIMIT; p++) {
        const rp_state_page *r = &part->page[p];
        for (int64_t slot = r->first; slot < (int64_t)r->first + r->count; slot++) {
            for (int a = 0; a < l->dim; a++) {
                const int64_t at = ((slot / RP_LANES) * l->dim + a) * RP_LANES + slot % RP_LANES;
                const double x =
                    l->precision == RP_SINGLE ? fixed[at] * (1.0 / (1 << RP_FIXED_BITS)) : real[at];
                if (!(x >= -slack && x <= l->cells[a] + slack)) {
                    return rp_fail(RP_ERR_ARGUMENT, "state: a particle of page %d lies outside it",
                                   p);
                }
            }
        }
    }
    return RP_OK;
}

static double real_of(const rp_state_view *view, const void *column, int64_t i)
{
    return view->layout.precision == RP_SINGLE ? (double)((const float *)column)[i]
                                               : ((const double *)column)[i];
}

// Mass and volume of particles that have their own are of something that can be.
static rp_result check_own(const rp_state_view *view, const rp_state_part *part)
{
    static const rp_column_id own[] = {RP_COL_MASS, RP_COL_VOLUME};
    const rp_state_species *h = part->about;
    for (int k = 0; k < 2 && h->columns >> RP_COL_MASS & 1; k++) {
        const void *slots = rp_state_at(view, part->slots_at[own[k]]);
        const void *births = rp_state_at(view, part->births_at[own[k]]);
        bool good = true;
        for (int32_t p = 0; p < h->pages; p++) {
            for (int64_t i = part->page[p].first;
                 i < (int64_t)part->page[p].first + part->page[p].count; i++) {
                const double value = real_of(view, slots, i);
                good = good && value > 0.0 && isfinite(value);
            }
        }
        for (int32_t i = 0; i < h->births; i++) {
            const double value = real_of(view, births, i);
            good = good && value > 0.0 && isfinite(value);
        }
        if (!good) {
            return rp_fail(RP_ERR_ARGUMENT, "state: a particle has a %s that cannot be",
                           rp_column_table[own[k]].name);
        }
    }
    return RP_OK;
}

// Glue knows the other of its two bodies, which has a name and comes after its own.
static bool is_partner(const rp_world *world, double partner, int field)
{
    return partner > field && partner < world->def.fields && partner == floor(partner);
}

static rp_result check_partners(const rp_world *world, const rp_state_view *view,
                                const rp_state_part *part)
{
    const rp_state_species *h = part->about;
    if (!(h->columns >> RP_COL_PARTNER & 1)) {
        return RP_OK;
    }
    const void *slots = rp_state_at(view, part->slots_at[RP_COL_PARTNER]);
    const void *births = rp_state_at(view, part->births_at[RP_COL_PARTNER]);
    const uint16_t *group = rp_state_at(view, part->births_at[RP_COL_GROUP]);
    bool good = true;
    for (int32_t p = 0; p < h->pages; p++) {
        const rp_state_page *page = &part->page[p];
        for (int64_t i = page->first; i < (int64_t)page->first + page->count; i++) {
            good = good && is_partner(world, real_of(view, slots, i), page->field);
        }
    }
    for (int32_t i = 0; i < h->births; i++) {
        good = good && is_partner(world, real_of(view, births, i), part->group[group[i]].field);
    }
    return good ? RP_OK
                : rp_fail(RP_ERR_ARGUMENT,
                          "state: glue between two bodies that are not two of 0 to %d in order",
                          world->def.fields - 1);
}

// The name of what bounded the last step ends within its room.
static rp_result check_limiter(const rp_world *world, const rp_state_view *view)
{
    for (int i = 0; i < world->registry.entries; i++) {
        if (world->registry.entry[i].data == world->stats.limiter &&
            memchr(rp_state_at(view, view->entry_at[i]), '\0', sizeof world->stats.limiter) ==
                NULL) {
            return rp_fail(RP_ERR_ARGUMENT, "state: the name of a limit has no end");
        }
    }
    return RP_OK;
}

// Loads are searched by their bodies, and bodies have names.
static rp_result check_pair_loads(const rp_world *world, const rp_state_view *view)
{
    for (int i = 0; i < world->registry.entries; i++) {
        if (world->registry.entry[i].buffer != &world->pair_loads.list) {
            continue;
        }
        const rp_pair_load *load = rp_state_at(view, view->entry_at[i]);
        const size_t count = view->entry[i].bytes / sizeof *load;
        for (size_t k = 0; k < count; k++) {
            const int32_t *body = load[k].body, *last = k > 0 ? load[k - 1].body : NULL;
            if (!(0 <= body[0] && body[0] < body[1] && body[1] < world->def.fields)) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "state: bodies %d and %d touch, want two of 0 to %d in order",
                               body[0], body[1], world->def.fields - 1);
            }
            if (last != NULL && (body[0] < last[0] || (body[0] == last[0] && body[1] <= last[1]))) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "state: pairs of bodies that touch are not in order");
            }
        }
    }
    return RP_OK;
}

// What emitters have poured is counted, and says which site is next.
static rp_result check_layers(const rp_world *world, const rp_state_view *view)
{
    for (int i = 0; i < world->registry.entries; i++) {
        if (world->registry.entry[i].data != world->layers) {
            continue;
        }
        const double *layers = rp_state_at(view, view->entry_at[i]);
        for (size_t k = 0; k < view->entry[i].bytes / sizeof *layers; k++) {
            if (!(layers[k] >= 0.0 && layers[k] < 0x1p53 && layers[k] == floor(layers[k]))) {
                return rp_fail(RP_ERR_ARGUMENT, "state: emitter %zu has poured %g layers", k,
                               layers[k]);
            }
        }
    }
    return RP_OK;
}

static rp_result check_state(const rp_world *world, const rp_state_view *view)
{
    RP_TRY(check_header(world, view));
    RP_TRY(check_time(world, view));
    RP_TRY(check_limiter(world, view));
    RP_TRY(check_pair_loads(world, view));
    RP_TRY(check_layers(world, view));
    for (int s = 0; s < world->species_count; s++) {
        const rp_state_part *part = &view->part[s];
        RP_TRY(check_groups(world, s, part));
        RP_TRY(check_pages(world, part));
        RP_TRY(check_positions(view, part));
        RP_TRY(check_dead(view, part));
        RP_TRY(check_own(view, part));
        RP_TRY(check_partners(world, view, part));
    }
    return RP_OK;
}

// ---- take it over ----

// What this rank takes of a species: a run of pages, and the slots that they are in.
typedef struct share {
    int32_t page, slot; // the first
    rp_state_species about;
} share;

static share share_of(const rp_world *world, const rp_state_view *view, const rp_state_part *part)
{
    share mine = {.about = *part->about};
    if (rp_comm_alone(world->comm)) {
        return mine;
    }
    const uint16_t *group = rp_state_at(view, part->slots_at[RP_COL_GROUP]);
    int64_t before = 0;
    int rank = 0;
    mine.slot = part->about->slots;
    mine.about.pages = mine.about.slots = mine.about.count = mine.about.doomed = 0;
    for (int32_t p = 0; p < part->about->pages; p++) {
        const rp_state_page *page = &part->page[p];
        // fields of one block stay together
        if (p == 0 || memcmp(page->block, page[-1].block, sizeof page->block) != 0) {
            rank = (int)(before * world->comm->size / part->about->count);
        }
        before += page->count;
        if (rank == world->comm->rank) {
            if (mine.about.pages++ == 0) {
                mine.page = p;
                mine.slot = page->first;
            }
            const int32_t end = p + 1 < part->about->pages ? page[1].first : part->about->slots;
            mine.about.slots = end - mine.slot;
            mine.about.count += page->count;
            for (int32_t i = 0; i < page->count; i++) {
                mine.about.doomed += group[page->first + i] == RP_GROUP_DEAD;
            }
        }
    }
    return mine;
}

// Room for everything, keeping what is there in case one of them fails.
static rp_result make_room(rp_world *world, rp_species *species, const rp_state_species *h)
{
    rp_set *set = species->set;
    const rp_allocator *a = &world->allocator;
    RP_TRY(rp_world_reserve_groups(world, species, h->groups));
    RP_TRY(rp_buffer_reserve(&set->page_buffer, a, (size_t)h->pages * sizeof(rp_page),
                             (size_t)set->pages * sizeof(rp_page), "pages"));
    for (int i = 0; i < RP_COL_COUNT; i++) {
        if (h->columns >> i & 1) {
            RP_TRY(rp_set_want(set, i));
            RP_TRY(rp_buffer_reserve(
                &set->column[i].buffer, a, column_bytes(set, i, h->slots, false),
                column_bytes(set, i, set->slots, false), rp_column_table[i].name));
            RP_TRY(rp_buffer_reserve(
                &set->inbox.column[i], a, column_bytes(set, i, h->births, true),
                column_bytes(set, i, set->inbox.count, true), "particles to be born"));
        }
    }
    return RP_OK;
}

static rp_result make_entry_room(const rp_registry_entry *entry, size_t bytes)
{
    return entry->buffer == NULL
               ? RP_OK
               : rp_buffer_reserve(entry->buffer, entry->allocator, bytes,
                                   (size_t)*entry->count * entry->each, entry->name);
}

// All of it, or the sets keep the columns that they had.
static rp_result make_all_room(rp_world *world, const rp_state_view *view)
{
    rp_state_species before[RP_SET_LIMIT];
    rp_result result = RP_OK;
    species_of(world, before);
    for (int s = 0; s < world->species_count && result == RP_OK; s++) {
        const share mine = share_of(world, view, &view->part[s]);
        result = make_room(world, &world->species[s], &mine.about);
    }
    for (int i = 0; i < world->registry.entries && result == RP_OK; i++) {
        result = make_entry_room(&world->registry.entry[i], view->entry[i].bytes);
    }
    for (int s = 0; s < world->species_count && result != RP_OK; s++) {
        for (int c = 0; c < RP_COL_COUNT; c++) {
            world->set[s].column[c].comps *= before[s].columns >> c & 1;
        }
    }
    return result;
}

static void take(void *to, const rp_state_view *view, size_t at, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, rp_state_at(view, at), bytes);
    }
}

static void take_tables(rp_world *world, rp_species *species, const rp_state_part *part,
                        const share *mine)
{
    rp_set *set = species->set;
    set->groups = 0;
    species->lightest = 0.0;
    for (int32_t i = 0; i < part->about->groups; i++) {
        const rp_state_group *g = &part->group[i];
        const rp_group group = {.material = (uint16_t)g->material,
                                .field = (uint16_t)g->field,
                                .volume = g->volume,
                                .mass = g->mass};
        rp_world_put_group(world, species, &group);
    }
    for (int32_t i = 0; i < mine->about.pages; i++) {
        const rp_state_page *r = &part->page[mine->page + i];
        rp_set_page(set)[i] = (rp_page){.key = rp_block_key(r->block),
                                        .block = {r->block[0], r->block[1], r->block[2]},
                                        .field = (uint16_t)r->field,
                                        .first = r->first - mine->slot,
                                        .count = r->count};
    }
}

static void take_species(rp_world *world, rp_species *species, const rp_state_view *view,
                         const rp_state_part *part)
{
    rp_set *set = species->set;
    const share mine = share_of(world, view, part);
    const rp_state_species *h = &mine.about;
    take_tables(world, species, part, &mine);
    for (int i = 0; i < RP_COL_COUNT; i++) {
        if (h->columns >> i & 1) {
            take(set->column[i].buffer.data, view,
                 part->slots_at[i] + column_bytes(set, i, mine.slot, false),
                 column_bytes(set, i, h->slots, false));
            take(set->inbox.column[i].data, view, part->births_at[i],
                 column_bytes(set, i, h->births, true));
        } else {
            set->column[i].comps = 0; // mass and volume by particle, which the state has not
        }
    }
    set->pages = h->pages;
    set->ghosts = 0;
    set->slots = h->slots;
    set->count = h->count;
    set->doomed = h->doomed;
    set->inbox.count = h->births;
    set->travel = h->travel;
    for (int i = 0; i < RP_COL_COUNT && h->births == 0; i++) {
        rp_buffer_free(&set->inbox.column[i], &world->allocator);
    }
    rp_set_mark_mixed(set);
}

static rp_result restore_aligned(rp_world *world, const void *data, size_t size)
{
    rp_state_view view;
    rp_result result = rp_state_view_make(data, size, &view);
    result = result == RP_OK ? check_state(world, &view) : result;
    result = result == RP_OK ? make_all_room(world, &view) : result;
    RP_TRY(rp_agree(world->comm, result, NULL, 0));

    for (int i = 0; i < world->registry.entries; i++) {
        const rp_registry_entry *entry = &world->registry.entry[i];
        take(rp_registry_data(entry), &view, view.entry_at[i], view.entry[i].bytes);
        if (entry->buffer != NULL) {
            *entry->count = (rp_local)(view.entry[i].bytes / entry->each);
        }
    }
    for (int s = 0; s < world->species_count; s++) {
        take_species(world, &world->species[s], &view, &view.part[s]);
    }
    rp_grid_forget(&world->grid); // built again by the next step
    world->failed = false;
    return RP_OK;
}

rp_result rp_world_restore(rp_world *world, const void *data, size_t size)
{
    void *copy = NULL;
    rp_result result = RP_OK;
    if ((uintptr_t)data % RP_STATE_ALIGN != 0) {
        copy = rp_state_new(&world->given, size);
        result = copy != NULL ? RP_OK : RP_ERR_MEMORY;
    }
    result = rp_agree(world->comm, result, NULL, 0);
    if (result == RP_OK && copy != NULL) {
        memcpy(copy, data, size);
    }
    result = result == RP_OK ? restore_aligned(world, copy != NULL ? copy : data, size) : result;
    rp_state_free(copy);
    return result;
}

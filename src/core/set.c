#include "core/set.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

rp_result rp_set_init(rp_set *set, const rp_layout *layout, unsigned columns, const rp_allocator *a)
{
    *set = (rp_set){.layout = *layout, .allocator = a};
    columns |= 1u << RP_COL_POSITION | 1u << RP_COL_GROUP | 1u << RP_COL_ID;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (columns >> c & 1) {
            set->column[c].comps = (uint8_t)rp_layout_comps(layout, c);
            set->column[c].bytes = (uint8_t)rp_layout_bytes(layout, c);
        }
    }
    return RP_OK;
}

void rp_set_free(rp_set *set)
{
    for (int c = 0; c < RP_COL_COUNT; c++) {
        rp_buffer_free(&set->column[c].buffer, set->allocator);
        rp_buffer_free(&set->inbox.column[c], set->allocator);
    }
    rp_buffer_free(&set->group_buffer, set->allocator);
    rp_buffer_free(&set->page_buffer, set->allocator);
}

// Write a number in the column's own type; positions of births are doubles.
static void put_number(void *at, rp_kind kind, int bytes, double value)
{
    switch (kind) {
    case RP_KIND_U16:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case RP_KIND_U64:
        *(uint64_t *)at = (uint64_t)value;
        break;
    case RP_KIND_POSITION:
        *(double *)at = value;
        break;
    case RP_KIND_REAL:
        if (bytes == 4) {
            *(float *)at = (float)value;
        } else {
            *(double *)at = value;
        }
        break;
    }
}

// What a particle of this group has in a column that nobody has written yet.
static double first_value(const rp_set *set, rp_column_id column, uint16_t group)
{
    const rp_group *g = group < set->groups ? &rp_set_group(set)[group] : NULL;
    return column == RP_COL_MASS     ? (g != NULL ? g->mass : 0.0)
           : column == RP_COL_VOLUME ? (g != NULL ? g->volume : 0.0)
                                     : rp_column_table[column].neutral;
}

// Lanes past the end of a page stay zero.
static void fill_slots(rp_set *set, rp_column_id id)
{
    const rp_column *column = &set->column[id];
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
            const double value = first_value(set, id, group);
            for (int k = 0; k < column->comps && value != 0.0; k++) {
                put_number(rp_set_at(set, id, slot, k), RP_KIND_REAL, column->bytes, value);
            }
        }
    }
}

rp_result rp_set_want(rp_set *set, rp_column_id id)
{
    rp_column *column = &set->column[id];
    if (column->comps > 0) {
        return RP_OK;
    }
    const int comps = rp_layout_comps(&set->layout, id), bytes = rp_layout_bytes(&set->layout, id);
    const size_t slots = (size_t)set->slots * (size_t)(comps * bytes);
    const size_t births = (size_t)set->inbox.count * (size_t)(comps * bytes);
    RP_TRY(rp_buffer_reserve(&column->buffer, set->allocator, slots, 0, rp_column_table[id].name));
    RP_TRY(rp_buffer_reserve(&set->inbox.column[id], set->allocator, births, 0,
                             "particles to be born"));
    if (slots > 0) {
        memset(column->buffer.data, 0, slots);
    }
    column->comps = (uint8_t)comps;
    column->bytes = (uint8_t)bytes;
    fill_slots(set, id);
    for (rp_local i = 0; i < set->inbox.count; i++) {
        const uint16_t group = *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, i, 0);
        for (int k = 0; k < comps; k++) {
            rp_set_birth_value(set, id, i, k, first_value(set, id, group));
        }
    }
    return RP_OK;
}

// A number that is no position, as double.
static double plain_value(const void *at, rp_kind kind, int bytes)
{
    switch (kind) {
    case RP_KIND_U16:
        return *(const uint16_t *)at;
    case RP_KIND_U64:
        return (double)*(const uint64_t *)at;
    case RP_KIND_REAL:
    case RP_KIND_POSITION:
        break;
    }
    return bytes == 4 ? *(const float *)at : *(const double *)at;
}

double rp_set_value(const rp_set *set, rp_column_id column, rp_local slot, int comp,
                    const rp_page *page)
{
    const void *at = rp_set_at(set, column, slot, comp);
    const rp_kind kind = rp_column_table[column].kind;
    if (kind != RP_KIND_POSITION) {
        return plain_value(at, kind, set->column[column].bytes);
    }
    return rp_layout_metres(&set->layout, page->block, comp, at);
}

void rp_set_move(const rp_set *set, const rp_page *page, rp_local slot, const double x[3])
{
    const rp_layout *l = &set->layout;
    for (int a = 0; a < l->dim; a++) {
        void *at = rp_set_at(set, RP_COL_POSITION, slot, a);
        const double local = x[a] / l->h - l->shift - (double)page->block[a] * l->cells[a];
        if (l->precision == RP_SINGLE) {
            *(int32_t *)at = (int32_t)floor(local * (1 << RP_FIXED_BITS));
        } else {
            *(double *)at = local;
        }
    }
}

double rp_set_birth_read(const rp_set *set, rp_column_id column, rp_local index, int comp)
{
    const rp_kind kind = rp_column_table[column].kind;
    const int bytes = kind == RP_KIND_POSITION ? 8 : set->column[column].bytes;
    return plain_value(rp_set_birth(set, column, index, comp), kind, bytes);
}

rp_result rp_set_add_group(rp_set *set, const rp_group *group, uint16_t *index)
{
    if (set->groups >= RP_GROUP_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a particle set holds at most %d groups", RP_GROUP_LIMIT);
    }
    const size_t used = (size_t)set->groups * sizeof *group;
    if (set->group_buffer.bytes < used + sizeof *group) {
        RP_TRY(rp_buffer_reserve(&set->group_buffer, set->allocator, 2 * used + 4 * sizeof *group,
                                 used, "particle groups"));
    }
    rp_set_group(set)[set->groups] = *group;
    *index = (uint16_t)set->groups++;
    return RP_OK;
}

rp_result rp_set_reserve_births(rp_set *set, rp_local filled, rp_local count)
{
    const int64_t total = (int64_t)set->inbox.count + count;
    if (total + set->slots > INT32_MAX / 2) {
        return rp_fail(RP_ERR_LIMIT, "a particle set holds at most %d particles", INT32_MAX / 2);
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const rp_column *column = &set->column[c];
        if (column->comps == 0) {
            continue;
        }
        const size_t bytes =
            column->comps * (c == RP_COL_POSITION ? sizeof(double) : column->bytes);
        const size_t used = bytes * (size_t)(set->inbox.count + filled);
        rp_buffer *inbox = &set->inbox.column[c];
        if (inbox->bytes < bytes * (size_t)total) {
            RP_TRY(rp_buffer_reserve(inbox, set->allocator, bytes * (size_t)total, used,
                                     "particles to be born"));
        }
        if (count > filled) {
            memset((char *)inbox->data + used, 0, bytes * (size_t)(count - filled));
        }
        for (rp_local i = filled; i < count && rp_column_table[c].neutral != 0.0; i++) {
            for (int k = 0; k < column->comps; k++) {
                rp_set_birth_value(set, c, set->inbox.count + i, k, rp_column_table[c].neutral);
            }
        }
    }
    return RP_OK;
}

void rp_set_birth_value(rp_set *set, rp_column_id column, rp_local index, int comp, double value)
{
    put_number(rp_set_birth(set, column, index, comp), rp_column_table[column].kind,
               set->column[column].bytes, value);
}

void rp_set_end_births(rp_set *set, rp_local count, uint16_t group)
{
    static const rp_column_id own[] = {RP_COL_MASS, RP_COL_VOLUME};
    for (rp_local i = set->inbox.count; i < set->inbox.count + count; i++) {
        *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, i, 0) = group;
        for (int k = 0; k < 2; k++) {
            if (rp_set_has(set, own[k])) {
                rp_set_birth_value(set, own[k], i, 0, first_value(set, own[k], group));
            }
        }
    }
    set->inbox.count += count;
}

rp_local rp_set_keep_births(rp_set *set, bool (*keeps)(const rp_set *, rp_local, const void *),
                            const void *context)
{
    rp_local kept = 0;
    for (rp_local i = 0; i < set->inbox.count; i++) {
        if (!keeps(set, i, context)) {
            continue;
        }
        for (int c = 0; c < RP_COL_COUNT; c++) {
            if (rp_set_has(set, c)) {
                const size_t bytes = (size_t)((char *)rp_set_birth(set, c, 1, 0) -
                                              (char *)rp_set_birth(set, c, 0, 0));
                memmove(rp_set_birth(set, c, kept, 0), rp_set_birth(set, c, i, 0), bytes);
            }
        }
        kept++;
    }
    const rp_local gone = set->inbox.count - kept;
    set->inbox.count = kept;
    return gone;
}

void rp_set_measure(const rp_set *set, const rp_page *page, rp_local slot, double *mass,
                    double *volume)
{
    const uint16_t group = page != NULL ? *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0)
                                        : *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, slot, 0);
    double *const out[] = {mass, volume};
    static const rp_column_id own[] = {RP_COL_MASS, RP_COL_VOLUME};
    for (int k = 0; k < 2; k++) {
        *out[k] = !rp_set_has(set, own[k]) ? first_value(set, own[k], group)
                  : page != NULL           ? rp_set_value(set, own[k], slot, 0, page)
                                           : rp_set_birth_read(set, own[k], slot, 0);
    }
}

void rp_set_kill(rp_set *set, rp_local slot)
{
    uint16_t *group = rp_set_at(set, RP_COL_GROUP, slot, 0);
    if (*group != RP_GROUP_DEAD) {
        *group = RP_GROUP_DEAD;
        set->doomed++;
    }
}

int rp_compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// A particle may move one cell to either side before the next sort, and its stencil begins at its
// cell; the arena begins one cell before the block. What a sort left on the far face of its block
// has used up nothing of its cell yet (RP_TRAVEL_LIMIT).
void rp_page_reach(rp_page *page, const rp_layout *l, const int32_t least[3], const int32_t most[3])
{
    for (int a = 0; a < 3; a++) {
        const int32_t lo = least[a] < 0 ? 0 : least[a], hi = most[a] + l->order + 3;
        page->reach_lo[a] = (uint8_t)(a < l->dim ? lo : 0);
        page->reach_hi[a] = (uint8_t)(a < l->dim && hi < l->arena[a] ? hi : l->arena[a]);
    }
}

// The cells that a page's particles are in along one axis. Whole tiles at a time, sixteen lanes
// beside each other: the sort waits for it.
static void cells_of_page(const rp_set *set, const rp_page *page, int axis, int32_t *least,
                          int32_t *most)
{
    const rp_local whole = page->count / RP_LANES * RP_LANES;
    *least = set->layout.cells[axis];
    *most = 0;
    if (set->layout.precision == RP_SINGLE && whole > 0) {
        int32_t lo[RP_LANES], hi[RP_LANES];
        memcpy(lo, rp_set_at(set, RP_COL_POSITION, page->first, axis), sizeof lo);
        memcpy(hi, lo, sizeof hi);
        for (rp_local slot = page->first; slot < page->first + whole; slot += RP_LANES) {
            const int32_t *x = rp_set_at(set, RP_COL_POSITION, slot, axis);
            for (int i = 0; i < RP_LANES; i++) {
                lo[i] = x[i] < lo[i] ? x[i] : lo[i];
                hi[i] = x[i] > hi[i] ? x[i] : hi[i];
            }
        }
        for (int i = 0; i < RP_LANES; i++) {
            lo[i] >>= RP_FIXED_BITS;
            hi[i] >>= RP_FIXED_BITS;
            *least = lo[i] < *least ? lo[i] : *least;
            *most = hi[i] > *most ? hi[i] : *most;
        }
    }
    const rp_local rest = set->layout.precision == RP_SINGLE ? whole : 0;
    for (rp_local slot = page->first + rest; slot < page->first + page->count; slot++) {
        const int32_t cell = rp_set_cell(set, slot, axis);
        *least = cell < *least ? cell : *least;
        *most = cell > *most ? cell : *most;
    }
}

void rp_set_find_reach(rp_set *set)
{
    for (rp_local p = 0; p < set->pages; p++) {
        rp_page *page = &rp_set_page(set)[p];
        int32_t least[3] = {0}, most[3] = {0};
        for (int a = 0; a < set->layout.dim; a++) {
            cells_of_page(set, page, a, &least[a], &most[a]);
        }
        rp_page_reach(page, &set->layout, least, most);
    }
}

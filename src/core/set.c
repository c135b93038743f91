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
    if (births > 0) {
        memset(set->inbox.column[id].data, 0, births);
    }
    column->comps = (uint8_t)comps;
    column->bytes = (uint8_t)bytes;
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

rp_result rp_set_reserve_births(rp_set *set, rp_local count)
{
    const int64_t total = (int64_t)set->inbox.count + count;
    if (total + set->slots > INT32_MAX / 2) {
        return rp_fail(RP_ERR_LIMIT, "a particle set holds at most %d particles", INT32_MAX / 2);
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const rp_column *column = &set->column[c];
        if (column->comps > 0) {
            const size_t bytes =
                column->comps * (c == RP_COL_POSITION ? sizeof(double) : column->bytes);
            const size_t used = bytes * (size_t)set->inbox.count;
            rp_buffer *inbox = &set->inbox.column[c];
            if (inbox->bytes < bytes * (size_t)total) {
                RP_TRY(rp_buffer_reserve(inbox, set->allocator, bytes * (size_t)total, used,
                                         "particles to be born"));
            }
            if (count > 0) {
                memset((char *)inbox->data + used, 0, bytes * (size_t)count);
            }
        }
    }
    return RP_OK;
}

void rp_set_birth_value(rp_set *set, rp_column_id column, rp_local index, int comp, double value)
{
    void *at = rp_set_birth(set, column, index, comp);
    switch (rp_column_table[column].kind) {
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
        if (set->column[column].bytes == 4) {
            *(float *)at = (float)value;
        } else {
            *(double *)at = value;
        }
        break;
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

// A frame becomes a state again, bit for bit. The file is checked before anything is made of it:
// counts are those of datasets that are really there.
#include "io/frame.h"

#include "base/memory.h"
#include "base/result.h"
#include "io/rows.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    const rp_frame *frame;
    const rp_h5 *h5;
    rp_state_header header;
    rp_state_entry entry[RP_REGISTRY_LIMIT];
    rp_buffer pages, groups;
    rp_state_view view;
    char *state;
    void *rows; // RP_H5_CHUNK of the widest column
} reader;

enum { PAGE_NUMBERS = sizeof(rp_state_page) / sizeof(int32_t) };

// --- the header and what it counts ---

static rp_result read_numbers(reader *r)
{
    r->header =
        (rp_state_header){.magic = RP_STATE_MAGIC, .precision = (int32_t)r->frame->info.precision};
    for (int i = 0; i < RP_FRAME_NUMBERS; i++) {
        const rp_frame_number *n = &rp_frame_number_table[i];
        RP_TRY(rp_h5_get_numbers(r->h5, RP_AT_REPOSE, n->name, n->type, n->count,
                                 (char *)&r->header + n->offset));
    }
    const rp_state_header *h = &r->header;
    if (h->order < 1 || h->order > 3 || !(h->h > 0.0 && isfinite(h->h))) {
        return rp_h5_damaged(r->h5, "order %d and a spacing of %g m are no grid", h->order, h->h);
    }
    return RP_OK;
}

static rp_result count_particles(reader *r)
{
    rp_state_header *h = &r->header;
    const int64_t particles = r->frame->info.particles;
    if (particles > INT32_MAX / 2 || h->births < 0 || h->births > particles || h->doomed < 0 ||
        h->doomed > particles - h->births) {
        return rp_h5_damaged(r->h5, "%lld particles, %d of them to be born, %d to be removed",
                             (long long)particles, h->births, h->doomed);
    }
    h->count = (int32_t)(particles - h->births);
    return RP_OK;
}

static void count_columns(reader *r)
{
    r->header.columns = 1 << RP_COL_POSITION;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        char path[RP_FRAME_PATH];
        snprintf(path, sizeof path, RP_AT_COLUMNS "/%s", rp_column_table[c].name);
        if (c != RP_COL_POSITION && rp_h5_has(r->h5, path)) {
            r->header.columns |= 1 << c;
        }
    }
}

// A page has at least a particle, so the state that is made has at most sixteen slots for each.
static rp_result read_pages(reader *r)
{
    rp_h5_rows rows;
    RP_TRY(rp_h5_open_rows(r->h5, RP_AT_PAGES, &rows));
    rp_h5_close_rows(&rows);
    if (rows.rows > (uint64_t)r->header.count) {
        return rp_h5_damaged(r->h5, "%llu pages of %d particles", (unsigned long long)rows.rows,
                             r->header.count);
    }
    r->header.pages = (int32_t)rows.rows;
    RP_TRY(rp_buffer_reserve(&r->pages, rp_default_allocator(), rows.rows * sizeof(rp_state_page),
                             0, "pages of a frame"));
    RP_TRY(
        rp_h5_get_dataset(r->h5, RP_AT_PAGES, RP_H5_I32, rows.rows, PAGE_NUMBERS, r->pages.data));
    int64_t slots = 0;
    for (int32_t p = 0; p < r->header.pages; p++) {
        const rp_state_page *page = (const rp_state_page *)r->pages.data + p;
        if (page->count < 1 || page->count > r->header.count) {
            return rp_h5_damaged(r->h5, "page %d holds %d particles", p, page->count);
        }
        slots += ((int64_t)page->count + RP_LANES - 1) / RP_LANES * RP_LANES;
    }
    if (slots > INT32_MAX / 2) {
        return rp_h5_damaged(r->h5, "its pages hold more than there can be");
    }
    r->header.slots = (int32_t)slots;
    return RP_OK;
}

static rp_result read_group_numbers(reader *r, const char *path, rp_h5_type type, size_t offset)
{
    rp_state_group *group = r->groups.data;
    const size_t bytes = (size_t)rp_h5_bytes(type);
    RP_TRY(rp_h5_get_dataset(r->h5, path, type, (uint64_t)r->header.groups, 0, r->rows));
    for (int32_t g = 0; g < r->header.groups; g++) {
        memcpy((char *)&group[g] + offset, (const char *)r->rows + (size_t)g * bytes, bytes);
    }
    return RP_OK;
}

static rp_result read_groups(reader *r)
{
    rp_h5_rows rows;
    RP_TRY(rp_h5_open_rows(r->h5, RP_AT_GROUPS "/mass", &rows));
    rp_h5_close_rows(&rows);
    if (rows.rows > RP_GROUP_LIMIT) {
        return rp_h5_damaged(r->h5, "%llu groups", (unsigned long long)rows.rows);
    }
    r->header.groups = (int32_t)rows.rows;
    RP_TRY(rp_buffer_reserve(&r->groups, rp_default_allocator(), rows.rows * sizeof(rp_state_group),
                             0, "groups of a frame"));
    RP_TRY(read_group_numbers(r, RP_AT_GROUPS "/material", RP_H5_I32,
                              offsetof(rp_state_group, material)));
    RP_TRY(
        read_group_numbers(r, RP_AT_GROUPS "/field", RP_H5_I32, offsetof(rp_state_group, field)));
    RP_TRY(
        read_group_numbers(r, RP_AT_GROUPS "/volume", RP_H5_F64, offsetof(rp_state_group, volume)));
    return read_group_numbers(r, RP_AT_GROUPS "/mass", RP_H5_F64, offsetof(rp_state_group, mass));
}

static void entry_path(const rp_state_entry *entry, char path[RP_FRAME_PATH])
{
    snprintf(path, RP_FRAME_PATH, RP_AT_REGISTRY "/%s", entry->name);
}

static rp_result read_entries(reader *r)
{
    uint64_t count;
    char name[RP_REGISTRY_LIMIT][RP_STATE_NAME];
    RP_TRY(rp_h5_count_texts(r->h5, RP_AT_ENTRIES, RP_STATE_NAME, &count));
    if (count > RP_REGISTRY_LIMIT) {
        return rp_h5_damaged(r->h5, "%llu registered entries", (unsigned long long)count);
    }
    RP_TRY(rp_h5_get_texts(r->h5, RP_AT_ENTRIES, RP_STATE_NAME, count, name));
    for (uint64_t e = 0; e < count; e++) {
        char path[RP_FRAME_PATH];
        rp_h5_rows rows;
        if (!rp_frame_is_entry_name(name[e])) {
            return rp_h5_damaged(r->h5, "registered entry %d has no proper name", (int)e);
        }
        snprintf(r->entry[e].name, RP_STATE_NAME, "%s", name[e]);
        entry_path(&r->entry[e], path);
        RP_TRY(rp_h5_open_rows(r->h5, path, &rows));
        rp_h5_close_rows(&rows);
        // a table of doubles has columns, bytes have none
        r->entry[e].columns = (uint64_t)rows.comps;
        r->entry[e].bytes = rows.comps > 0 ? rows.rows * 8 * (uint64_t)rows.comps : rows.rows;
    }
    r->header.entries = (int32_t)count;
    return RP_OK;
}

// --- columns ---

// Puts rows into the state; false when they cannot be there.
typedef bool (*take_rows)(reader *r, rp_column_id column, rp_stretch part, const void *rows);

static bool take_stored(reader *r, rp_column_id column, rp_stretch part, const void *rows)
{
    rp_rows_scatter(&r->view, column, part, rows, r->state);
    return true;
}

static bool take_metres(reader *r, rp_column_id column, rp_stretch part, const void *rows)
{
    (void)column;
    return rp_rows_scatter_metres(&r->view, part, rows, r->state);
}

// Where the stored positions are in the file, metres are for births only.
static bool take_births(reader *r, rp_column_id column, rp_stretch part, const void *rows)
{
    return part.page != NULL || take_metres(r, column, part, rows);
}

// Reads as many rows as `spec` says, from the first particle on.
static rp_result read_rows(reader *r, const rp_h5_spec *spec, rp_column_id column, take_rows take)
{
    const size_t row = (size_t)rp_h5_bytes(spec->type) * (size_t)(spec->comps ? spec->comps : 1);
    rp_h5_rows rows;
    RP_TRY(rp_h5_expect_rows(r->h5, spec->path, spec->type, spec->rows, spec->comps, &rows));
    rp_result result = RP_OK;
    rp_rows_walk walk = {.view = &r->view};
    for (uint64_t first = 0; first < spec->rows && result == RP_OK; first += RP_H5_CHUNK) {
        const uint64_t left = spec->rows - first;
        const int32_t count = left < RP_H5_CHUNK ? (int32_t)left : RP_H5_CHUNK;
        result = rp_h5_get_rows(r->h5, &rows, first, (uint64_t)count, spec->type, r->rows);
        rp_stretch part;
        for (int32_t done = 0; done < count && result == RP_OK; done += part.count) {
            if (!rp_rows_next(&walk, count - done, &part) ||
                !take(r, column, part, (char *)r->rows + (size_t)done * row)) {
                result = rp_h5_damaged(r->h5, "/%s holds a particle where none can be", spec->path);
            }
        }
    }
    rp_h5_close_rows(&rows);
    return result;
}

static rp_result read_column(reader *r, rp_column_id column)
{
    char path[RP_FRAME_PATH];
    snprintf(path, sizeof path, RP_AT_COLUMNS "/%s", rp_column_table[column].name);
    const rp_h5_spec spec = {.path = path,
                             .type = rp_frame_type(&r->view.layout, column),
                             .rows = (uint64_t)r->frame->info.particles,
                             .comps = rp_frame_comps(&r->view.layout, column)};
    return read_rows(r, &spec, column, take_stored);
}

static rp_result read_positions(reader *r)
{
    const bool exact = rp_metres_are_exact(&r->view.layout);
    const rp_h5_spec points = {.path = RP_AT_POINTS,
                               .type = RP_H5_F64,
                               .rows = (uint64_t)r->frame->info.particles,
                               .comps = 3};
    const rp_h5_spec stored = {.path = RP_AT_POSITION,
                               .type = rp_frame_type(&r->view.layout, RP_COL_POSITION),
                               .rows = (uint64_t)r->header.count,
                               .comps = r->view.layout.dim};
    RP_TRY(read_rows(r, &points, RP_COL_POSITION, exact ? take_metres : take_births));
    return exact ? RP_OK : read_rows(r, &stored, RP_COL_POSITION, take_stored);
}

// --- all of it ---

static rp_result read_counts(reader *r)
{
    RP_TRY(read_numbers(r));
    RP_TRY(count_particles(r));
    count_columns(r);
    RP_TRY(read_pages(r));
    RP_TRY(read_groups(r));
    return read_entries(r);
}

static rp_result unfit(const reader *r)
{
    return rp_h5_damaged(r->h5, "its parts do not fit together: %s", rp_last_error());
}

// Of zeros, as the lanes past the end of a page are.
static rp_result make_state(reader *r)
{
    if (rp_state_measure(&r->header, r->entry, &r->view) != RP_OK) {
        return unfit(r);
    }
    r->header.bytes = r->view.bytes;
    r->state = rp_state_new(rp_default_allocator(), r->view.bytes);
    if (r->state == NULL) {
        return RP_ERR_MEMORY;
    }
    memset(r->state, 0, r->view.bytes);
    return RP_OK;
}

// Where there is nothing to copy there may be no address either.
static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

// Everything but the columns; afterwards the view is one of the state.
static rp_result fill_tables(reader *r)
{
    const rp_state_header *h = &r->header;
    memcpy(r->state, h, sizeof *h);
    memcpy(r->state + sizeof *h, r->entry, (size_t)h->entries * sizeof *r->entry);
    copy(r->state + r->view.group_at, r->groups.data, (size_t)h->groups * sizeof(rp_state_group));
    copy(r->state + r->view.page_at, r->pages.data, (size_t)h->pages * sizeof(rp_state_page));
    for (int32_t e = 0; e < h->entries; e++) {
        char path[RP_FRAME_PATH];
        entry_path(&r->entry[e], path);
        const uint64_t columns = r->entry[e].columns;
        const uint64_t rows = columns > 0 ? r->entry[e].bytes / (8 * columns) : r->entry[e].bytes;
        RP_TRY(rp_h5_get_dataset(r->h5, path, columns > 0 ? RP_H5_F64 : RP_H5_U8, rows,
                                 (int)columns, r->state + r->view.entry_at[e]));
    }
    if (rp_state_view_make(r->state, h->bytes, &r->view) != RP_OK ||
        rp_rows_check(&r->view) != RP_OK) {
        return unfit(r);
    }
    return RP_OK;
}

static rp_result read_state(reader *r)
{
    RP_TRY(read_counts(r));
    RP_TRY(make_state(r));
    RP_TRY(fill_tables(r));
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (c != RP_COL_POSITION && (r->header.columns >> c & 1)) {
            RP_TRY(read_column(r, c));
        }
    }
    return read_positions(r);
}

static rp_result read_with_buffers(reader *r)
{
    const rp_allocator *a = rp_default_allocator();
    rp_buffer rows = {0};
    RP_TRY(rp_buffer_reserve(&rows, a, RP_FRAME_ROWS_BYTES, 0, "rows of a frame"));
    r->rows = rows.data;
    const rp_result result = read_state(r);
    rp_buffer_free(&rows, a);
    rp_buffer_free(&r->pages, a);
    rp_buffer_free(&r->groups, a);
    return result;
}

rp_result rp_frame_state(const rp_frame *frame, void **state, size_t *size)
{
    reader r = {.frame = frame, .h5 = &frame->h5};
    *state = NULL;
    *size = 0;
    if (!frame->info.whole) {
        return rp_h5_damaged(r.h5, "this frame keeps no state: it can be looked at, not resumed");
    }
    rp_h5_enter();
    const rp_result result = read_with_buffers(&r);
    if (result != RP_OK) {
        rp_state_free(r.state);
        return result;
    }
    *state = r.state;
    *size = r.header.bytes;
    return RP_OK;
}

rp_result rp_frame_read_state(const char *path, void **state, size_t *size)
{
    rp_frame *frame;
    *state = NULL;
    *size = 0;
    RP_TRY(rp_frame_open(path, &frame));
    const rp_result result = rp_frame_state(frame, state, size);
    rp_frame_close(frame);
    return result;
}

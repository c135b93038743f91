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
    rp_state_species species[RP_SET_LIMIT];
    rp_state_entry entry[RP_REGISTRY_LIMIT];
    rp_buffer pages, groups; // of all species
    rp_state_view view;
    char *state;
    void *rows; // RP_H5_CHUNK of the widest column
} reader;

enum { PAGE_NUMBERS = sizeof(rp_state_page) / sizeof(int32_t) };

// --- the header and what it counts ---

static rp_result read_numbers(reader *r)
{
    r->header = (rp_state_header){.magic = RP_STATE_MAGIC,
                                  .precision = (int32_t)r->frame->info.precision,
                                  .species = r->frame->species};
    for (int i = 0; i < RP_FRAME_NUMBERS; i++) {
        const rp_frame_number *n = &rp_frame_number_table[i];
        RP_TRY(rp_h5_get_numbers(r->h5, RP_AT_REPOSE, n->name, n->type, n->count,
                                 (char *)&r->header + n->offset));
    }
    char method[64] = "";
    RP_TRY(rp_h5_get_text(r->h5, RP_AT_REPOSE, "method", method, sizeof method));
    if (strlen(method) >= sizeof r->header.method) {
        return rp_h5_damaged(r->h5, "/repose@method is '%s'", method);
    }
    memcpy(r->header.method, method, strlen(method));
    const rp_state_header *h = &r->header;
    if (h->order < 1 || h->order > 3 || !(h->h > 0.0 && isfinite(h->h))) {
        return rp_h5_damaged(r->h5, "order %d and a spacing of %g m are no grid", h->order, h->h);
    }
    return RP_OK;
}

// The columns of a species, from their names.
static rp_result read_columns(reader *r, char *list, rp_state_species *out)
{
    char *rest = NULL;
    for (char *name = strtok_r(list, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        int c = 0;
        while (c < RP_COL_COUNT && strcmp(rp_column_table[c].name, name) != 0) {
            c++;
        }
        if (c == RP_COL_COUNT) {
            return rp_h5_damaged(r->h5, "a species keeps a column '%s' that this version has not",
                                 name);
        }
        out->columns |= 1 << c;
    }
    return RP_OK;
}

static rp_result read_species(reader *r)
{
    const int species = r->header.species;
    const int64_t particles = r->frame->info.particles;
    char list[RP_SET_LIMIT][RP_FRAME_LIST];
    int64_t counted = 0;
    RP_TRY(
        rp_h5_get_texts(r->h5, RP_AT_SPECIES "/columns", RP_FRAME_LIST, (uint64_t)species, list));
    for (int i = 0; i < RP_FRAME_SPECIES_NUMBERS; i++) {
        const rp_frame_species_number *n = &rp_frame_species_table[i];
        const size_t bytes = (size_t)rp_h5_bytes(n->type);
        char path[RP_FRAME_PATH], numbers[RP_SET_LIMIT * sizeof(double)];
        snprintf(path, sizeof path, RP_AT_SPECIES "/%s", n->name);
        RP_TRY(rp_h5_get_dataset(r->h5, path, n->type, (uint64_t)species, 0, numbers));
        for (int s = 0; s < species; s++) {
            memcpy((char *)&r->species[s] + n->offset, numbers + (size_t)s * bytes, bytes);
        }
    }
    for (int s = 0; s < species; s++) {
        rp_state_species *own = &r->species[s];
        memcpy(own->name, r->frame->species_name[s], sizeof own->name);
        list[s][RP_FRAME_LIST - 1] = '\0';
        RP_TRY(read_columns(r, list[s], own));
        if (own->count < 0 || own->births < 0 || own->doomed < 0 || own->doomed > own->count ||
            own->groups < 0 || own->pages < 0 || own->pages > own->count) {
            return rp_h5_damaged(
                r->h5, "%d particles of '%s' in %d pages, %d to be born, %d to be removed",
                own->count, own->name, own->pages, own->births, own->doomed);
        }
        counted += (int64_t)own->count + own->births;
    }
    if (particles > INT32_MAX / 2 || counted != particles) {
        return rp_h5_damaged(r->h5, "%lld particles, of which its species have %lld",
                             (long long)particles, (long long)counted);
    }
    return RP_OK;
}

// A page has at least a particle, so the state that is made has at most sixteen slots for each.
static rp_result read_pages(reader *r)
{
    int64_t pages = 0;
    for (int s = 0; s < r->header.species; s++) {
        pages += r->species[s].pages;
    }
    RP_TRY(rp_buffer_reserve(&r->pages, rp_default_allocator(),
                             (size_t)pages * sizeof(rp_state_page), 0, "pages of a frame"));
    RP_TRY(rp_h5_get_dataset(r->h5, RP_AT_PAGES, RP_H5_I32, (uint64_t)pages, PAGE_NUMBERS,
                             r->pages.data));
    const rp_state_page *page = r->pages.data;
    for (int s = 0; s < r->header.species; s++) {
        rp_state_species *own = &r->species[s];
        int64_t slots = 0;
        for (int32_t p = 0; p < own->pages; p++, page++) {
            if (page->count < 1 || page->count > own->count) {
                return rp_h5_damaged(r->h5, "page %d holds %d particles", p, page->count);
            }
            slots += ((int64_t)page->count + RP_LANES - 1) / RP_LANES * RP_LANES;
        }
        if (slots > INT32_MAX / 2) {
            return rp_h5_damaged(r->h5, "its pages hold more than there can be");
        }
        own->slots = (int32_t)slots;
    }
    return RP_OK;
}

static rp_result read_group_numbers(reader *r, int groups, const char *path, rp_h5_type type,
                                    size_t offset)
{
    rp_state_group *group = r->groups.data;
    const size_t bytes = (size_t)rp_h5_bytes(type);
    RP_TRY(rp_h5_get_dataset(r->h5, path, type, (uint64_t)groups, 0, r->rows));
    for (int32_t g = 0; g < groups; g++) {
        memcpy((char *)&group[g] + offset, (const char *)r->rows + (size_t)g * bytes, bytes);
    }
    return RP_OK;
}

static rp_result read_groups(reader *r)
{
    int64_t groups = 0;
    for (int s = 0; s < r->header.species; s++) {
        groups += r->species[s].groups;
    }
    if (groups > RP_GROUP_LIMIT) {
        return rp_h5_damaged(r->h5, "%lld groups", (long long)groups);
    }
    RP_TRY(rp_buffer_reserve(&r->groups, rp_default_allocator(),
                             (size_t)groups * sizeof(rp_state_group), 0, "groups of a frame"));
    static const struct {
        const char *path;
        rp_h5_type type;
        size_t offset;
    } number[] = {
        {RP_AT_GROUPS "/material", RP_H5_I32, offsetof(rp_state_group, material)},
        {RP_AT_GROUPS "/field", RP_H5_I32, offsetof(rp_state_group, field)},
        {RP_AT_GROUPS "/volume", RP_H5_F64, offsetof(rp_state_group, volume)},
        {RP_AT_GROUPS "/mass", RP_H5_F64, offsetof(rp_state_group, mass)},
    };
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        RP_TRY(
            read_group_numbers(r, (int)groups, number[i].path, number[i].type, number[i].offset));
    }
    return RP_OK;
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

// What a species does not keep is in the file as neutral values, and passed over.
static bool take_stored(reader *r, rp_column_id column, rp_stretch part, const void *rows)
{
    if (r->species[part.species].columns >> column & 1) {
        rp_rows_scatter(&r->view, column, part, rows, r->state);
    }
    return true;
}

// Frames number groups over all species.
static bool take_group(reader *r, rp_column_id column, rp_stretch part, const void *rows)
{
    uint16_t *group = (uint16_t *)(uintptr_t)rows; // the reader's own buffer
    const int32_t first = r->view.part[part.species].first_group;
    for (int32_t i = 0; i < part.count; i++) {
        if (group[i] != RP_GROUP_DEAD && group[i] < first) {
            return false;
        }
        group[i] = group[i] == RP_GROUP_DEAD ? RP_GROUP_DEAD : (uint16_t)(group[i] - first);
    }
    return take_stored(r, column, part, rows);
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

static bool take_cells(reader *r, rp_column_id column, rp_stretch part, const void *rows)
{
    return part.page == NULL || take_stored(r, column, part, rows);
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
    return read_rows(r, &spec, column, column == RP_COL_GROUP ? take_group : take_stored);
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
                               .rows = (uint64_t)r->frame->info.particles,
                               .comps = r->view.layout.dim};
    RP_TRY(read_rows(r, &points, RP_COL_POSITION, exact ? take_metres : take_births));
    return exact ? RP_OK : read_rows(r, &stored, RP_COL_POSITION, take_cells);
}

// --- all of it ---

static rp_result read_counts(reader *r)
{
    RP_TRY(read_numbers(r));
    RP_TRY(read_species(r));
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
    if (rp_state_measure(&r->header, r->species, r->entry, &r->view) != RP_OK) {
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
    const size_t species_bytes = (size_t)h->species * sizeof *r->species;
    memcpy(r->state, h, sizeof *h);
    memcpy(r->state + sizeof *h, r->species, species_bytes);
    memcpy(r->state + sizeof *h + species_bytes, r->entry, (size_t)h->entries * sizeof *r->entry);
    const rp_state_group *group = r->groups.data;
    const rp_state_page *page = r->pages.data;
    for (int s = 0; s < h->species; s++) {
        const rp_state_part *part = &r->view.part[s];
        copy(r->state + part->group_at, group, (size_t)part->about->groups * sizeof *group);
        copy(r->state + part->page_at, page, (size_t)part->about->pages * sizeof *page);
        group += part->about->groups;
        page += part->about->pages;
    }
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
        bool kept = false;
        for (int s = 0; s < r->header.species; s++) {
            kept = kept || r->species[s].columns >> c & 1;
        }
        if (c != RP_COL_POSITION && kept) {
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
    if (frame->format < RP_FRAME_FORMAT) {
        // not damaged: nobody may take its place
        rp_h5_damaged(r.h5,
                      "this frame has format %d: it can be looked at, but a run goes on only from "
                      "format %d",
                      frame->format, RP_FRAME_FORMAT);
        return RP_ERR_UNSUPPORTED;
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

#include "core/state.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "states are little-endian");
_Static_assert(sizeof(rp_state_header) % RP_STATE_ALIGN == 0, "parts are aligned");
_Static_assert(sizeof(rp_state_species) % RP_STATE_ALIGN == 0, "parts are aligned");
_Static_assert(RP_COL_COUNT < 31, "a mask of columns is an int32_t");

// Stands before a state, so that it can be freed after its world is gone.
typedef struct state_block {
    _Alignas(RP_CACHE_LINE) rp_allocator allocator;
    size_t bytes;
} state_block;

void *rp_state_new(const rp_allocator *a, size_t bytes)
{
    rp_buffer buffer = {0};
    if (rp_buffer_reserve(&buffer, a, sizeof(state_block) + bytes, 0, "a saved state") != RP_OK) {
        return NULL;
    }
    state_block *block = buffer.data;
    *block = (state_block){.allocator = *a, .bytes = buffer.bytes};
    return block + 1;
}

void rp_state_free(void *data)
{
    if (data != NULL) {
        state_block *block = (state_block *)data - 1;
        const rp_allocator a = block->allocator;
        rp_delete(&a, block, block->bytes);
    }
}

// The next part of a state: where it starts.
static size_t part(size_t *end, size_t bytes)
{
    const size_t start = *end;
    *end += (bytes + RP_STATE_ALIGN - 1) / RP_STATE_ALIGN * RP_STATE_ALIGN;
    return start;
}

static bool is_text(const char *text, size_t size) { return memchr(text, '\0', size) != NULL; }

static rp_result check_header(const rp_state_header *h)
{
    if (h->magic != RP_STATE_MAGIC) {
        return rp_fail(RP_ERR_ARGUMENT, "state: these bytes are no state of this version");
    }
    const bool world = (h->dim == 2 || h->dim == 3) && h->order >= 1 && h->order <= 3 &&
                       (h->precision == RP_SINGLE || h->precision == RP_DOUBLE) && h->h > 0.0 &&
                       isfinite(h->h) && h->fps > 0.0 && isfinite(h->fps);
    bool periods = true;
    for (int a = 0; a < 3; a++) {
        periods = periods && h->period[a] >= 0 && h->period[a] < RP_BLOCK_LIMIT;
    }
    if (!world || !periods || h->fields < 1 || h->padding != 0 ||
        !is_text(h->method, sizeof h->method)) {
        return rp_fail(RP_ERR_ARGUMENT, "state: its header describes no world");
    }
    if (h->entries < 0 || h->entries > RP_REGISTRY_LIMIT || h->species < 0 ||
        h->species > RP_SET_LIMIT) {
        return rp_fail(RP_ERR_ARGUMENT, "state: negative or impossible counts");
    }
    return RP_OK;
}

static rp_result check_species(const rp_state_species *s)
{
    const unsigned always = 1u << RP_COL_POSITION | 1u << RP_COL_GROUP | 1u << RP_COL_ID;
    if (s->columns >> RP_COL_COUNT != 0 || ((unsigned)s->columns & always) != always ||
        !is_text(s->name, sizeof s->name) || s->padding[0] != 0 || s->padding[1] != 0 ||
        s->padding[2] != 0) {
        return rp_fail(RP_ERR_ARGUMENT, "state: its header describes no world");
    }
    if (s->groups < 0 || s->groups > RP_GROUP_LIMIT || s->pages < 0 || s->slots < 0 ||
        s->births < 0 || s->slots % RP_LANES != 0 || s->count < 0 || s->doomed < 0 ||
        s->doomed > s->count) {
        return rp_fail(RP_ERR_ARGUMENT, "state: negative or impossible counts");
    }
    return RP_OK;
}

static rp_layout layout_of(const rp_state_header *h)
{
    rp_world_def def = {
        .dimension = h->dim, .order = h->order, .precision = h->precision, .dx = h->h};
    for (int a = 0; a < h->dim; a++) {
        def.period[a] = h->period[a] * RP_BLOCK_CELLS(h->dim, a);
    }
    return rp_layout_make(&def);
}

static void measure_species(rp_state_view *view, rp_state_part *p, size_t *end)
{
    const rp_state_species *s = p->about;
    p->group_at = part(end, (size_t)s->groups * sizeof(rp_state_group));
    p->page_at = part(end, (size_t)s->pages * sizeof(rp_state_page));
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (s->columns >> c & 1) {
            const size_t comps = (size_t)rp_layout_comps(&view->layout, c);
            const size_t bytes = (size_t)rp_layout_bytes(&view->layout, c);
            const size_t birth = c == RP_COL_POSITION ? sizeof(double) : bytes;
            p->slots_at[c] = part(end, (size_t)s->slots * comps * bytes);
            p->births_at[c] = part(end, (size_t)s->births * comps * birth);
        }
    }
    p->first_group = view->groups;
    view->groups += s->groups;
    view->particles += (int64_t)s->count + s->births;
}

rp_result rp_state_measure(const rp_state_header *h, const rp_state_species *species,
                           const rp_state_entry *entry, rp_state_view *view)
{
    RP_TRY(check_header(h));
    *view = (rp_state_view){.header = h, .layout = layout_of(h), .entry = entry};
    size_t end = sizeof *h;
    part(&end, (size_t)h->species * sizeof *species);
    part(&end, (size_t)h->entries * sizeof *entry);
    for (int i = 0; i < h->entries; i++) {
        const uint64_t row = entry[i].columns * sizeof(double);
        if (entry[i].bytes > RP_STATE_ENTRY_LIMIT || entry[i].columns > RP_STATE_ENTRY_LIMIT ||
            (row > 0 && entry[i].bytes % row != 0) ||
            !is_text(entry[i].name, sizeof entry[i].name)) {
            return rp_fail(RP_ERR_ARGUMENT, "state: entry %d is damaged", i);
        }
        view->entry_at[i] = part(&end, entry[i].bytes);
    }
    for (int s = 0; s < h->species; s++) {
        RP_TRY(check_species(&species[s]));
        view->part[s].about = &species[s];
        measure_species(view, &view->part[s], &end);
    }
    if (view->groups > RP_GROUP_LIMIT || view->particles > INT32_MAX) {
        return rp_fail(RP_ERR_ARGUMENT, "state: negative or impossible counts");
    }
    view->bytes = end;
    return RP_OK;
}

rp_result rp_state_view_make(const void *state, size_t size, rp_state_view *view)
{
    const rp_state_header *h = state;
    RP_ASSERT((uintptr_t)state % RP_STATE_ALIGN == 0);
    if (size < sizeof *h) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes are too few for a state", size);
    }
    RP_TRY(check_header(h));
    const rp_state_species *species = (const rp_state_species *)(h + 1);
    const rp_state_entry *entry = (const rp_state_entry *)(species + h->species);
    const size_t tables =
        sizeof *h + (size_t)h->species * sizeof *species + (size_t)h->entries * sizeof *entry;
    if (size < tables) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes: cut off or damaged", size);
    }
    RP_TRY(rp_state_measure(h, species, entry, view));
    if (h->bytes != view->bytes || size < view->bytes) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes, want %zu: cut off or damaged", size,
                       view->bytes);
    }
    for (int s = 0; s < h->species; s++) {
        view->part[s].group = rp_state_at(view, view->part[s].group_at);
        view->part[s].page = rp_state_at(view, view->part[s].page_at);
    }
    return RP_OK;
}

#include "core/state.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "states are little-endian");
_Static_assert(sizeof(rp_state_header) % RP_STATE_ALIGN == 0, "parts are aligned");

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

static rp_result check_header(const rp_state_header *h)
{
    if (h->magic != RP_STATE_MAGIC) {
        return rp_fail(RP_ERR_ARGUMENT, "state: these bytes are no state of this version");
    }
    const unsigned always = 1u << RP_COL_POSITION | 1u << RP_COL_GROUP | 1u << RP_COL_ID;
    const bool world = (h->dim == 2 || h->dim == 3) && h->order >= 1 && h->order <= 3 &&
                       (h->precision == RP_SINGLE || h->precision == RP_DOUBLE) && h->h > 0.0 &&
                       isfinite(h->h) && h->fps > 0.0 && isfinite(h->fps);
    const bool columns =
        h->columns >> RP_COL_COUNT == 0 && ((unsigned)h->columns & always) == always;
    bool periods = true;
    for (int a = 0; a < 3; a++) {
        periods = periods && h->period[a] >= 0 && h->period[a] < RP_BLOCK_LIMIT;
    }
    if (!world || !columns || !periods || h->fields < 1 || h->padding != 0) {
        return rp_fail(RP_ERR_ARGUMENT, "state: its header describes no world");
    }
    if (h->entries < 0 || h->entries > RP_REGISTRY_LIMIT || h->groups < 0 ||
        h->groups > RP_GROUP_LIMIT || h->pages < 0 || h->slots < 0 || h->births < 0 ||
        h->slots % RP_LANES != 0 || h->count < 0 || h->doomed < 0 || h->doomed > h->count) {
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

rp_result rp_state_measure(const rp_state_header *h, const rp_state_entry *entry,
                           rp_state_view *view)
{
    RP_TRY(check_header(h));
    *view = (rp_state_view){.header = h, .layout = layout_of(h), .entry = entry};
    size_t end = sizeof *h;
    part(&end, (size_t)h->entries * sizeof *entry);
    for (int i = 0; i < h->entries; i++) {
        const uint64_t row = entry[i].columns * sizeof(double);
        if (entry[i].bytes > RP_STATE_ENTRY_LIMIT || entry[i].columns > RP_STATE_ENTRY_LIMIT ||
            (row > 0 && entry[i].bytes % row != 0) ||
            memchr(entry[i].name, '\0', sizeof entry[i].name) == NULL) {
            return rp_fail(RP_ERR_ARGUMENT, "state: entry %d is damaged", i);
        }
        view->entry_at[i] = part(&end, entry[i].bytes);
    }
    view->group_at = part(&end, (size_t)h->groups * sizeof(rp_state_group));
    view->page_at = part(&end, (size_t)h->pages * sizeof(rp_state_page));
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (h->columns >> c & 1) {
            const size_t comps = (size_t)rp_layout_comps(&view->layout, c);
            const size_t bytes = (size_t)rp_layout_bytes(&view->layout, c);
            const size_t birth = c == RP_COL_POSITION ? sizeof(double) : bytes;
            view->slots_at[c] = part(&end, (size_t)h->slots * comps * bytes);
            view->births_at[c] = part(&end, (size_t)h->births * comps * birth);
        }
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
    if ((size - sizeof *h) / sizeof(rp_state_entry) < (size_t)h->entries) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes: cut off or damaged", size);
    }
    RP_TRY(rp_state_measure(h, (const rp_state_entry *)(h + 1), view));
    if (h->bytes != view->bytes || size < view->bytes) {
        return rp_fail(RP_ERR_ARGUMENT, "state: %zu bytes, want %zu: cut off or damaged", size,
                       view->bytes);
    }
    view->group = rp_state_at(view, view->group_at);
    view->page = rp_state_at(view, view->page_at);
    return RP_OK;
}

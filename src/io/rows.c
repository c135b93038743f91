#include "io/rows.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

bool rp_rows_next(rp_rows_walk *walk, int32_t most, rp_stretch *part)
{
    const rp_state_view *view = walk->view;
    for (; walk->species < view->header->species; walk->species++, walk->page = 0) {
        const rp_state_part *own = &view->part[walk->species];
        for (; walk->page <= own->about->pages; walk->page++, walk->done = 0) {
            const bool births = walk->page == own->about->pages;
            const rp_state_page *page = births ? NULL : &own->page[walk->page];
            const int32_t left = (births ? own->about->births : page->count) - walk->done;
            if (left > 0) {
                *part = (rp_stretch){.species = walk->species,
                                     .page = page,
                                     .first = (births ? 0 : page->first) + walk->done,
                                     .count = left < most ? left : most};
                walk->done += part->count;
                return true;
            }
        }
    }
    return false;
}

static rp_result check_part(const rp_state_part *part)
{
    const rp_state_species *h = part->about;
    int64_t slots = 0, count = 0;
    for (int32_t p = 0; p < h->pages; p++) {
        const rp_state_page *page = &part->page[p];
        if (page->first != slots || page->count <= 0) {
            return rp_fail(RP_ERR_ARGUMENT, "state: page %d is damaged", p);
        }
        count += page->count;
        slots += ((int64_t)page->count + RP_LANES - 1) / RP_LANES * RP_LANES;
    }
    if (count != h->count || slots != h->slots) {
        return rp_fail(RP_ERR_ARGUMENT, "state: its pages hold %lld particles, its header says %d",
                       (long long)count, h->count);
    }
    return RP_OK;
}

rp_result rp_rows_check(const rp_state_view *view)
{
    for (int s = 0; s < view->header->species; s++) {
        RP_TRY(check_part(&view->part[s]));
    }
    return RP_OK;
}

// Sizes that the compiler knows, so that a copy is a move.
static inline void copy_number(void *to, const void *from, int bytes)
{
    switch (bytes) {
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
        break;
    }
}

// Where a number of a slot is, from the start of the state.
static size_t slot_at(const rp_state_view *view, int species, rp_column_id column, int32_t slot,
                      int comp)
{
    const size_t comps = (size_t)rp_layout_comps(&view->layout, column);
    const size_t bytes = (size_t)rp_layout_bytes(&view->layout, column);
    const size_t tile = (size_t)slot / RP_LANES, lane = (size_t)slot % RP_LANES;
    return view->part[species].slots_at[column] +
           ((tile * comps + (size_t)comp) * RP_LANES + lane) * bytes;
}

// Births are rows already.
static size_t birth_at(const rp_state_view *view, int species, rp_column_id column, int32_t birth)
{
    const size_t comps = (size_t)rp_layout_comps(&view->layout, column);
    const size_t bytes =
        column == RP_COL_POSITION ? sizeof(double) : (size_t)rp_layout_bytes(&view->layout, column);
    return view->part[species].births_at[column] + (size_t)birth * comps * bytes;
}

void rp_rows_gather(const rp_state_view *view, rp_column_id column, rp_stretch part, void *rows)
{
    const int comps = rp_layout_comps(&view->layout, column);
    const int bytes = rp_layout_bytes(&view->layout, column);
    if (part.page == NULL) {
        memcpy(rows, rp_state_at(view, birth_at(view, part.species, column, part.first)),
               (size_t)part.count * (size_t)(comps * bytes));
        return;
    }
    char *out = rows;
    for (int32_t i = 0; i < part.count; i++) {
        const char *in = rp_state_at(view, slot_at(view, part.species, column, part.first + i, 0));
        for (int c = 0; c < comps; c++, out += bytes) {
            copy_number(out, in + c * RP_LANES * bytes, bytes);
        }
    }
}

void rp_rows_scatter(const rp_state_view *view, rp_column_id column, rp_stretch part,
                     const void *rows, void *state)
{
    const int comps = rp_layout_comps(&view->layout, column);
    const int bytes = rp_layout_bytes(&view->layout, column);
    if (part.page == NULL) {
        memcpy((char *)state + birth_at(view, part.species, column, part.first), rows,
               (size_t)part.count * (size_t)(comps * bytes));
        return;
    }
    const char *in = rows;
    for (int32_t i = 0; i < part.count; i++) {
        char *out = (char *)state + slot_at(view, part.species, column, part.first + i, 0);
        for (int c = 0; c < comps; c++, in += bytes) {
            copy_number(out + c * RP_LANES * bytes, in, bytes);
        }
    }
}

// --- positions ---

bool rp_metres_are_exact(const rp_layout *layout)
{
    // neither may metres overflow, nor lose bits as denormals
    return layout->precision == RP_SINGLE && layout->h > 1e-250 && layout->h < 1e250;
}

// First node of a page's block plus the shift of its particles [cells].
static double origin_of(const rp_layout *l, const rp_state_page *page, int axis)
{
    return l->shift + (double)page->block[axis] * l->cells[axis];
}

void rp_rows_gather_metres(const rp_state_view *view, rp_stretch part, double (*metres)[3])
{
    const rp_layout *l = &view->layout;
    for (int a = 0; a < 3; a++) {
        for (int32_t i = 0; i < part.count; i++) {
            if (a >= l->dim) {
                metres[i][a] = 0.0;
            } else if (part.page == NULL) {
                const double *birth = rp_state_at(
                    view, birth_at(view, part.species, RP_COL_POSITION, part.first + i));
                metres[i][a] = birth[a];
            } else {
                const void *at = rp_state_at(
                    view, slot_at(view, part.species, RP_COL_POSITION, part.first + i, a));
                metres[i][a] = rp_layout_metres(l, part.page->block, a, at);
            }
        }
    }
}

// The fixed-point position of a place; false when there is none.
static bool fixed_of(const rp_layout *l, double metres, double origin, int32_t *fixed)
{
    const double units = nearbyint((metres / l->h - origin) * (1 << RP_FIXED_BITS));
    if (!(units >= INT32_MIN && units <= INT32_MAX)) {
        return false;
    }
    *fixed = (int32_t)units;
    return true;
}

bool rp_rows_scatter_metres(const rp_state_view *view, rp_stretch part, const double (*metres)[3],
                            void *state)
{
    const rp_layout *l = &view->layout;
    for (int a = 0; a < l->dim; a++) {
        const double origin = part.page != NULL ? origin_of(l, part.page, a) : 0.0;
        for (int32_t i = 0; i < part.count; i++) {
            if (part.page == NULL) {
                char *birth =
                    (char *)state + birth_at(view, part.species, RP_COL_POSITION, part.first + i);
                memcpy(birth + (size_t)a * sizeof(double), &metres[i][a], sizeof(double));
                continue;
            }
            int32_t fixed;
            if (!fixed_of(l, metres[i][a], origin, &fixed)) {
                return false;
            }
            memcpy((char *)state + slot_at(view, part.species, RP_COL_POSITION, part.first + i, a),
                   &fixed, sizeof fixed);
        }
    }
    return true;
}

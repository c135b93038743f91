#include "solver/sph/neighbours.h"

#include "base/result.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

void rp_neighbours_free(rp_neighbours *n, const rp_allocator *a)
{
    rp_buffer *all[] = {&n->cell, &n->span,      &n->row,    &n->end,
                        &n->fill, &n->stiffness, &n->moment, &n->crowded};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        rp_buffer_free(all[i], a);
    }
}

size_t rp_neighbours_bytes(const rp_neighbours *n)
{
    return n->cell.bytes + n->span.bytes + n->row.bytes + n->end.bytes + n->fill.bytes +
           n->stiffness.bytes + n->moment.bytes + n->crowded.bytes;
}

// ---- cells ----

typedef struct counting {
    const rp_set *set;
    uint32_t *cell;
} counting;

static void count_page(void *context, int64_t index, int thread)
{
    (void)thread;
    const counting *c = context;
    const rp_layout *l = &c->set->layout;
    const rp_page *page = &rp_set_page(c->set)[index];
    const int cells = RP_SPH_CELLS(l->dim);
    uint32_t *begin = c->cell + index * (cells + 1);
    memset(begin, 0, (size_t)(cells + 1) * sizeof *begin);
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        int32_t cell = 0;
        for (int a = 0; a < l->dim; a++) {
            // as the sort does: rounding may put a position onto a face
            const int32_t at = rp_set_cell(c->set, slot, a);
            cell = cell * l->cells[a] + (at < 0 ? 0 : at < l->cells[a] ? at : l->cells[a] - 1);
        }
        begin[cell + 1]++;
    }
    for (int k = 0; k < cells; k++) {
        begin[k + 1] += begin[k];
    }
}

rp_result rp_neighbours_sorted(rp_neighbours *n, const rp_set *set, int threads)
{
    const size_t cells = (size_t)set->pages * (size_t)(RP_SPH_CELLS(set->layout.dim) + 1);
    n->cells = 0;
    RP_TRY(rp_buffer_reserve(&n->cell, set->allocator, cells * sizeof(uint32_t), 0,
                             "cells of neighbours"));
    n->cells = (rp_local)cells;
    rp_parallel_for(threads, set->pages, 4, count_page, &(counting){set, n->cell.data});
    return RP_OK;
}

bool rp_neighbours_fit(const rp_neighbours *n, const rp_set *set)
{
    const int cells = RP_SPH_CELLS(set->layout.dim);
    if ((size_t)n->cells != (size_t)set->pages * (size_t)(cells + 1)) {
        return false;
    }
    bool fit = true;
    const uint32_t *begin = n->cell.data;
    for (rp_local p = 0; p < set->pages; p++, begin += cells + 1) {
        fit = fit && begin[0] == 0 && begin[cells] == (uint32_t)rp_set_page(set)[p].count;
        for (int k = 0; k < cells; k++) {
            fit &= begin[k] <= begin[k + 1];
        }
    }
    return fit;
}

// ---- pages around ----

static int compare_pages(const void *a, const void *b)
{
    const rp_page *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1)
                            : (x->field > y->field) - (x->field < y->field);
}

static void link_page(void *context, int64_t index, int thread)
{
    (void)thread;
    const rp_set *set = context;
    const rp_layout *l = &set->layout;
    rp_page *page = &rp_set_page(set)[index];
    for (int i = 0; i < RP_NEAR; i++) {
        int32_t offset[3];
        rp_page wanted = {.field = page->field};
        rp_near_offset(i, offset);
        page->near[i] = RP_NO_PAGE;
        if (l->dim == 2 && offset[2] != 0) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            wanted.block[a] = page->block[a] + offset[a];
        }
        rp_block_wrap(l, wanted.block);
        wanted.key = rp_block_key(wanted.block);
        // pages are in key order
        const rp_page *found =
            bsearch(&wanted, rp_set_page(set), (size_t)set->pages, sizeof wanted, compare_pages);
        if (found != NULL) {
            page->near[i] = (uint32_t)(found - rp_set_page(set));
        }
    }
}

// ---- rows ----

typedef struct listing {
    const rp_sph_job *job;
    const rp_sph_passes *passes;
    const rp_local *page; // NULL: all of them
} listing;

static void list_page(void *context, int64_t i, int thread)
{
    (void)thread;
    const listing *l = context;
    l->passes->list(l->job, l->page != NULL ? l->page[i] : (rp_local)i);
}

// Room for the arrays of all particles.
static rp_result make_room(rp_neighbours *n, const rp_set *set, bool moments)
{
    const rp_allocator *a = set->allocator;
    const size_t slots = (size_t)set->slots, real = (size_t)rp_real_bytes(&set->layout);
    const size_t sym = (size_t)rp_sym_comps(set->layout.dim), pages = (size_t)set->pages;
    const struct {
        rp_buffer *buffer;
        size_t bytes;
    } all[] = {
        {&n->span, pages * sizeof(rp_sph_span)}, {&n->crowded, pages * sizeof(rp_local)},
        {&n->end, slots * sizeof(uint32_t)},     {&n->fill, slots * real},
        {&n->stiffness, slots * real},           {&n->moment, moments ? slots * sym * real : 0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].buffer->bytes < all[i].bytes) {
            RP_TRY(rp_buffer_reserve(all[i].buffer, a, all[i].bytes + all[i].bytes / 16, 0,
                                     "neighbours"));
        }
    }
    return RP_OK;
}

// Rows that a particle has room for, of those that it had in the last step.
static double rows_expected(const rp_neighbours *n, const rp_set *set)
{
    const double first = RP_SPH_ROWS(set->layout.dim);
    const double last = set->count > 0 ? (double)n->rows / set->count : 0.0;
    return last > 1.0 ? 1.03 * last : first;
}

rp_result rp_neighbours_find(rp_neighbours *n, const rp_set *set, const rp_sph_kernel *kernel,
                             const rp_sph_passes *passes, bool moments, int threads,
                             rp_sph_job *job)
{
    const size_t row =
        set->layout.precision == RP_SINGLE ? sizeof(rp_sph_row_single) : sizeof(rp_sph_row_double);
    RP_ASSERT(n->cells == set->pages * (RP_SPH_CELLS(set->layout.dim) + 1));
    RP_TRY(make_room(n, set, moments));
    rp_parallel_for(threads, set->pages, 16, link_page, (void *)set);

    // a guess for every page, and more for those that it was too little for
    rp_sph_span *span = n->span.data;
    const double expected = rows_expected(n, set);
    size_t rows = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        span[p] = (rp_sph_span){.first = rows};
        span[p].room = (size_t)(expected * rp_set_page(set)[p].count) + 32;
        rows += span[p].room;
    }
    if (n->row.bytes < rows * row) {
        RP_TRY(rp_buffer_reserve(&n->row, set->allocator, (rows + rows / 32) * row, 0,
                                 "the list of neighbours"));
    }
    *job = (rp_sph_job){.set = set,
                        .kernel = kernel,
                        .cell = n->cell.data,
                        .travel = set->travel,
                        .span = span,
                        .row = n->row.data,
                        .end = n->end.data,
                        .fill = n->fill.data,
                        .stiffness = n->stiffness.data,
                        .moment = moments ? n->moment.data : NULL};
    listing l = {.job = job, .passes = passes};
    rp_parallel_for(threads, set->pages, 1, list_page, &l);

    rp_local *crowded = n->crowded.data, count = 0;
    const size_t filled = rows;
    n->rows = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        n->rows += span[p].rows;
        if (span[p].rows > span[p].room) {
            crowded[count++] = p;
            span[p].first = rows;
            span[p].room = span[p].rows;
            rows += span[p].rows;
        }
    }
    if (n->row.bytes < rows * row) {
        RP_TRY(rp_buffer_reserve(&n->row, set->allocator, (rows + rows / 32) * row, filled * row,
                                 "the list of neighbours"));
        job->row = n->row.data;
    }
    l.page = crowded;
    rp_parallel_for(threads, count, 1, list_page, &l);
    return RP_OK;
}

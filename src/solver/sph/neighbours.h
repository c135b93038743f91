// Who is near whom: cells, pages around pages, and the list of rows.
//
// Cells are as wide as the support, and the sort has put the particles of a page into the order of
// cells. Between sorts particles drift: whoever is within one cell of x now was within 1 + travel
// of it when it was sorted, so that many cells are looked at, usually three along each axis and
// sometimes four. What is found is exact, whatever the travel, and comes in the order of pages and
// slots, so that the same particles give the same rows whichever cells were looked at.
#pragma once

#include "solver/sph/passes.h"

// Sorted again when particles may have gone this far [cells]: then every tenth particle looks at a
// fourth cell along each axis.
#define RP_SPH_TRAVEL 0.05

// Rows that particles of dense sand have in the mean.
#define RP_SPH_ROWS(dim) ((dim) == 3 ? 33 : 13)

typedef struct rp_neighbours {
    // state: where cells begin, see rp_sph_job.cell; as many numbers as all pages have
    rp_buffer cell;
    rp_local cells;
    // made anew in every step
    rp_buffer span, row, end, fill, stiffness, moment;
    size_t rows;       // of all pages
    rp_buffer crowded; // rp_local: pages whose rows did not fit
} rp_neighbours;

void rp_neighbours_free(rp_neighbours *n, const rp_allocator *a);
// After every sort: where cells begin.
rp_result rp_neighbours_sorted(rp_neighbours *n, const rp_set *set, int threads);
// Do the cells hold all particles of each page, in order? They do not where memory ran out after a
// sort, nor out of a damaged state: whoever steps sorts first.
bool rp_neighbours_fit(const rp_neighbours *n, const rp_set *set);
// The list of all particles where they are now, which cells fit. Fills in near[] of the set's
// pages, with particle pages.
// @param moments also rp_sph_job.moment
// @param[out] job what passes need of the list
rp_result rp_neighbours_find(rp_neighbours *n, const rp_set *set, const rp_sph_kernel *kernel,
                             const rp_sph_passes *passes, bool moments, int threads,
                             rp_sph_job *job);
size_t rp_neighbours_bytes(const rp_neighbours *n);

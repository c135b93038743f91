// Particles between a state, which keeps them in tiles, and a frame, which keeps them in rows.
//
// A frame's order is that of memory: the pages' particles, page after page, then those waiting to
// be born. A *run* is a stretch of it within one page or among the births.
#pragma once

#include "core/state.h"

typedef struct rp_run {
    const rp_state_page *page; // NULL: births
    int32_t first, count;      // slots, or places among the births
} rp_run;

// Where a walk over all runs is. Start with {.view = view}.
typedef struct rp_run_walk {
    const rp_state_view *view;
    int32_t page, done; // of that page, or of the births after the last
} rp_run_walk;

// The next run, of at most `most` particles; false at the end.
bool rp_run_next(rp_run_walk *walk, int32_t most, rp_run *run);

// Pages must follow one another, tile after tile, and hold the particles that the header counts:
// whoever walks a state that came from outside looks first.
rp_result rp_run_check(const rp_state_view *view);

// A column's numbers, as they are: to rows [count][comps], and back into `state`, where the view
// says.
void rp_run_gather(const rp_state_view *view, rp_column_id column, rp_run run, void *rows);
void rp_run_scatter(const rp_state_view *view, rp_column_id column, rp_run run, const void *rows,
                    void *state);

// Positions in metres, always of three components.
void rp_run_gather_metres(const rp_state_view *view, rp_run run, double (*metres)[3]);
// The stored positions back from metres: exact for births, and for pages where
// rp_metres_are_exact(). @return false when one is not finite or does not belong to its page
bool rp_run_scatter_metres(const rp_state_view *view, rp_run run, const double (*metres)[3],
                           void *state);
// Fixed-point positions survive the way to metres and back: 2^-26 of the 2^23 cells from the origin
// are 49 bits of a double's 53, and the two roundings of h are worth less than a quarter of the
// last. Doubles do not.
bool rp_metres_are_exact(const rp_layout *layout);

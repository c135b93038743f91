// Particles between a state, which keeps them in tiles, and a frame, which keeps them in rows.
//
// A frame's order is that of memory: species after species, of each the pages' particles, page
// after page, then those waiting to be born. A *stretch* of it lies within one page or among the
// births.
#pragma once

#include "core/state.h"

typedef struct rp_stretch {
    int species;
    const rp_state_page *page; // NULL: births
    int32_t first, count;      // slots, or places among the births
} rp_stretch;

// Where a walk over all stretches is. Start with {.view = view}.
typedef struct rp_rows_walk {
    const rp_state_view *view;
    int species;
    int32_t page, done; // of that page, or of the births after the last
} rp_rows_walk;

// The next stretch, of at most `most` particles; false at the end.
bool rp_rows_next(rp_rows_walk *walk, int32_t most, rp_stretch *part);

// Pages must follow one another, tile after tile, and hold the particles that the header counts:
// whoever walks a state that came from outside looks first.
rp_result rp_rows_check(const rp_state_view *view);

// A column's numbers, as they are, of a species that keeps it: to rows [count][comps], and back
// into `state`, where the view says.
void rp_rows_gather(const rp_state_view *view, rp_column_id column, rp_stretch part, void *rows);
void rp_rows_scatter(const rp_state_view *view, rp_column_id column, rp_stretch part,
                     const void *rows, void *state);

// Positions in metres, always of three components.
void rp_rows_gather_metres(const rp_state_view *view, rp_stretch part, double (*metres)[3]);
// The stored positions back from metres: exact for births, and for pages where
// rp_metres_are_exact(). @return false when one is not finite or does not belong to its page
bool rp_rows_scatter_metres(const rp_state_view *view, rp_stretch part, const double (*metres)[3],
                            void *state);
// Fixed-point positions survive the way to metres and back: 2^-26 of the 2^23 cells from the origin
// are 49 bits of a double's 53, and the two roundings of h are worth less than a quarter of the
// last. Doubles do not.
bool rp_metres_are_exact(const rp_layout *layout);

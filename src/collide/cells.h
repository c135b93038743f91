// The particles of a page in the order of its cells, for contact between bodies: what reaches a
// node is then a few runs of them.
//
// Each particle stands for a ball that lies inside its body. Where the body is solid and its shape
// is known, particles know how deep below its surface they were made (RP_COL_DEPTH), and the ball
// is that large: however particles are strewn, the balls touch the true surface from inside. A
// particle that knows nothing is as large as its volume, half an edge of it to each side.
#pragma once

#include "core/set.h"

// Four numbers at once, the last of no meaning.
typedef float rp_four __attribute__((vector_size(16)));

// What the balls of a cell fill, rounded outwards by RP_BOX_SLACK; of no meaning where it has none.
typedef struct rp_cell_box {
    rp_four lo, hi;
} rp_cell_box;
#define RP_BOX_SLACK 1e-5f

// All in cells, from the first node of the page's block.
typedef struct rp_cells {
    int32_t lo[3], side[3];    // the first cell that it covers, and how many
    int32_t least[3], most[3]; // of those that hold particles, from `lo` on
    int32_t *start;            // [cells + 1]: the first particle of each
    rp_cell_box *box;          // [cells]
    double *x[3];              // [particle]
    double *radius, *depth;    // likewise; depth 0: nobody knows
    int32_t *slot;             // likewise: where the set has it
} rp_cells;

// Cells that a page covers, and numbers of particles that there must be room for.
static inline int64_t rp_cells_count(const rp_cells *c)
{
    return (int64_t)c->side[0] * c->side[1] * c->side[2];
}
// The box of cells that a page's particles can be in before the next sort.
void rp_cells_cover(rp_cells *c, const rp_layout *l, const rp_page *page);
// Put a page in order. Memory is there: start and box for the cells, the others for the particles.
// @param cell [particles of the page], written over
void rp_cells_fill(rp_cells *c, const rp_set *set, const rp_page *page, int32_t *cell);

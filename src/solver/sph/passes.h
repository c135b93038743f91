// The passes of a step over all particles of a page: hot code, compiled per dimension, precision
// and instruction set, picked once when a world is created.
//
// Lengths are in cells, which are as wide as the support H. A *row* is what one particle knows of
// one neighbour: the gradient of its kernel there, times a particle's volume, and who it is. Rows
// of a page lie one after the other, those of a particle in the order of its neighbours' pages and
// slots. They are read twice in every iteration and written once a step.
//
//     particle of a page  0        1     2           ...
//     rows                r r r r  r r   r r r r r   ...
//     end[]                      ^    ^            ^
//
// Every pair has two rows, one with each of the two: nobody adds to what another thread adds to,
// and sums have one order.
#pragma once

#include "core/set.h"
#include "solver/sph/kernel.h"

// Of each precision: 16 and 32 bytes.
typedef struct rp_sph_row_single {
    float g[3]; // volume grad W(x_i - x_j) [1/cell]; in 2D the third is 0
    int32_t slot;
} rp_sph_row_single;
typedef struct rp_sph_row_double {
    double g[3];
    int64_t slot;
} rp_sph_row_double;

// Cells of a block, and where the particles of each begin: [RP_SPH_CELLS(dim) + 1] of them, counted
// from the first of the page, as the sort left them.
#define RP_SPH_CELLS(dim) ((dim) == 3 ? 256 : 64)

// Where in the list the rows of a page are.
typedef struct rp_sph_span {
    size_t first;
    size_t room; // rows that there is room for
    size_t rows; // that there are; more than `room`: nothing past it was written
} rp_sph_span;

// What passes share: read only but for what belongs to the page at hand. Arrays of reals are of the
// world's precision.
typedef struct rp_sph_job {
    const rp_set *set;
    const rp_sph_kernel *kernel;
    // neighbours
    const uint32_t *cell; // [page][RP_SPH_CELLS + 1]
    double travel;        // [cells] that particles may have gone since the sort
    rp_sph_span *span;    // [page]
    void *row;            // rp_sph_row_single or _double
    uint32_t *end;        // [slot]: its rows end here, counted from the first of its page
    // what the list says of each particle
    void *fill;      // real[slot]: the share of space that is filled, without walls; 1 is dense
    void *stiffness; // real[slot]: sum |g|^2 + |sum g|^2 [1/cell^2]
    void *moment;    // real[tile][sym][16]: sum of g (x_j - x_i)^T; NULL: nobody asks
} rp_sph_job;

typedef struct rp_sph_passes {
    int dim, real_bits, isa;
    // find the neighbours of a page's particles; rp_page.near must hold the pages around
    void (*list)(const rp_sph_job *job, rp_local page);
} rp_sph_passes;

int rp_sph_passes_count(void);
const rp_sph_passes *rp_sph_passes_at(int index);
// NULL when this build lacks the variant.
const rp_sph_passes *rp_sph_passes_find(int dim, int real_bits, int isa);

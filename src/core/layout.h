// The shape of space: grid spacing, blocks of cells, arenas, periodic axes. Constant once a world
// exists.
//
// Nodes lie at multiples of h. A particle belongs to the block that holds the lowest node it
// reaches, its *base node*; positions are kept in cells, relative to the first node of the page's
// block and less the `shift` between a particle and its base node, so that floor() of a stored
// position is the base node:
//
//        order 1, shift 0      order 2, shift 1/2      order 3, shift 1
//        o--x------o           o--------o-x------o     o-------o--x----o-------o
//        ^base                 ^base                   ^base
//
// The last axis is fastest in memory: the nodes that a kernel reads as one row.
#pragma once

#include "base/isa.h"
#include "repose/world.h"

typedef int32_t rp_local;  // counts things on this rank
typedef int64_t rp_global; // counts things over all ranks

enum {
    RP_NEAR = 27, // a block and its neighbours, in 2D the nine in the middle plane are used
    RP_NEAR_SELF = 13,
    RP_QUAD = 4, // numbers of a node in a channel of momentum: a vector and a scalar, also in 2D
    RP_FIXED_BITS = 26,    // single precision keeps positions in units of 2^-26 cell
    RP_ARENA_OVERHANG = 4, // nodes past the last row of an arena: rows are written in whole vectors
};

// Cells along each axis of a block, as constants for kernels. 8 x 8 x 4 was 19 % faster than 4^3 in
// a collapsed heap: fewer particles sit in tiles and arenas that are mostly empty.
#define RP_BLOCK_CELLS(dim, axis) ((axis) < 2 ? 8 : (dim) == 3 ? 4 : 1)

// Nodes along each axis of a page's private arena: the block, one cell of tolerance to either side
// for particles that moved since the last sort, and the stencil that hangs over.
#define RP_ARENA_NODES(dim, order, axis)                                                           \
    ((axis) < (dim) ? RP_BLOCK_CELLS(dim, axis) + 1 + (order) + 1 : 1)

typedef struct rp_layout {
    int dim, order;
    rp_precision precision;
    double h;            // node spacing [m]
    double shift;        // particle to base node [cells]
    int32_t cells[3];    // of a block
    int32_t arena[3];    // nodes along each axis of an arena
    int32_t nodes;       // in a block, all axes
    int32_t arena_nodes; // in an arena, all axes
    int32_t period[3];   // blocks after which space repeats; 0 for an open axis
} rp_layout;

// def must have passed rp_world_def's checks
rp_layout rp_layout_make(const rp_world_def *def);

static inline int rp_real_bytes(const rp_layout *l) { return l->precision == RP_SINGLE ? 4 : 8; }

static inline int rp_sym_comps(int dim) { return dim == 3 ? 6 : 3; }

// Blocks are ordered by the Morton code of their coordinates; that order is the order of memory and
// sums.
enum { RP_BLOCK_LIMIT = 1 << 20 }; // coordinates are in [-limit, limit)
uint64_t rp_block_key(const int32_t block[3]);
// Bring a block back into the periodic range.
void rp_block_wrap(const rp_layout *l, int32_t block[3]);
// The n-th of the RP_NEAR neighbours, as an offset in blocks.
static inline void rp_near_offset(int n, int32_t offset[3])
{
    offset[0] = n / 9 - 1;
    offset[1] = n / 3 % 3 - 1;
    offset[2] = n % 3 - 1;
}

// The block that holds a place in space, and where in it [cells]; not wrapped.
rp_result rp_layout_place(const rp_layout *l, const double metres[3], int32_t block[3],
                          double local[3]);

// A ball that holds all particles of a block's page, with what may stick out between sorts.
// @param[out] middle [m]. @return its radius [m]
double rp_layout_page_ball(const rp_layout *l, const int32_t block[3], double middle[3]);

// The other way round: a stored component of a position in metres.
static inline double rp_layout_metres(const rp_layout *l, const int32_t block[3], int axis,
                                      const void *stored)
{
    const double local = l->precision == RP_SINGLE
                             ? *(const int32_t *)stored * (1.0 / (1 << RP_FIXED_BITS))
                             : *(const double *)stored;
    return (local + l->shift + (double)block[axis] * l->cells[axis]) * l->h;
}

// The place of a node, from where it is in its block [m]; not wrapped.
static inline void rp_layout_node_at(const rp_layout *l, const int32_t block[3],
                                     const int32_t at[3], double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = a < l->dim ? l->h * (block[a] * l->cells[a] + at[a]) : 0.0;
    }
}
// The same, from its number in the block.
static inline void rp_layout_node(const rp_layout *l, const int32_t block[3], int n, double x[3])
{
    const int32_t at[3] = {n / (l->cells[1] * l->cells[2]), n / l->cells[2] % l->cells[1],
                           n % l->cells[2]};
    rp_layout_node_at(l, block, at, x);
}

// Normals of bodies that show no flat face, or whose particles know nothing of a surface, such as
// sand: from masses at nodes, docs/theory.md (B1) and (B2).
//
// Read off one node they are rough. The nodes that two bodies share form a sheet, and what the
// sheet is thin along is its normal: the gradients of mass are turned towards that.
#pragma once

#include "collide/meeting.h"

// The mass of a body is smoothed over this many nodes to either side before its gradient is taken.
enum {
    RP_SMOOTH = 2,
    RP_PADDED_MOST = (8 + 2 * RP_SMOOTH) * (8 + 2 * RP_SMOOTH) * (4 + 2 * RP_SMOOTH)
};

// The inverse of a sheet's spread, three times over. Where there is no sheet (a corner, a ball, a
// comb), spreads are alike and the lens turns nothing.
typedef struct rp_lens {
    bool known;
    double turn[3][3];
} rp_lens;

// The number of a pair of pages among those of a block with so many pages, b < d.
static inline int64_t rp_pair_number(int64_t pages, int64_t b, int64_t d)
{
    return b * pages - b * (b + 1) / 2 + d - b - 1;
}

// Where two bodies share the nodes of a patch is weighted by the mass that can meet there: 1, x, y,
// z, xx, yy, zz, xy, xz, yz from the block's first node [kg, cells].
enum { RP_PATCH = 4, RP_PATCHES = 4, RP_PATCH_MOMENTS = 10 }; // RP_PATCH: cells along a side

// The patch of a block that a node is in. A block has eight cells along the first two axes; along
// the third, if any, it is one patch.
static inline int rp_patch_of(const int node[3])
{
    return node[0] / RP_PATCH * 2 + node[1] / RP_PATCH;
}

// The node pages around one, of the same body; RP_NO_PAGE where there is none.
void rp_sheet_around(const rp_grid *grid, rp_local page, uint32_t around[RP_NEAR]);
// The lens of a patch of two pages, whose masses are known, as are those around.
void rp_sheet_lens(const rp_meetings *m, const uint32_t around_b[RP_NEAR],
                   const uint32_t around_d[RP_NEAR], int patch, rp_lens *out);

// The masses of a body at the nodes of its block and RP_SMOOTH nodes around it.
void rp_sheet_pad(const rp_grid *grid, const uint32_t around[RP_NEAR],
                  double padded[RP_PADDED_MOST]);
// The outward gradient of a body's mass at a node, smoothed by binomial weights.
void rp_sheet_gradient(const rp_layout *l, const double *padded, const int node[3], double out[3]);

// The normal from the first body to the second, from the gradients of their masses and the sheet.
// @param[out] normal of length 1; @param[in,out] fits counts planes that were fitted
// @return the gap along it [cells]
double rp_sheet_normal(const rp_sight *b, const rp_sight *d, const double gradient_b[3],
                       const double gradient_d[3], const rp_lens *lens, double normal[3],
                       int64_t *fits);

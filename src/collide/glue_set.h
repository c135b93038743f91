// What the rooms of glue (glue.h) share: its particles as they lie in their pages, blocks around
// one, and the grid's splines.
#pragma once

#include "collide/glue.h"

#include <math.h>
#include <string.h>

// ---- pages ----

// The first page of a block, or of what comes after it.
static inline rp_local find_block(const rp_set *set, uint64_t key)
{
    const rp_page *page = rp_set_page(set);
    rp_local low = 0, high = set->pages;
    while (low < high) {
        const rp_local middle = low + (high - low) / 2;
        if (page[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The n-th neighbour of a block. @return false: there is none in this dimension
static inline bool neighbour(const rp_layout *l, const int32_t block[3], int n, int32_t offset[3],
                             uint64_t *key)
{
    int32_t there[3];
    rp_near_offset(n, offset);
    if (l->dim == 2 && offset[2] != 0) {
        return false;
    }
    for (int a = 0; a < 3; a++) {
        there[a] = block[a] + offset[a];
    }
    rp_block_wrap(l, there);
    *key = rp_block_key(there);
    return true;
}

static inline double read_real(const rp_set *set, rp_column_id column, rp_local slot, int comp)
{
    const void *at = rp_set_at(set, column, slot, comp);
    return set->layout.precision == RP_SINGLE ? (double)*(const float *)at : *(const double *)at;
}

static inline void write_real(const rp_set *set, rp_column_id column, rp_local slot, int comp,
                              double x)
{
    void *at = rp_set_at(set, column, slot, comp);
    if (set->layout.precision == RP_SINGLE) {
        *(float *)at = (float)x;
    } else {
        *(double *)at = x;
    }
}

// Where a particle is, from the first node of its page's block [cells].
static inline void read_place(const rp_set *set, rp_local slot, double x[3])
{
    const rp_layout *l = &set->layout;
    x[2] = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const void *at = rp_set_at(set, RP_COL_POSITION, slot, a);
        x[a] = l->shift + (l->precision == RP_SINGLE
                               ? *(const int32_t *)at * (1.0 / (1 << RP_FIXED_BITS))
                               : *(const double *)at);
    }
}

static inline bool is_dead(const rp_set *set, rp_local slot)
{
    return *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) == RP_GROUP_DEAD;
}

static inline int material_of(const rp_set *set, rp_local slot)
{
    const uint16_t group = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
    return rp_set_group(set)[group].material;
}

// It has not broken.
static inline bool is_there(const rp_set *set, rp_local slot)
{
    return read_real(set, RP_COL_STRENGTH, slot, 0) > 0.0 && !is_dead(set, slot);
}

static inline bool softens(const rp_set *set, rp_local slot)
{
    return is_there(set, slot) && read_real(set, RP_COL_OPENING, slot, 0) > 0.0;
}

static inline bool holds(const rp_set *set, rp_local slot)
{
    return is_there(set, slot) && !(read_real(set, RP_COL_OPENING, slot, 0) > 0.0);
}

// Could it break by now? What softens has slack until it is all gone.
static inline bool is_due(const rp_set *set, rp_local slot)
{
    return is_there(set, slot) && !(read_real(set, RP_COL_SLACK, slot, 0) > 0.0);
}

static inline int partner_of(const rp_set *set, rp_local slot)
{
    return (int)read_real(set, RP_COL_PARTNER, slot, 0);
}

// A spline of this order and its slope, `d` cells from its middle.
static inline double spline(double d, int order, double *slope)
{
    const double a = fabs(d), sign = d < 0.0 ? -1.0 : 1.0;
    if (order == 1) {
        *slope = a < 1.0 ? -sign : 0.0;
        return a < 1.0 ? 1.0 - a : 0.0;
    }
    if (order == 2) {
        const double far = a < 1.5 ? 1.5 - a : 0.0;
        *slope = a < 0.5 ? -2.0 * d : -sign * far;
        return a < 0.5 ? 0.75 - d * d : 0.5 * far * far;
    }
    const double far = a < 2.0 ? 2.0 - a : 0.0;
    *slope = a < 1.0 ? (1.5 * a - 2.0) * d : -sign * 0.5 * far * far;
    return a < 1.0 ? (0.5 * a - 1.0) * d * d + 2.0 / 3.0 : far * far * far * (1.0 / 6.0);
}

// ---- nodes ----

enum { RP_GLUE_WORDS = 4 }; // of 64 nodes, for the 256 of a block

// What a thread works with.
struct glue_room {
    // holding: [pair of pages of the block][RP_GLUE_WORDS]: nodes that glue holds
    uint64_t (*bond)[RP_GLUE_WORDS];
    bool *some; // [pair of pages]: any of them
    int *root;  // [page]: of the unit that it belongs to
    // merging: [page] of those at a node, and the unit of each
    int *here, *unit;
};

// Nodes that glue holds, from the first of its page's block on. `partner` -1: it holds none.
struct glue_box {
    int16_t low[3], high[3];
    int32_t partner;
    int32_t boxes; // of a page: how many it has
    bool soft;     // of a page: some of it softens
};

static inline double node_real(const rp_layout *l, const void *nodes, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)nodes)[at]
                                     : ((const double *)nodes)[at];
}

static inline void put_node_real(const rp_layout *l, void *nodes, int at, double x)
{
    if (l->precision == RP_SINGLE) {
        ((float *)nodes)[at] = (float)x;
    } else {
        ((double *)nodes)[at] = x;
    }
}

// The place of a field among the pages of a block; -1: it has none.
static inline int page_of_field(const rp_grid *grid, const rp_node_block *block, int field)
{
    const rp_node_page *page = rp_grid_page(grid) + block->first;
    int low = 0, high = block->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (page[middle].field < field) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < block->count && page[low].field == field ? low : -1;
}

// Of a relative velocity, what comes apart across the normal and slides along it.
static inline double coming_apart(const double normal[3], int dim, double u[3], double *across)
{
    double length2 = 0.0;
    *across = 0.0;
    for (int a = 0; a < dim; a++) {
        *across += u[a] * normal[a];
    }
    for (int a = 0; a < dim; a++) {
        u[a] -= *across < 0.0 ? *across * normal[a] : 0.0;
        length2 += u[a] * u[a];
    }
    *across = *across > 0.0 ? *across : 0.0;
    return sqrt(length2);
}

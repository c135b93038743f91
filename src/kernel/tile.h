// What P2G and G2P share about a tile of sixteen particles: group parameters spread over the lanes,
// the laws of a tile, and stencils.
#pragma once

#include "kernel/entry.h"
#include "kernel/position.h"
#include "kernel/row.h"
#include "kernel/spline.h"

typedef struct group_lanes {
    _Alignas(64) real value[RP_GROUP_REALS][RP_LANES];
    uint8_t law[RP_LANES];
    unsigned laws; // bit mask of the laws present
} group_lanes;

// The groups of one tile, lane by lane.
static inline void spread_groups(const rp_transfer_job *job, rp_local slot, group_lanes *out)
{
    const uint16_t *group = rp_set_tile(job->set, RP_COL_GROUP, slot);
    out->laws = 0;
    for (int l = 0; l < RP_LANES; l++) {
        const real *from = (const real *)job->group + (size_t)group[l] * RP_GROUP_REALS;
        for (int p = 0; p < RP_GROUP_REALS; p++) {
            out->value[p][l] = from[p];
        }
        out->law[l] = job->group_law[group[l]];
        out->laws |= 1u << out->law[l];
    }
}

// A page of one group is spread once; lanes past its end take the same group, so that they stay
// calm.
static inline void spread_uniform(const rp_transfer_job *job, const rp_page *page, group_lanes *out)
{
    const uint16_t group = *(uint16_t *)rp_set_tile(job->set, RP_COL_GROUP, page->first);
    const real *from = (const real *)job->group + (size_t)group * RP_GROUP_REALS;
    for (int p = 0; p < RP_GROUP_REALS; p++) {
        for (int l = 0; l < RP_LANES; l++) {
            out->value[p][l] = from[p];
        }
    }
    for (int l = 0; l < RP_LANES; l++) {
        out->law[l] = job->group_law[group];
    }
    out->laws = 1u << job->group_law[group];
}

// Where the particles of a tile scatter to and gather from. Weights of the outer axes are kept lane
// by lane, to be broadcast; those of the row axis particle by particle, to be spread over a row.
typedef struct stencil_tile {
    _Alignas(64) real w[DIM][RP_QUAD][RP_LANES]; // weight
    real d[DIM][RP_QUAD][RP_LANES];              // derivative [1 / cell]
    real k[DIM][RP_QUAD][RP_LANES];              // weight times (node - particle) [cells]
    real row_w[RP_LANES][RP_QUAD], row_d[RP_LANES][RP_QUAD], row_k[RP_LANES][RP_QUAD];
    lane_int at[RP_LANES]; // base node in the arena
} stencil_tile;

static inline void stencil_fill(const rp_transfer_job *job, rp_local slot, stencil_tile *s)
{
    const stored *x = rp_set_tile(job->set, RP_COL_POSITION, slot);
    for (int l = 0; l < RP_LANES; l += LANES) {
        ivec cell[DIM];
        for (int a = 0; a < DIM; a++) {
            const split_position p = position_split(x + a * RP_LANES + l);
            const axis_weights n = spline_at(p.frac);
            cell[a] = p.cell;
            for (int i = 0; i < WIDTH; i++) {
                vstore(&s->w[a][i][l], n.w[i]);
                vstore(&s->d[a][i][l], n.d[i]);
                vstore(&s->k[a][i][l], n.w[i] * n.k[i]);
            }
        }
        const ivec at = arena_offset(cell);
        memcpy(&s->at[l], &at, sizeof at);
    }
    static const real zero[RP_LANES];
#define QUAD_OF(m)                                                                                 \
    (const real *const[RP_QUAD]){s->m[ROW][0], s->m[ROW][1], WIDTH > 2 ? s->m[ROW][2] : zero,      \
                                 WIDTH > 3 ? s->m[ROW][3] : zero}
    lanes_to_quads(QUAD_OF(w), s->row_w);
    lanes_to_quads(QUAD_OF(d), s->row_d);
    lanes_to_quads(QUAD_OF(k), s->row_k);
#undef QUAD_OF
}

// The place of (i, j) in a symmetric tensor.
static inline int sym_index(int i, int j)
{
    static const int at[3][3] = {{0, DIM == 3 ? 3 : 2, 4}, {DIM == 3 ? 3 : 2, 1, 5}, {4, 5, 2}};
    return at[i][j];
}

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

// Particles with a mass and a volume of their own have them instead of their group's.
RP_INLINE void spread_own(const rp_transfer_job *job, rp_local slot, group_lanes *out)
{
    if (rp_set_has(job->set, RP_COL_MASS)) {
        memcpy(out->value[RP_GROUP_MASS], rp_set_tile(job->set, RP_COL_MASS, slot),
               sizeof out->value[0]);
    }
    if (rp_set_has(job->set, RP_COL_VOLUME)) {
        memcpy(out->value[RP_GROUP_VOLUME], rp_set_tile(job->set, RP_COL_VOLUME, slot),
               sizeof out->value[0]);
    }
}

// A page's arena of one channel, where its particles reach, without anything in it.
static inline real *clear_arena(const rp_transfer_job *job, const rp_page *page, int channel)
{
    const size_t comps = (size_t)job->grid->channel[channel].comps;
    real *arena = rp_grid_arena(job->grid, job->set_index, page, channel);
    memset(arena + (size_t)page->reach_lo[0] * ARENA_Y * ARENA_Z * comps, 0,
           sizeof(real) * rp_page_arena_nodes(&job->grid->layout, page) * comps);
    return arena;
}

// ---- laws ----

// The columns of a set that laws keep their state in: all but those that transfers themselves read
// and write. Looked up once a page.
typedef struct law_columns {
    int count;
    uint8_t id[RP_COL_COUNT], comps[RP_COL_COUNT];
} law_columns;

static inline law_columns law_columns_of(const rp_set *set)
{
    const unsigned own = 1u << RP_COL_POSITION | 1u << RP_COL_VELOCITY | 1u << RP_COL_AFFINE |
                         1u << RP_COL_MASS | 1u << RP_COL_VOLUME | 1u << RP_COL_DEPTH |
                         1u << RP_COL_GROUP | 1u << RP_COL_ID;
    law_columns list = {0};
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (rp_set_has(set, c) && !(own >> c & 1)) {
            list.id[list.count] = (uint8_t)c;
            list.comps[list.count++] = set->column[c].comps;
        }
    }
    return list;
}

// The tile of a page that laws are handed: made once a page, at its first particles, and moved
// along.
static inline rp_law_tile law_tile(const rp_transfer_job *job, const rp_page *page,
                                   const group_lanes *g, const law_columns *columns)
{
    rp_law_tile tile = {.parameter = g->value, .dt = job->dt, .fall_rate = job->fall_rate};
    for (int i = 0; i < columns->count; i++) {
        tile.column[columns->id[i]] = rp_set_tile(job->set, columns->id[i], page->first);
    }
    return tile;
}

RP_INLINE void law_tile_next(const law_columns *columns, rp_law_tile *tile)
{
    for (int i = 0; i < columns->count; i++) {
        real *column = tile->column[columns->id[i]];
        tile->column[columns->id[i]] = column + columns->comps[i] * RP_LANES;
    }
}

// Kirchhoff stress of a tile. Nearly always one law; otherwise each computes all lanes and keeps
// its own.
static inline void tile_stress(const rp_transfer_job *job, const rp_law_tile *tile,
                               const group_lanes *g, real tau[SYM][RP_LANES])
{
    if ((g->laws & (g->laws - 1)) == 0) {
        job->law[g->law[0]]->stress(tile, tau);
        return;
    }
    for (int law = 0; law < RP_MATERIAL_KINDS; law++) {
        if (g->laws >> law & 1) {
            _Alignas(64) real out[SYM][RP_LANES];
            job->law[law]->stress(tile, out);
            for (int c = 0; c < SYM; c++) {
                for (int l = 0; l < RP_LANES; l++) {
                    tau[c][l] = g->law[l] == law ? out[c][l] : tau[c][l];
                }
            }
        }
    }
}

// Where the columns that transfers read and write have a tile; NULL: the set does not keep them.
// Their shapes are known here, so that the next tile is an addition away.
typedef struct transfer_tile {
    stored *x;
    real *v, *C, *strain;
    const uint64_t *id;
} transfer_tile;

RP_INLINE real *reals_of(const rp_set *set, rp_column_id column, rp_local slot)
{
    return rp_set_has(set, column) ? rp_set_tile(set, column, slot) : NULL;
}

static inline transfer_tile transfer_tile_of(const rp_set *set, rp_local slot)
{
    return (transfer_tile){.x = rp_set_tile(set, RP_COL_POSITION, slot),
                           .v = reals_of(set, RP_COL_VELOCITY, slot),
                           .C = reals_of(set, RP_COL_AFFINE, slot),
                           .strain = reals_of(set, RP_COL_STRAIN, slot),
                           .id = rp_set_tile(set, RP_COL_ID, slot)};
}

RP_INLINE real *reals_next(real *tile, int reals)
{
    return tile != NULL ? tile + reals * RP_LANES : NULL;
}

RP_INLINE void transfer_tile_next(transfer_tile *t)
{
    t->x += DIM * RP_LANES;
    t->v = reals_next(t->v, DIM);
    t->C = reals_next(t->C, DIM * DIM);
    t->strain = reals_next(t->strain, SYM);
    t->id += RP_LANES;
}

// Columns of the tile that comes next: more of them than a processor follows by itself. It may lie
// past the end, where nothing is read.
RP_INLINE void fetch_reals(const real *tile, int reals)
{
    if (tile != NULL) {
        UNROLL(18) for (int b = 0; b < reals * RP_LANES; b += RP_CACHE_LINE / sizeof(real))
        {
            __builtin_prefetch(tile + reals * RP_LANES + b);
        }
    }
}

RP_INLINE void fetch_next(const transfer_tile *t)
{
    fetch_reals(t->v, DIM);
    fetch_reals(t->C, DIM * DIM);
    fetch_reals(t->strain, SYM);
}

// Where in an arena the base node of each particle's stencil is.
RP_INLINE ivec arena_offset(const ivec cell[DIM])
{
    // the arena begins one cell before the block
    static const lane_int step[3] = {STEP_X, STEP_Y, STEP_Z};
    ivec at = viset(0);
    for (int a = 0; a < DIM; a++) {
        at += (cell[a] + 1) * step[a];
    }
    return at;
}

// Where the particles of a tile scatter to and gather from. Weights of the outer axes are kept lane
// by lane, to be broadcast; those of the row axis particle by particle, to be spread over a row.
typedef struct stencil_tile {
    _Alignas(64) real w[OUTER][WIDTH][RP_LANES];             // weights of the outer axes
    real d[OUTER][WIDTH][RP_LANES];                          // their derivatives [1 / cell]
    real row_w[RP_LANES][RP_QUAD], row_d[RP_LANES][RP_QUAD]; // of the row axis, at quad_at(lane)
    real away[DIM][RP_LANES];                                // node 1 minus particle [cells]
    lane_int at[RP_LANES];                                   // base node in the arena
} stencil_tile;

// Which slopes a stencil has. Affine gradients are those whose slopes are w D^-1 (x_i - x_p): who
// moves momentum by affine fields needs none of them.
typedef enum slopes_of { NO_SLOPES, SPLINE_SLOPES, AFFINE_SLOPES } slopes_of;

RP_INLINE void stencil_fill(const stored *x, slopes_of slopes, stencil_tile *s)
{
    for (int l = 0; l < RP_LANES; l += LANES) {
        ivec cell[DIM];
        UNROLL(3) for (int a = 0; a < DIM; a++)
        {
            const split_position p = position_split(x + a * RP_LANES + l);
            axis_weights n = spline_at(p.frac);
            cell[a] = p.cell;
            if (slopes == AFFINE_SLOPES) {
                UNROLL(4) for (int i = 0; i < WIDTH; i++)
                {
                    n.d[i] = n.w[i] * (n.away + (real)(i - 1)) * SPLINE_INERTIA_INVERSE;
                }
            }
            vstore(&s->away[a][l], n.away);
            if (a == ROW) {
                vec w[RP_QUAD] = {n.w[0], n.w[1], vset(0), vset(0)};
                vec d[RP_QUAD] = {n.d[0], n.d[1], vset(0), vset(0)};
                for (int i = 2; i < WIDTH; i++) {
                    w[i] = n.w[i];
                    d[i] = n.d[i];
                }
                quads_store(w, l, s->row_w);
                if (slopes) {
                    quads_store(d, l, s->row_d);
                }
            } else {
                for (int i = 0; i < WIDTH; i++) {
                    vstore(&s->w[a][i][l], n.w[i]);
                    if (slopes) {
                        vstore(&s->d[a][i][l], n.d[i]);
                    }
                }
            }
        }
        const ivec at = arena_offset(cell);
        memcpy(&s->at[l], &at, sizeof at);
    }
}

// The weights of one outer axis for one particle.
typedef struct axis_reals {
    vec n[WIDTH];
} axis_reals;

RP_INLINE axis_reals axis_of(const real of[WIDTH][RP_LANES], int l)
{
    axis_reals a;
    UNROLL(4) for (int i = 0; i < WIDTH; i++) { a.n[i] = spread(&of[i][l]); }
    return a;
}

// The place of (i, j) in a symmetric tensor.
static inline int sym_index(int i, int j)
{
    static const int at[3][3] = {{0, DIM == 3 ? 3 : 2, 4}, {DIM == 3 ? 3 : 2, 1, 5}, {4, 5, 2}};
    return at[i][j];
}

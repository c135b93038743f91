// Any quantity from particles to nodes and back, for methods that need more than momentum: with
// weights or with their gradients, into any numbers of any channel (rp_carry).
//
// Every form is a matrix between the numbers of a node and the functions of a stencil: the weight
// alone, or the d derivatives. Particles are prepared a tile at a time and then go one after the
// other, row by row. Compiled as plain C only, for worlds of any instruction set: P2G and G2P are
// faster at what they do, this is small.
#include "base/result.h"
#include "kernel/arena.h"
#include "kernel/tile.h"

enum { MOST = RP_CARRY_LIMIT };

// Which number of a particle stands at (number of the node, function), and which share of it what
// is gathered there has; -1: none.
typedef struct carry_map {
    int numbers, functions, comps; // of a node, of a stencil, of a particle
    int8_t place[MOST][DIM];
    real share[MOST][DIM];
} carry_map;

static carry_map map_of(const rp_carry *what, const rp_grid *grid)
{
    const bool values = what->form == RP_CARRY_VALUES;
    carry_map map = {.functions = values ? 1 : DIM,
                     .comps = what->stress ? SYM : what->lanes.comps};
    const int wanted = what->form == RP_CARRY_SYMMETRIC    ? SYM
                       : what->form == RP_CARRY_DIVERGENCE ? 1
                                                           : map.comps;
    map.numbers = values ? map.comps : what->form == RP_CARRY_GRADIENTS ? map.comps / DIM : DIM;
    RP_ASSERT(map.comps == wanted && map.numbers >= 1 && map.numbers <= MOST &&
              (what->form != RP_CARRY_GRADIENTS || map.comps == map.numbers * DIM) &&
              what->first + map.numbers <= grid->channel[what->channel].comps);
    for (int k = 0; k < map.numbers; k++) {
        for (int j = 0; j < map.functions; j++) {
            const bool off = what->form == RP_CARRY_DIVERGENCE && j != k;
            map.place[k][j] = (int8_t)(off                                ? -1
                                       : values                           ? k
                                       : what->form == RP_CARRY_GRADIENTS ? k * DIM + j
                                       : what->form == RP_CARRY_SYMMETRIC ? sym_index(k, j)
                                                                          : 0);
            map.share[k][j] = what->form == RP_CARRY_SYMMETRIC && j != k ? R(0.5) : R(1.0);
        }
    }
    return map;
}

// Vectors by gradients, in a channel of quads: what methods do most.
static bool are_quads(const carry_map *map, const rp_carry *what, const rp_grid *grid)
{
    return map->numbers == DIM && map->functions == DIM && what->first == 0 &&
           grid->channel[what->channel].comps == RP_QUAD;
}

// Sixteen particles: weights and slopes along each axis, base nodes, and what multiplies them.
typedef struct carry_tile {
    _Alignas(64) real w[DIM][WIDTH][RP_LANES], d[DIM][WIDTH][RP_LANES]; // d in 1 / m
    real factor[RP_LANES];
    lane_int at[RP_LANES]; // in nodes of the arena
} carry_tile;

static void tile_fill(const rp_transfer_job *job, const rp_carry *what, rp_local slot,
                      carry_tile *out)
{
    const stored *x = rp_set_tile(job->set, RP_COL_POSITION, slot);
    const bool affine = RP_ORDER > 1 && what->gradient == RP_GRADIENT_AFFINE;
    const real per_metre =
        (real)((affine ? (double)SPLINE_INERTIA_INVERSE : 1.0) / job->grid->layout.h);
    for (int l = 0; l < RP_LANES; l += LANES) {
        ivec cell[DIM];
        for (int a = 0; a < DIM; a++) {
            const split_position p = position_split(x + a * RP_LANES + l);
            const axis_weights n = spline_at(p.frac);
            cell[a] = p.cell;
            for (int i = 0; i < WIDTH; i++) {
                const vec slope = affine ? n.w[i] * (n.away + (real)(i - 1)) : n.d[i];
                vstore(&out->w[a][i][l], n.w[i]);
                vstore(&out->d[a][i][l], slope * per_metre);
            }
        }
        const ivec at = arena_offset(cell);
        memcpy(&out->at[l], &at, sizeof at);
    }

    const int number = what->factor == RP_TIMES_MASS ? RP_GROUP_MASS : RP_GROUP_VOLUME;
    const rp_column_id own = what->factor == RP_TIMES_MASS ? RP_COL_MASS : RP_COL_VOLUME;
    const uint16_t *group = rp_set_tile(job->set, RP_COL_GROUP, slot);
    const real *times = what->times.data;
    for (int l = 0; l < RP_LANES; l++) {
        out->at[l] /= RP_QUAD;
        out->factor[l] = (real)what->scale;
        if (what->factor != RP_TIMES_ONE) {
            out->factor[l] *=
                rp_set_has(job->set, own)
                    ? ((const real *)rp_set_tile(job->set, own, slot))[l]
                    : ((const real *)job->group)[(size_t)group[l] * RP_GROUP_REALS + number];
        }
        if (times != NULL) {
            out->factor[l] *= times[slot + l];
        }
    }
}

// One particle: its weights and slopes, the first node it reaches, and what it has for each number
// of a node and each function.
typedef struct carrier {
    real w[DIM][WIDTH], d[DIM][WIDTH], a[MOST][DIM];
    lane_int at;
} carrier;

static carrier carrier_of(const carry_tile *t, int l)
{
    carrier c = {.at = t->at[l]};
    for (int a = 0; a < DIM; a++) {
        for (int i = 0; i < WIDTH; i++) {
            c.w[a][i] = t->w[a][i][l];
            c.d[a][i] = t->d[a][i][l];
        }
    }
    return c;
}

// The functions of a stencil at the nodes of a row, less what changes along it.
RP_INLINE void outer_of(const carrier *c, int i, int j, int functions, real out[DIM])
{
    for (int f = 0; f < functions; f++) {
        out[f] = functions > 1 && f == 0 ? c->d[0][i] : c->w[0][i];
        if (DIM == 3) {
            out[f] *= functions > 1 && f == 1 ? c->d[1][j] : c->w[1][j];
        }
    }
}

RP_INLINE real along_row(const carrier *c, int n, int functions, int f)
{
    return functions > 1 && f == ROW ? c->d[ROW][n] : c->w[ROW][n];
}

// Rows of an arena of `stride` numbers a node.
#define FOR_ROWS(c, stride, arena, row)                                                            \
    for (int i = 0; i < WIDTH; i++)                                                                \
        for (int j = 0; j < DEEP; j++)                                                             \
            for (real *row = (arena) + ((c)->at + (i * ARENA_Y + j) * ARENA_Z) * (stride);         \
                 row != NULL; row = NULL)

// Counts are constants where it matters, so that the inner loops are known.
RP_INLINE void scatter_rows(const carrier *c, int numbers, int functions, int stride, real *arena)
{
    FOR_ROWS(c, stride, arena, node)
    {
        real outer[DIM];
        outer_of(c, i, j, functions, outer);
        for (int n = 0; n < WIDTH; n++, node += stride) {
            for (int k = 0; k < numbers; k++) {
                real sum = node[k];
                for (int f = 0; f < functions; f++) {
                    sum += c->a[k][f] * (outer[f] * along_row(c, n, functions, f));
                }
                node[k] = sum;
            }
        }
    }
}

// The numbers of a node that is a quad, at once.
typedef real quad __attribute__((vector_size(RP_QUAD * sizeof(real)), aligned(sizeof(real))));

// A vector by its gradients: a node's numbers side by side. Along a row only the weights change, or
// only the slopes.
RP_INLINE void scatter_quads(const carrier *c, real *arena)
{
    quad a[DIM];
    for (int f = 0; f < DIM; f++) {
        a[f] = (quad){c->a[0][f], c->a[1][f], DIM == 3 ? c->a[DIM - 1][f] : 0, 0};
    }
    for (int i = 0; i < WIDTH; i++) {
        for (int j = 0; j < DEEP; j++) {
            quad *node = (quad *)(arena + (c->at + (i * ARENA_Y + j) * ARENA_Z) * RP_QUAD);
            real outer[DIM];
            outer_of(c, i, j, DIM, outer);
            quad by_weight = a[0] * outer[0];
            if (DIM == 3) {
                by_weight += a[1] * outer[1];
            }
            const quad by_slope = a[ROW] * outer[ROW];
            for (int n = 0; n < WIDTH; n++) {
                node[n] += by_weight * c->w[ROW][n] + by_slope * c->d[ROW][n];
            }
        }
    }
}

static void scatter_one(const carrier *c, bool quads, int numbers, int functions, int stride,
                        real *arena)
{
    if (quads) {
        scatter_quads(c, arena);
    } else if (functions == 1 && numbers == 1) {
        scatter_rows(c, 1, 1, stride, arena);
    } else if (functions == 1 && numbers == DIM) {
        scatter_rows(c, DIM, 1, stride, arena);
    } else if (functions == 1) {
        scatter_rows(c, numbers, 1, stride, arena);
    } else if (numbers == DIM) {
        scatter_rows(c, DIM, DIM, stride, arena);
    } else {
        scatter_rows(c, numbers, DIM, stride, arena);
    }
}

void RP_VARIANT(scatter)(const rp_transfer_job *job, const rp_carry *what, rp_local p)
{
    const rp_grid *grid = job->grid;
    const rp_page *page = &rp_set_page(job->set)[p];
    const carry_map map = map_of(what, grid);
    const int stride = grid->channel[what->channel].comps;
    const bool quads = are_quads(&map, what, grid);
    RP_ASSERT(grid->scatters[job->set_index] >> what->channel & 1);
    real *arena = what->add ? rp_grid_arena(grid, job->set_index, page, what->channel)
                            : clear_arena(job, page, what->channel);
    const law_columns columns = law_columns_of(job->set);
    group_lanes g;
    rp_law_tile law = law_tile(job, page, &g, &columns);
    if (what->stress && !(page->flags & RP_PAGE_MIXED)) {
        spread_uniform(job, page, &g);
    }
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        _Alignas(64) real tau[SYM][RP_LANES];
        const real *from = what->lanes.data;
        from = from != NULL ? from + (size_t)slot * (size_t)map.comps : NULL;
        if (what->stress) {
            if (page->flags & RP_PAGE_MIXED) {
                spread_groups(job, slot, &g);
            }
            tile_stress(job, &law, &g, tau);
            law_tile_next(&columns, &law);
            from = tau[0];
        }
        carry_tile t;
        tile_fill(job, what, slot, &t);
        for (int l = 0; l < lanes; l++) {
            carrier one = carrier_of(&t, l);
            for (int k = 0; k < map.numbers; k++) {
                for (int f = 0; f < map.functions; f++) {
                    const int c = map.place[k][f];
                    one.a[k][f] =
                        c < 0 ? 0 : t.factor[l] * (from != NULL ? from[c * RP_LANES + l] : 1);
                }
            }
            scatter_one(&one, quads, map.numbers, map.functions, stride, arena + what->first);
        }
    }
}

// The nodes around a page, `numbers` of each from `first` on, `width` apart.
static void load_numbers(const rp_grid *grid, const rp_carry *what, int numbers, int width,
                         const rp_page *page, real *out)
{
    const int stride = grid->channel[what->channel].comps;
    for (int n = 0; n < RP_NEAR; n++) {
        if (page->near[n] == RP_NO_PAGE) {
            continue; // out of reach
        }
        int32_t offset[3];
        rp_near_offset(n, offset);
        const overlap o = overlap_reached(overlap_at(offset), page);
        const real *node = rp_grid_nodes(grid, what->channel, (rp_local)page->near[n]);
        FOR_OVERLAP(o, x, y)
        {
            const real *from = node + overlap_in_block(&o, x, y) * stride + what->first;
            real *to = out + overlap_in_arena(&o, x, y) * width;
            if (width == stride) { // as they are, what is beside them, too
                memcpy(to, from, sizeof(real) * (size_t)((o.hi[ROW] - o.lo[ROW]) * width));
                continue;
            }
            for (int z = o.lo[ROW]; z < o.hi[ROW]; z++, from += stride, to += width) {
                memcpy(to, from, sizeof(real) * (size_t)numbers);
            }
        }
    }
}

RP_INLINE void gather_rows(carrier *c, int numbers, int functions, real *arena)
{
    real sum[MOST][DIM];
    for (int k = 0; k < numbers * functions; k++) {
        sum[k / functions][k % functions] = 0;
    }
    FOR_ROWS(c, numbers, arena, node)
    {
        real outer[DIM];
        outer_of(c, i, j, functions, outer);
        for (int n = 0; n < WIDTH; n++, node += numbers) {
            for (int f = 0; f < functions; f++) {
                const real shape = outer[f] * along_row(c, n, functions, f);
                for (int k = 0; k < numbers; k++) {
                    sum[k][f] += node[k] * shape;
                }
            }
        }
    }
    for (int k = 0; k < numbers * functions; k++) {
        c->a[k / functions][k % functions] = sum[k / functions][k % functions];
    }
}

RP_INLINE void gather_quads(carrier *c, const real *arena)
{
    quad sum[DIM];
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < WIDTH; i++) {
        for (int j = 0; j < DEEP; j++) {
            const quad *node =
                (const quad *)(arena + (c->at + (i * ARENA_Y + j) * ARENA_Z) * RP_QUAD);
            real outer[DIM];
            outer_of(c, i, j, DIM, outer);
            quad by_weight = node[0] * c->w[ROW][0], by_slope = node[0] * c->d[ROW][0];
            for (int n = 1; n < WIDTH; n++) {
                by_weight += node[n] * c->w[ROW][n];
                by_slope += node[n] * c->d[ROW][n];
            }
            for (int f = 0; f < DIM; f++) {
                sum[f] += (f == ROW ? by_slope : by_weight) * outer[f];
            }
        }
    }
    for (int k = 0; k < DIM; k++) {
        for (int f = 0; f < DIM; f++) {
            c->a[k][f] = sum[f][k];
        }
    }
}

static void gather_one(carrier *c, bool quads, int numbers, int functions, real *arena)
{
    if (quads) {
        gather_quads(c, arena);
    } else if (functions == 1 && numbers == 1) {
        gather_rows(c, 1, 1, arena);
    } else if (functions == 1 && numbers == DIM) {
        gather_rows(c, DIM, 1, arena);
    } else if (functions == 1) {
        gather_rows(c, numbers, 1, arena);
    } else if (numbers == DIM) {
        gather_rows(c, DIM, DIM, arena);
    } else {
        gather_rows(c, numbers, DIM, arena);
    }
}

void RP_VARIANT(gather)(const rp_transfer_job *job, const rp_carry *what, rp_local p)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    const carry_map map = map_of(what, job->grid);
    RP_ASSERT(what->lanes.data != NULL);
    real arena[ARENA_NODES * MOST];
    const bool quads = are_quads(&map, what, job->grid);
    load_numbers(job->grid, what, map.numbers, quads ? RP_QUAD : map.numbers, page, arena);
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        real *to = (real *)what->lanes.data + (size_t)slot * (size_t)map.comps;
        carry_tile t;
        tile_fill(job, what, slot, &t);
        memset(to, 0, sizeof(real) * RP_LANES * (size_t)map.comps);
        for (int l = 0; l < lanes; l++) {
            carrier one = carrier_of(&t, l);
            gather_one(&one, quads, map.numbers, map.functions, arena);
            for (int k = 0; k < map.numbers; k++) {
                for (int f = 0; f < map.functions; f++) {
                    if (map.place[k][f] >= 0) {
                        to[map.place[k][f] * RP_LANES + l] +=
                            map.share[k][f] * t.factor[l] * one.a[k][f];
                    }
                }
            }
        }
    }
}

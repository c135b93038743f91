// The grid between the transfers: add up arenas, turn momentum into velocity, docs/theory.md (11).
#include "kernel/arena.h"
#include "kernel/entry.h"
#include "kernel/row.h"

// Rows of `numbers` numbers, a constant where this is called for momentum.
RP_INLINE void add_rows(const overlap *o, int numbers, int comps, const real *arena, real *node)
{
    FOR_OVERLAP(*o, x, y)
    {
        real *to = node + overlap_in_block(o, x, y) * comps;
        const real *from = arena + overlap_in_arena(o, x, y) * comps;
        for (int i = 0; i < numbers; i++) {
            to[i] += from[i];
        }
    }
}

RP_INLINE void add_quads(const overlap *o, int nodes, const real *arena, real *node)
{
    FOR_OVERLAP(*o, x, y)
    {
        real *to = node + overlap_in_block(o, x, y) * RP_QUAD;
        const real *from = arena + overlap_in_arena(o, x, y) * RP_QUAD;
        real sum[NODES_WITHIN * RP_QUAD];
        for (int i = 0; i < nodes * RP_QUAD; i++) {
            sum[i] = to[i] + from[i];
        }
        memcpy(to, sum, sizeof(real) * (size_t)nodes * RP_QUAD);
    }
}

// One arena into the nodes of a block that lies `offset` blocks from its page.
static void add_arena(const int32_t offset[3], const rp_page *page, int comps, const real *arena,
                      real *node)
{
    const overlap o = overlap_reached(overlap_at(offset), page);
    const int nodes = offset[ROW] < 0    ? NODES_BEFORE
                      : offset[ROW] == 0 ? NODES_WITHIN
                                         : NODES_AFTER;
    if (comps != RP_QUAD) {
        add_rows(&o, nodes * comps, comps, arena, node);
        return;
    }
    switch (offset[ROW]) {
    case -1:
        add_quads(&o, NODES_BEFORE, arena, node);
        break;
    case 0:
        add_quads(&o, NODES_WITHIN, arena, node);
        break;
    default:
        add_quads(&o, NODES_AFTER, arena, node);
    }
}

// The rows of a node page that particles reach, as runs along its slowest axis.
enum { ROW_NODES = DIM == 3 ? BLOCK_Z : BLOCK_Y };
typedef struct reached {
    int lo, hi;       // along the slowest axis
    int first, nodes; // of each run, from its plane's first node on
} reached;

RP_INLINE reached rows_reached(const rp_node_page *page)
{
    return (reached){.lo = page->lo[0],
                     .hi = page->hi[0],
                     .first = page->lo[1] * ROW_NODES,
                     .nodes = (page->hi[1] - page->lo[1]) * ROW_NODES};
}

#define PLANE_NODES (BLOCK_NODES / BLOCK_X)

// Zero for the sum to come. The rest of the page is nobody's: it stays zero until the pages change.
static void clear_nodes(rp_node_page *page, int channel, int comps, real *node)
{
    const unsigned bit = 1u << channel;
    if (!(page->clean & bit)) {
        memset(node, 0, sizeof(real) * BLOCK_NODES * (size_t)comps);
        page->clean |= (uint16_t)bit;
        return;
    }
    const reached r = rows_reached(page);
    for (int x = r.lo; x < r.hi; x++) {
        memset(node + (x * PLANE_NODES + r.first) * comps, 0,
               sizeof(real) * (size_t)(r.nodes * comps));
    }
}

void RP_VARIANT(sum)(const rp_grid *grid, const rp_set *set, int sets, unsigned channels,
                     rp_local page)
{
    for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
        const int comps = grid->channel[c].comps;
        if (!(channels >> c & 1) || comps == 0) {
            continue;
        }
        real *node = rp_grid_nodes(grid, c, page);
        clear_nodes(&rp_grid_page(grid)[page], c, comps, node);
        for (int s = 0; s < sets; s++) {
            const uint32_t *source = rp_grid_source(grid, s, page);
            for (int n = 0; n < RP_NEAR && (grid->scatters[s] >> c & 1); n++) {
                if (source[n] != RP_NO_PAGE) {
                    // seen from the arena's page, this block lies on the opposite side
                    const rp_page *from = &rp_set_page(&set[s])[source[n]];
                    int32_t offset[3];
                    rp_near_offset(RP_NEAR - 1 - n, offset);
                    add_arena(offset, from, comps, rp_grid_arena(grid, s, from, c), node);
                }
            }
        }
    }
}

// Node by node; what a light node loses is added up.
static double velocity_of_node(real *q, real *impulse, const double push[3], real least)
{
    const real m = q[3];
    double dropped = 0.0;
    if (m > least) {
        const real inverse = 1 / m;
        for (int a = 0; a < DIM; a++) {
            const real before = q[a] * inverse;
            q[a] = before + (real)push[a];
            if (impulse != NULL) {
                q[a] += impulse[a] * inverse;
                impulse[a] = before;
            }
        }
    } else {
        for (int a = 0; a < DIM; a++) {
            const real lost = q[a] + (impulse != NULL ? impulse[a] : 0);
            dropped += (double)(lost < 0 ? -lost : lost);
            q[a] = 0;
            if (impulse != NULL) {
                impulse[a] = 0;
            }
        }
    }
    return dropped;
}

// QUAD_GROUP nodes at a go, each heavy or without momentum and mass; false: look at each.
RP_INLINE bool velocity_of_vector(real *node, real *impulse, row push, real least)
{
#ifdef RP_PLAIN
    (void)node, (void)impulse, (void)push, (void)least;
    return false;
#else
    const vec q = vload(node), m = quad_mass(q), zero = vset(0);
    const vec f = impulse != NULL ? vload(impulse) : zero;
    const ivec heavy = vlt(vset(least), m), nothing = (ivec)(q == zero) & (ivec)(f == zero);
    if (vany(~(heavy | nothing))) {
        return false;
    }
    const vec inverse = vset(1) / m, before = q * inverse;
    vec v = before + push.v[0];
    if (impulse != NULL) {
        v += f * inverse;
        vstore(impulse, quad_with_mass(vselect(heavy, before, zero), f));
    }
    vstore(node, quad_with_mass(vselect(heavy, v, zero), q));
    return true;
#endif
}

double RP_VARIANT(velocity)(const rp_grid *grid, rp_local page, const double push[3], double least)
{
    real *node = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    real *impulses =
        rp_grid_has(grid, RP_CH_IMPULSE) ? rp_grid_nodes(grid, RP_CH_IMPULSE, page) : NULL;
    const real pushed[RP_QUAD] = {(real)push[0], (real)push[1], DIM == 3 ? (real)push[2] : 0, 0};
    const row push_row = row_repeat(pushed);
    double dropped = 0.0;
    const reached r = rows_reached(&rp_grid_page(grid)[page]);
    for (int x = r.lo; x < r.hi; x++) {
        const int first = x * PLANE_NODES + r.first;
        for (int n = first; n < first + r.nodes; n += QUAD_GROUP) {
            real *impulse = impulses != NULL ? impulses + n * RP_QUAD : NULL;
            if (velocity_of_vector(node + n * RP_QUAD, impulse, push_row, (real)least)) {
                continue;
            }
            for (int k = 0; k < QUAD_GROUP; k++) {
                dropped += velocity_of_node(node + (n + k) * RP_QUAD,
                                            impulse != NULL ? impulse + k * RP_QUAD : NULL, push,
                                            (real)least);
            }
        }
    }
    return dropped;
}

void RP_VARIANT(keep)(const rp_grid *grid, rp_local page, double kept)
{
    const real *now = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    real *before = rp_grid_nodes(grid, RP_CH_IMPULSE, page);
    const reached r = rows_reached(&rp_grid_page(grid)[page]);
    for (int x = r.lo; x < r.hi; x++) {
        const int first = (x * PLANE_NODES + r.first) * RP_QUAD;
        for (int i = first; i < first + r.nodes * RP_QUAD; i++) {
            before[i] = now[i] - (real)kept * before[i];
        }
    }
}

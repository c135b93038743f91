#include "collide/cells.h"

#include <math.h>
#include <string.h>

void rp_cells_cover(rp_cells *c, const rp_layout *l, const rp_page *page)
{
    // an arena begins one cell before its block, and the last cell reaches `order` nodes further
    for (int a = 0; a < 3; a++) {
        c->lo[a] = a < l->dim ? page->reach_lo[a] - 1 : 0;
        c->side[a] = a < l->dim ? page->reach_hi[a] - page->reach_lo[a] - l->order : 1;
    }
}

// The cube root of a positive number, by Newton's method from a guess that halves the exponent's
// third: the library's own chooses its code by the processor.
static double cube_root(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits / 3 + 0x2a9f7893782da1ceull;
    double y;
    memcpy(&y, &bits, sizeof y);
    for (int i = 0; i < 5; i++) {
        y -= (y - x / (y * y)) * (1.0 / 3.0);
    }
    return y;
}

// The edge of a cube of this volume [cells].
static double edge_of(const rp_layout *l, double volume)
{
    return (l->dim == 3 ? cube_root(volume) : sqrt(volume)) / l->h;
}

// How large the balls of a page are, when nothing is known of its particles but their volume.
typedef struct sizes {
    const rp_set *set;
    const rp_page *page;
    bool own;        // every particle has a volume of its own
    double per_cell; // [1/m]
    double shift;    // of positions that are stored [cells]
    int known;       // the group that `edge` is of
    double edge;
} sizes;

static double edge_at(sizes *s, rp_local slot, int group)
{
    if (s->own) {
        double mass, volume;
        rp_set_measure(s->set, s->page, slot, &mass, &volume);
        s->edge = edge_of(&s->set->layout, volume);
    } else if (group != s->known) {
        s->edge = edge_of(&s->set->layout, rp_set_group(s->set)[group].volume);
        s->known = group;
    }
    return s->edge;
}

// Sixteen particles of a set.
typedef struct tile {
    const void *position, *depth;
    const uint16_t *group;
} tile;

static tile tile_at(const rp_set *set, rp_local slot)
{
    return (tile){.position = rp_set_tile(set, RP_COL_POSITION, slot),
                  .depth =
                      rp_set_has(set, RP_COL_DEPTH) ? rp_set_tile(set, RP_COL_DEPTH, slot) : NULL,
                  .group = rp_set_tile(set, RP_COL_GROUP, slot)};
}

// The cell of a particle among those that are covered; -1: it is dead, or nowhere near.
static inline int32_t cell_of(rp_cells *c, const rp_set *set, const tile *t, rp_local slot,
                              const int dim, const bool single)
{
    int32_t place[3] = {0};
    const int lane = slot % RP_LANES;
    int32_t number = 0;
    for (int a = 0; a < dim; a++) {
        const int32_t cell =
            single ? ((const int32_t *)t->position)[a * RP_LANES + lane] >> RP_FIXED_BITS
                   : rp_set_cell(set, slot, a);
        const int32_t at = cell - c->lo[a];
        if (at < 0 || at >= c->side[a]) {
            return -1;
        }
        number = number * c->side[a] + at;
        place[a] = at;
    }
    if (t->group[lane] == RP_GROUP_DEAD) {
        return -1;
    }
    for (int a = 0; a < dim; a++) {
        c->least[a] = place[a] < c->least[a] ? place[a] : c->least[a];
        c->most[a] = place[a] > c->most[a] ? place[a] : c->most[a];
    }
    return number;
}

static inline void put_particle(const rp_cells *c, sizes *s, const tile *t, rp_local slot,
                                int32_t at, const int dim, const bool single)
{
    const int lane = slot % RP_LANES, group = t->group[lane];
    const double edge = !s->own && group == s->known ? s->edge : edge_at(s, slot, group);
    const double known = t->depth == NULL ? 0.0
                         : single         ? (double)((const float *)t->depth)[lane]
                                          : ((const double *)t->depth)[lane];
    const double depth = known * s->per_cell;
    c->depth[at] = depth;
    // deeper ones say nothing that those above them do not say better
    c->radius[at] = !(depth > 0.0) ? 0.5 * edge : depth < edge ? depth : edge;
    c->slot[at] = slot;
    c->x[2][at] = 0.0;
    for (int a = 0; a < dim; a++) {
        const int from = a * RP_LANES + lane;
        c->x[a][at] =
            s->shift + (single ? ((const int32_t *)t->position)[from] * (1.0 / (1 << RP_FIXED_BITS))
                               : ((const double *)t->position)[from]);
    }
}

// What the balls of a cell fill.
static inline rp_cell_box box_of(const rp_cells *c, int32_t first, int32_t end)
{
    float low[3], high[3];
    for (int a = 0; a < 3; a++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = first; i < end; i++) {
            const double below = c->x[a][i] - c->radius[i], above = c->x[a][i] + c->radius[i];
            lo = below < lo ? below : lo;
            hi = above > hi ? above : hi;
        }
        low[a] = (float)lo - RP_BOX_SLACK;
        high[a] = (float)hi + RP_BOX_SLACK;
    }
    // all at once: parts that are written one by one would be waited for
    return (rp_cell_box){{low[0], low[1], low[2], 0.0f}, {high[0], high[1], high[2], 0.0f}};
}

// For a dimension and precision that are known when this is compiled, in most worlds.
static inline __attribute__((always_inline)) void fill(rp_cells *cells_of_page, const rp_set *set,
                                                       const rp_page *page, int32_t *cell,
                                                       const int dim, const bool single)
{
    rp_cells own = *cells_of_page, *c = &own; // at hand: what is written does not change it
    const int64_t cells = rp_cells_count(c);
    int32_t *start = c->start;
    tile t = {0};
    for (int a = 0; a < 3; a++) {
        c->least[a] = a < dim ? c->side[a] : 0;
        c->most[a] = a < dim ? -1 : 0;
    }
    memset(start, 0, (size_t)(cells + 1) * sizeof *start);
    for (rp_local i = 0; i < page->count; i++) {
        t = i % RP_LANES == 0 ? tile_at(set, page->first + i) : t;
        cell[i] = cell_of(c, set, &t, page->first + i, dim, single);
        if (cell[i] >= 0) {
            start[cell[i] + 1]++;
        }
    }
    for (int64_t k = 0; k < cells; k++) {
        start[k + 1] += start[k];
    }
    sizes s = {.set = set,
               .page = page,
               .shift = 0.5 * (set->layout.order - 1),
               .per_cell = 1.0 / set->layout.h,
               .own = rp_set_has(set, RP_COL_VOLUME) || rp_set_has(set, RP_COL_MASS),
               .known = -1};
    for (rp_local i = 0; i < page->count; i++) {
        t = i % RP_LANES == 0 ? tile_at(set, page->first + i) : t;
        if (cell[i] >= 0) {
            const int32_t at = start[cell[i]]++;
            put_particle(c, &s, &t, page->first + i, at, dim, single);
        }
    }
    // every start is now that of the next one
    memmove(start + 1, start, (size_t)cells * sizeof *start);
    start[0] = 0;
    for (int64_t k = 0; k < cells; k++) {
        if (start[k] < start[k + 1]) {
            c->box[k] = box_of(c, start[k], start[k + 1]);
        }
    }
    *cells_of_page = own;
}

void rp_cells_fill(rp_cells *cells_of_page, const rp_set *set, const rp_page *page, int32_t *cell)
{
    const rp_layout *l = &set->layout;
    if (l->dim == 3 && l->precision == RP_SINGLE) {
        fill(cells_of_page, set, page, cell, 3, true);
    } else {
        fill(cells_of_page, set, page, cell, l->dim, l->precision == RP_SINGLE);
    }
}

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
    bool depths;     // ... and a depth
    double per_cell; // [1/m]
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

static double real_of(const rp_layout *l, const void *at)
{
    return l->precision == RP_SINGLE ? (double)*(const float *)at : *(const double *)at;
}

// The cell of a particle among those that are covered; -1: it is dead, or nowhere near.
static inline int32_t cell_of(rp_cells *c, const rp_set *set, rp_local slot, bool single)
{
    int32_t place[3] = {0};
    const int dim = set->layout.dim;
    const void *tile = rp_set_tile(set, RP_COL_POSITION, slot);
    const uint16_t *group = rp_set_tile(set, RP_COL_GROUP, slot);
    const int lane = slot % RP_LANES;
    int32_t number = 0;
    for (int a = 0; a < dim; a++) {
        const int32_t cell = single ? ((const int32_t *)tile)[a * RP_LANES + lane] >> RP_FIXED_BITS
                                    : rp_set_cell(set, slot, a);
        const int32_t at = cell - c->lo[a];
        if (at < 0 || at >= c->side[a]) {
            return -1;
        }
        number = number * c->side[a] + at;
        place[a] = at;
    }
    if (group[lane] == RP_GROUP_DEAD) {
        return -1;
    }
    for (int a = 0; a < dim; a++) {
        c->least[a] = place[a] < c->least[a] ? place[a] : c->least[a];
        c->most[a] = place[a] > c->most[a] ? place[a] : c->most[a];
    }
    return number;
}

static inline void put_particle(rp_cells *c, sizes *s, rp_local slot, int32_t at, bool single)
{
    const rp_set *set = s->set;
    const rp_layout *l = &set->layout;
    const int lane = slot % RP_LANES;
    const uint16_t *group = rp_set_tile(set, RP_COL_GROUP, slot);
    const void *tile = rp_set_tile(set, RP_COL_POSITION, slot);
    const double edge =
        !s->own && group[lane] == s->known ? s->edge : edge_at(s, slot, group[lane]);
    const double depth =
        s->depths ? real_of(l, rp_set_at(set, RP_COL_DEPTH, slot, 0)) * s->per_cell : 0.0;
    const double shift = 0.5 * (l->order - 1);
    c->depth[at] = depth;
    // deeper ones say nothing that those above them do not say better
    c->radius[at] = !(depth > 0.0) ? 0.5 * edge : depth < edge ? depth : edge;
    c->slot[at] = slot;
    c->x[2][at] = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const int from = a * RP_LANES + lane;
        c->x[a][at] = shift + (single ? ((const int32_t *)tile)[from] * (1.0 / (1 << RP_FIXED_BITS))
                                      : ((const double *)tile)[from]);
    }
}

// What the balls of a cell fill.
static inline rp_cell_box box_of(const rp_cells *c, int32_t first, int32_t end)
{
    rp_cell_box box;
    for (int a = 0; a < 3; a++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = first; i < end; i++) {
            const double below = c->x[a][i] - c->radius[i], above = c->x[a][i] + c->radius[i];
            lo = below < lo ? below : lo;
            hi = above > hi ? above : hi;
        }
        box.lo[a] = (float)lo - RP_BOX_SLACK;
        box.hi[a] = (float)hi + RP_BOX_SLACK;
    }
    box.lo[3] = box.hi[3] = 0.0f;
    return box;
}

void rp_cells_fill(rp_cells *cells_of_page, const rp_set *set, const rp_page *page, int32_t *cell)
{
    rp_cells own = *cells_of_page, *c = &own; // at hand: what is written does not change it
    const int64_t cells = rp_cells_count(c);
    const bool single = set->layout.precision == RP_SINGLE;
    int32_t *start = c->start;
    for (int a = 0; a < 3; a++) {
        c->least[a] = a < set->layout.dim ? c->side[a] : 0;
        c->most[a] = a < set->layout.dim ? -1 : 0;
    }
    memset(start, 0, (size_t)(cells + 1) * sizeof *start);
    for (rp_local i = 0; i < page->count; i++) {
        cell[i] = cell_of(c, set, page->first + i, single);
        if (cell[i] >= 0) {
            start[cell[i] + 1]++;
        }
    }
    for (int64_t k = 0; k < cells; k++) {
        start[k + 1] += start[k];
    }
    sizes s = {.set = set,
               .page = page,
               .depths = rp_set_has(set, RP_COL_DEPTH),
               .per_cell = 1.0 / set->layout.h,
               .own = rp_set_has(set, RP_COL_VOLUME) || rp_set_has(set, RP_COL_MASS),
               .known = -1};
    for (rp_local i = 0; i < page->count; i++) {
        if (cell[i] >= 0) {
            const int32_t at = start[cell[i]]++;
            put_particle(c, &s, page->first + i, at, single);
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

#include "collide/samples.h"

#include "base/hash.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// All lengths in cells. They were found in two dimensions, with four particles a cell.
static const double CUT = 0.5;    // nodes less deep than this are free
static const double WAKE = 0.15;  // beyond half a particle's width a sample feels it
static const double DEEP = 1.5;   // particles deeper than this are lost to a wall
static const double HIDDEN = 0.5; // a sample so deep in another collider is none
static const double SHARE = 0.6;  // of a master's mass that its slaves may take away
static const double ENOUGH = 1e-5;
enum { PER_CELL = 2, FARTHEST = 4 };

typedef struct slave {
    int64_t node, a, b;
    double k;
} slave;

typedef struct sample {
    rp_warm warm;
    int collider, first, count; // of its row
    double x[3], normal[3], inverse;
} sample;

typedef struct term {
    int64_t node;
    double weight;
} term;

typedef struct solve {
    const rp_touches *t;
    int colliders;
    const rp_grid *grid;
    double *m, *folded, (*u)[3], (*d)[3];
    int32_t *slave_of; // [node]: -1 none
    char *behind;
    slave *slaves;
    int64_t slave_count;
} solve;

void rp_samples_free(rp_samples *samples, const rp_allocator *a)
{
    rp_buffer_free(&samples->warm, a);
}

static double real_at(const rp_layout *l, const void *numbers, size_t at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                     : ((const double *)numbers)[at];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Across periods. @return the number of a node among all pages', -1 where there is none
static int64_t find_node(const rp_grid *grid, const int64_t at[3])
{
    const rp_layout *l = &grid->layout;
    int32_t block[3] = {0};
    int64_t n = 0;
    for (int a = 0; a < 3; a++) {
        const int64_t cells = l->cells[a];
        block[a] = (int32_t)(at[a] >= 0 ? at[a] / cells : -((cells - 1 - at[a]) / cells));
        n = n * cells + (at[a] - block[a] * cells);
    }
    rp_block_wrap(l, block);
    const uint32_t page = rp_grid_find(grid, rp_block_key(block), 0);
    return page == RP_NO_PAGE ? -1 : (int64_t)page * l->nodes + n;
}

// ---- nodes behind walls ----

// Is a node behind a wall, and which way is out of all that it is behind of?
static bool look_behind(const solve *s, rp_local page, const double x[3], double out[3])
{
    const rp_touch *touch = &s->t->page[page];
    bool behind = false;
    memset(out, 0, 3 * sizeof *out);
    for (int k = 0; k < touch->count; k++) {
        double n[3];
        const double phi =
            rp_shape_distance(s->t->collider[s->t->near[touch->first + (uint32_t)k]].shape, x, n);
        const double most = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
        if (phi < -(CUT * most + 1e-9) * s->grid->layout.h) {
            behind = true;
            for (int a = 0; a < 3; a++) {
                out[a] += n[a];
            }
        }
    }
    return behind;
}

// The two free nodes in line that cost least, docs/theory.md (W1).
static bool choose_masters(const solve *s, const int64_t at[3], int64_t node, const double out[3],
                           slave *best)
{
    const int dim = s->grid->layout.dim;
    double least = INFINITY;
    for (int e = 0; e < 27; e++) {
        const int way[3] = {e / 9 - 1, e / 3 % 3 - 1, e % 3 - 1};
        const int axes = abs(way[0]) + abs(way[1]) + abs(way[2]);
        const double along = way[0] * out[0] + way[1] * out[1] + way[2] * out[2];
        if ((dim == 2 && way[2] != 0) || along <= 0.0) {
            continue;
        }
        for (int k = 1; k <= FARTHEST; k++) {
            int64_t first[3], second[3];
            for (int a = 0; a < 3; a++) {
                first[a] = at[a] + k * way[a];
                second[a] = at[a] + (k + 1) * way[a];
            }
            const int64_t i = find_node(s->grid, first), j = find_node(s->grid, second);
            if (i < 0 || j < 0) {
                break;
            }
            if (s->behind[i]) {
                continue;
            }
            if (s->m[i] <= s->m[node] || !(s->m[j] > 0.0) || s->behind[j]) {
                break;
            }
            const double heavy = s->m[j] / (k * s->m[node] + 1e-300);
            const double cost = k * (0.4 + 0.6 * axes) - 0.5 * along +
                                (heavy > 3.0   ? 0.0
                                 : heavy > 1.5 ? 2.0
                                               : 4.0);
            if (cost < least) {
                least = cost;
                *best = (slave){node, i, j, k};
            }
            break;
        }
    }
    return least < INFINITY;
}

static void node_place(const rp_layout *l, const int32_t block[3], int n, int64_t at[3])
{
    const int32_t in[3] = {n / (l->cells[1] * l->cells[2]), n / l->cells[2] % l->cells[1],
                           n % l->cells[2]};
    for (int a = 0; a < 3; a++) {
        at[a] = (int64_t)block[a] * l->cells[a] + in[a];
    }
}

static void find_slaves(solve *s)
{
    const rp_layout *l = &s->grid->layout;
    for (int turn = 0; turn < 2; turn++) {
        for (rp_local p = 0; p < s->grid->pages; p++) {
            const int32_t *block = rp_grid_page(s->grid)[p].block;
            for (int n = 0; n < l->nodes && s->t->page[p].count > 0; n++) {
                const int64_t node = (int64_t)p * l->nodes + n;
                double x[3], out[3];
                int64_t at[3];
                rp_layout_node(l, block, n, x);
                if (turn == 0) {
                    s->behind[node] = look_behind(s, p, x, out);
                } else if (s->behind[node]) {
                    look_behind(s, p, x, out);
                    node_place(l, block, n, at);
                    if (choose_masters(s, at, node, out, &s->slaves[s->slave_count])) {
                        s->slave_of[node] = (int32_t)s->slave_count++;
                    }
                }
            }
        }
    }
    // what slaves take away from a second master leaves it most of its mass
    double *load = s->folded;
    memset(load, 0, (size_t)s->grid->pages * (size_t)l->nodes * sizeof *load);
    for (int64_t i = 0; i < s->slave_count; i++) {
        load[s->slaves[i].b] += s->slaves[i].k * s->m[s->slaves[i].node];
    }
    for (int64_t i = 0; i < s->slave_count; i++) {
        slave *q = &s->slaves[i];
        const double most = SHARE * s->m[q->b];
        q->k *= load[q->b] > most ? most / load[q->b] : 1.0;
    }
}

static void extend(const solve *s)
{
    for (int64_t i = 0; i < s->slave_count; i++) {
        const slave *q = &s->slaves[i];
        for (int a = 0; a < 3; a++) {
            s->u[q->node][a] = (1.0 + q->k) * s->u[q->a][a] - q->k * s->u[q->b][a];
        }
    }
}

// Velocities of free nodes from those before forces and what is folded, docs/theory.md (W2).
static void fold(const solve *s)
{
    const rp_layout *l = &s->grid->layout;
    const int64_t nodes = (int64_t)s->grid->pages * l->nodes;
    const void *after = s->grid->node[RP_CH_MOMENTUM].data;
    const void *before = s->grid->node[RP_CH_IMPULSE].data;
    for (int64_t i = 0; i < nodes; i++) {
        s->folded[i] = s->m[i];
        for (int a = 0; a < 3; a++) {
            s->u[i][a] = a < l->dim ? real_at(l, before, (size_t)i * RP_QUAD + (size_t)a) : 0.0;
        }
    }
    extend(s);
    for (int64_t i = 0; i < nodes; i++) {
        for (int a = 0; a < 3; a++) {
            const double v = a < l->dim ? real_at(l, after, (size_t)i * RP_QUAD + (size_t)a) : 0.0;
            s->d[i][a] = s->m[i] * (v - s->u[i][a]);
        }
    }
    for (int64_t i = 0; i < s->slave_count; i++) {
        const slave *q = &s->slaves[i];
        s->folded[q->a] += (1.0 + q->k) * s->m[q->node];
        s->folded[q->b] -= q->k * s->m[q->node];
        s->folded[q->node] = 0.0;
        for (int a = 0; a < 3; a++) {
            s->d[q->a][a] += (1.0 + q->k) * s->d[q->node][a];
            s->d[q->b][a] -= q->k * s->d[q->node][a];
        }
    }
    for (int64_t i = 0; i < nodes; i++) {
        for (int a = 0; a < 3 && s->folded[i] > 0.0; a++) {
            s->u[i][a] += s->d[i][a] / s->folded[i];
        }
    }
}

// ---- which cells of a surface are awake ----

enum { AXIS_BITS = 18 };
static uint64_t cell_key(int collider, const int64_t at[3])
{
    uint64_t key = (uint64_t)collider;
    for (int a = 0; a < 3; a++) {
        key = key << AXIS_BITS | ((uint64_t)at[a] & ((1u << AXIS_BITS) - 1));
    }
    return key;
}

static void key_cell(uint64_t key, int *collider, int64_t at[3])
{
    for (int a = 2; a >= 0; a--) {
        const int64_t low = (int64_t)(key & ((1u << AXIS_BITS) - 1));
        at[a] = low >= 1 << (AXIS_BITS - 1) ? low - (1 << AXIS_BITS) : low;
        key >>= AXIS_BITS;
    }
    *collider = (int)key;
}

// Is there room for all colliders and cells in keys?
static rp_result check_keys(const rp_grid *grid, int colliders)
{
    const rp_layout *l = &grid->layout;
    const int most = 1 << (64 - 3 * AXIS_BITS), far = (1 << (AXIS_BITS - 1)) - 64;
    if (colliders >= most) {
        return rp_fail(RP_ERR_UNSUPPORTED,
                       "explicit.contact_at: want fewer than %d colliders with \"surface\", got %d",
                       most, colliders);
    }
    for (rp_local p = 0; p < grid->pages; p++) {
        for (int a = 0; a < l->dim; a++) {
            const int64_t at = (int64_t)rp_grid_page(grid)[p].block[a] * l->cells[a];
            if (at < -far || at > far) {
                return rp_fail(
                    RP_ERR_UNSUPPORTED,
                    "explicit.contact_at: want particles within %d dx of the origin with "
                    "\"surface\", got one at %lld dx",
                    far, (long long)at);
            }
        }
    }
    return RP_OK;
}

// Keys, each once.
typedef struct key_set {
    uint64_t *table; // ~0: free
    size_t size, count;
} key_set;

static bool key_room(key_set *set, size_t count, rp_scratch *scratch)
{
    set->size = 64;
    while (set->size < 2 * count) {
        set->size *= 2;
    }
    set->count = 0;
    set->table = rp_scratch_get(scratch, set->size * sizeof *set->table, "cells of surfaces");
    if (set->table != NULL) {
        memset(set->table, 0xff, set->size * sizeof *set->table);
    }
    return set->table != NULL;
}

static void key_put(key_set *set, uint64_t key)
{
    size_t i = (size_t)rp_mix64(key) & (set->size - 1);
    while (set->table[i] != ~0ull && set->table[i] != key) {
        i = (i + 1) & (set->size - 1);
    }
    set->count += set->table[i] == ~0ull;
    set->table[i] = key;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void wake_particle(const solve *s, const rp_set *set, const rp_page *page, rp_local slot,
                          key_set *woken)
{
    const rp_layout *l = &s->grid->layout;
    double x[3] = {0}, mass, volume;
    for (int a = 0; a < l->dim; a++) {
        x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
    }
    rp_set_measure(set, page, slot, &mass, &volume);
    const double half = 0.5 * (l->dim == 3 ? cbrt(volume) : sqrt(volume));
    for (int c = 0; c < s->colliders; c++) {
        double n[3];
        const double phi = rp_shape_distance(s->t->collider[c].shape, x, n);
        if (phi > half + WAKE * l->h || phi < -DEEP * l->h) {
            continue;
        }
        int64_t at[3] = {0};
        for (int a = 0; a < l->dim; a++) {
            at[a] = (int64_t)floor((x[a] - phi * n[a]) / l->h + 0.5);
            const int64_t period = (int64_t)l->period[a] * l->cells[a];
            at[a] = period > 0 ? (at[a] % period + period) % period : at[a];
        }
        key_put(woken, cell_key(c, at));
    }
}

// Keys of the cells around those that particles touch, in order.
static rp_result wake(const solve *s, const rp_set *set, int sets, rp_scratch *scratch,
                      uint64_t **keys, size_t *count)
{
    const rp_layout *l = &s->grid->layout;
    size_t particles = 0;
    for (int i = 0; i < sets; i++) {
        particles += rp_set_has_mass(&set[i]) ? (size_t)set[i].slots : 0;
    }
    key_set woken, all;
    if (!key_room(&woken, particles * (size_t)s->colliders, scratch)) {
        return RP_ERR_MEMORY;
    }
    for (int i = 0; i < sets; i++) {
        for (rp_local p = 0; p < set[i].pages && rp_set_has_mass(&set[i]); p++) {
            const rp_page *page = &rp_set_page(&set[i])[p];
            for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
                if (*(uint16_t *)rp_set_at(&set[i], RP_COL_GROUP, slot, 0) != RP_GROUP_DEAD) {
                    wake_particle(s, &set[i], page, slot, &woken);
                }
            }
        }
    }
    if (!key_room(&all, woken.count * (l->dim == 3 ? 27 : 9), scratch)) {
        return RP_ERR_MEMORY;
    }
    for (size_t i = 0; i < woken.size; i++) {
        for (int n = 0; n < 27 && woken.table[i] != ~0ull; n++) {
            const int way[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
            int collider;
            int64_t at[3];
            key_cell(woken.table[i], &collider, at);
            for (int a = 0; a < l->dim; a++) {
                const int64_t period = (int64_t)l->period[a] * l->cells[a];
                at[a] += way[a];
                at[a] = period > 0 ? (at[a] % period + period) % period : at[a];
            }
            if (l->dim == 3 || way[2] == 0) {
                key_put(&all, cell_key(collider, at));
            }
        }
    }
    *keys = rp_scratch_get(scratch, (all.count + 1) * sizeof **keys, "cells of surfaces");
    if (*keys == NULL) {
        return RP_ERR_MEMORY;
    }
    *count = 0;
    for (size_t i = 0; i < all.size; i++) {
        if (all.table[i] != ~0ull) {
            (*keys)[(*count)++] = all.table[i];
        }
    }
    qsort(*keys, *count, sizeof **keys, by_key);
    return RP_OK;
}

// ---- samples ----

static void weights(int order, double x, int64_t *base, double w[4])
{
    *base = (int64_t)floor(x - 0.5 * (order - 1));
    const double f = x - 0.5 * (order - 1) - (double)*base, g = 1.0 - f;
    if (order == 1) {
        w[0] = g;
        w[1] = f;
    } else if (order == 2) {
        w[0] = 0.5 * g * g;
        w[2] = 0.5 * f * f;
        w[1] = 1.0 - w[0] - w[2];
    } else {
        w[0] = g * g * g / 6.0;
        w[1] = f * f * (0.5 * f - 1.0) + 2.0 / 3.0;
        w[3] = f * f * f / 6.0;
        w[2] = 1.0 - w[0] - w[1] - w[3];
    }
}

static int add_term(term *row, int count, int64_t node, double weight)
{
    for (int i = 0; i < count; i++) {
        if (row[i].node == node) {
            row[i].weight += weight;
            return count;
        }
    }
    row[count] = (term){node, weight};
    return count + 1;
}

// A node behind a wall stands for two.
static size_t row_most(const rp_layout *l)
{
    const size_t width = (size_t)l->order + 1;
    return 2 * width * width * (l->dim == 3 ? width : 1);
}

// The row of a place: N_i there, through slaves to free nodes, docs/theory.md (W3).
// @param row room for row_most(). @return how long it is; 0: there is no mass
static int make_row(const solve *s, const double x[3], term *row)
{
    const rp_layout *l = &s->grid->layout;
    const int width = l->order + 1;
    int64_t base[3] = {0};
    double w[3][4] = {{1.0}, {1.0}, {1.0}}, found = 0.0;
    int count = 0;
    for (int a = 0; a < l->dim; a++) {
        weights(l->order, x[a] / l->h, &base[a], w[a]);
    }
    for (int n = 0; n < width * width * (l->dim == 3 ? width : 1); n++) {
        const int in[3] = {n % width, n / width % width, n / (width * width)};
        const int64_t at[3] = {base[0] + in[0], base[1] + in[1], base[2] + in[2]};
        const double weight = w[0][in[0]] * w[1][in[1]] * w[2][in[2]];
        const int64_t node = find_node(s->grid, at);
        if (node < 0) {
            continue;
        }
        if (s->slave_of[node] >= 0) {
            const slave *q = &s->slaves[s->slave_of[node]];
            count = add_term(row, count, q->a, weight * (1.0 + q->k));
            count = add_term(row, count, q->b, -weight * q->k);
            found += weight;
        } else if (s->m[node] > 0.0) {
            count = add_term(row, count, node, weight);
            found += weight;
        }
    }
    if (!(found > 0.02)) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        row[i].weight /= found;
    }
    return count;
}

// The sample of a place of a cell, if there is one.
static bool place_sample(const solve *s, uint64_t key, int place, sample *out)
{
    const rp_layout *l = &s->grid->layout;
    int64_t at[3];
    double n[3];
    key_cell(key, &out->collider, at);
    const int in[3] = {place % PER_CELL, place / PER_CELL % PER_CELL,
                       place / (PER_CELL * PER_CELL)};
    for (int a = 0; a < 3; a++) {
        out->x[a] = a < l->dim ? l->h * ((double)at[a] + (in[a] + 0.5) / PER_CELL - 0.5) : 0.0;
    }
    const double phi = rp_shape_distance(s->t->collider[out->collider].shape, out->x, out->normal);
    const double most =
        fmax(fabs(out->normal[0]), fmax(fabs(out->normal[1]), fabs(out->normal[2])));
    if (fabs(phi) > l->h * (0.5 * most / PER_CELL + 1e-9)) {
        return false;
    }
    for (int a = 0; a < l->dim; a++) {
        out->x[a] -= phi * out->normal[a];
    }
    for (int c = 0; c < s->colliders; c++) {
        const double deep =
            c == out->collider ? 0.0 : rp_shape_distance(s->t->collider[c].shape, out->x, n);
        if (deep < -(HIDDEN + 1e-9) * l->h) {
            return false;
        }
        for (int a = 0; a < l->dim && deep < 0.0; a++) {
            out->x[a] -= deep * n[a];
        }
    }
    out->warm = (rp_warm){.key = key, .place = place};
    return true;
}

static int by_warm(const rp_warm *a, const rp_warm *b)
{
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->place > b->place) - (a->place < b->place);
}

// What the law of contact lets a sample have of a trial impulse.
static void admit(const rp_collider *c, const double n[3], double impulse[3])
{
    if (c->contact == RP_STICKY) {
        return;
    }
    double across = dot(impulse, n), along[3], length2 = 0.0;
    for (int a = 0; a < 3; a++) {
        along[a] = impulse[a] - across * n[a];
        length2 += along[a] * along[a];
    }
    across = c->contact == RP_SEPARATE ? fmax(across, 0.0) : across;
    const double length = sqrt(length2), most = c->friction * fabs(across);
    const double kept = length > most ? most / length : 1.0;
    for (int a = 0; a < 3; a++) {
        impulse[a] = across * n[a] + kept * along[a];
    }
}

static void give(const solve *s, const sample *q, const term *row, const double more[3])
{
    for (int i = 0; i < q->count; i++) {
        const double share = row[i].weight / s->folded[row[i].node];
        for (int a = 0; a < 3; a++) {
            s->u[row[i].node][a] += share * more[a];
        }
    }
}

// Projected Gauss-Seidel, docs/theory.md (W4).
// @return what the last sweep changed, of all impulses; 0: no more than ENOUGH
static double sweep_all(const solve *s, sample *list, size_t count, const term *rows)
{
    double change = 1.0, all = 0.0;
    for (int sweep = 0; change > ENOUGH * all && sweep < RP_SAMPLE_SWEEPS; sweep++) {
        change = all = 0.0;
        for (size_t i = 0; i < count; i++) {
            sample *q = &list[i];
            const term *row = rows + q->first;
            double v[3] = {0}, impulse[3], more[3];
            for (int k = 0; k < q->count; k++) {
                for (int a = 0; a < 3; a++) {
                    v[a] += row[k].weight * s->u[row[k].node][a];
                }
            }
            for (int a = 0; a < 3; a++) {
                impulse[a] = q->warm.impulse[a] - v[a] * q->inverse;
            }
            admit(&s->t->collider[q->collider], q->normal, impulse);
            for (int a = 0; a < 3; a++) {
                more[a] = impulse[a] - q->warm.impulse[a];
                q->warm.impulse[a] = impulse[a];
                change += fabs(more[a]);
                all += fabs(impulse[a]);
            }
            give(s, q, row, more);
        }
    }
    return change > ENOUGH * all ? change / all : 0.0;
}

static void write_back(const solve *s)
{
    const rp_layout *l = &s->grid->layout;
    const int64_t nodes = (int64_t)s->grid->pages * l->nodes;
    void *out = s->grid->node[RP_CH_MOMENTUM].data;
    for (int64_t i = 0; i < nodes; i++) {
        for (int a = 0; a < l->dim && s->m[i] > 0.0; a++) {
            if (l->precision == RP_SINGLE) {
                ((float *)out)[i * RP_QUAD + a] = (float)s->u[i][a];
            } else {
                ((double *)out)[i * RP_QUAD + a] = s->u[i][a];
            }
        }
    }
}

static rp_result make_samples(const solve *s, rp_samples *samples, const uint64_t *keys,
                              size_t cells, rp_scratch *scratch, sample **list, size_t *count,
                              term **rows)
{
    const int places = s->grid->layout.dim == 3 ? 8 : 4;
    *list = rp_scratch_get(scratch, (cells * (size_t)places + 1) * sizeof **list, "samples");
    if (*list == NULL) {
        return RP_ERR_MEMORY;
    }
    size_t found = 0;
    *count = 0;
    for (size_t i = 0; i < cells * (size_t)places; i++) {
        found +=
            place_sample(s, keys[i / (size_t)places], (int)(i % (size_t)places), &(*list)[found]);
    }
    *rows = rp_scratch_get(scratch, (found * row_most(&s->grid->layout) + 1) * sizeof **rows,
                           "rows of samples");
    if (*rows == NULL) {
        return RP_ERR_MEMORY;
    }
    const rp_warm *old = samples->warm.data, *end = old + samples->warms;
    int at = 0;
    for (size_t i = 0; i < found; i++) {
        sample q = (*list)[i];
        q.first = at;
        q.count = make_row(s, q.x, *rows + at);
        if (q.count == 0) {
            continue;
        }
        double light = 0.0;
        for (int k = 0; k < q.count; k++) {
            const term *row = &(*rows)[at + k];
            light += row->weight * row->weight / s->folded[row->node];
        }
        q.inverse = 1.0 / light;
        while (old < end && by_warm(old, &q.warm) < 0) {
            old++;
        }
        if (old < end && by_warm(old, &q.warm) == 0) {
            memcpy(q.warm.impulse, old->impulse, sizeof old->impulse);
            give(s, &q, *rows + at, q.warm.impulse);
        }
        at += q.count;
        (*list)[(*count)++] = q;
    }
    return RP_OK;
}

rp_result rp_samples_solve(rp_samples *samples, const rp_touches *t, int colliders,
                           const rp_grid *grid, const rp_set *set, int sets, rp_body *body,
                           rp_scratch *scratch, double *unsettled)
{
    RP_TRY(check_keys(grid, colliders));
    const size_t nodes = (size_t)grid->pages * (size_t)grid->layout.nodes;
    solve s = {.t = t, .colliders = colliders, .grid = grid};
    s.m = rp_scratch_get(scratch, nodes * sizeof *s.m, "masses at walls");
    s.folded = rp_scratch_get(scratch, nodes * sizeof *s.folded, "masses at walls");
    s.u = rp_scratch_get(scratch, nodes * sizeof *s.u, "velocities at walls");
    s.d = rp_scratch_get(scratch, nodes * sizeof *s.d, "momenta at walls");
    s.slave_of = rp_scratch_get(scratch, nodes * sizeof *s.slave_of, "nodes behind walls");
    s.behind = rp_scratch_get(scratch, nodes, "nodes behind walls");
    s.slaves = rp_scratch_get(scratch, nodes * sizeof *s.slaves, "nodes behind walls");
    if (s.m == NULL || s.folded == NULL || s.u == NULL || s.d == NULL || s.slave_of == NULL ||
        s.behind == NULL || s.slaves == NULL) {
        return RP_ERR_MEMORY;
    }
    for (size_t i = 0; i < nodes; i++) {
        s.m[i] = real_at(&grid->layout, grid->node[RP_CH_MOMENTUM].data, i * RP_QUAD + 3);
        s.slave_of[i] = -1;
        s.behind[i] = 0;
    }
    find_slaves(&s);
    fold(&s);
    uint64_t *keys;
    size_t cells, count;
    sample *list;
    term *rows;
    RP_TRY(wake(&s, set, sets, scratch, &keys, &cells));
    RP_TRY(make_samples(&s, samples, keys, cells, scratch, &list, &count, &rows));
    RP_TRY(rp_buffer_reserve(&samples->warm, grid->allocator, (count + 1) * sizeof(rp_warm), 0,
                             "impulses of walls"));
    *unsettled = sweep_all(&s, list, count, rows);
    for (size_t i = 0; i < count; i++) {
        const double *p = list[i].warm.impulse, lost[3] = {-p[0], -p[1], -p[2]};
        rp_body_push(&body[list[i].collider], list[i].x, lost);
        ((rp_warm *)samples->warm.data)[i] = list[i].warm;
    }
    samples->warms = (rp_local)count;
    extend(&s);
    write_back(&s);
    return RP_OK;
}

#include "collide/samples.h"

#include "base/hash.h"
#include "base/result.h"

#include <math.h>
#include <string.h>

static const double HIDDEN = 0.5; // a sample so deep in another collider is none [cells]
// So near to a collider that goes another way a sample leaves that way to it, and so near it begins
// to [cells]; and how soft it is along that way in the middle of both.
static const double CLOSE = 0.5, AROUND = 1.5, SOFT = 0.1;
static const double OPPOSED = -0.5; // cosine of two ways out with no room for sand between
static const double SAME = 1e-6;    // of two velocities, what they may differ by
static const double SHARE = 0.25;   // of a master's mass that its slaves may take away
static const double CALM = 1.5;     // of a slave's motion may come back to it, 2 grows
static const double LIGHT = 0.01;   // of the heaviest node around a sample: lighter ones count less
static const double HELD = 0.5;     // of its splines that must have mass for a sample to be one
static const double ENOUGH = 3e-4, ENOUGH_OF_ONE = 0.005;
static const double LOOSE = 6.0;    // times as much is enough for sweeps that get no further
static const double NOTHING = 1e-6; // [cells] in a step
static const double EDGE = 0.8;     // cosine of two faces that meet at an edge
static const double FLAT = 1e-6;    // [cells]
enum { FINE = 2, COARSE_PLACE = FINE * FINE * FINE, STENCIL_MOST = 64 };

// ---- what is kept ----

// A cell of a collider's own frame and the samples in it.
typedef struct surface_cell {
    uint64_t key;
    int32_t first, count;  // of its faces
    int32_t around[27];    // cells that have some
    int32_t arounds;       // -1: nobody has looked yet
    uint32_t woken, awake; // turns
} surface_cell;

typedef struct face {
    double x[3], normal[3]; // in the collider's frame
    int32_t place;
    int32_t warm; // its number among those of the last step, if `turn` says so
    uint32_t turn;
} face;

// ---- what a step makes ----

// Numbers along the axes, and one that stays 0: what sweeps read and write in one go.
typedef double quad __attribute__((vector_size(4 * sizeof(double))));

// Of a node that takes part.
typedef struct node_hot {
    union {
        double u[4]; // velocity
        quad all;
    };
} node_hot;

typedef struct node_rest {
    int64_t node; // among all pages'
    double mass, folded, load;
    double grip, net; // of slaves, for calm_slaves()
    double before[3], given[3];
    int32_t slave;    // -1: it is none
    int held;         // by this collider; -1: it is not
    int32_t seen, at; // the sample that last used it, and where in its row
} node_rest;

typedef struct slave {
    int32_t node, a, b;
    double k;
} slave;

typedef struct sample {
    int32_t face, first, count; // of its row
    int32_t collider;
    double x[3], normal[3], velocity[3], impulse[3];
    double mass;              // what an impulse has to move there
    double from[3], along[3]; // impulse two sweeps ago, and where it was going
    int ways;                 // that it leaves to colliders that go there
    double way[2][3];         // of length 1, across each other
    double kept[2];           // of its impulse along them
} sample;

typedef struct term {
    int32_t node;
    double weight, share; // of an impulse that it turns into velocity
} term;

typedef struct solve {
    rp_samples *keep;
    const rp_collider *collider;
    int colliders;
    const rp_grid *grid;
    double dt;
    int32_t *behind; // [page]: number of its rp_behind_block
    int32_t *at;     // [page][node]: number of a node that takes part, -1
    int32_t (*near)[27];
    bool *loaded; // [page]: `at` and `near` are there
    const rp_node_page *page;
    int32_t nodes, slaves, samples, terms, woken, awake;
    double wanted, mass; // of all samples: what each alone would do, mass times velocity squared
} solve;

void rp_samples_free(rp_samples *s, const rp_allocator *a)
{
    rp_behind_free(&s->behind, a);
    rp_buffer *const all[] = {&s->warm,   &s->table, &s->cell, &s->face, &s->woken, &s->awake,
                              &s->sample, &s->term,  &s->node, &s->rest, &s->slave};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        rp_buffer_free(all[i], a);
    }
}

static rp_result make_room(const solve *s, rp_buffer *buffer, int32_t used, int64_t more,
                           size_t size)
{
    const size_t wanted = ((size_t)used + (size_t)more) * size;
    return wanted <= buffer->bytes
               ? RP_OK
               : rp_buffer_reserve(buffer, s->grid->allocator, wanted + wanted / 2,
                                   (size_t)used * size, "contact at surfaces");
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

// ---- nodes ----

// Which page of nodes has a block; -1: none.
static int32_t find_page(const rp_grid *grid, int32_t block[3])
{
    rp_block_wrap(&grid->layout, block);
    const uint32_t page = rp_grid_find(grid, rp_block_key(block), 0);
    return page == RP_NO_PAGE ? -1 : (int32_t)page;
}

static void load_page(solve *s, int32_t page)
{
    if (!s->loaded[page]) {
        s->loaded[page] = true;
        const size_t nodes = (size_t)s->grid->layout.nodes;
        memset(s->at + (size_t)page * nodes, 0xff, nodes * sizeof *s->at);
        for (int i = 0; i < 27; i++) {
            s->near[page][i] = i == 13 ? page : -2; // nobody has looked yet
        }
    }
}

// The node that is so many nodes from the first one of a page, across its borders.
// @return its number among all pages', -1 where there is none
static int64_t node_from(solve *s, int32_t page, const int32_t in[3])
{
    const rp_layout *l = &s->grid->layout;
    int32_t off[3], n = 0;
    bool close = true;
    for (int a = 0; a < 3; a++) {
        const int32_t cells = l->cells[a];
        off[a] = in[a] >= 0 ? in[a] / cells : -((cells - 1 - in[a]) / cells);
        n = n * cells + in[a] - off[a] * cells;
        close = close && off[a] >= -1 && off[a] <= 1;
    }
    load_page(s, page);
    int32_t *found =
        close ? &s->near[page][(off[0] + 1) * 9 + (off[1] + 1) * 3 + off[2] + 1] : NULL;
    int32_t there = found != NULL ? *found : -2;
    if (there == -2) {
        int32_t block[3];
        for (int a = 0; a < 3; a++) {
            block[a] = s->page[page].block[a] + off[a];
        }
        there = find_page(s->grid, block);
        if (found != NULL) {
            *found = there;
        }
    }
    return there < 0 ? -1 : (int64_t)there * l->nodes + n;
}

static rp_behind_node *behind_node(const solve *s, int64_t node)
{
    const int32_t nodes = s->grid->layout.nodes;
    const int32_t number = s->behind[node / nodes];
    if (number < 0) {
        return NULL;
    }
    const rp_behind_block *block = rp_behind_block_at(&s->keep->behind, number);
    rp_behind_node *list = (rp_behind_node *)s->keep->behind.node.data + block->first;
    const int n = (int)(node % nodes);
    int low = 0, high = block->count; // they are in order
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle].node < n) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < block->count && list[low].node == n ? &list[low] : NULL;
}

static double mass_at(const solve *s, int64_t node)
{
    return real_at(&s->grid->layout, s->grid->node[RP_CH_MOMENTUM].data,
                   (size_t)node * RP_QUAD + 3);
}

static node_hot *hot(const solve *s) { return s->keep->node.data; }
static node_rest *rest(const solve *s) { return s->keep->rest.data; }
static slave *slaves(const solve *s) { return s->keep->slave.data; }
static sample *samples(const solve *s) { return s->keep->sample.data; }
static term *terms(const solve *s) { return s->keep->term.data; }

// Let a node take part, as a free one.
static rp_result enter(solve *s, int64_t node, int32_t *number)
{
    const rp_layout *l = &s->grid->layout;
    load_page(s, (int32_t)(node / l->nodes));
    *number = s->at[node];
    if (*number >= 0) {
        return RP_OK;
    }
    RP_TRY(make_room(s, &s->keep->node, s->nodes, 1, sizeof(node_hot)));
    RP_TRY(make_room(s, &s->keep->rest, s->nodes, 1, sizeof(node_rest)));
    *number = s->at[node] = s->nodes++;
    node_rest *r = &rest(s)[*number];
    node_hot *h = &hot(s)[*number];
    *r = (node_rest){.node = node, .mass = mass_at(s, node), .slave = -1, .held = -1, .seen = -1};
    r->folded = r->mass;
    *h = (node_hot){.u = {0.0}};
    for (int a = 0; a < l->dim; a++) {
        const size_t at = (size_t)node * RP_QUAD + (size_t)a;
        h->u[a] = real_at(l, s->grid->node[RP_CH_MOMENTUM].data, at);
        r->before[a] = real_at(l, s->grid->node[RP_CH_IMPULSE].data, at);
    }
    return RP_OK;
}

// ---- nodes behind walls ----

// Of two colliders that go different ways the faster one pushes, and the first of two as fast.
static bool gives_way(const double own[3], int number, const double other[3], int others)
{
    const double fast = dot(own, own), faster = dot(other, other), by = SAME * (fast + faster);
    return faster > fast + by || (faster > fast - by && others < number);
}

static void velocity_at(const solve *s, int collider, const double x[3], double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    if (s->collider[collider].moves) {
        rp_collider_velocity(&s->collider[collider], x, s->dt, out);
    }
}

static void place_of(const solve *s, int64_t node, double x[3])
{
    const int32_t nodes = s->grid->layout.nodes;
    rp_layout_node(&s->grid->layout, s->page[node / nodes].block, (int)(node % nodes), x);
}

// A node that is buried goes along with what it is buried in.
static void hold(const solve *s, node_rest *r)
{
    double x[3], n[3], fastest[3] = {0};
    place_of(s, r->node, x);
    for (int c = 0; c < s->colliders; c++) {
        double velocity[3];
        if (rp_collider_look(&s->collider[c], x, n) < RP_BEHIND_ROOM * s->grid->layout.h) {
            velocity_at(s, c, x, velocity);
            if (r->held < 0 || gives_way(fastest, r->held, velocity, c)) {
                r->held = c;
                memcpy(fastest, velocity, sizeof fastest);
            }
        }
    }
}

// Make a node behind walls a slave of the two free ones in line that cost least, docs/theory.md
// (W1), if there are any.
static rp_result enslave(solve *s, rp_behind_node *behind, int32_t number)
{
    const rp_layout *l = &s->grid->layout;
    const int64_t node = rest(s)[number].node;
    const double mass = rest(s)[number].mass;
    const int32_t n = (int32_t)(node % l->nodes), page = (int32_t)(node / l->nodes);
    const int32_t at[3] = {n / (l->cells[1] * l->cells[2]), n / l->cells[2] % l->cells[1],
                           n % l->cells[2]};
    if (behind->lines < 0) {
        rp_behind_look(&s->keep->behind, s->collider, l,
                       rp_behind_block_at(&s->keep->behind, s->behind[page]), s->page[page].block,
                       behind);
    }
    double least = INFINITY;
    int64_t best[2] = {0};
    double best_k = 0.0;
    for (int i = 0; i < behind->lines && behind->line[i].cost < least; i++) {
        const int k = behind->line[i].k;
        if (behind->slit && k > 1) {
            continue; // what is far outside says nothing of a slit
        }
        int32_t in[2][3];
        int64_t master[2];
        double m[2] = {0};
        for (int j = 0; j < 2; j++) {
            for (int a = 0; a < 3; a++) {
                in[j][a] = at[a] + (k + j) * behind->line[i].way[a];
            }
            master[j] = node_from(s, page, in[j]);
            // where walls meet rounding may call a node free here and behind there
            const bool usable = master[j] >= 0 && behind_node(s, master[j]) == NULL;
            m[j] = usable ? mass_at(s, master[j]) : 0.0;
        }
        if (!(m[0] > mass) || !(m[1] > 0.0)) {
            continue;
        }
        const double heavy = m[1] / (k * mass + 1e-300);
        const double cost = (double)behind->line[i].cost + (heavy > 3.0   ? 0.0
                                                            : heavy > 1.5 ? 2.0
                                                                          : 4.0);
        if (cost < least) {
            least = cost;
            best_k = k;
            memcpy(best, master, sizeof best);
        }
    }
    if (!(least < INFINITY)) {
        if (mass > 0.0 && (behind->slit || behind->lines == 0)) {
            hold(s, &rest(s)[number]);
        }
        return RP_OK;
    }
    slave q = {.node = number, .k = best_k};
    RP_TRY(enter(s, best[0], &q.a));
    RP_TRY(enter(s, best[1], &q.b));
    RP_TRY(make_room(s, &s->keep->slave, s->slaves, 1, sizeof(slave)));
    rest(s)[number].slave = s->slaves;
    slaves(s)[s->slaves++] = q;
    return RP_OK;
}

// What slaves take away from a second master leaves it most of its mass.
static void spare_masters(const solve *s, int32_t from)
{
    for (int32_t i = from; i < s->slaves; i++) {
        slave *q = &slaves(s)[i];
        const double load = rest(s)[q->b].load, most = SHARE * rest(s)[q->b].mass;
        q->k *= load > most ? most / load : 1.0;
    }
}

// What a slave makes its masters do must not come back to it larger than it was, docs/theory.md
// (W2a): far slaves of light masters are extrapolated less.
static void calm_slaves(const solve *s)
{
    node_rest *r = rest(s);
    for (int32_t i = 0; i < s->nodes; i++) {
        r[i].grip = 0.0;
        r[i].net = r[i].mass;
    }
    for (int32_t i = 0; i < s->slaves; i++) {
        const slave *q = &slaves(s)[i];
        const double mass = r[q->node].mass;
        r[q->a].grip += (1.0 + q->k) * mass;
        r[q->a].net += (1.0 + q->k) * mass;
        r[q->b].grip += q->k * mass;
        r[q->b].net -= q->k * mass;
    }
    for (int32_t i = 0; i < s->slaves; i++) {
        slave *q = &slaves(s)[i];
        const double back =
            (1.0 + q->k) * r[q->a].grip / r[q->a].net + q->k * r[q->b].grip / r[q->b].net;
        q->k *= back > CALM ? CALM / back : 1.0;
    }
}

static rp_result find_slaves(solve *s)
{
    const rp_behind *b = &s->keep->behind;
    for (rp_local p = 0; p < s->grid->pages; p++) {
        if (s->behind[p] < 0) {
            continue;
        }
        const rp_behind_block *block = rp_behind_block_at(b, s->behind[p]);
        rp_behind_node *list = (rp_behind_node *)b->node.data + block->first;
        for (int i = 0; i < block->count; i++) {
            const int64_t node = (int64_t)p * s->grid->layout.nodes + list[i].node;
            int32_t number;
            if (mass_at(s, node) > 0.0) {
                RP_TRY(enter(s, node, &number));
                RP_TRY(enslave(s, &list[i], number));
            }
        }
    }
    for (int32_t i = 0; i < s->slaves; i++) {
        const slave *q = &slaves(s)[i];
        rest(s)[q->b].load += q->k * rest(s)[q->node].mass;
    }
    spare_masters(s, 0);
    for (int i = 0; i < 3; i++) {
        calm_slaves(s);
    }
    return RP_OK;
}

// Velocities of free nodes from those before forces and what is folded, docs/theory.md (W2).
static void fold(const solve *s)
{
    node_hot *h = hot(s);
    node_rest *r = rest(s);
    for (int32_t i = 0; i < s->nodes; i++) {
        for (int a = 0; a < 3; a++) {
            r[i].given[a] = r[i].mass * (h[i].u[a] - r[i].before[a]);
        }
    }
    for (int32_t i = 0; i < s->slaves; i++) {
        const slave *q = &slaves(s)[i];
        for (int a = 0; a < 3; a++) {
            const double before = (1.0 + q->k) * r[q->a].before[a] - q->k * r[q->b].before[a];
            const double given = r[q->node].mass * (h[q->node].u[a] - before);
            r[q->a].given[a] += (1.0 + q->k) * given;
            r[q->b].given[a] -= q->k * given;
        }
        r[q->a].folded += (1.0 + q->k) * r[q->node].mass;
        r[q->b].folded -= q->k * r[q->node].mass;
        r[q->node].folded = 0.0;
    }
    for (int32_t i = 0; i < s->nodes; i++) {
        for (int a = 0; a < 3 && r[i].slave < 0 && r[i].held < 0 && r[i].folded > 0.0; a++) {
            h[i].u[a] = r[i].before[a] + r[i].given[a] / r[i].folded;
        }
    }
}

// ---- cells of surfaces ----

enum { AXIS_BITS = 18, FARTHEST = (1 << (AXIS_BITS - 1)) - 64 };
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

typedef struct cell_slot {
    uint64_t key;
    int32_t cell; // -1: free
} cell_slot;

static cell_slot *cell_slot_at(const rp_samples *k, uint64_t key)
{
    cell_slot *table = k->table.data;
    size_t i = (size_t)rp_mix64(key) & (k->table_size - 1);
    while (table[i].cell >= 0 && table[i].key != key) {
        i = (i + 1) & (k->table_size - 1);
    }
    return &table[i];
}

static surface_cell *cells(const rp_samples *k) { return k->cell.data; }
static face *faces(const rp_samples *k) { return k->face.data; }

static rp_result resize_table(const solve *s, size_t size)
{
    rp_samples *k = s->keep;
    k->table_size = 0;
    RP_TRY(rp_buffer_reserve(&k->table, s->grid->allocator, size * sizeof(cell_slot), 0,
                             "cells of surfaces"));
    k->table_size = size;
    for (size_t i = 0; i < size; i++) {
        ((cell_slot *)k->table.data)[i].cell = -1;
    }
    for (int32_t i = 0; i < k->cells; i++) {
        *cell_slot_at(k, cells(k)[i].key) = (cell_slot){cells(k)[i].key, i};
    }
    return RP_OK;
}

// Where a place of a collider's frame is in the world, and back.
static void to_world(const rp_collider *c, const double x[3], double out[3])
{
    if (c->moves) {
        rp_placing_world(&c->begin, x, out);
    } else {
        memcpy(out, x, 3 * sizeof *out);
    }
}
static void to_own(const rp_collider *c, const double x[3], double out[3])
{
    if (c->moves) {
        rp_placing_local(&c->begin, x, out);
    } else {
        memcpy(out, x, 3 * sizeof *out);
    }
}

// A sample that lies by a little in others that stand still is moved to their surface.
// @return false: it is none
static bool clear_of_others(const solve *s, int own, double x[3], bool *moved)
{
    for (int c = 0; c < s->colliders; c++) {
        const rp_collider *other = &s->collider[c];
        double n[3];
        if (c == own || other->moves) {
            continue;
        }
        const double deep = rp_collider_look(other, x, n);
        if (deep < -(HIDDEN + 1e-9) * s->grid->layout.h) {
            return false;
        }
        for (int a = 0; a < s->grid->layout.dim && deep < 0.0; a++) {
            x[a] -= deep * n[a];
            *moved = true;
        }
    }
    return true;
}

// The place of a surface nearest to one of a lattice, if this is the lattice's nearest.
static bool project(const solve *s, const rp_collider *c, double width, double x[3], double n[3])
{
    const double phi = rp_shape_distance(c->shape, x, n);
    const double most = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
    for (int a = 0; a < s->grid->layout.dim; a++) {
        x[a] -= phi * n[a];
    }
    return fabs(phi) <= s->grid->layout.h * (0.5 * most * width + 1e-9);
}

// In 3D every other place of the fine lattice is enough, as seen along the axis nearest to n.
static bool is_spare(const solve *s, const int64_t place[3], const double n[3])
{
    const double most = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
    int a = 0;
    while (a < 2 && fabs(n[a]) < most - FLAT) {
        a++;
    }
    return s->grid->layout.dim == 3 && (place[(a + 1) % 3] + place[(a + 2) % 3]) % 2 != 0;
}

// Places beside a convex edge are counted from there: a lattice would let holes grow by steps.
// @return is it beside one?
static bool anchor(const solve *s, const rp_collider *c, double x[3], const double n[3])
{
    const int dim = s->grid->layout.dim;
    const double wide = s->grid->layout.h / FINE;
    double way[4][3] = {{-n[1], n[0], 0.0}}, shift[3] = {0}, found[4][3];
    int ways = 2, edges = 0;
    if (dim == 3) {
        const int least = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0
                          : fabs(n[1]) <= fabs(n[2])                           ? 1
                                                                               : 2;
        const int b = (least + 1) % 3, d = (least + 2) % 3;
        const double length = hypot(n[b], n[d]);
        way[0][least] = 0.0;
        way[0][b] = -n[d] / length;
        way[0][d] = n[b] / length;
        for (int a = 0; a < 3; a++) {
            way[2][a] = n[(a + 1) % 3] * way[0][(a + 2) % 3] - n[(a + 2) % 3] * way[0][(a + 1) % 3];
        }
        ways = 4;
    }
    for (int i = 0; i < ways; i++) {
        double at[3], out[3], *to = way[i], phi, length = 0.0;
        for (int a = 0; a < 3; a++) {
            to[a] = i % 2 != 0 ? -way[i - 1][a] : to[a];
            at[a] = x[a] + wide * to[a];
        }
        phi = rp_shape_distance(c->shape, at, out);
        const double along = dot(out, n);
        if (!(phi > FLAT * wide && along < EDGE)) {
            continue;
        }
        for (int a = 0; a < 3; a++) { // across the edge
            found[edges][a] = out[a] - along * n[a];
            length += found[edges][a] * found[edges][a];
        }
        bool known = false;
        for (int a = 0; a < 3; a++) {
            found[edges][a] /= sqrt(length);
            at[a] = x[a] + wide * found[edges][a];
        }
        for (int j = 0; j < edges; j++) {
            known = known || dot(found[j], found[edges]) > EDGE;
        }
        phi = rp_shape_distance(c->shape, at, out);
        if (known || !(phi > 0.0 && dot(out, n) < EDGE)) {
            continue;
        }
        const double beyond = fmin(phi / dot(out, found[edges]), wide);
        for (int a = 0; a < 3; a++) {
            shift[a] += (0.5 * wide - beyond) * found[edges][a];
        }
        edges++;
    }
    for (int a = 0; a < dim; a++) {
        x[a] += shift[a];
    }
    return edges > 0;
}

// Does a wall that stands still go on straight along the grid for a cell around a place of it, and
// alone? Then one sample in a cell is enough.
static bool is_plain(const solve *s, int collider, const double x[3], const double n[3])
{
    const rp_collider *c = &s->collider[collider];
    const double h = s->grid->layout.h;
    const double most = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
    if (c->moves || most < 1.0 - FLAT) {
        return false;
    }
    for (int i = 0; i < 2 * s->grid->layout.dim; i++) {
        double at[3], normal[3];
        bool moved = false;
        memcpy(at, x, sizeof at);
        at[i / 2] += (i % 2 == 0 ? h : -h) * (1.0 - fabs(n[i / 2]));
        if (fabs(rp_shape_distance(c->shape, at, normal)) > FLAT * h ||
            dot(normal, n) < 1.0 - FLAT || !clear_of_others(s, collider, at, &moved) || moved) {
            return false;
        }
    }
    return true;
}

static rp_result add_face(const solve *s, int collider, double x[3], const double n[3], int place)
{
    rp_samples *k = s->keep;
    bool moved;
    if (!s->collider[collider].moves && !clear_of_others(s, collider, x, &moved)) {
        return RP_OK;
    }
    RP_TRY(make_room(s, &k->face, k->faces, 1, sizeof(face)));
    face *f = &faces(k)[k->faces++];
    *f = (face){.place = place};
    memcpy(f->x, x, sizeof f->x);
    memcpy(f->normal, n, sizeof f->normal);
    return RP_OK;
}

static rp_result add_faces(const solve *s, uint64_t key)
{
    const rp_layout *l = &s->grid->layout;
    int collider;
    int64_t cell[3];
    double x[3] = {0}, n[3];
    key_cell(key, &collider, cell);
    const rp_collider *c = &s->collider[collider];
    for (int a = 0; a < l->dim; a++) {
        x[a] = l->h * (double)cell[a];
    }
    const bool central = project(s, c, 1.0, x, n);
    if (is_plain(s, collider, x, n)) {
        return central ? add_face(s, collider, x, n, COARSE_PLACE) : RP_OK;
    }
    for (int place = 0; place < (l->dim == 3 ? FINE * FINE * FINE : FINE * FINE); place++) {
        const int in[3] = {place % FINE, place / FINE % FINE, place / (FINE * FINE)};
        int64_t at[3] = {0};
        for (int a = 0; a < l->dim; a++) {
            at[a] = cell[a] * FINE + in[a];
            x[a] = l->h * (((double)at[a] + 0.5) / FINE - 0.5);
        }
        if (project(s, c, 1.0 / FINE, x, n) && (anchor(s, c, x, n) || !is_spare(s, at, n))) {
            RP_TRY(add_face(s, collider, x, n, place));
        }
    }
    return RP_OK;
}

// The cell of a key, made where it is new. @param[out] number may change when others are made
static rp_result find_cell(const solve *s, uint64_t key, int32_t *number)
{
    rp_samples *k = s->keep;
    cell_slot *slot = cell_slot_at(k, key);
    if (slot->cell < 0) {
        if (k->table_size < 4 * ((size_t)k->cells + 1)) {
            RP_TRY(resize_table(s, 4 * k->table_size));
            slot = cell_slot_at(k, key);
        }
        RP_TRY(make_room(s, &k->cell, k->cells, 1, sizeof(surface_cell)));
        surface_cell cell = {.key = key, .first = k->faces, .arounds = -1};
        RP_TRY(add_faces(s, key));
        cell.count = k->faces - cell.first;
        cells(k)[k->cells] = cell;
        *slot = (cell_slot){key, k->cells++};
    }
    *number = slot->cell;
    return RP_OK;
}

static void wrap_cell(const solve *s, const rp_collider *c, int64_t at[3])
{
    const rp_layout *l = &s->grid->layout;
    for (int a = 0; a < l->dim && !c->moves; a++) {
        const int64_t period = (int64_t)l->period[a] * l->cells[a];
        at[a] = period > 0 ? (at[a] % period + period) % period : at[a];
    }
}

static rp_result find_around(const solve *s, int32_t number)
{
    rp_samples *k = s->keep;
    int collider;
    int64_t cell[3];
    int32_t around[27], arounds = 0;
    key_cell(cells(k)[number].key, &collider, cell);
    for (int n = 0; n < 27; n++) {
        const int way[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        int64_t at[3];
        int32_t other;
        for (int a = 0; a < 3; a++) {
            at[a] = cell[a] + way[a];
        }
        if (s->grid->layout.dim == 2 && way[2] != 0) {
            continue;
        }
        wrap_cell(s, &s->collider[collider], at);
        RP_TRY(find_cell(s, cell_key(collider, at), &other));
        if (cells(k)[other].count > 0) {
            around[arounds++] = other;
        }
    }
    memcpy(cells(k)[number].around, around, sizeof around);
    cells(k)[number].arounds = arounds;
    return RP_OK;
}

// ---- which of them are awake ----

static rp_result wake_cell(solve *s, int collider, const double x[3])
{
    rp_samples *k = s->keep;
    const rp_collider *c = &s->collider[collider];
    double own[3];
    int64_t at[3] = {0};
    int32_t number;
    to_own(c, x, own);
    for (int a = 0; a < s->grid->layout.dim; a++) {
        at[a] = (int64_t)floor(own[a] / s->grid->layout.h + 0.5);
    }
    for (int a = 0; a < 3; a++) {
        if (at[a] < -FARTHEST || at[a] > FARTHEST) {
            return rp_fail(RP_ERR_UNSUPPORTED,
                           "explicit.contact_at: want particles within %d dx of the origin of "
                           "collider '%s' with \"surface\", got one at %lld dx",
                           FARTHEST, c->name, (long long)at[a]);
        }
    }
    wrap_cell(s, c, at);
    RP_TRY(find_cell(s, cell_key(collider, at), &number));
    if (cells(k)[number].woken != k->turn) {
        cells(k)[number].woken = k->turn;
        RP_TRY(make_room(s, &k->woken, s->woken, 1, sizeof(int32_t)));
        ((int32_t *)k->woken.data)[s->woken++] = number;
    }
    return RP_OK;
}

static rp_result wake_particle(solve *s, const rp_set *set, const rp_page *page, rp_local slot,
                               int collider)
{
    const rp_layout *l = &s->grid->layout;
    double x[3] = {0}, n[3], mass, volume;
    for (int a = 0; a < l->dim; a++) {
        x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
    }
    const double phi = rp_collider_look(&s->collider[collider], x, n);
    if (phi < -RP_BEHIND_DEEP * l->h) {
        return RP_OK;
    }
    rp_set_measure(set, page, slot, &mass, &volume);
    const double half = 0.5 * (l->dim == 3 ? cbrt(volume) : sqrt(volume));
    if (phi > half + RP_BEHIND_WAKE * l->h) {
        return RP_OK;
    }
    for (int a = 0; a < l->dim; a++) {
        x[a] -= phi * n[a];
    }
    return wake_cell(s, collider, x);
}

static rp_result wake_page(solve *s, const rp_set *set, const rp_page *page)
{
    const rp_layout *l = &s->grid->layout;
    int32_t block[3];
    memcpy(block, page->block, sizeof block);
    const int32_t nodes = find_page(s->grid, block);
    if (nodes < 0 || s->behind[nodes] < 0) {
        return RP_OK;
    }
    const rp_behind_block *near = rp_behind_block_at(&s->keep->behind, s->behind[nodes]);
    const rp_wake *wake = (const rp_wake *)s->keep->behind.wake.data + near->wake_first;
    uint64_t any[4] = {0};
    for (int i = 0; i < near->wakes; i++) {
        for (int w = 0; w < 4; w++) {
            any[w] |= wake[i].cell[w];
        }
    }
    for (rp_local slot = page->first; slot < page->first + page->count && near->wakes > 0; slot++) {
        int32_t n = 0;
        bool within = true;
        for (int a = 0; a < l->dim; a++) {
            const int32_t in = rp_set_cell(set, slot, a);
            within = within && in >= 0 && in < l->cells[a];
            n = n * l->cells[a] + in;
        }
        if ((within && (any[n / 64] >> n % 64 & 1) == 0) ||
            *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) == RP_GROUP_DEAD) {
            continue;
        }
        for (int i = 0; i < near->wakes; i++) {
            if (!within || (wake[i].cell[n / 64] >> n % 64 & 1) != 0) {
                RP_TRY(wake_particle(s, set, page, slot, wake[i].collider));
            }
        }
    }
    return RP_OK;
}

// Cells around those that particles touch.
static rp_result wake(solve *s, const rp_set *set, int sets)
{
    rp_samples *k = s->keep;
    for (int i = 0; i < sets; i++) {
        for (rp_local p = 0; p < set[i].pages && rp_set_has_mass(&set[i]); p++) {
            RP_TRY(wake_page(s, &set[i], &rp_set_page(&set[i])[p]));
        }
    }
    for (int32_t i = 0; i < s->woken; i++) {
        const int32_t number = ((int32_t *)k->woken.data)[i];
        if (cells(k)[number].arounds < 0) {
            RP_TRY(find_around(s, number));
        }
        RP_TRY(make_room(s, &k->awake, s->awake, 27, sizeof(int32_t)));
        for (int j = 0; j < cells(k)[number].arounds; j++) {
            const int32_t other = cells(k)[number].around[j];
            if (cells(k)[other].awake != k->turn) {
                cells(k)[other].awake = k->turn;
                ((int32_t *)k->awake.data)[s->awake++] = other;
            }
        }
    }
    return RP_OK;
}

// ---- samples ----

static void weights(int order, double x, int32_t *base, double w[4])
{
    *base = (int32_t)floor(x - 0.5 * (order - 1));
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

// The nodes of a place that can feel it, and the splines there.
static rp_result gather_stencil(solve *s, const double x[3], int32_t number[STENCIL_MOST],
                                double weight[STENCIL_MOST], int *count)
{
    const rp_layout *l = &s->grid->layout;
    const int width = l->order + 1;
    int32_t base[3] = {0}, block[3] = {0};
    double w[3][4] = {{1.0}, {1.0}, {1.0}};
    for (int a = 0; a < l->dim; a++) {
        weights(l->order, x[a] / l->h, &base[a], w[a]);
        block[a] =
            base[a] >= 0 ? base[a] / l->cells[a] : -((l->cells[a] - 1 - base[a]) / l->cells[a]);
        base[a] -= block[a] * l->cells[a];
    }
    // the page of the lowest node, or of any other
    int32_t page = -1, corner = 0;
    for (; page < 0 && corner < (l->dim == 3 ? 8 : 4); corner++) {
        int32_t near[3];
        for (int a = 0; a < 3; a++) {
            near[a] = block[a] + (corner >> a & 1);
        }
        page = find_page(s->grid, near);
    }
    *count = 0;
    if (page < 0) {
        return RP_OK;
    }
    corner--;
    for (int a = 0; a < 3; a++) {
        base[a] -= (corner >> a & 1) * l->cells[a];
    }
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < width; j++) {
            for (int k = 0; k < (l->dim == 3 ? width : 1); k++) {
                const int32_t in[3] = {base[0] + i, base[1] + j, base[2] + k};
                const int64_t node = node_from(s, page, in);
                int32_t at;
                if (node < 0) {
                    continue;
                }
                load_page(s, (int32_t)(node / l->nodes));
                at = s->at[node];
                if (at < 0) { // a slave without mass, or any free node
                    rp_behind_node *behind = behind_node(s, node);
                    if (behind == NULL && !(mass_at(s, node) > 0.0)) {
                        continue;
                    }
                    RP_TRY(enter(s, node, &at));
                    if (behind != NULL && !(rest(s)[at].mass > 0.0)) {
                        const int32_t from = s->slaves;
                        RP_TRY(enslave(s, behind, at));
                        spare_masters(s, from);
                    }
                }
                if (rest(s)[at].slave >= 0 || (rest(s)[at].mass > 0.0 && rest(s)[at].held < 0)) {
                    number[*count] = at;
                    weight[(*count)++] = w[0][i] * w[1][j] * w[2][k];
                }
            }
        }
    }
    return RP_OK;
}

static void add_term(solve *s, sample *q, int32_t number, double weight)
{
    node_rest *r = &rest(s)[number];
    if (r->seen != s->samples) {
        r->seen = s->samples;
        r->at = s->terms++;
        terms(s)[r->at] = (term){.node = number};
        q->count++;
    }
    terms(s)[r->at].weight += weight;
}

// The row of a place: N_i there, through slaves to free nodes, docs/theory.md (W3). What light
// nodes say fades, so that nothing jumps when a grain reaches one.
static rp_result make_row(solve *s, sample *q)
{
    int32_t number[STENCIL_MOST];
    double weight[STENCIL_MOST], heaviest = 0.0, found = 0.0;
    int count;
    RP_TRY(gather_stencil(s, q->x, number, weight, &count));
    RP_TRY(make_room(s, &s->keep->term, s->terms, (int64_t)2 * STENCIL_MOST, sizeof(term)));
    const node_rest *r = rest(s);
    double mass[STENCIL_MOST];
    for (int i = 0; i < count; i++) {
        mass[i] = r[number[i]].mass;
        if (r[number[i]].slave >= 0) {
            const slave *own = &slaves(s)[r[number[i]].slave];
            mass[i] = fmin(r[own->a].mass, r[own->b].mass);
        }
        heaviest = fmax(heaviest, mass[i]);
    }
    for (int i = 0; i < count; i++) {
        weight[i] *= fmin(1.0, mass[i] / (LIGHT * heaviest));
        found += weight[i];
    }
    q->first = s->terms;
    q->count = 0;
    if (!(found > HELD)) {
        return RP_OK;
    }
    for (int i = 0; i < count; i++) {
        const double w = weight[i] / found;
        if (r[number[i]].slave >= 0) {
            const slave *own = &slaves(s)[r[number[i]].slave];
            add_term(s, q, own->a, w * (1.0 + own->k));
            add_term(s, q, own->b, -w * own->k);
        } else {
            add_term(s, q, number[i], w);
        }
    }
    double light = 0.0;
    for (int32_t i = q->first; i < s->terms; i++) {
        term *t = &terms(s)[i];
        t->share = t->weight / r[t->node].folded;
        light += t->weight * t->share;
    }
    q->mass = 1.0 / light;
    return RP_OK;
}

static void give(const solve *s, const sample *q, const double more[3])
{
    node_hot *h = hot(s);
    const term *row = terms(s) + q->first;
    const quad p = {more[0], more[1], more[2], 0.0};
    for (int i = 0; i < q->count; i++) {
        h[row[i].node].all += row[i].share * p;
    }
}

static void stay_within(const sample *q, double impulse[3])
{
    for (int i = 0; i < q->ways; i++) {
        const double along = dot(impulse, q->way[i]) * (1.0 - q->kept[i]);
        for (int a = 0; a < 3; a++) {
            impulse[a] -= along * q->way[i][a];
        }
    }
}

// A sample begins with the force of the last step, or less of it where less mass is than was.
static void begin_with(const solve *s, sample *q, const face *f)
{
    if (f->turn != s->keep->turn) {
        return;
    }
    const rp_warm *old = (const rp_warm *)s->keep->warm.data + f->warm;
    const double kept = old->mass > 0.0 ? fmin(1.0, q->mass / old->mass) : 0.0;
    for (int a = 0; a < 3; a++) {
        q->impulse[a] = kept * s->dt * old->force[a];
    }
    stay_within(q, q->impulse);
    give(s, q, q->impulse);
}

// Part of what a sample does along a way is left to another collider.
// @return false: it has nothing to do
static bool leave(sample *q, rp_contact contact, const double to[3], double kept)
{
    double way[3] = {to[0], to[1], to[2]};
    for (int i = 0; i < q->ways; i++) {
        const double along = dot(way, q->way[i]);
        for (int a = 0; a < 3; a++) {
            way[a] -= along * q->way[i][a];
        }
    }
    const double length = sqrt(dot(way, way));
    if (length < 0.1 * sqrt(dot(to, to))) {
        return true; // left already
    }
    if (q->ways == 2) {
        return false;
    }
    double *own = q->way[q->ways];
    q->kept[q->ways++] = kept;
    for (int a = 0; a < 3; a++) {
        own[a] = way[a] / length;
    }
    if (kept > 0.0) {
        return true;
    }
    const double across = dot(q->normal, own), rest = sqrt(fmax(0.0, 1.0 - across * across));
    for (int a = 0; a < 3; a++) {
        q->normal[a] = rest < 0.1 ? 0.0 : (q->normal[a] - across * own[a]) / rest;
    }
    return rest >= 0.1 || contact == RP_STICKY; // others do nothing without a push
}

// Where colliders meet that go different ways, samples of both would ask for different velocities
// of the same nodes, and no impulse is large enough for that, docs/theory.md (W5).
// @return false: the sample is none
static bool meet_others(const solve *s, sample *q)
{
    const double h = s->grid->layout.h;
    const rp_collider *own = &s->collider[q->collider];
    for (int c = 0; c < s->colliders; c++) {
        const rp_collider *other = &s->collider[c];
        double n[3], velocity[3], way[3];
        if (c == q->collider || !(own->moves || other->moves)) {
            continue;
        }
        const double phi = rp_collider_look(other, q->x, n);
        if (phi > AROUND * h) {
            continue;
        }
        if (phi < -(HIDDEN + 1e-9) * h) {
            return false;
        }
        velocity_at(s, c, q->x, velocity);
        for (int a = 0; a < 3; a++) {
            way[a] = velocity[a] - q->velocity[a];
        }
        const double same2 =
            SAME * SAME * (dot(velocity, velocity) + dot(q->velocity, q->velocity));
        const bool apart = dot(way, way) > same2;
        const bool yields = apart && gives_way(q->velocity, q->collider, velocity, c);
        if (apart && !yields && phi < FLAT * h && dot(q->normal, n) < OPPOSED) {
            return false; // nothing is between both
        }
        for (int a = 0; a < s->grid->layout.dim && phi < 0.0 && !yields; a++) {
            q->x[a] -= phi * n[a];
        }
        const double far = phi / h - CLOSE;
        const double kept = far > 0.0 ? far / (far + SOFT * (AROUND - CLOSE - far)) : 0.0;
        if (yields && !leave(q, own->contact, way, kept)) {
            return false;
        }
    }
    return true;
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

// The impulse that stops a sample as far as its law goes, beside the one that it has.
static void stop(const solve *s, const sample *q, double impulse[3])
{
    const node_hot *h = hot(s);
    const term *row = terms(s) + q->first;
    quad v = {-q->velocity[0], -q->velocity[1], -q->velocity[2], 0.0};
    for (int i = 0; i < q->count; i++) {
        v += row[i].weight * h[row[i].node].all;
    }
    for (int a = 0; a < 3; a++) {
        impulse[a] = q->impulse[a] - v[a] * q->mass;
    }
    stay_within(q, impulse);
    admit(&s->collider[q->collider], q->normal, impulse);
}

// How much a sample has to do, before any has an impulse.
static void want(solve *s, const sample *q)
{
    double impulse[3];
    stop(s, q, impulse);
    s->wanted += dot(impulse, impulse) / q->mass;
    s->mass += q->mass;
}

static rp_result make_samples(solve *s)
{
    rp_samples *k = s->keep;
    bool moving = false;
    for (int c = 0; c < s->colliders; c++) {
        moving = moving || s->collider[c].moves;
    }
    for (int32_t i = 0; i < s->awake; i++) {
        const surface_cell *cell = &cells(k)[((int32_t *)k->awake.data)[i]];
        int collider;
        int64_t at[3];
        key_cell(cell->key, &collider, at);
        const rp_collider *c = &s->collider[collider];
        for (int32_t f = cell->first; f < cell->first + cell->count; f++) {
            const face *own = &faces(k)[f];
            sample q = {.face = f, .collider = collider};
            to_world(c, own->x, q.x);
            memcpy(q.normal, own->normal, sizeof q.normal);
            if (c->moves) {
                rp_rotate(c->begin.rotation, own->normal, q.normal);
                rp_collider_velocity(c, q.x, s->dt, q.velocity);
            }
            if (moving && !meet_others(s, &q)) {
                continue;
            }
            RP_TRY(make_row(s, &q));
            if (q.count == 0) {
                continue;
            }
            want(s, &q);
            RP_TRY(make_room(s, &k->sample, s->samples, 1, sizeof(sample)));
            samples(s)[s->samples++] = q;
        }
    }
    for (int32_t i = 0; i < s->samples; i++) {
        sample *q = &samples(s)[i];
        begin_with(s, q, &faces(k)[q->face]);
    }
    return RP_OK;
}

// Let a sample have what it should, with all others as they are.
// @return the square of how much its velocity changed
static double settle_sample(const solve *s, sample *q)
{
    double impulse[3], more[3];
    stop(s, q, impulse);
    for (int a = 0; a < 3; a++) {
        more[a] = impulse[a] - q->impulse[a];
        q->impulse[a] = impulse[a];
    }
    give(s, q, more);
    return dot(more, more) / (q->mass * q->mass);
}

// What a sweep did, mass times velocity squared.
typedef struct sweep {
    double change, all, fastest2;
} sweep;

static bool is_small(double change, double of_all, double part)
{
    return change <= part * part * of_all;
}

// One sweep over all samples, there or back.
static void sweep_once(const solve *s, bool back, sweep *out)
{
    *out = (sweep){0};
    for (int32_t i = 0; i < s->samples; i++) {
        sample *q = &samples(s)[back ? s->samples - 1 - i : i];
        const double changed2 = settle_sample(s, q);
        out->fastest2 = fmax(out->fastest2, changed2);
        out->change += changed2 * q->mass;
        out->all += dot(q->impulse, q->impulse) / q->mass;
    }
}

// What two sweeps did to impulses is a step downhill; the next one goes on in a direction that is
// conjugate to those before, as far as impulses were free to go there.
// @param before of the two sweeps before, mass times velocity squared. @return the same of these
static double hurry(const solve *s, double before)
{
    double done = 0.0;
    for (int32_t i = 0; i < s->samples; i++) {
        const sample *q = &samples(s)[i];
        for (int a = 0; a < 3; a++) {
            const double d = q->impulse[a] - q->from[a];
            done += d * d / q->mass;
        }
    }
    const double part = done < before ? done / before : 0.0;
    for (int32_t i = 0; i < s->samples; i++) {
        sample *q = &samples(s)[i];
        double more[3];
        for (int a = 0; a < 3; a++) {
            const double d = q->impulse[a] - q->from[a];
            more[a] = part * q->along[a];
            q->impulse[a] += more[a];
            q->along[a] = more[a] + d;
            q->from[a] = q->impulse[a];
        }
        if (part > 0.0) {
            give(s, q, more);
        }
    }
    return done;
}

// Projected Gauss-Seidel, there and back, docs/theory.md (W4). It ends when velocities of samples
// change by no more than a small part of what walls change, in the mean and each. What walls change
// is no more than what samples want: impulses that work against each other do not count.
static void sweep_all(const solve *s, rp_sample_report *report)
{
    enum { SLOW = 4, PATIENCE = 12 };
    const double least = NOTHING * s->grid->layout.h / s->dt;
    double before = 0.0, past[SLOW] = {0};
    *report = (rp_sample_report){.settled = s->samples == 0};
    for (int32_t i = 0; i < s->samples; i++) {
        memcpy(samples(s)[i].from, samples(s)[i].impulse, sizeof samples(s)[i].from);
    }
    while (!report->settled && report->sweeps < RP_SAMPLE_SWEEPS) {
        sweep now;
        sweep_once(s, report->sweeps % 2 != 0, &now);
        const double changed = fmin(now.all, s->wanted) + s->mass * least * least;
        report->sweeps++;
        const double least_done =
            report->sweeps > PATIENCE ? 0.5 * past[report->sweeps % SLOW] : INFINITY;
        const double part = now.change > least_done ? LOOSE : 1.0;
        past[report->sweeps % SLOW] = now.change;
        report->settled = is_small(now.change, changed, part * ENOUGH) &&
                          is_small(now.fastest2 * s->mass, changed, part * ENOUGH_OF_ONE);
        report->unsettled = sqrt(now.change / s->mass);
        report->share = sqrt(now.change / changed);
        if (!report->settled && report->sweeps % 2 == 0) {
            before = hurry(s, before);
        }
    }
}

static void hold_all(const solve *s, rp_body *body)
{
    node_hot *h = hot(s);
    for (int32_t i = 0; i < s->nodes; i++) {
        const node_rest *r = &rest(s)[i];
        double x[3], velocity[3], lost[3];
        if (r->held < 0) {
            continue;
        }
        place_of(s, r->node, x);
        velocity_at(s, r->held, x, velocity);
        for (int a = 0; a < 3; a++) {
            lost[a] = a < s->grid->layout.dim ? r->mass * (h[i].u[a] - velocity[a]) : 0.0;
            h[i].u[a] = velocity[a];
        }
        rp_body_push(&body[r->held], x, lost);
    }
}

static void write_back(const solve *s)
{
    const rp_layout *l = &s->grid->layout;
    const node_hot *h = hot(s);
    void *out = s->grid->node[RP_CH_MOMENTUM].data;
    for (int32_t i = 0; i < s->nodes; i++) {
        const node_rest *r = &rest(s)[i];
        for (int a = 0; a < l->dim && r->mass > 0.0; a++) {
            double u = h[i].u[a];
            if (r->slave >= 0) {
                const slave *q = &slaves(s)[r->slave];
                u = (1.0 + q->k) * h[q->a].u[a] - q->k * h[q->b].u[a];
            }
            if (l->precision == RP_SINGLE) {
                ((float *)out)[r->node * RP_QUAD + a] = (float)u;
            } else {
                ((double *)out)[r->node * RP_QUAD + a] = u;
            }
        }
    }
}

// Let faces know what they had in the last step.
static rp_result recall(const solve *s)
{
    rp_samples *k = s->keep;
    const rp_warm *old = k->warm.data;
    for (rp_local i = 0; i < k->warms; i++) {
        int32_t number;
        if (old[i].key >> 3 * AXIS_BITS >= (uint64_t)s->colliders) {
            continue; // of a damaged state
        }
        RP_TRY(find_cell(s, old[i].key, &number));
        const surface_cell *cell = &cells(k)[number];
        for (int32_t f = cell->first; f < cell->first + cell->count; f++) {
            if (faces(k)[f].place == old[i].place) {
                faces(k)[f].warm = i;
                faces(k)[f].turn = k->turn;
            }
        }
    }
    return RP_OK;
}

static rp_result remember(const solve *s, rp_body *body)
{
    rp_samples *k = s->keep;
    k->warms = 0;
    RP_TRY(make_room(s, &k->warm, 0, s->samples + 1, sizeof(rp_warm)));
    for (int32_t i = 0; i < s->samples; i++) {
        const sample *q = &samples(s)[i];
        const double lost[3] = {-q->impulse[0], -q->impulse[1], -q->impulse[2]};
        rp_warm warm = {.place = faces(k)[q->face].place, .mass = q->mass};
        for (int a = 0; a < 3; a++) {
            warm.force[a] = q->impulse[a] / s->dt;
        }
        rp_body_push(&body[q->collider], q->x, lost);
        ((rp_warm *)k->warm.data)[i] = warm;
    }
    // keys, cell by cell
    int32_t at = 0;
    for (int32_t i = 0; i < s->awake; i++) {
        const surface_cell *cell = &cells(k)[((int32_t *)k->awake.data)[i]];
        for (; at < s->samples && samples(s)[at].face >= cell->first &&
               samples(s)[at].face < cell->first + cell->count;
             at++) {
            ((rp_warm *)k->warm.data)[at].key = cell->key;
        }
    }
    k->warms = (rp_local)s->samples;
    return RP_OK;
}

static rp_result get_ready(solve *s, rp_scratch *scratch)
{
    rp_samples *k = s->keep;
    const size_t pages = (size_t)s->grid->pages, nodes = (size_t)s->grid->layout.nodes;
    s->behind = rp_scratch_get(scratch, pages * sizeof *s->behind, "walls of pages");
    s->at = rp_scratch_get(scratch, pages * nodes * sizeof *s->at, "nodes at walls");
    s->near = rp_scratch_get(scratch, pages * sizeof *s->near, "pages around walls");
    s->loaded = rp_scratch_get(scratch, pages * sizeof *s->loaded, "pages around walls");
    if (s->behind == NULL || s->at == NULL || s->near == NULL || s->loaded == NULL) {
        return RP_ERR_MEMORY;
    }
    memset(s->loaded, 0, pages * sizeof *s->loaded);
    // cells that nobody touches any more are forgotten when they are many
    if (k->colliders != s->colliders || k->table_size == 0 || k->cells > 64 * (k->warms + 1024)) {
        k->cells = k->faces = 0;
        RP_TRY(resize_table(s, 1024));
        k->colliders = s->colliders;
    }
    k->turn++;
    return rp_behind_find(&k->behind, s->collider, s->colliders, s->grid, s->behind);
}

rp_result rp_samples_solve(rp_samples *keep, const rp_collider *collider, int colliders,
                           const rp_grid *grid, const rp_set *set, int sets, double dt,
                           rp_body *body, rp_scratch *scratch, rp_sample_report *report)
{
    solve s = {.keep = keep, .collider = collider, .colliders = colliders, .grid = grid, .dt = dt};
    s.page = rp_grid_page(grid);
    RP_ASSERT(colliders < 1 << (64 - 3 * AXIS_BITS));
    RP_TRY(get_ready(&s, scratch));
    RP_TRY(recall(&s));
    RP_TRY(find_slaves(&s));
    fold(&s);
    RP_TRY(wake(&s, set, sets));
    RP_TRY(make_samples(&s));
    sweep_all(&s, report);
    RP_TRY(remember(&s, body));
    hold_all(&s, body);
    write_back(&s);
    return RP_OK;
}

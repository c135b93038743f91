#include "collide/behind.h"

#include "base/hash.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOTHING = -2, FREE = -1 }; // in the table

typedef struct block_slot {
    uint64_t key;
    int32_t block; // FREE; NOTHING: nothing is near it
} block_slot;

void rp_behind_free(rp_behind *behind, const rp_allocator *a)
{
    rp_buffer_free(&behind->table, a);
    rp_buffer_free(&behind->block, a);
    rp_buffer_free(&behind->node, a);
    rp_buffer_free(&behind->wake, a);
    rp_buffer_free(&behind->near, a);
}

static block_slot *slot_at(const rp_behind *b, uint64_t key)
{
    block_slot *table = b->table.data;
    size_t i = (size_t)rp_mix64(key) & (b->table_size - 1);
    while (table[i].block != FREE && table[i].key != key) {
        i = (i + 1) & (b->table_size - 1);
    }
    return &table[i];
}

static rp_result forget_all(rp_behind *b, const rp_grid *grid)
{
    size_t size = 64;
    while (size < 8 * (size_t)grid->pages) {
        size *= 2;
    }
    b->blocks = b->nodes = b->wakes = b->nears = b->known = 0;
    memset(b->kept, 0, sizeof b->kept);
    b->table_size = 0;
    RP_TRY(rp_buffer_reserve(&b->table, grid->allocator, size * sizeof(block_slot), 0,
                             "blocks near walls"));
    b->table_size = size;
    for (size_t i = 0; i < size; i++) {
        ((block_slot *)b->table.data)[i].block = FREE;
    }
    return RP_OK;
}

static rp_result make_room(rp_buffer *buffer, const rp_grid *grid, int32_t used, int32_t more,
                           size_t size)
{
    const size_t wanted = ((size_t)used + (size_t)more) * size;
    return wanted <= buffer->bytes
               ? RP_OK
               : rp_buffer_reserve(buffer, grid->allocator, wanted + wanted / 2,
                                   (size_t)used * size, "what lies behind walls");
}

typedef struct look {
    const rp_collider *collider;
    const uint16_t *list; // of colliders near the block
    int count;
    double h;
    int dim;
} look;

static bool is_deep(double phi, const double n[3], double h)
{
    const double most = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
    return phi < -(RP_BEHIND_CUT * most + 1e-9) * h;
}

// What is known of a place among colliders.
typedef struct place {
    bool behind, slit;
    double out[3]; // of all that it is behind of
    int sides;     // of slits that it may lie in
    double phi[8], side[8][3];
} place;

// Colliders one after the other: a place is behind those that it is deep in, and between two that
// leave no room for sand between them.
static void add_side(place *p, double phi, const double n[3], double h)
{
    bool behind = is_deep(phi, n, h);
    if (phi < RP_BEHIND_ROOM * h && p->sides < 8) {
        for (int i = 0; i < p->sides; i++) {
            const double *other = p->side[i];
            const double turned = n[0] * other[0] + n[1] * other[1] + n[2] * other[2];
            p->slit =
                p->slit || (turned < RP_BEHIND_OPPOSED && phi + p->phi[i] < RP_BEHIND_ROOM * h);
        }
        p->phi[p->sides] = phi;
        memcpy(p->side[p->sides++], n, 3 * sizeof *n);
    }
    p->behind = p->behind || p->slit || behind;
    for (int a = 0; a < 3 && behind; a++) {
        p->out[a] += n[a];
    }
}

static bool is_free(const look *k, const double x[3], const int way[3], int steps)
{
    double at[3], n[3];
    place p = {.behind = false};
    for (int a = 0; a < 3; a++) {
        at[a] = x[a] + k->h * steps * way[a];
    }
    for (int i = 0; i < k->count && !p.behind; i++) {
        const double phi = rp_collider_look(&k->collider[k->list[i]], at, n);
        add_side(&p, phi, n, k->h);
    }
    return !p.behind;
}

// The lines of a node that lead out to two free ones, docs/theory.md (W1).
// @param back also those that do not
static void find_lines(const look *k, const double x[3], const double out[3], bool back,
                       rp_behind_node *node)
{
    const int farthest = back ? 1 : RP_LINE_FARTHEST;
    node->lines = 0;
    for (int e = 0; e < 27; e++) {
        const int way[3] = {e / 9 - 1, e / 3 % 3 - 1, e % 3 - 1};
        const int axes = abs(way[0]) + abs(way[1]) + abs(way[2]);
        const double along = way[0] * out[0] + way[1] * out[1] + way[2] * out[2];
        int steps = 1;
        if ((k->dim == 2 && way[2] != 0) || axes == 0 || (along <= 0.0 && !back)) {
            continue;
        }
        while (steps <= farthest && !is_free(k, x, way, steps)) {
            steps++;
        }
        if (steps > farthest || !is_free(k, x, way, steps + 1)) {
            continue;
        }
        const float cost = (float)(steps * (0.4 + 0.6 * axes) - 0.5 * along);
        int at = node->lines < RP_LINES_MOST ? node->lines++ : RP_LINES_MOST;
        for (; at > 0 && node->line[at - 1].cost > cost; at--) {
            if (at < RP_LINES_MOST) {
                node->line[at] = node->line[at - 1];
            }
        }
        if (at < RP_LINES_MOST) {
            for (int a = 0; a < 3; a++) {
                node->line[at].way[a] = (int8_t)way[a];
            }
            node->line[at].k = (int8_t)steps;
            node->line[at].cost = cost;
        }
    }
}

void rp_behind_look(const rp_behind *b, const rp_collider *collider, const rp_layout *layout,
                    const rp_behind_block *block, const int32_t at[3], rp_behind_node *node)
{
    const look k = {.collider = collider,
                    .list = (const uint16_t *)b->near.data + block->near_first,
                    .count = block->nears,
                    .h = layout->h,
                    .dim = layout->dim};
    double x[3];
    rp_layout_node(layout, at, node->node, x);
    find_lines(&k, x, node->out, false, node);
    if (node->lines == 0) { // in a slit, or where the way out leads into the next wall
        find_lines(&k, x, node->out, true, node);
    }
}

// What a place is to all colliders near a block: nodes behind them, and where particles touch them.
static rp_result add_nodes(rp_behind *b, const look *k, const rp_grid *grid, const int32_t block[3])
{
    const rp_layout *l = &grid->layout;
    const double half = 0.5 * sqrt(k->dim) * l->h; // of a cell, to its corner
    const double to_cell = (l->shift + 0.5) * sqrt(k->dim) * l->h;
    // grains may be as wide as a cell
    const double most = half + (0.5 + RP_BEHIND_WAKE) * l->h, least = -half - RP_BEHIND_DEEP * l->h;
    RP_TRY(make_room(&b->node, grid, b->nodes, l->nodes, sizeof(rp_behind_node)));
    RP_TRY(make_room(&b->wake, grid, b->wakes, k->count, sizeof(rp_wake)));
    rp_wake *wake = (rp_wake *)b->wake.data + b->wakes;
    for (int i = 0; i < k->count; i++) {
        wake[i] = (rp_wake){.collider = k->list[i]};
    }
    for (int n = 0; n < l->nodes; n++) {
        rp_behind_node node = {.node = (int16_t)n, .lines = -1};
        place at = {.behind = false};
        double x[3], middle[3], normal[3];
        rp_layout_node(l, block, n, x);
        for (int a = 0; a < 3; a++) {
            middle[a] = x[a] + (a < l->dim ? (l->shift + 0.5) * l->h : 0.0);
        }
        for (int i = 0; i < k->count; i++) {
            const rp_collider *c = &k->collider[k->list[i]];
            const double phi = rp_collider_look(c, x, normal);
            add_side(&at, phi, normal, l->h);
            if (phi < most + to_cell && phi > least - to_cell) {
                const double there = rp_collider_look(c, middle, normal);
                wake[i].cell[n / 64] |= (uint64_t)(there < most && there > least) << n % 64;
            }
        }
        if (at.behind) {
            memcpy(node.out, at.out, sizeof node.out);
            node.slit = at.slit;
            ((rp_behind_node *)b->node.data)[b->nodes++] = node;
        }
    }
    int kept = 0;
    for (int i = 0; i < k->count; i++) {
        const uint64_t *cell = wake[i].cell;
        if ((cell[0] | cell[1] | cell[2] | cell[3]) != 0) {
            wake[kept++] = wake[i];
        }
    }
    b->wakes += kept;
    return RP_OK;
}

// Colliders that reach nodes and particles of a block, and the free nodes that speak for them.
// @return does one of them move?
static bool list_near(const rp_collider *collider, int colliders, const rp_grid *grid,
                      const int32_t block[3], uint16_t *list, int *count)
{
    double middle[3];
    const double reach = rp_layout_page_ball(&grid->layout, block, middle) +
                         (RP_LINE_FARTHEST + 2) * sqrt(grid->layout.dim) * grid->layout.h;
    bool moves = false;
    *count = 0;
    for (int c = 0; c < colliders; c++) {
        if (rp_collider_distance(&collider[c], middle) < reach) {
            list[(*count)++] = (uint16_t)c;
            moves = moves || collider[c].moves;
        }
    }
    return moves;
}

static rp_result add_block(rp_behind *b, const look *k, const rp_grid *grid, rp_local page,
                           int32_t *number)
{
    const rp_node_page *at = &rp_grid_page(grid)[page];
    rp_behind_block block = {.key = at->key,
                             .first = b->nodes,
                             .wake_first = b->wakes,
                             .near_first = b->nears,
                             .nears = k->count};
    *number = NOTHING;
    if (k->count == 0) {
        return RP_OK;
    }
    RP_TRY(make_room(&b->block, grid, b->blocks, 1, sizeof block));
    RP_TRY(add_nodes(b, k, grid, at->block));
    block.count = b->nodes - block.first;
    block.wakes = b->wakes - block.wake_first;
    if (block.count > 0 || block.wakes > 0) {
        b->nears += k->count;
        *number = b->blocks++;
        ((rp_behind_block *)b->block.data)[*number] = block;
    }
    return RP_OK;
}

static rp_result find_blocks(rp_behind *b, const rp_collider *collider, int colliders,
                             const rp_grid *grid, int32_t *of)
{
    look k = {.collider = collider, .h = grid->layout.h, .dim = grid->layout.dim};
    bool any = false;
    for (int c = 0; c < colliders; c++) {
        any = any || collider[c].moves;
    }
    for (int turn = 0; turn < (any ? 2 : 1); turn++) { // first what stays
        for (rp_local p = 0; p < grid->pages; p++) {
            const rp_node_page *page = &rp_grid_page(grid)[p];
            RP_TRY(make_room(&b->near, grid, b->nears, colliders, sizeof(uint16_t)));
            uint16_t *list = (uint16_t *)b->near.data + b->nears;
            k.list = list;
            const bool moves =
                any && list_near(collider, colliders, grid, page->block, list, &k.count);
            if (moves != (turn == 1)) {
                continue;
            }
            if (moves) {
                RP_TRY(add_block(b, &k, grid, p, &of[p]));
                continue;
            }
            block_slot *slot = slot_at(b, page->key);
            if (slot->block == FREE) {
                int32_t number;
                list_near(collider, colliders, grid, page->block, list, &k.count);
                RP_TRY(add_block(b, &k, grid, p, &number));
                *slot = (block_slot){page->key, number};
                b->known++;
            }
            of[p] = slot->block;
        }
        if (turn == 0) {
            b->kept[0] = b->blocks;
            b->kept[1] = b->nodes;
            b->kept[2] = b->wakes;
            b->kept[3] = b->nears;
        }
    }
    return RP_OK;
}

rp_result rp_behind_find(rp_behind *b, const rp_collider *collider, int colliders,
                         const rp_grid *grid, int32_t *of)
{
    b->blocks = b->kept[0];
    b->nodes = b->kept[1];
    b->wakes = b->kept[2];
    b->nears = b->kept[3];
    if (b->colliders != colliders || b->table_size < 2 * ((size_t)b->known + (size_t)grid->pages)) {
        RP_TRY(forget_all(b, grid));
        b->colliders = colliders;
    }
    const rp_result result = find_blocks(b, collider, colliders, grid, of);
    if (result != RP_OK) {
        b->table_size = 0; // what was promised is not there
    }
    return result;
}

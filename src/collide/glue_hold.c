// Which nodes glue holds, and what hangs together there moving as one.
#include "collide/glue_set.h"

#include "base/result.h"
#include "base/threads.h"

// How far glue holds nodes beyond those that it reaches by its own stencil [cells]. Particles of
// glue are half a cell apart, so that a node whose stencil a cut just grazes would be left out.
static const double MARGIN = 0.5;

static int64_t pairs_of(int64_t n) { return n * (n - 1) / 2; }

static int64_t pair_number(int pages, int b, int d)
{
    return pairs_of(pages) - pairs_of(pages - b) + d - b - 1;
}

static void box_page(void *ctx, int64_t index, int thread)
{
    (void)thread;
    const rp_glue *g = ctx;
    const rp_set *set = g->set;
    const rp_layout *l = &set->layout;
    const rp_page *page = &rp_set_page(set)[index];
    const double reach = 0.5 * (l->order + 1) + MARGIN;
    enum { LAST = 8 }; // several lie in a cell: one of them holds what all do
    struct glue_box all = {.low = {INT16_MAX, INT16_MAX, INT16_MAX},
                           .high = {INT16_MIN, INT16_MIN, INT16_MIN},
                           .partner = -1};
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        struct glue_box box = {.partner = -1};
        double x[3];
        all.soft |= softens(set, slot);
        if (!holds(set, slot)) {
            continue;
        }
        read_place(set, slot, x);
        box.partner = all.partner = partner_of(set, slot);
        for (int a = 0; a < l->dim; a++) {
            const double at = fmin(fmax(x[a], -100.0), 100.0); // a runaway is told elsewhere
            box.low[a] = (int16_t)ceil(at - reach);
            box.high[a] = (int16_t)floor(at + reach);
        }
        bool again = false;
        for (int i = all.boxes > LAST ? all.boxes - LAST : 0; i < all.boxes && !again; i++) {
            again = memcmp(&g->box[page->first + i], &box, sizeof box) == 0;
        }
        if (again) {
            continue;
        }
        g->box[page->first + all.boxes++] = box;
        for (int a = 0; a < 3; a++) {
            all.low[a] = box.low[a] < all.low[a] ? box.low[a] : all.low[a];
            all.high[a] = box.high[a] > all.high[a] ? box.high[a] : all.high[a];
        }
    }
    g->pages[index] = all;
}

rp_result rp_glue_begin(rp_glue *g, const rp_grid *grid, rp_set *set, const rp_glue_rule *rule,
                        double dt, double least, int threads, rp_scratch *scratch)
{
    static const char what[] = "nodes that glue holds";
    *g = (rp_glue){.grid = grid, .set = set, .rule = rule, .dt = dt, .least = least};
    rp_local most = 2;
    for (rp_local b = 0; b < grid->blocks; b++) {
        const rp_local count = rp_grid_block(grid)[b].count;
        most = count > most ? count : most;
    }
    g->room = rp_scratch_get(scratch, (size_t)threads * sizeof *g->room, what);
    for (int t = 0; t < threads && g->room != NULL; t++) {
        struct glue_room *room = &g->room[t];
        const size_t pairs = (size_t)pairs_of(most);
        room->bond = rp_scratch_get(scratch, pairs * sizeof *room->bond, what);
        room->some = rp_scratch_get(scratch, pairs * sizeof *room->some, what);
        room->root = rp_scratch_get(scratch, (size_t)most * sizeof *room->root, what);
        room->here = rp_scratch_get(scratch, (size_t)most * sizeof *room->here, what);
        room->unit = rp_scratch_get(scratch, (size_t)most * sizeof *room->unit, what);
        if (room->bond == NULL || room->some == NULL || room->root == NULL || room->here == NULL ||
            room->unit == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    g->box = rp_scratch_get(scratch, (size_t)(set->slots + 1) * sizeof *g->box, what);
    g->pages = rp_scratch_get(scratch, (size_t)(set->pages + 1) * sizeof *g->pages, what);
    if (g->room == NULL || g->box == NULL || g->pages == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(threads, set->pages, 8, box_page, g);
    return RP_OK;
}

// What of a box, moved by `away` nodes, lies in a block. @return false: nothing
static bool clip_box(const rp_layout *l, const struct glue_box *box, const int away[3], int low[3],
                     int high[3])
{
    bool any = box->partner >= 0;
    for (int a = 0; a < 3; a++) {
        const int first = box->low[a] + away[a], last = box->high[a] + away[a];
        low[a] = first > 0 ? first : 0;
        high[a] = last < l->cells[a] - 1 ? last : l->cells[a] - 1;
        any = any && low[a] <= high[a];
    }
    return any;
}

// A row of nodes lies within one word.
static void add_bond(const rp_layout *l, const int low[3], const int high[3],
                     uint64_t bond[RP_GLUE_WORDS])
{
    const uint64_t row = (1ull << (high[2] - low[2] + 1)) - 1;
    for (int i = low[0]; i <= high[0]; i++) {
        for (int j = low[1]; j <= high[1]; j++) {
            const int n = (i * l->cells[1] + j) * l->cells[2] + low[2];
            bond[n / 64] |= row << n % 64;
        }
    }
}

bool rp_glue_bind(const rp_glue *g, rp_local b, int thread)
{
    const rp_grid *grid = g->grid;
    const rp_layout *l = &grid->layout;
    const rp_node_block *block = &rp_grid_block(grid)[b];
    const int32_t *at = rp_grid_page(grid)[block->first].block;
    struct glue_room *room = &g->room[thread];
    const size_t pairs = (size_t)pairs_of(block->count);
    const rp_page *page = rp_set_page(g->set);
    bool any = false;
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        if (!neighbour(l, at, n, offset, &key)) {
            continue;
        }
        const int away[3] = {offset[0] * l->cells[0], offset[1] * l->cells[1],
                             offset[2] * l->cells[2]};
        int low[3], high[3];
        for (rp_local p = find_block(g->set, key); p < g->set->pages && page[p].key == key; p++) {
            if (!clip_box(l, &g->pages[p], away, low, high)) {
                continue;
            }
            const int own = page_of_field(grid, block, page[p].field);
            int partner = -1, other = -1; // the last one asked for
            for (int i = 0; i < g->pages[p].boxes && own >= 0; i++) {
                const struct glue_box *box = &g->box[page[p].first + i];
                if (!clip_box(l, box, away, low, high)) {
                    continue;
                }
                if (box->partner != partner) {
                    partner = box->partner;
                    other = page_of_field(grid, block, partner);
                }
                if (other < 0) {
                    continue;
                }
                if (!any) {
                    memset(room->bond, 0, pairs * sizeof *room->bond);
                    memset(room->some, 0, pairs * sizeof *room->some);
                    any = true;
                }
                const int64_t number = pair_number(block->count, own, other);
                add_bond(l, low, high, room->bond[number]);
                room->some[number] = true;
            }
        }
    }
    return any;
}

static int root_of(const int *root, int page)
{
    while (root[page] != page) {
        page = root[page];
    }
    return page;
}

int rp_glue_units(const rp_glue *g, rp_local b, int thread, int node, const int *here, int pages,
                  int *unit)
{
    const struct glue_room *room = &g->room[thread];
    const int all = rp_grid_block(g->grid)[b].count;
    int *root = room->root;
    for (int i = 0; i < pages; i++) {
        root[i] = i;
    }
    for (int i = 0; i < pages; i++) {
        for (int k = i + 1; k < pages; k++) {
            const int64_t number = pair_number(all, here[i], here[k]);
            if (room->some[number] && (room->bond[number][node / 64] >> node % 64 & 1)) {
                const int one = root_of(root, i), other = root_of(root, k);
                root[one > other ? one : other] = one < other ? one : other;
            }
        }
    }
    int units = 0;
    for (int i = 0; i < pages; i++) {
        unit[i] = root[i] == i ? units++ : unit[root_of(root, i)];
    }
    return units;
}

// Pages of a unit get their common velocity; where there is one from before the forces (FLIP), that
// too, since what counts there is the change.
static void merge_unit(const rp_glue *g, const rp_node_block *block, int n, const int *here,
                       const int *unit, int pages, int which)
{
    static const int channels[] = {RP_CH_MOMENTUM, RP_CH_IMPULSE};
    const rp_layout *l = &g->grid->layout;
    double mass = 0.0, momentum[2][3] = {{0}};
    int count = 0;
    for (int i = 0; i < pages; i++) {
        if (unit[i] != which) {
            continue;
        }
        const void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, block->first + here[i]);
        const double m = node_real(l, q, n * RP_QUAD + 3);
        mass += m;
        count++;
        for (int c = 0; c < 2 && rp_grid_has(g->grid, channels[c]); c++) {
            const void *v = rp_grid_nodes(g->grid, channels[c], block->first + here[i]);
            for (int a = 0; a < l->dim; a++) {
                momentum[c][a] += m * node_real(l, v, n * RP_QUAD + a);
            }
        }
    }
    for (int i = 0; i < pages && count > 1; i++) {
        for (int c = 0; c < 2 && unit[i] == which && rp_grid_has(g->grid, channels[c]); c++) {
            void *v = rp_grid_nodes(g->grid, channels[c], block->first + here[i]);
            for (int a = 0; a < l->dim; a++) {
                put_node_real(l, v, n * RP_QUAD + a, momentum[c][a] / mass);
            }
        }
    }
}

void rp_glue_merge(const rp_glue *g, rp_local b, int thread, uint64_t (*mask)[RP_GLUE_WORDS],
                   uint64_t shared[RP_GLUE_WORDS])
{
    const rp_node_block *block = &rp_grid_block(g->grid)[b];
    const struct glue_room *room = &g->room[thread];
    uint64_t held[RP_GLUE_WORDS] = {0};
    for (int64_t k = 0; k < pairs_of(block->count); k++) {
        for (int w = 0; w < RP_GLUE_WORDS && room->some[k]; w++) {
            held[w] |= room->bond[k][w];
        }
    }
    for (int w = 0; w < RP_GLUE_WORDS; w++) {
        for (uint64_t bits = shared[w] & held[w]; bits != 0; bits &= bits - 1) {
            const int n = 64 * w + __builtin_ctzll(bits);
            int pages = 0;
            for (int p = 0; p < block->count; p++) {
                if (mask[p][w] >> n % 64 & 1) {
                    room->here[pages++] = p;
                }
            }
            const int units = rp_glue_units(g, b, thread, n, room->here, pages, room->unit);
            for (int u = 0; u < units && units < pages; u++) {
                merge_unit(g, block, n, room->here, room->unit, pages, u);
            }
            if (units == 1) {
                shared[w] &= ~(1ull << n % 64);
            }
        }
    }
}

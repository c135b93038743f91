// Ranks that live in one process and exchange through the seams (core/exchange.h) only.
#include "base/result.h"
#include "core/exchange.h"
#include "core/nodes.h"

#include "check.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 5 };

static void must(rp_result result)
{
    if (result != RP_OK) {
        printf("no world for ranks: %s\n", rp_last_error());
        abort();
    }
}

// ---- reduce ----

typedef struct reduced {
    double most[RANKS_MOST][2], sum[RANKS_MOST];
    int64_t count[RANKS_MOST];
    rp_result result[RANKS_MOST];
    char sentence[RANKS_MOST][64];
    int shared[RANKS_MOST];
} reduced;

// Numbers whose sum depends on the order: page k has 1e16, 1, -1e16 or 3 by turns.
static double number_of_page(int k)
{
    static const double turn[] = {1e16, 1.0, -1e16, 3.0, 0.1};
    return turn[k % 5];
}

enum { PAGES = 23 };

static void reduce_something(rp_comm *comm, void *context)
{
    reduced *out = context;
    const int r = comm->rank;
    out->most[r][0] = r == 1 ? 7.0 : -1.0;
    out->most[r][1] = -INFINITY;
    must(rp_reduce_max(comm, out->most[r], 2));
    out->count[r] = 1 + r;
    must(rp_reduce_add(comm, &out->count[r], 1));
    // pages are dealt out, and come in any order of ranks
    rp_sum sum = {
        .comm = comm, .allocator = rp_default_allocator(), .numbers = 1, .context = &out->sum[r]};
    for (int k = 0; k < PAGES; k++) {
        if (k * 7 % comm->size == r) {
            const double number = number_of_page(k);
            rp_sum_put(&sum, 1000 + (uint64_t)k / 2, (uint16_t)(k % 2), 0, &number);
        }
    }
    must(rp_sum_end(&sum));
    // the lowest of those that fail is heard
    out->shared[r] = 100 + r;
    const rp_result own = r == 0 ? RP_OK : rp_fail(RP_ERR_LIMIT, "rank %d has had enough", r);
    out->result[r] = rp_agree(comm, own, &out->shared[r], sizeof out->shared[r]);
    snprintf(out->sentence[r], sizeof out->sentence[r], "%s", rp_last_error());
}

static void what_ranks_reduce_is_what_one_would(void)
{
    double whole = 0.0;
    for (int k = 0; k < PAGES; k++) {
        whole += number_of_page(k);
    }
    for (int size = 2; size <= RANKS_MOST; size += 3) {
        reduced out = {0};
        team_run(size, reduce_something, &out);
        for (int r = 0; r < size; r++) {
            CHECK(out.most[r][0] == 7.0 && out.most[r][1] == -INFINITY);
            CHECK_EQUAL(out.count[r], size * (size + 1) / 2);
            CHECK(out.sum[r] == whole);
            CHECK_EQUAL(out.result[r], RP_ERR_LIMIT);
            CHECK(strcmp(out.sentence[r], "rank 1 has had enough") == 0);
            CHECK_EQUAL(out.shared[r], 101);
        }
    }
}

// ---- nodes that several ranks hold ----

enum { NODE_PAGES_MOST = 64, OWN_COMPS = 3 };

typedef struct nodes {
    rp_local pages;
    uint64_t key[NODE_PAGES_MOST];
    float value[NODE_PAGES_MOST][2]; // of the first and the last number of a page
    double dot;
    rp_result numbered;
} nodes;

// What a page has in a channel, on a rank that has it to itself.
static float own_number(uint64_t key, int i) { return (float)(key % 1000) + 0.37f * (float)i; }

static void copy_nodes(rp_comm *comm, void *context)
{
    nodes *out = (nodes *)context + (comm != NULL ? comm->rank : 0);
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.1;
    const rp_layout layout = rp_layout_make(&def);
    const rp_allocator *a = rp_default_allocator();
    const rp_channel channel[RP_CHANNEL_LIMIT] = {
        [RP_CH_MOMENTUM] = {"momentum", RP_QUAD, RP_FROM_ALL_WITH_MASS},
        [RP_CH_OWN] = {"pressure", OWN_COMPS, NULL}};
    rp_set set;
    rp_grid grid;
    rp_buffer scratch = {0};
    uint16_t group;
    must(rp_set_init(&set, &layout, 1u << RP_COL_VELOCITY, a));
    rp_grid_init(&grid, &layout, channel, a);
    rp_grid_let_scatter(&grid, 0, "solid", true);
    set.comm = grid.comm = comm;
    must(rp_set_add_group(&set, &(rp_group){.volume = 1.0, .mass = 1.0}, &group));
    must(rp_set_reserve_births(&set, 0, 400));
    for (int i = 0; i < 400; i++) {
        rp_set_birth_value(&set, RP_COL_POSITION, i, 0, 0.2 * (i % 20));
        rp_set_birth_value(&set, RP_COL_POSITION, i, 1, 0.2 * (i / 20));
    }
    rp_set_end_births(&set, 400, group);
    must(rp_set_sort(&set, &scratch, 1));
    must(rp_grid_build(&grid, &set, 1));
    const int numbers = layout.nodes * OWN_COMPS;
    for (rp_local p = 0; p < grid.pages; p++) {
        float *to = rp_grid_nodes(&grid, RP_CH_OWN, p);
        for (int i = 0; i < numbers; i++) {
            to[i] = own_number(rp_grid_page(&grid)[p].key, i) +
                    1000.0f * (float)(comm != NULL ? comm->rank : 0);
        }
    }
    must(rp_halo_copy(&grid, RP_CH_OWN));
    out->pages = grid.pages;
    for (rp_local p = 0; p < grid.pages; p++) {
        float *to = rp_grid_nodes(&grid, RP_CH_OWN, p);
        out->key[p] = rp_grid_page(&grid)[p].key;
        out->value[p][0] = to[0];
        out->value[p][1] = to[numbers - 1];
        for (int i = 0; i < numbers; i++) {
            to[i] = own_number(out->key[p], i) * 1e-3f;
        }
    }
    double partial[NODE_PAGES_MOST];
    rp_node_numbers number = {0};
    out->dot = rp_nodes_dot(&grid, RP_CH_OWN, RP_CH_OWN, OWN_COMPS, 2, partial);
    out->numbered = rp_nodes_number(&number, &grid, 0.0);
    rp_node_numbers_free(&number, a);
    rp_buffer_free(&scratch, a);
    rp_grid_free(&grid);
    rp_set_free(&set);
}

static int lowest_with(const nodes *n, int size, uint64_t key)
{
    for (int r = 0; r < size; r++) {
        for (rp_local p = 0; p < n[r].pages; p++) {
            if (n[r].key[p] == key) {
                return r;
            }
        }
    }
    return -1;
}

static void shared_nodes_become_those_of_the_lowest_rank(void)
{
    static nodes whole, part[RANKS_MOST];
    copy_nodes(NULL, &whole);
    CHECK(whole.pages > 9 && whole.pages <= NODE_PAGES_MOST);
    CHECK_OK(whole.numbered);
    for (int size = 2; size <= RANKS_MOST; size += 3) {
        team_run(size, copy_nodes, part);
        rp_local held = 0;
        for (int r = 0; r < size; r++) {
            held += part[r].pages;
            CHECK(part[r].dot == whole.dot);
            CHECK_EQUAL(part[r].numbered, RP_ERR_UNSUPPORTED);
            for (rp_local p = 0; p < part[r].pages; p++) {
                const float rank = 1000.0f * (float)lowest_with(part, size, part[r].key[p]);
                CHECK(part[r].value[p][0] == own_number(part[r].key[p], 0) + rank);
                CHECK(part[r].value[p][1] == own_number(part[r].key[p], 64 * OWN_COMPS - 1) + rank);
            }
        }
        CHECK(held > whole.pages); // some are shared
    }
}

TEST_MAIN(TEST(what_ranks_reduce_is_what_one_would),
          TEST(shared_nodes_become_those_of_the_lowest_rank))

#include "core/layout.h"

#include "check.h"
#include "random.h"

#include <string.h>

static rp_layout layout_of(int dim, int order, int px, int py, int pz)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.order = order;
    def.dx = 0.1;
    def.period[0] = px;
    def.period[1] = py;
    def.period[2] = pz;
    return rp_layout_make(&def);
}

// The Morton code, bit by bit: x is the highest of each three.
static uint64_t slow_key(const int32_t block[3])
{
    uint64_t key = 0;
    for (int bit = 0; bit < 21; bit++) {
        for (int a = 0; a < 3; a++) {
            const uint64_t moved = (uint64_t)((int64_t)block[a] + RP_BLOCK_LIMIT);
            key |= (moved >> bit & 1) << (3 * bit + 2 - a);
        }
    }
    return key;
}

// ---- keys ----

// Catches a wrong constant in the bit spreading, which shows only for some coordinates.
static void keys_are_the_morton_code(void)
{
    static const int32_t edge[] = {
        -RP_BLOCK_LIMIT,    -RP_BLOCK_LIMIT + 1, -2, -1, 0, 1, 2, 255, 256,
        RP_BLOCK_LIMIT - 2, RP_BLOCK_LIMIT - 1};
    enum { EDGES = sizeof edge / sizeof edge[0] };
    for (int i = 0; i < EDGES * EDGES * EDGES; i++) {
        const int32_t block[3] = {edge[i / (EDGES * EDGES)], edge[i / EDGES % EDGES],
                                  edge[i % EDGES]};
        check_context("block %d %d %d", block[0], block[1], block[2]);
        CHECK(rp_block_key(block) == slow_key(block));
    }
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        int32_t block[3];
        for (int a = 0; a < 3; a++) {
            block[a] = test_below(&random, 2 * RP_BLOCK_LIMIT) - RP_BLOCK_LIMIT;
        }
        check_context("block %d %d %d", block[0], block[1], block[2]);
        CHECK(rp_block_key(block) == slow_key(block));
    }
}

static void block_of_key(uint64_t key, int32_t block[3])
{
    for (int a = 0; a < 3; a++) {
        int64_t moved = 0;
        for (int bit = 0; bit < 21; bit++) {
            moved |= (int64_t)(key >> (3 * bit + 2 - a) & 1) << bit;
        }
        block[a] = (int32_t)(moved - RP_BLOCK_LIMIT);
    }
}

// Catches two blocks with one key: their particles would share a page.
static void a_key_gives_its_block_back(void)
{
    uint64_t random = 2;
    for (int i = 0; i < 100000; i++) {
        int32_t block[3], back[3];
        for (int a = 0; a < 3; a++) {
            block[a] = test_below(&random, 2 * RP_BLOCK_LIMIT) - RP_BLOCK_LIMIT;
        }
        block_of_key(rp_block_key(block), back);
        check_context("block %d %d %d", block[0], block[1], block[2]);
        CHECK(memcmp(block, back, sizeof block) == 0);
    }
}

// Catches an offset that is lost at zero: blocks below the origin would come after those above it.
static void keys_grow_along_every_axis(void)
{
    for (int a = 0; a < 3; a++) {
        int32_t block[3] = {3, -7, 11};
        block[a] = -RP_BLOCK_LIMIT;
        uint64_t before = rp_block_key(block);
        for (int32_t x = -RP_BLOCK_LIMIT + 1; x<RP_BLOCK_LIMIT; x += x> - 50 && x < 50 ? 1 : 997) {
            block[a] = x;
            const uint64_t key = rp_block_key(block);
            check_context("axis %d, %d", a, x);
            CHECK(key > before);
            before = key;
        }
    }
}

// Catches an order that does not follow the curve: the eight blocks of an even cube are neighbours
// in memory.
static void eight_blocks_of_an_even_cube_follow_each_other(void)
{
    const int32_t first[3] = {-4, 6, 0};
    const uint64_t key = rp_block_key(first);
    for (int n = 0; n < 8; n++) {
        const int32_t block[3] = {first[0] + (n >> 2 & 1), first[1] + (n >> 1 & 1),
                                  first[2] + (n & 1)};
        CHECK(rp_block_key(block) == key + (uint64_t)n);
    }
}

// ---- periodic axes ----

// Catches the remainder of a negative number: -1 must become the last block.
static void blocks_wrap_into_the_period_from_both_sides(void)
{
    const rp_layout l = layout_of(3, 2, 24, 8, 0);
    CHECK_EQUAL(l.period[0], 3);
    CHECK_EQUAL(l.period[1], 1);
    CHECK_EQUAL(l.period[2], 0);
    for (int32_t x = -9; x <= 9; x++) {
        int32_t block[3] = {x, x, x};
        rp_block_wrap(&l, block);
        check_context("block %d", x);
        CHECK_EQUAL(block[0], ((x % 3) + 3) % 3);
        CHECK_EQUAL(block[1], 0);
        CHECK_EQUAL(block[2], x);
        int32_t again[3] = {block[0], block[1], block[2]};
        rp_block_wrap(&l, again);
        CHECK(memcmp(block, again, sizeof block) == 0);
    }
}

// Catches a period read where there is none: a 2D world has no third axis to wrap.
static void a_flat_world_ignores_the_third_period(void)
{
    const rp_layout l = layout_of(2, 2, 0, 16, 4);
    int32_t block[3] = {-5, -5, 0};
    rp_block_wrap(&l, block);
    CHECK_EQUAL(l.period[2], 0);
    CHECK_EQUAL(block[0], -5);
    CHECK_EQUAL(block[1], 1);
    CHECK_EQUAL(block[2], 0);
}

// ---- neighbours ----

// Catches a neighbour that is listed twice, and an opposite that is not.
static void the_opposite_neighbour_has_the_opposite_number(void)
{
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t there[3], back[3];
        rp_near_offset(n, there);
        rp_near_offset(RP_NEAR - 1 - n, back);
        check_context("neighbour %d", n);
        for (int a = 0; a < 3; a++) {
            CHECK(there[a] >= -1 && there[a] <= 1);
            CHECK_EQUAL(there[a], -back[a]);
        }
        CHECK_EQUAL((there[0] + 1) * 9 + (there[1] + 1) * 3 + there[2] + 1, n);
    }
    int32_t self[3];
    rp_near_offset(RP_NEAR_SELF, self);
    CHECK(self[0] == 0 && self[1] == 0 && self[2] == 0);
}

// ---- sizes ----

// Catches an arena without room for a particle that moved a whole cell: for every order the lowest
// and the highest node that a particle within one cell of its block reaches must lie inside.
static void an_arena_holds_every_node_that_its_page_can_reach(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int order = 1; order <= 3; order++) {
            const rp_layout l = layout_of(dim, order, 0, 0, 0);
            check_context("%dD, order %d", dim, order);
            CHECK_EQUAL(l.dim, dim);
            CHECK_EQUAL(l.order, order);
            CHECK_NEAR(l.h, 0.1, 0.0);
            CHECK_NEAR(l.shift, 0.5 * (order - 1), 0.0);
            int nodes = 1, arena = 1;
            for (int a = 0; a < 3; a++) {
                nodes *= l.cells[a];
                arena *= l.arena[a];
                CHECK_EQUAL(l.cells[a], a < 2 ? 8 : dim == 3 ? 4 : 1);
                // base cells -1 to cells (one too far either way), and order more nodes
                CHECK(a >= dim || l.arena[a] >= l.cells[a] + 2 + order);
                // neighbours are one block away at most: the overhang may not be wider than a block
                CHECK(a >= dim || l.arena[a] - 1 - l.cells[a] <= l.cells[a]);
                CHECK(a < dim || l.arena[a] == 1);
            }
            CHECK_EQUAL(l.nodes, nodes);
            CHECK_EQUAL(l.arena_nodes, arena);
        }
    }
}

// Catches a block that a whole number of tiles or a key cannot hold.
static void limits_fit_together(void)
{
    // a key has 21 bits an axis
    CHECK_EQUAL(2 * (int64_t)RP_BLOCK_LIMIT, 1 << 21);
    // fixed point reaches two blocks and a runaway step beyond the own block
    CHECK(INT32_MAX / (1 << RP_FIXED_BITS) >= 3 * 8 + 4);
    // a coordinate in cells fits an int32
    CHECK(RP_BLOCK_LIMIT * 8ll < INT32_MAX);
}

TEST_MAIN(TEST(keys_are_the_morton_code), TEST(a_key_gives_its_block_back),
          TEST(keys_grow_along_every_axis), TEST(eight_blocks_of_an_even_cube_follow_each_other),
          TEST(blocks_wrap_into_the_period_from_both_sides),
          TEST(a_flat_world_ignores_the_third_period),
          TEST(the_opposite_neighbour_has_the_opposite_number),
          TEST(an_arena_holds_every_node_that_its_page_can_reach), TEST(limits_fit_together))

// Tests src/core/nodes.c: numbers of active nodes and sums over nodes.
#include "core/nodes.h"

#include "check.h"
#include "random.h"
#include "test_set.h"

#include <stdlib.h>
#include <string.h>

enum { GRAINS = 200 };

// Grains in a cloud of several pages, scattered.
static void make_cloud(test_bed *bed, const rp_kernels *k)
{
    test_bed_def def = test_default_bed(k, 0.1);
    def.channels = 2;
    test_particle grain[GRAINS];
    uint64_t random = 5;
    memset(grain, 0, sizeof grain);
    for (int i = 0; i < GRAINS; i++) {
        for (int a = 0; a < k->dim; a++) {
            grain[i].x[a] = test_between(&random, -1.5, 1.5);
            grain[i].v[a] = test_between(&random, -1.0, 1.0);
        }
    }
    test_bed_init(bed, &def);
    test_bed_add(bed, 0, grain, GRAINS);
    test_bed_sort(bed);
    test_bed_p2g(bed, 1);
}

// Catches a number that is left out, given twice or out of order, and a node without mass that has
// one.
static void heavy_nodes_are_numbered_in_order(void)
{
    for (int i = 0; i < rp_kernels_count(); i++) {
        const rp_kernels *k = rp_kernels_at(i);
        if (k->isa != RP_ISA_PLAIN) {
            continue;
        }
        test_bed bed;
        CHECK_HELPER(make_cloud(&bed, k));
        rp_node_numbers numbers = {0};
        CHECK_OK(rp_nodes_number(&numbers, &bed.grid, 0.0));
        uint32_t next = 0;
        rp_local light = 0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            const uint32_t *number = rp_nodes_numbers(&numbers, &bed.grid, p);
            const void *node = rp_grid_nodes(&bed.grid, RP_CH_MOMENTUM, p);
            for (int n = 0; n < bed.layout.nodes; n++) {
                const bool heavy = test_bed_get(&bed, node, RP_QUAD * n + 3) > 0.0;
                CHECK_EQUAL(number[n], heavy ? next : RP_NO_NUMBER);
                next += heavy;
                light += !heavy;
            }
        }
        CHECK_EQUAL(numbers.count, next);
        CHECK(next > GRAINS && light > 0);
        rp_node_numbers_free(&numbers, rp_default_allocator());
        test_bed_free(&bed);
    }
}

// Catches a sum that depends on who computed it, and one that takes the mass for a component.
static void a_dot_product_has_one_order(void)
{
    for (int i = 0; i < rp_kernels_count(); i++) {
        const rp_kernels *k = rp_kernels_at(i);
        if (k->isa != RP_ISA_PLAIN) {
            continue;
        }
        test_bed bed;
        CHECK_HELPER(make_cloud(&bed, k));
        const rp_grid *grid = &bed.grid;
        double *partial = malloc((size_t)grid->pages * sizeof *partial);
        double slow = 0.0;
        for (rp_local p = 0; p < grid->pages; p++) {
            for (int n = 0; n < bed.layout.nodes; n++) {
                for (int a = 0; a < k->dim; a++) {
                    slow += test_bed_get(&bed, rp_grid_nodes(grid, 0, p), RP_QUAD * n + a) *
                            test_bed_get(&bed, rp_grid_nodes(grid, 0, p), RP_QUAD * n + a);
                }
            }
        }
        const double once = rp_nodes_dot(grid, 0, 0, k->dim, 1, partial);
        CHECK(slow > 0.0);
        CHECK_NEAR(once, slow, 1e-13 * slow);
        for (int threads = 2; threads <= 5; threads++) {
            CHECK(rp_nodes_dot(grid, 0, 0, k->dim, threads, partial) == once);
        }
        free(partial);
        test_bed_free(&bed);
    }
}

TEST_MAIN(TEST(heavy_nodes_are_numbered_in_order), TEST(a_dot_product_has_one_order))

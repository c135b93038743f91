// Tests src/core/grid.c against the slow obvious way: look at every block around every page.
#include "core/grid.h"

#include "check.h"
#include "failing_allocator.h"
#include "random.h"
#include "test_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 2, FIELDS = 2 };

typedef struct fixture {
    failing_allocator fa;
    rp_set set[SETS];
    rp_buffer scratch;
    rp_grid grid;
    uint64_t random;
} fixture;

static void start(fixture *f, int dim, const int period[3], int channels)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.dx = 0.1;
    def.order = 2;
    memcpy(def.period, period, sizeof def.period);
    const rp_layout l = rp_layout_make(&def);
    failing_allocator_init(&f->fa, -1);
    f->scratch = (rp_buffer){0};
    f->random = 17;
    rp_channel channel[RP_CHANNEL_LIMIT];
    test_channels(channel, channels);
    // one of the solver's own, and one that only the second set scatters into
    channel[RP_CH_OWN] = (rp_channel){"own", 1, NULL};
    channel[RP_CH_OWN + 1] = (rp_channel){"stress", 6, "second"};
    rp_grid_init(&f->grid, &l, channel, &f->fa.allocator);
    for (int s = 0; s < SETS; s++) {
        CHECK_OK(rp_set_init(&f->set[s], &l, 1u << RP_COL_VELOCITY, &f->fa.allocator));
        rp_grid_let_scatter(&f->grid, s, s == 1 ? "second" : "first", true);
        for (int g = 0; g < FIELDS; g++) {
            const rp_group group = {.field = (uint16_t)g, .volume = 1.0, .mass = 1.0};
            uint16_t index;
            CHECK_OK(rp_set_add_group(&f->set[s], &group, &index));
        }
    }
}

static void finish(fixture *f)
{
    for (int s = 0; s < SETS; s++) {
        rp_set_free(&f->set[s]);
    }
    rp_grid_free(&f->grid);
    rp_buffer_free(&f->scratch, &f->fa.allocator);
    failing_allocator_finish(&f->fa);
}

// Random particles in a box of cells, sorted into pages.
static void scatter_particles(fixture *f, rp_set *set, int count, double corner, double size)
{
    CHECK_OK(rp_set_reserve_births(set, 0, count));
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < set->layout.dim; a++) {
            rp_set_birth_value(set, RP_COL_POSITION, set->inbox.count + i, a,
                               set->layout.h * (corner + size * test_uniform(&f->random)));
        }
        rp_set_birth_value(set, RP_COL_GROUP, set->inbox.count + i, 0,
                           test_below(&f->random, FIELDS));
    }
    set->inbox.count += count;
    CHECK_OK(rp_set_sort(set, &f->scratch, 1));
}

// ---- the slow way ----

static bool neighbour(const rp_layout *l, const int32_t block[3], int n, int32_t out[3])
{
    const int32_t offset[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
    for (int a = 0; a < 3; a++) {
        out[a] = block[a] + offset[a];
        if (a < l->dim && l->period[a] > 0) {
            out[a] = (out[a] + 2 * l->period[a]) % l->period[a];
        }
    }
    return l->dim == 3 || offset[2] == 0;
}

// Does a particle of the page get into the block at place n around it, one cell from where it is?
// Sides are looked at one axis at a time: what one particle reaches along x and another along y
// counts.
static bool reached_by_any(const rp_set *set, const rp_page *page, int n)
{
    const rp_layout *l = &set->layout;
    const int32_t offset[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
    bool all = true;
    for (int a = 0; a < l->dim; a++) {
        bool any = false;
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const double x = rp_set_value(set, RP_COL_POSITION, slot, a, page) / l->h - l->shift -
                             (double)page->block[a] * l->cells[a];
            for (int node = (int)floor(x) - 1; node <= (int)floor(x) + 1 + l->order; node++) {
                const int at = node < 0 ? -1 : node >= l->cells[a] ? 1 : 0;
                any = any || at == offset[a];
            }
        }
        all = all && (any || offset[a] == 0);
    }
    return all;
}

static int64_t find_node_page(const rp_grid *grid, const int32_t block[3], int field)
{
    int64_t found = -1;
    for (rp_local q = 0; q < grid->pages; q++) {
        const rp_node_page *page = &rp_grid_page(grid)[q];
        if (memcmp(page->block, block, sizeof page->block) == 0 && page->field == field) {
            found = found == -1 ? q : -2; // twice is as wrong as not at all
        }
    }
    return found;
}

// Every node page that a particle can reach is there, once and in key order, and none else.
static void check_node_pages(const fixture *f, int sets)
{
    const rp_grid *grid = &f->grid;
    char *reached = calloc((size_t)grid->pages + 1, 1);
    for (rp_local q = 1; q < grid->pages; q++) {
        const rp_node_page *a = &rp_grid_page(grid)[q - 1], *b = a + 1;
        CHECK(a->key < b->key || (a->key == b->key && a->field < b->field));
    }
    for (int s = 0; s < sets; s++) {
        for (rp_local p = 0; p < f->set[s].pages; p++) {
            const rp_page *page = &rp_set_page(&f->set[s])[p];
            for (int n = 0; n < RP_NEAR; n++) {
                int32_t block[3];
                check_context("set %d, page %d, neighbour %d", s, p, n);
                if (!neighbour(&grid->layout, page->block, n, block)) {
                    CHECK_EQUAL(page->near[n], RP_NO_PAGE);
                    continue;
                }
                const int64_t q = find_node_page(grid, block, page->field);
                if (!reached_by_any(&f->set[s], page, n)) {
                    CHECK_EQUAL(page->near[n], RP_NO_PAGE);
                    continue;
                }
                CHECK(q >= 0);
                CHECK_EQUAL(page->near[n], q);
                CHECK(rp_grid_page(grid)[q].key == rp_block_key(block));
                reached[q] = 1;
            }
        }
    }
    for (rp_local q = 0; q < grid->pages; q++) {
        check_context("node page %d", q);
        CHECK(reached[q]);
    }
    check_context("%s", "");
    free(reached);
}

// Rows of a node page that particles reach, one cell from where they are: from the first to the
// last.
static void check_rows(const fixture *f, int sets)
{
    const rp_layout *l = &f->grid.layout;
    for (rp_local q = 0; q < f->grid.pages; q++) {
        const rp_node_page *to = &rp_grid_page(&f->grid)[q];
        check_context("node page %d", q);
        for (int a = 0; a < l->dim - 1; a++) {
            int lo = l->cells[a], hi = 0;
            for (int s = 0; s < sets; s++) {
                for (int i = 0; i < f->set[s].pages * RP_NEAR; i++) {
                    const rp_page *page = &rp_set_page(&f->set[s])[i / RP_NEAR];
                    const int n = i % RP_NEAR;
                    const int32_t offset[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
                    if (page->near[n] != (uint32_t)q) {
                        continue;
                    }
                    for (rp_local k = page->first; k < page->first + page->count; k++) {
                        const double x =
                            rp_set_value(&f->set[s], RP_COL_POSITION, k, a, page) / l->h -
                            l->shift - (double)(page->block[a] + offset[a]) * l->cells[a];
                        const int first = (int)floor(x) - 1, last = first + 2 + l->order;
                        if (last >= 0 && first < l->cells[a]) {
                            lo = first < lo ? first : lo;
                            hi = last + 1 > hi ? last + 1 : hi;
                        }
                    }
                }
            }
            CHECK_EQUAL(to->lo[a], lo > 0 ? lo : 0);
            CHECK_EQUAL(to->hi[a], hi < l->cells[a] ? hi : l->cells[a]);
        }
        CHECK_EQUAL(to->clean, 0);
    }
    check_context("%s", "");
}

// near[] of particle pages and source[] of node pages say the same, in both directions.
static void check_links(const fixture *f, int sets)
{
    const rp_grid *grid = &f->grid;
    for (int s = 0; s < sets; s++) {
        int64_t there = 0, back = 0;
        for (rp_local p = 0; p < f->set[s].pages; p++) {
            const rp_page *page = &rp_set_page(&f->set[s])[p];
            for (int n = 0; n < RP_NEAR; n++) {
                if (page->near[n] != RP_NO_PAGE) {
                    // from there this page is the other way
                    const uint32_t *source = rp_grid_source(grid, s, (rp_local)page->near[n]);
                    check_context("set %d, page %d, neighbour %d", s, p, n);
                    CHECK_EQUAL(source[RP_NEAR - 1 - n], p);
                    there++;
                }
            }
        }
        for (rp_local q = 0; q < grid->pages; q++) {
            const uint32_t *source = rp_grid_source(grid, s, q);
            for (int n = 0; n < RP_NEAR; n++) {
                if (source[n] != RP_NO_PAGE) {
                    check_context("set %d, node page %d, source %d", s, q, n);
                    CHECK(source[n] < (uint32_t)f->set[s].pages);
                    const rp_page *page = &rp_set_page(&f->set[s])[source[n]];
                    CHECK_EQUAL(page->near[RP_NEAR - 1 - n], q);
                    CHECK_EQUAL(page->field, rp_grid_page(grid)[q].field);
                    back++;
                }
            }
        }
        CHECK_EQUAL(there, back);
    }
    check_context("%s", "");
}

// Nodes and arenas have memory behind them: written to their ends, for a sanitizer to see.
static void check_room(const fixture *f, int sets)
{
    const rp_grid *grid = &f->grid;
    const rp_layout *l = &grid->layout;
    const size_t real = (size_t)rp_real_bytes(l);
    size_t all = 0;
    for (int c = 0; c < RP_CHANNEL_LIMIT && grid->pages > 0; c++) {
        const size_t comps = (size_t)grid->channel[c].comps,
                     nodes = (size_t)l->nodes * comps * real;
        all += nodes * (size_t)grid->pages;
        if (comps == 0) {
            continue;
        }
        const char *last = rp_grid_nodes(grid, c, grid->pages - 1);
        CHECK((size_t)(last - (char *)grid->node[c].data) + nodes <= grid->node[c].bytes);
        for (rp_local q = 0; q < grid->pages; q++) {
            memset(rp_grid_nodes(grid, c, q), 1, nodes);
        }
    }
    CHECK(rp_grid_bytes(grid) >= all);
    // arenas, each a number of its own that the others leave alone
    for (int pass = 0; pass < 2; pass++) {
        for (int s = 0; s < sets; s++) {
            for (rp_local p = 0; p < f->set[s].pages; p++) {
                const rp_page *page = &rp_set_page(&f->set[s])[p];
                for (int c = 0; c < RP_CHANNEL_LIMIT; c++) {
                    if (!(grid->scatters[s] >> c & 1)) {
                        continue;
                    }
                    const size_t comps = (size_t)grid->channel[c].comps;
                    const size_t bytes = rp_page_arena_nodes(l, page) * comps * real;
                    const size_t plane = (size_t)(l->arena[1] * l->arena[2]) * comps * real;
                    unsigned char *first = (unsigned char *)rp_grid_arena(grid, s, page, c) +
                                           page->reach_lo[0] * plane;
                    const int mark = (p + 7 * c + 31 * s) % 251;
                    for (size_t i = 0; i < bytes && pass == 1; i++) {
                        CHECK(first[i] == mark);
                    }
                    memset(first, mark, bytes);
                }
            }
        }
    }
}

// Runs of pages of one block, all of them.
static void check_blocks(const rp_grid *grid)
{
    rp_local next = 0;
    for (rp_local b = 0; b < grid->blocks; b++) {
        const rp_node_block *block = &rp_grid_block(grid)[b];
        CHECK_EQUAL(block->first, next);
        CHECK(block->count > 0);
        next += block->count;
        for (rp_local i = block->first; i < next; i++) {
            CHECK(rp_grid_page(grid)[i].key == rp_grid_page(grid)[block->first].key);
        }
        CHECK(next == grid->pages ||
              rp_grid_page(grid)[next].key != rp_grid_page(grid)[block->first].key);
    }
    CHECK_EQUAL(next, grid->pages);
}

static void build_and_check(fixture *f, int sets)
{
    CHECK_OK(rp_grid_build(&f->grid, f->set, sets));
    CHECK_HELPER(check_node_pages(f, sets));
    CHECK_HELPER(check_rows(f, sets));
    CHECK_HELPER(check_links(f, sets));
    CHECK_HELPER(check_room(f, sets));
    CHECK_HELPER(check_blocks(&f->grid));
}

// ---- tests ----

static const int open_space[3] = {0, 0, 0};

// Catches a node page that is missing, doubled or out of order, in 2D and 3D.
static void every_node_page_exists_once_in_key_order(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int channels = 1; channels <= 2; channels++) {
            fixture f;
            CHECK_HELPER(start(&f, dim, open_space, channels));
            CHECK_HELPER(scatter_particles(&f, &f.set[0], 60, -40.0, 80.0));
            CHECK_HELPER(build_and_check(&f, 1));
            CHECK(f.set[0].pages > 20);
            CHECK(f.grid.pages > f.set[0].pages);
            finish(&f);
        }
    }
}

// Catches a neighbourhood that is not its own opposite where an axis is so short that a block is
// its own neighbour, or the same on both sides.
static void periodic_axes_of_one_two_and_three_blocks_close_on_themselves(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < 4 * 4 * 4; i++) {
            const int period[3] = {8 * (i / 16), 8 * (i / 4 % 4), 4 * (i % 4)};
            if (dim == 2 && period[2] != 0) {
                continue;
            }
            fixture f;
            CHECK_HELPER(start(&f, dim, period, 1));
            CHECK_HELPER(scatter_particles(&f, &f.set[0], 12, -10.0, 30.0));
            CHECK_HELPER(build_and_check(&f, 1));
            finish(&f);
        }
    }
}

// Catches fields that share a node page: their particles would feel each other.
static void two_fields_in_one_block_have_two_node_pages(void)
{
    fixture f;
    CHECK_HELPER(start(&f, 3, open_space, 1));
    CHECK_HELPER(scatter_particles(&f, &f.set[0], 200, 0.5, 3.5));
    CHECK_EQUAL(f.set[0].pages, 2); // one block, both fields
    CHECK_HELPER(build_and_check(&f, 1));
    // cells 0 to 3 of 8, 8 and 4: nodes of the blocks before along all axes, of those after along z
    CHECK_EQUAL(f.grid.pages, 2 * (2 * 2 * 3));
    CHECK_EQUAL(f.grid.blocks, 2 * 2 * 3);
    for (rp_local q = 0; q < f.grid.pages; q += 2) {
        const rp_node_page *a = &rp_grid_page(&f.grid)[q], *b = a + 1;
        CHECK(a->key == b->key);
        CHECK_EQUAL(a->field, 0);
        CHECK_EQUAL(b->field, 1);
    }
    finish(&f);
}

// Catches a set that overwrites the links of another on the blocks that both touch.
static void two_sets_share_the_node_pages_of_their_blocks(void)
{
    fixture f;
    CHECK_HELPER(start(&f, 3, open_space, 2));
    CHECK_HELPER(scatter_particles(&f, &f.set[0], 40, -20.0, 30.0));
    CHECK_HELPER(scatter_particles(&f, &f.set[1], 40, -5.0, 30.0));
    CHECK_HELPER(build_and_check(&f, 2));

    // alone they need more together than at once
    const rp_local together = f.grid.pages;
    CHECK_HELPER(build_and_check(&f, 1));
    const rp_local first = f.grid.pages;
    CHECK(first < together);
    finish(&f);
}

// Catches particles without mass that are summed all the same: they have node pages to gather from,
// and nobody lists them as a source.
static void particles_without_mass_gather_and_do_not_scatter(void)
{
    fixture f;
    CHECK_HELPER(start(&f, 2, open_space, 1));
    rp_set_free(&f.set[1]);
    const rp_layout l = f.set[0].layout;
    CHECK_OK(rp_set_init(&f.set[1], &l, 0, &f.fa.allocator));
    rp_grid_let_scatter(&f.grid, 1, "glue", false);
    for (int g = 0; g < FIELDS; g++) {
        const rp_group group = {.field = (uint16_t)g};
        uint16_t index;
        CHECK_OK(rp_set_add_group(&f.set[1], &group, &index));
    }
    CHECK_HELPER(scatter_particles(&f, &f.set[0], 20, -20.0, 30.0));
    CHECK_HELPER(scatter_particles(&f, &f.set[1], 20, -5.0, 30.0));
    CHECK_OK(rp_grid_build(&f.grid, f.set, 2));
    CHECK_HELPER(check_node_pages(&f, 2));
    CHECK_HELPER(check_links(&f, 1));
    for (rp_local q = 0; q < f.grid.pages; q++) {
        for (int n = 0; n < RP_NEAR; n++) {
            CHECK_EQUAL(rp_grid_source(&f.grid, 1, q)[n], RP_NO_PAGE);
        }
    }
    finish(&f);
}

// Catches what an earlier build leaves behind: pages, table entries, links.
static void building_again_forgets_what_was(void)
{
    fixture f;
    CHECK_HELPER(start(&f, 2, open_space, 1));
    CHECK_HELPER(scatter_particles(&f, &f.set[0], 300, -100.0, 200.0));
    CHECK_HELPER(build_and_check(&f, 1));
    const size_t bytes = rp_grid_bytes(&f.grid);

    // all but those of the first page die
    rp_set *set = &f.set[0];
    for (rp_local slot = rp_set_page(set)[0].count; slot < set->slots; slot++) {
        rp_set_kill(set, slot);
    }
    set->doomed = set->count - rp_set_page(set)[0].count; // the padding was no particle
    CHECK_OK(rp_set_sort(set, &f.scratch, 1));
    CHECK_EQUAL(set->pages, 1);
    CHECK_HELPER(build_and_check(&f, 1));
    CHECK(f.grid.pages >= 1 && f.grid.pages <= 9);
    CHECK(rp_grid_bytes(&f.grid) == bytes); // memory is kept for later

    // nobody left
    for (rp_local slot = 0; slot < set->count; slot++) {
        rp_set_kill(set, slot);
    }
    CHECK_OK(rp_set_sort(set, &f.scratch, 1));
    CHECK_HELPER(build_and_check(&f, 1));
    CHECK_EQUAL(f.grid.pages, 0);

    CHECK_HELPER(scatter_particles(&f, set, 300, -150.0, 300.0));
    CHECK_HELPER(build_and_check(&f, 1));
    finish(&f);
}

// Catches a grid that looks whole after its memory could not be had.
static void a_grid_without_memory_is_empty_and_can_be_built_again(void)
{
    int64_t n = 0;
    for (bool failed = true; failed; n++) {
        fixture f;
        CHECK_HELPER(start(&f, 2, open_space, 2));
        CHECK_HELPER(scatter_particles(&f, &f.set[0], 5, 0.0, 30.0));
        CHECK_HELPER(build_and_check(&f, 1));
        CHECK_HELPER(scatter_particles(&f, &f.set[0], 300, -100.0, 200.0));
        f.fa.fail_at = f.fa.count + n;
        const rp_result result = rp_grid_build(&f.grid, f.set, 1);
        failed = f.fa.failed;
        check_context("allocation %lld of the build fails", (long long)n);
        if (failed) {
            CHECK_ERROR(result, RP_ERR_MEMORY, "out of memory");
            CHECK_EQUAL(f.grid.pages, 0);
            CHECK_HELPER(build_and_check(&f, 1));
        } else {
            CHECK_OK(result);
        }
        finish(&f);
    }
    CHECK(n >= 5); // table, pages, two channels, links, arenas
}

TEST_MAIN(TEST(every_node_page_exists_once_in_key_order),
          TEST(periodic_axes_of_one_two_and_three_blocks_close_on_themselves),
          TEST(two_fields_in_one_block_have_two_node_pages),
          TEST(two_sets_share_the_node_pages_of_their_blocks),
          TEST(particles_without_mass_gather_and_do_not_scatter),
          TEST(building_again_forgets_what_was),
          TEST(a_grid_without_memory_is_empty_and_can_be_built_again))

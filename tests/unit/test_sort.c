// Tests src/core/set.c and src/core/sort.c: what goes into a set comes out of it, in the right
// page.
#include "core/set.h"

#include "check.h"
#include "failing_allocator.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_COLUMNS = (1 << RP_COL_COUNT) - 1,
    FEW_COLUMNS = 0, // position, group and id are always kept
    GRAIN_BYTES = 256,
};

// ---- sets ----

typedef struct shape {
    int dim, order;
    rp_precision precision;
    int period[3]; // [cells]
    unsigned columns;
} shape;

static rp_layout layout_of(const shape *s)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = s->dim;
    def.order = s->order;
    def.precision = s->precision;
    def.dx = 0.1;
    memcpy(def.period, s->period, sizeof def.period);
    return rp_layout_make(&def);
}

// A set with two fields of two groups each.
static void make_set(rp_set *set, const shape *s, const rp_allocator *a)
{
    const rp_layout l = layout_of(s);
    CHECK_OK(rp_set_init(set, &l, s->columns, a));
    for (int g = 0; g < 4; g++) {
        const rp_group group = {.material = (uint16_t)(g % 2),
                                .field = (uint16_t)(g / 2),
                                .volume = 1.0,
                                .mass = 1.0 + g};
        uint16_t index;
        CHECK_OK(rp_set_add_group(set, &group, &index));
        CHECK_EQUAL(index, g);
    }
}

// Births in a box of `size` cells that starts at cell `corner`; every other column is random bytes.
static void give_birth(rp_set *set, int count, uint64_t first_id, const double corner[3],
                       const double size[3], uint64_t *random)
{
    CHECK_OK(rp_set_reserve_births(set, 0, count));
    for (int i = 0; i < count; i++) {
        const rp_local at = set->inbox.count + i;
        for (int c = 0; c < RP_COL_COUNT; c++) {
            const rp_column *column = &set->column[c];
            if (c == RP_COL_POSITION || column->comps == 0) {
                continue;
            }
            unsigned char *to = rp_set_birth(set, c, at, 0);
            for (int b = 0; b < column->comps * column->bytes; b++) {
                to[b] = (unsigned char)test_bits(random);
            }
        }
        for (int a = 0; a < set->layout.dim; a++) {
            const double cells = corner[a] + size[a] * test_uniform(random);
            rp_set_birth_value(set, RP_COL_POSITION, at, a, cells * set->layout.h);
        }
        rp_set_birth_value(set, RP_COL_GROUP, at, 0, test_below(random, 4));
        *(uint64_t *)rp_set_birth(set, RP_COL_ID, at, 0) = first_id + (uint64_t)i;
    }
    set->inbox.count += count;
}

// Births as above, around the origin.
static void give_birth_here(rp_set *set, int count, uint64_t first_id, uint64_t *random)
{
    static const double corner[3] = {-13.0, -9.0, -5.0}, size[3] = {30.0, 25.0, 11.0};
    give_birth(set, count, first_id, corner, size, random);
}

static void add_to_position(rp_set *set, rp_local slot, int axis, double cells)
{
    void *at = rp_set_at(set, RP_COL_POSITION, slot, axis);
    if (set->layout.precision == RP_SINGLE) {
        *(int32_t *)at += (int32_t)lrint(ldexp(cells, RP_FIXED_BITS));
    } else {
        *(double *)at += cells;
    }
}

// Every particle moves by up to `cells` along each axis.
static void shake(rp_set *set, double cells, uint64_t *random)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            for (int a = 0; a < set->layout.dim; a++) {
                add_to_position(set, slot, a, test_between(random, -cells, cells));
            }
        }
    }
    set->travel = cells;
}

// Kills about one in `one_in`.
static void kill_some(rp_set *set, int one_in, uint64_t *random)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (test_below(random, one_in) == 0) {
                rp_set_kill(set, slot);
            }
        }
    }
}

// ---- what a set holds, apart from how ----

typedef struct grain {
    uint64_t id;
    double x[3];                      // [cells] from the origin, less the layout's shift
    int64_t rank;                     // slot, births after all slots
    unsigned char bytes[GRAIN_BYTES]; // every other column
} grain;

typedef struct census {
    grain *grain;
    int count;
} census;

static void copy_columns(const rp_set *set, rp_local at, bool birth, unsigned char *out)
{
    memset(out, 0, GRAIN_BYTES);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const rp_column *column = &set->column[c];
        for (int k = 0; k < column->comps && c != RP_COL_POSITION; k++) {
            memcpy(out, birth ? rp_set_birth(set, c, at, k) : rp_set_at(set, c, at, k),
                   column->bytes);
            out += column->bytes;
        }
    }
}

static double stored_position(const rp_set *set, rp_local slot, int axis)
{
    const void *at = rp_set_at(set, RP_COL_POSITION, slot, axis);
    return set->layout.precision == RP_SINGLE ? ldexp(*(const int32_t *)at, -RP_FIXED_BITS)
                                              : *(const double *)at;
}

static int compare_grains(const void *pa, const void *pb)
{
    const grain *a = pa, *b = pb;
    return a->id < b->id ? -1 : a->id > b->id;
}

// The living and those to be born, by id.
static census take_census(const rp_set *set)
{
    const rp_layout *l = &set->layout;
    census out = {calloc((size_t)(set->slots + set->inbox.count + 1), sizeof(grain)), 0};
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (*(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) == RP_GROUP_DEAD) {
                continue;
            }
            grain *g = &out.grain[out.count++];
            g->id = *(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0);
            g->rank = slot;
            for (int a = 0; a < l->dim; a++) {
                g->x[a] = stored_position(set, slot, a) + (double)page->block[a] * l->cells[a];
            }
            copy_columns(set, slot, false, g->bytes);
        }
    }
    for (rp_local i = 0; i < set->inbox.count; i++) {
        grain *g = &out.grain[out.count++];
        g->id = *(uint64_t *)rp_set_birth(set, RP_COL_ID, i, 0);
        g->rank = set->slots + i;
        for (int a = 0; a < l->dim; a++) {
            g->x[a] = *(double *)rp_set_birth(set, RP_COL_POSITION, i, a) / l->h - l->shift;
        }
        copy_columns(set, i, true, g->bytes);
    }
    qsort(out.grain, (size_t)out.count, sizeof(grain), compare_grains);
    return out;
}

static const grain *find_grain(const census *c, uint64_t id)
{
    const grain key = {.id = id};
    return bsearch(&key, c->grain, (size_t)c->count, sizeof(grain), compare_grains);
}

// Nobody lost, doubled or changed. Positions may differ by whole periods, and by what a change of
// page rounds: half of 2^-26 cell for a birth in fixed point (a move between pages is exact there),
// half a unit in the last place of 8 cells, 2^-51, in double; a birth's division and our own sums
// round by units of x / h.
static void check_same_grains(const rp_set *set, const census *before, const census *after)
{
    const rp_layout *l = &set->layout;
    CHECK_EQUAL(after->count, before->count);
    for (int i = 0; i < before->count; i++) {
        const grain *a = &before->grain[i], *b = &after->grain[i];
        check_context("particle %d of %d", i, before->count);
        CHECK(a->id == b->id);
        CHECK(memcmp(a->bytes, b->bytes, GRAIN_BYTES) == 0);
        for (int k = 0; k < l->dim; k++) {
            const double period = (double)l->period[k] * l->cells[k];
            const double difference = b->x[k] - a->x[k];
            const double wraps = period > 0.0 ? round(difference / period) * period : 0.0;
            const double rounding = l->precision == RP_SINGLE ? 0x1p-27 : 0x1p-51;
            CHECK_NEAR(difference, wraps,
                       rounding + 4.0 * 0x1p-53 * (fabs(a->x[k]) + fabs(b->x[k])));
        }
    }
    check_context("%s", "");
}

// ---- how it must look ----

// Pages in key order without gaps, each particle where its position and its group say, zeros
// behind.
static void check_pages(const rp_set *set)
{
    const rp_layout *l = &set->layout;
    rp_local next = 0, count = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        check_context("page %d of %d", p, set->pages);
        CHECK(page->key == rp_block_key(page->block));
        CHECK_EQUAL(page->first, next);
        CHECK(page->count > 0);
        if (p > 0) {
            const rp_page *last = page - 1;
            CHECK(last->key < page->key || (last->key == page->key && last->field < page->field));
        }
        int32_t wrapped[3] = {page->block[0], page->block[1], page->block[2]};
        rp_block_wrap(l, wrapped);
        CHECK(memcmp(wrapped, page->block, sizeof wrapped) == 0);
        CHECK(l->dim == 3 || page->block[2] == 0);

        bool mixed = false;
        const uint16_t first_group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, page->first, 0);
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
            CHECK(group < set->groups);
            CHECK_EQUAL(rp_set_group(set)[group].field, page->field);
            mixed = mixed || group != first_group;
            for (int a = 0; a < l->dim; a++) {
                // the upper edge only by rounding, from a particle within 2^-27 cell of it
                const double x = stored_position(set, slot, a);
                CHECK(x >= 0.0 && x <= l->cells[a]);
            }
        }
        CHECK_EQUAL(page->flags, mixed ? RP_PAGE_MIXED : 0);

        next = (page->first + page->count + RP_LANES - 1) / RP_LANES * RP_LANES;
        static const unsigned char zero[8];
        for (rp_local slot = page->first + page->count; slot < next; slot++) {
            for (int c = 0; c < RP_COL_COUNT; c++) {
                for (int k = 0; k < set->column[c].comps; k++) {
                    CHECK(memcmp(rp_set_at(set, c, slot, k), zero, set->column[c].bytes) == 0);
                }
            }
        }
        count += page->count;
    }
    check_context("%s", "");
    CHECK_EQUAL(set->slots, next);
    CHECK_EQUAL(set->count, count);
    CHECK_EQUAL(set->inbox.count, 0);
    CHECK_EQUAL(set->doomed, 0);
    CHECK(set->travel == 0.0);
    CHECK(!rp_set_wants_sort(set));
}

// The cell of its block that a particle is in; what lies on the far face counts to the last one.
static int cell_of(const rp_set *set, rp_local slot)
{
    int cell = 0;
    for (int a = 0; a < set->layout.dim; a++) {
        const int cells = set->layout.cells[a], at = (int)floor(stored_position(set, slot, a));
        cell = cell * cells + (at < cells ? at : cells - 1);
    }
    return cell;
}

// In every page particles are in the order of cells, and in a cell those who were there or came
// keep the order of memory, births last.
static void check_order(const rp_set *set, const census *before)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        int64_t last = -1;
        int last_cell = 0;
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const grain *g = find_grain(before, *(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0));
            CHECK(g != NULL);
            const int cell = cell_of(set, slot);
            CHECK(cell > last_cell || (cell == last_cell && g->rank > last));
            last = g->rank;
            last_cell = cell;
        }
    }
}

// Sorts and checks all of the above.
static void sort_and_check(rp_set *set, rp_buffer *scratch, int threads)
{
    census before = take_census(set);
    CHECK_OK(rp_set_sort(set, scratch, threads));
    census after = take_census(set);
    CHECK_HELPER(check_pages(set));
    CHECK_HELPER(check_same_grains(set, &before, &after));
    const bool periodic = set->layout.period[0] + set->layout.period[1] + set->layout.period[2] > 0;
    if (!periodic) {
        CHECK_HELPER(check_order(set, &before));
    }
    free(before.grain);
    free(after.grain);
}

// ---- the whole of a set as bytes ----

typedef struct snapshot {
    unsigned char *bytes;
    size_t size;
} snapshot;

static void append(snapshot *s, const void *data, size_t size)
{
    if (size > 0) {
        s->bytes = realloc(s->bytes, s->size + size);
        memcpy(s->bytes + s->size, data, size);
        s->size += size;
    }
}

static snapshot take_snapshot(const rp_set *set)
{
    snapshot s = {0};
    const int64_t numbers[] = {set->groups, set->pages,  set->slots,
                               set->count,  set->doomed, set->inbox.count};
    append(&s, numbers, sizeof numbers);
    append(&s, &set->travel, sizeof set->travel);
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        append(&s, &page->key, sizeof page->key);
        append(&s, page->block, sizeof page->block);
        append(&s, &page->field, sizeof page->field);
        append(&s, &page->flags, sizeof page->flags);
        append(&s, &page->first, sizeof page->first);
        append(&s, &page->count, sizeof page->count);
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const rp_column *column = &set->column[c];
        const size_t each = (size_t)column->comps * column->bytes;
        const size_t birth = c == RP_COL_POSITION ? column->comps * sizeof(double) : each;
        append(&s, &column->comps, 1);
        append(&s, column->buffer.data, each * (size_t)set->slots);
        append(&s, set->inbox.column[c].data, birth * (size_t)set->inbox.count);
    }
    return s;
}

static bool same_snapshots(const snapshot *a, const snapshot *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

// ---- tests of the sort ----

static const shape plain_shape = {3, 2, RP_SINGLE, {0}, ALL_COLUMNS};

static void sort_many_rounds(const shape *s, const double corner[3])
{
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    rp_set set;
    rp_buffer scratch = {0};
    uint64_t random = 7, id = 100;
    CHECK_HELPER(make_set(&set, s, &fa.allocator));
    static const double size[3] = {40.0, 20.0, 12.0};
    for (int round = 0; round < 8; round++) {
        // births alone, moves alone, deaths alone, all at once; few and many
        if (round != 1 && round != 3) {
            const int count = round == 2 ? 1 : 700;
            CHECK_HELPER(give_birth(&set, count, id, corner, size, &random));
            id += 10000;
        }
        if (round == 1 || round >= 4) {
            shake(&set, round == 6 ? 3.9 : 1.0, &random);
        }
        if (round >= 3) {
            kill_some(&set, 3, &random);
        }
        CHECK_HELPER(sort_and_check(&set, &scratch, 2));
    }
    CHECK(set.count > 1000);
    CHECK(set.pages > 8 || set.layout.period[0] > 0);
    rp_buffer_free(&scratch, &fa.allocator);
    rp_set_free(&set);
    failing_allocator_finish(&fa);
}

// Catches a component, a column type or a page computation that is wrong in one variant only.
static void every_particle_comes_into_its_page_unchanged(void)
{
    static const double corner[3] = {-13.0, -9.0, -5.0};
    for (int dim = 2; dim <= 3; dim++) {
        for (int order = 1; order <= 3; order++) {
            for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
                for (int many = 0; many < 2; many++) {
                    const shape s = {
                        dim, order, (rp_precision)precision, {0}, many ? ALL_COLUMNS : FEW_COLUMNS};
                    CHECK_HELPER(sort_many_rounds(&s, corner));
                }
            }
        }
    }
}

// Catches coordinates that are multiplied before they are made small: 50 m, and the far corner.
static void far_from_the_origin_nothing_is_different(void)
{
    const double far = 8.0 * (RP_BLOCK_LIMIT - 12);
    const double corners[2][3] = {{500.0, -500.0, 500.0}, {far, -far, 4.0 * (RP_BLOCK_LIMIT - 12)}};
    for (int i = 0; i < 2; i++) {
        for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
            const shape s = {3, 2, (rp_precision)precision, {0}, ALL_COLUMNS};
            CHECK_HELPER(sort_many_rounds(&s, corners[i]));
        }
    }
}

// Catches a block that leaves the period, and an image that is lost when several meet in one page.
static void periodic_axes_bring_particles_back(void)
{
    static const int periods[][3] = {{8, 0, 0}, {16, 8, 4}, {24, 24, 12}, {0, 16, 0}, {80, 80, 40}};
    static const double corner[3] = {-13.0, -9.0, -5.0};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        for (int dim = 2; dim <= 3; dim++) {
            for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
                shape s = {dim, 2, (rp_precision)precision, {0}, FEW_COLUMNS};
                memcpy(s.period, periods[i], sizeof s.period);
                CHECK_HELPER(sort_many_rounds(&s, corner));
            }
        }
    }
}

// Catches sums or orders that depend on who came first: several rounds, byte for byte.
static void any_number_of_threads_gives_the_same_bytes(void)
{
    static const int threads[] = {1, 2, 3, 7};
    for (int periodic = 0; periodic < 2; periodic++) {
        snapshot first = {0};
        for (int t = 0; t < 4; t++) {
            shape s = plain_shape;
            s.period[0] = periodic ? 16 : 0;
            failing_allocator fa;
            failing_allocator_init(&fa, -1);
            rp_set set;
            rp_buffer scratch = {0};
            uint64_t random = 5;
            CHECK_HELPER(make_set(&set, &s, &fa.allocator));
            for (int round = 0; round < 6; round++) {
                CHECK_HELPER(give_birth_here(&set, 1000, (uint64_t)round * 1000, &random));
                shake(&set, 2.0, &random);
                kill_some(&set, 5, &random);
                CHECK_OK(rp_set_sort(&set, &scratch, threads[t]));
            }
            check_context("%d threads, %d pages", threads[t], set.pages);
            CHECK(set.pages > 4 * 7);
            snapshot now = take_snapshot(&set);
            if (t == 0) {
                first = now;
            } else {
                CHECK(same_snapshots(&first, &now));
                free(now.bytes);
            }
            rp_buffer_free(&scratch, &fa.allocator);
            rp_set_free(&set);
            failing_allocator_finish(&fa);
        }
        free(first.bytes);
    }
}

// Catches sizes of nothing: an empty set, births into it, everybody dead, and births after that.
static void empty_sets_are_sets_too(void)
{
    for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
        shape s = plain_shape;
        s.precision = (rp_precision)precision;
        failing_allocator fa;
        failing_allocator_init(&fa, -1);
        rp_set set;
        rp_buffer scratch = {0};
        uint64_t random = 3;
        CHECK_HELPER(make_set(&set, &s, &fa.allocator));
        CHECK(!rp_set_wants_sort(&set));
        CHECK_HELPER(sort_and_check(&set, &scratch, 2));
        CHECK_EQUAL(set.pages, 0);
        CHECK_HELPER(give_birth_here(&set, 300, 0, &random));
        CHECK(rp_set_wants_sort(&set));
        CHECK_HELPER(sort_and_check(&set, &scratch, 2));
        CHECK_EQUAL(set.count, 300);
        kill_some(&set, 1, &random);
        CHECK_EQUAL(set.doomed, 300);
        CHECK_HELPER(sort_and_check(&set, &scratch, 2));
        CHECK_EQUAL(set.count, 0);
        CHECK_EQUAL(set.pages, 0);
        CHECK_EQUAL(set.slots, 0);
        CHECK_HELPER(give_birth_here(&set, 5, 1000, &random));
        CHECK_HELPER(sort_and_check(&set, &scratch, 2));
        kill_some(&set, 1, &random);
        CHECK_HELPER(give_birth_here(&set, 7, 2000, &random));
        CHECK_HELPER(sort_and_check(&set, &scratch, 2));
        CHECK_EQUAL(set.count, 7);
        rp_buffer_free(&scratch, &fa.allocator);
        rp_set_free(&set);
        failing_allocator_finish(&fa);
    }
}

// Catches a particle that is counted as dead twice.
static void nobody_dies_twice(void)
{
    rp_set set;
    rp_buffer scratch = {0};
    uint64_t random = 3;
    CHECK_HELPER(make_set(&set, &plain_shape, rp_default_allocator()));
    CHECK_HELPER(give_birth_here(&set, 10, 0, &random));
    CHECK_OK(rp_set_sort(&set, &scratch, 1));
    const rp_local slot = rp_set_page(&set)[0].first;
    rp_set_kill(&set, slot);
    rp_set_kill(&set, slot);
    CHECK_EQUAL(set.doomed, 1);
    CHECK(rp_set_wants_sort(&set));
    CHECK_HELPER(sort_and_check(&set, &scratch, 1));
    CHECK_EQUAL(set.count, 9);
    rp_buffer_free(&scratch, rp_default_allocator());
    rp_set_free(&set);
}

// Catches a sort that comes too late for the arenas' one cell of tolerance.
static void a_set_wants_a_sort_before_a_particle_leaves_its_arena(void)
{
    rp_set set;
    CHECK_HELPER(make_set(&set, &plain_shape, rp_default_allocator()));
    set.travel = 0.9;
    CHECK(!rp_set_wants_sort(&set));
    set.travel = 1.0;
    // a particle may sit on the upper edge of its page by rounding (see check_pages): from there a
    // whole cell ends outside
    CHECK(rp_set_wants_sort(&set));
    rp_set_free(&set);
}

// One particle at cell (4, 4, 2) of block (0, 0, 0), in its page.
static void place_one(rp_set *set, const shape *s, rp_buffer *scratch)
{
    CHECK_HELPER(make_set(set, s, rp_default_allocator()));
    CHECK_OK(rp_set_reserve_births(set, 0, 1));
    for (int a = 0; a < s->dim; a++) {
        rp_set_birth_value(set, RP_COL_POSITION, 0, a,
                           (0.5 * set->layout.cells[a] + set->layout.shift) * set->layout.h);
    }
    set->inbox.count++;
    CHECK_OK(rp_set_sort(set, scratch, 1));
    CHECK_EQUAL(set->pages, 1);
    CHECK_EQUAL(set->count, 1);
}

// Catches a search that does not reach two blocks, or wraps round when it is farther.
static void a_particle_is_found_two_blocks_away_and_refused_beyond(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
            for (int axis = 0; axis < dim; axis++) {
                for (int blocks = -3; blocks <= 3; blocks++) {
                    const shape s = {dim, 2, (rp_precision)precision, {0}, FEW_COLUMNS};
                    rp_set set;
                    rp_buffer scratch = {0};
                    CHECK_HELPER(place_one(&set, &s, &scratch));
                    add_to_position(&set, 0, axis, (double)blocks * set.layout.cells[axis]);
                    set.travel = 2.0;
                    check_context("%dD, precision %d, axis %d, %d blocks", dim, precision, axis,
                                  blocks);
                    if (blocks >= -2 && blocks <= 2) {
                        CHECK_HELPER(sort_and_check(&set, &scratch, 1));
                        CHECK_EQUAL(rp_set_page(&set)[0].block[axis], blocks);
                    } else {
                        snapshot before = take_snapshot(&set);
                        CHECK_ERROR(rp_set_sort(&set, &scratch, 1), RP_ERR_DIVERGED, "2 blocks");
                        snapshot after = take_snapshot(&set);
                        CHECK(same_snapshots(&before, &after));
                        free(before.bytes);
                        free(after.bytes);
                    }
                    rp_buffer_free(&scratch, rp_default_allocator());
                    rp_set_free(&set);
                }
            }
        }
    }
}

// Catches a comparison that lets NaN through, and a cast of a number that no integer holds.
static void a_position_that_is_no_number_is_refused(void)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e10, 24.0, -16.5};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const shape s = {3, 2, RP_DOUBLE, {0}, FEW_COLUMNS};
        rp_set set;
        rp_buffer scratch = {0};
        CHECK_HELPER(place_one(&set, &s, &scratch));
        *(double *)rp_set_at(&set, RP_COL_POSITION, 0, 1) = wrong[i];
        check_context("position %g", wrong[i]);
        snapshot before = take_snapshot(&set);
        CHECK_ERROR(rp_set_sort(&set, &scratch, 1), RP_ERR_DIVERGED, "2 blocks");
        snapshot after = take_snapshot(&set);
        CHECK(same_snapshots(&before, &after));
        free(before.bytes);
        free(after.bytes);

        // the dead may be anywhere
        rp_set_kill(&set, 0);
        CHECK_OK(rp_set_sort(&set, &scratch, 1));
        CHECK_EQUAL(set.count, 0);
        rp_buffer_free(&scratch, rp_default_allocator());
        rp_set_free(&set);
    }
}

// Catches a particle that vanishes, or a key that wraps round, at the end of the world.
static void beyond_the_addressable_space_there_is_a_sentence(void)
{
    const shape s = {3, 2, RP_SINGLE, {0}, ALL_COLUMNS};
    for (int axis = 0; axis < 3; axis++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            rp_set set;
            rp_buffer scratch = {0};
            uint64_t random = 4;
            CHECK_HELPER(make_set(&set, &s, rp_default_allocator()));
            CHECK_HELPER(give_birth_here(&set, 50, 0, &random));
            CHECK_OK(rp_set_sort(&set, &scratch, 1));
            check_context("axis %d, sign %d", axis, sign);

            // a birth, and one that is not a number
            static const double beyond[] = {1e7, 1e30, INFINITY, NAN};
            for (int i = 0; i < 4; i++) {
                CHECK_OK(rp_set_reserve_births(&set, 0, 1));
                rp_set_birth_value(&set, RP_COL_POSITION, set.inbox.count, axis, sign * beyond[i]);
                set.inbox.count++;
                snapshot before = take_snapshot(&set);
                CHECK_ERROR(rp_set_sort(&set, &scratch, 1), RP_ERR_LIMIT, "addressable space");
                snapshot after = take_snapshot(&set);
                CHECK(same_snapshots(&before, &after));
                free(before.bytes);
                free(after.bytes);
                set.inbox.count--;
            }

            // one that walks out: from the middle of the last block but one, two blocks
            const double last =
                (sign * (RP_BLOCK_LIMIT - 2) + 0.5) * set.layout.cells[axis] + set.layout.shift;
            CHECK_OK(rp_set_reserve_births(&set, 0, 1));
            rp_set_birth_value(&set, RP_COL_POSITION, set.inbox.count, axis, last * set.layout.h);
            *(uint64_t *)rp_set_birth(&set, RP_COL_ID, set.inbox.count, 0) = 777;
            set.inbox.count++;
            CHECK_HELPER(sort_and_check(&set, &scratch, 1));
            rp_local slot = 0;
            for (rp_local p = 0; p < set.pages; p++) {
                const rp_page *page = &rp_set_page(&set)[p];
                if (page->block[axis] == sign * (RP_BLOCK_LIMIT - 2)) {
                    slot = page->first;
                }
            }
            CHECK(*(uint64_t *)rp_set_at(&set, RP_COL_ID, slot, 0) == 777);
            add_to_position(&set, slot, axis, sign * 2.0 * set.layout.cells[axis]);
            set.travel = 2.0;
            snapshot before = take_snapshot(&set);
            CHECK_ERROR(rp_set_sort(&set, &scratch, 1), RP_ERR_LIMIT, "addressable space");
            snapshot after = take_snapshot(&set);
            CHECK(same_snapshots(&before, &after));
            free(before.bytes);
            free(after.bytes);
            rp_buffer_free(&scratch, rp_default_allocator());
            rp_set_free(&set);
        }
    }
}

// A set that has something of everything, ready to be sorted.
static void prepare(rp_set *set, rp_buffer *scratch, const shape *s, const rp_allocator *a)
{
    uint64_t random = 11;
    CHECK_HELPER(make_set(set, s, a));
    CHECK_HELPER(give_birth_here(set, 200, 0, &random));
    CHECK_OK(rp_set_sort(set, scratch, 2));
    shake(set, 1.0, &random);
    kill_some(set, 4, &random);
    CHECK_HELPER(give_birth_here(set, 3000, 1000, &random));
}

// Catches a change that comes before the last thing that can fail.
static void a_sort_without_memory_leaves_the_set_as_it_was(void)
{
    snapshot want = {0};
    int64_t n = 0;
    for (bool failed = true; failed; n++) {
        failing_allocator fa;
        failing_allocator_init(&fa, -1);
        rp_set set;
        rp_buffer scratch = {0};
        CHECK_HELPER(prepare(&set, &scratch, &plain_shape, &fa.allocator));
        snapshot before = take_snapshot(&set);

        fa.fail_at = fa.count + n;
        const rp_result result = rp_set_sort(&set, &scratch, 2);
        failed = fa.failed;
        check_context("allocation %lld of the sort fails", (long long)n);
        if (failed) {
            CHECK_ERROR(result, RP_ERR_MEMORY, "out of memory");
            snapshot after = take_snapshot(&set);
            CHECK(same_snapshots(&before, &after));
            free(after.bytes);
            CHECK_OK(rp_set_sort(&set, &scratch, 2));
        } else {
            CHECK_OK(result);
        }
        snapshot sorted = take_snapshot(&set);
        if (n == 0) {
            want = sorted;
        } else {
            CHECK(same_snapshots(&want, &sorted));
            free(sorted.bytes);
        }
        free(before.bytes);
        rp_buffer_free(&scratch, &fa.allocator);
        rp_set_free(&set);
        failing_allocator_finish(&fa);
    }
    free(want.bytes);
    // scratch, every column, pages
    CHECK(n > RP_COL_COUNT);
}

// ---- the rest of a set ----

// Catches a column that starts with what was in the memory before, for old, unborn or padding.
static void a_column_wanted_later_starts_with_zeros(void)
{
    static const rp_column_id wanted[] = {RP_COL_HARDENING, RP_COL_VOLUME_GAIN, RP_COL_AFFINE};
    for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
        failing_allocator fa;
        failing_allocator_init(&fa, -1);
        rp_set set;
        rp_buffer scratch = {0};
        uint64_t random = 6;
        const shape s = {3, 2, (rp_precision)precision, {0}, 1u << RP_COL_VELOCITY};
        CHECK_HELPER(make_set(&set, &s, &fa.allocator));
        CHECK_HELPER(give_birth_here(&set, 100, 0, &random));
        CHECK_OK(rp_set_sort(&set, &scratch, 1));
        CHECK_HELPER(give_birth_here(&set, 50, 1000, &random));
        const rp_local old_slots = set.slots;
        for (int w = 0; w < 3; w++) {
            check_context("%s", rp_column_name(wanted[w]));
            CHECK(!rp_set_has(&set, wanted[w]));
            CHECK_OK(rp_set_want(&set, wanted[w]));
            CHECK(rp_set_has(&set, wanted[w]));
            CHECK_OK(rp_set_want(&set, wanted[w])); // again: nothing happens
            const int comps = set.column[wanted[w]].comps;
            for (rp_local slot = 0; slot < old_slots; slot++) {
                for (int k = 0; k < comps; k++) {
                    CHECK(rp_set_value(&set, wanted[w], slot, k, rp_set_page(&set)) == 0.0);
                }
            }
            for (rp_local i = 0; i < set.inbox.count; i++) {
                static const unsigned char zero[8];
                for (int k = 0; k < comps; k++) {
                    CHECK(memcmp(rp_set_birth(&set, wanted[w], i, k), zero,
                                 set.column[wanted[w]].bytes) == 0);
                }
            }
        }
        // births that come later fill it, and a sort keeps it
        CHECK_HELPER(give_birth_here(&set, 50, 2000, &random));
        shake(&set, 1.0, &random);
        CHECK_HELPER(sort_and_check(&set, &scratch, 1));
        CHECK_EQUAL(set.count, 200);
        rp_buffer_free(&scratch, &fa.allocator);
        rp_set_free(&set);
        failing_allocator_finish(&fa);
    }
}

// Catches a column that is half there after its memory could not be had.
static void a_column_without_memory_leaves_the_set_as_it_was(void)
{
    for (int64_t n = 0; n < 2; n++) {
        failing_allocator fa;
        failing_allocator_init(&fa, -1);
        rp_set set;
        rp_buffer scratch = {0};
        shape s = plain_shape;
        s.columns = FEW_COLUMNS;
        CHECK_HELPER(prepare(&set, &scratch, &s, &fa.allocator));
        snapshot before = take_snapshot(&set);
        fa.fail_at = fa.count + n;
        check_context("allocation %lld fails", (long long)n);
        CHECK_ERROR(rp_set_want(&set, RP_COL_STRAIN), RP_ERR_MEMORY, "out of memory");
        snapshot after = take_snapshot(&set);
        CHECK(same_snapshots(&before, &after));
        CHECK(!rp_set_has(&set, RP_COL_STRAIN));
        CHECK_HELPER(sort_and_check(&set, &scratch, 1));
        CHECK_OK(rp_set_want(&set, RP_COL_STRAIN));
        CHECK_HELPER(sort_and_check(&set, &scratch, 1));
        free(before.bytes);
        free(after.bytes);
        rp_buffer_free(&scratch, &fa.allocator);
        rp_set_free(&set);
        failing_allocator_finish(&fa);
    }
}

// Catches births that change when the next ones make the inbox grow.
static void the_inbox_keeps_its_births_as_it_grows(void)
{
    rp_set set;
    rp_buffer scratch = {0};
    uint64_t random = 8;
    CHECK_HELPER(make_set(&set, &plain_shape, rp_default_allocator()));
    for (int i = 0; i < 40; i++) {
        census before = take_census(&set);
        CHECK_HELPER(give_birth_here(&set, 1 + 3 * i, (uint64_t)i * 1000, &random));
        census after = take_census(&set);
        for (int k = 0; k < before.count; k++) {
            CHECK(memcmp(&before.grain[k], &after.grain[k], sizeof(grain)) == 0);
        }
        free(before.grain);
        free(after.grain);
    }
    CHECK_HELPER(sort_and_check(&set, &scratch, 1));
    rp_buffer_free(&scratch, rp_default_allocator());
    rp_set_free(&set);
}

// Catches inbox memory that stays for good after a large pour.
static void the_inbox_gives_its_memory_back(void)
{
    rp_set set;
    rp_buffer scratch = {0};
    uint64_t random = 9;
    CHECK_HELPER(make_set(&set, &plain_shape, rp_default_allocator()));
    CHECK_HELPER(give_birth_here(&set, 100, 0, &random));
    CHECK_OK(rp_set_sort(&set, &scratch, 1));
    for (int c = 0; c < RP_COL_COUNT; c++) {
        CHECK(set.inbox.column[c].data == NULL);
    }
    rp_buffer_free(&scratch, rp_default_allocator());
    rp_set_free(&set);
}

// Catches a number that is cut or rounded on its way through the inbox to rp_set_value().
static void values_come_out_as_they_went_in(void)
{
    for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
        const shape s = {3, 3, (rp_precision)precision, {0}, ALL_COLUMNS};
        rp_set set;
        rp_buffer scratch = {0};
        CHECK_HELPER(make_set(&set, &s, rp_default_allocator()));
        CHECK_OK(rp_set_reserve_births(&set, 0, 1));
        for (int c = 0; c < RP_COL_COUNT; c++) {
            for (int k = 0; k < set.column[c].comps; k++) {
                const double value = c == RP_COL_GROUP ? 3.0 : -0.375 + c + 16.0 * k;
                rp_set_birth_value(&set, c, 0, k, c == RP_COL_ID ? 0x1p40 + 1.0 : value);
            }
        }
        set.inbox.count = 1;
        CHECK_OK(rp_set_sort(&set, &scratch, 1));
        for (int c = 0; c < RP_COL_COUNT; c++) {
            for (int k = 0; k < set.column[c].comps; k++) {
                const double got = rp_set_value(&set, c, 0, k, rp_set_page(&set));
                const double want = c == RP_COL_GROUP ? 3.0
                                    : c == RP_COL_ID  ? 0x1p40 + 1.0
                                                      : -0.375 + c + 16.0 * k;
                // positions: half of 2^-26 cell of 0.1 m, else what 323 cells round to
                const bool position = c == RP_COL_POSITION;
                check_context("%s[%d]", rp_column_name(c), k);
                CHECK_NEAR(got, want,
                           !position                ? 0.0
                           : precision == RP_SINGLE ? 0.1 * 0x1p-27 + 1e-14
                                                    : 1e-14);
            }
        }
        rp_buffer_free(&scratch, rp_default_allocator());
        rp_set_free(&set);
    }
}

// Catches an index that wraps round to the mark of the dead.
static void groups_and_births_have_limits(void)
{
    rp_set set;
    const rp_layout l = layout_of(&plain_shape);
    CHECK_OK(rp_set_init(&set, &l, FEW_COLUMNS, rp_default_allocator()));
    const rp_group group = {.mass = 1.0};
    uint16_t index = 0;
    for (int g = 0; g < RP_GROUP_LIMIT; g++) {
        CHECK_OK(rp_set_add_group(&set, &group, &index));
        CHECK_EQUAL(index, g);
    }
    CHECK(index < RP_GROUP_DEAD);
    CHECK_ERROR(rp_set_add_group(&set, &group, &index), RP_ERR_LIMIT, "groups");
    CHECK_EQUAL(set.groups, RP_GROUP_LIMIT);
    CHECK_ERROR(rp_set_reserve_births(&set, 0, INT32_MAX / 2 + 1), RP_ERR_LIMIT, "particles");
    CHECK_EQUAL(set.inbox.count, 0);
    rp_set_free(&set);
}

TEST_MAIN(TEST(every_particle_comes_into_its_page_unchanged),
          TEST(far_from_the_origin_nothing_is_different), TEST(periodic_axes_bring_particles_back),
          TEST(any_number_of_threads_gives_the_same_bytes), TEST(empty_sets_are_sets_too),
          TEST(nobody_dies_twice), TEST(a_set_wants_a_sort_before_a_particle_leaves_its_arena),
          TEST(a_particle_is_found_two_blocks_away_and_refused_beyond),
          TEST(a_position_that_is_no_number_is_refused),
          TEST(beyond_the_addressable_space_there_is_a_sentence),
          TEST(a_sort_without_memory_leaves_the_set_as_it_was),
          TEST(a_column_wanted_later_starts_with_zeros),
          TEST(a_column_without_memory_leaves_the_set_as_it_was),
          TEST(the_inbox_keeps_its_births_as_it_grows), TEST(the_inbox_gives_its_memory_back),
          TEST(values_come_out_as_they_went_in), TEST(groups_and_births_have_limits))

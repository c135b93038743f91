// Tests src/sim/state.c: a state goes on bit for bit, and wrong bytes are refused.
#include "core/state.h"
#include "repose/world.h"
#include "sim/world.h"

#include "check.h"
#include "failing_allocator.h"
#include "random.h"
#include "test_set.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = sizeof(rp_state_header) + sizeof(rp_state_species), // of a world of one species
    TRAVEL = sizeof(rp_state_header) + offsetof(rp_state_species, travel),
};

typedef struct variant {
    int dim;
    rp_precision precision;
    int order;
    rp_transfer transfer;
} variant;

static const variant variants[] = {
    {2, RP_SINGLE, 2, RP_APIC},   {3, RP_DOUBLE, 2, RP_PIC},    {3, RP_SINGLE, 2, RP_APIC},
    {2, RP_DOUBLE, 3, RP_APIC},   {2, RP_SINGLE, 1, RP_FLIP},   {3, RP_SINGLE, 3, RP_FLIP},
    {2, RP_DOUBLE, 2, RP_STEADY}, {3, RP_DOUBLE, 3, RP_STEADY},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };
#define FOR_EACH_VARIANT(i)                                                                        \
    for (int i = 0; i < VARIANTS; i++)                                                             \
        if (test_is_built(variants[i].dim, variants[i].order, variants[i].precision))

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static bytes save(const rp_world *world)
{
    bytes b = {0};
    if (rp_world_save(world, &b.data, &b.size) != RP_OK) {
        check_record(__FILE__, __LINE__, "no state: %s", rp_last_error());
    }
    return b;
}

static bool same(const bytes *a, const bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

// Sand and rubber that fly apart in a box: several groups, laws, pages and sorts.
static rp_world *make_world(const variant *v, const rp_allocator *a)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = v->dim;
    def.precision = v->precision;
    def.order = v->order;
    def.transfer = v->transfer;
    def.dx = 0.1;
    def.threads = 2;
    def.allocator = a;
    rp_world *world = NULL;
    rp_material_def sand = rp_default_sand_def(), rubber = rp_default_elastic_def();
    rp_box_def box = rp_default_box_def();
    const double lower[3] = {-1.0, -0.5, -1.0}, upper[3] = {2.0, 2.0, 2.0};
    rp_result result = rp_world_create(&def, &world);
    if (result == RP_OK) {
        result = rp_world_add_material(world, &sand, &box.material);
    }
    for (int i = 0; i < 2 && result == RP_OK; i++) {
        for (int a2 = 0; a2 < 3; a2++) {
            box.lower[a2] = i == 0 ? 0.0 : 0.55;
            box.upper[a2] = i == 0 ? 0.5 : 0.75;
            box.velocity[a2] = i == 0 ? 1.0 : -1.5;
        }
        result = rp_world_add_box(world, &box, NULL);
        if (result == RP_OK && i == 0) {
            result = rp_world_add_material(world, &rubber, &box.material);
        }
    }
    if (result == RP_OK) {
        result = rp_world_add_walls(world, lower, upper, RP_SEPARATE, 0.3);
    }
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
        abort();
    }
    return world;
}

static void step_many(rp_world *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(rp_world_step(world));
    }
}

// Births and deaths that wait for the next step. The births are fast, so that they bound it, or
// shear so that their gradient does.
static void leave_pending(rp_world *world, bool shears)
{
    const double x[6] = {0.1, 1.5, 0.3, 1.3, 1.2, 0.9};
    const double v[6] = {0.5, shears ? 0.0 : -90.0, 0.25};
    const double C[18] = {0.0, shears ? 300.0 : 1.0};
    rp_points_def points = rp_default_points_def();
    points.count = 2;
    points.position = x;
    points.velocity = v;
    points.gradient = C;
    points.volume = 1e-4;
    CHECK_OK(rp_world_add_points(world, &points, NULL));
    const uint64_t ids[] = {1, 17, 30, 31};
    int64_t removed;
    CHECK_OK(rp_world_remove(world, ids, 4, &removed));
    CHECK_EQUAL(removed, 4);
}

// Catches a state that leans on what the world did before: into a world of the same materials and
// walls, but never filled, it must bring everything along.
static void a_state_fills_an_empty_world(void)
{
    FOR_EACH_VARIANT(i)
    {
        check_context("variant %d", i);
        rp_world *full = make_world(&variants[i], NULL), *empty = make_world(&variants[i], NULL);
        CHECK_HELPER(step_many(full, 37));
        CHECK_HELPER(leave_pending(full, false));
        bytes middle = save(full);
        empty->set[0].groups = 0;
        empty->set[0].inbox.count = 0;
        empty->species[0].lightest = empty->newborn_speed = 0.0;
        CHECK_OK(rp_world_restore(empty, middle.data, middle.size));
        CHECK_HELPER(step_many(full, check_rounds(50)));
        CHECK_HELPER(step_many(empty, check_rounds(50)));
        bytes a = save(full), b = save(empty);
        CHECK(same(&a, &b));
        rp_state_free(a.data);
        rp_state_free(b.data);
        rp_state_free(middle.data);
        rp_world_destroy(full);
        rp_world_destroy(empty);
    }
}

// Catches hidden state: whatever is not saved makes the next hundred steps differ in some bit.
static void a_state_goes_on_bit_for_bit(void)
{
    FOR_EACH_VARIANT(i)
    {
        for (int pending = 0; pending < 3; pending++) {
            check_context("variant %d, %s", i, pending ? "births and deaths pending" : "calm");
            rp_world *world = make_world(&variants[i], NULL);
            CHECK_HELPER(step_many(world, 37));
            if (pending) {
                CHECK_HELPER(leave_pending(world, pending == 2));
            }
            bytes start = save(world);
            CHECK_HELPER(step_many(world, check_rounds(100)));
            bytes end = save(world);
            rp_stats stats;
            rp_world_stats(world, &stats);
            CHECK(stats.sorts >= 2);

            // the same world once more
            CHECK_OK(rp_world_restore(world, start.data, start.size));
            bytes again = save(world);
            CHECK(same(&start, &again));
            rp_state_free(again.data);
            CHECK_HELPER(step_many(world, check_rounds(100)));
            again = save(world);
            CHECK(same(&end, &again));
            rp_state_free(again.data);
            rp_world_destroy(world);

            // a fresh world made with the same calls, and one that has gone another way
            for (int gone = 0; gone < 2; gone++) {
                world = make_world(&variants[i], NULL);
                if (pending) {
                    // the group of the points that are yet to come
                    CHECK_HELPER(step_many(world, 1));
                    CHECK_HELPER(leave_pending(world, pending == 2));
                }
                CHECK_HELPER(step_many(world, 23 * gone));
                CHECK_OK(rp_world_restore(world, start.data, start.size));
                CHECK_HELPER(step_many(world, check_rounds(100)));
                again = save(world);
                CHECK(same(&end, &again));
                rp_state_free(again.data);
                rp_world_destroy(world);
            }
            rp_state_free(start.data);
            rp_state_free(end.data);
        }
    }
}

// Catches ids that are given twice after a state came back: the next particle follows those of the
// state.
static void ids_go_on_from_the_state(void)
{
    rp_world *few = make_world(&variants[0], NULL), *many = make_world(&variants[0], NULL);
    double x[9][3] = {{0}};
    rp_points_def points = rp_default_points_def();
    points.position = &x[0][0];
    points.volume = 1e-4;
    points.count = 3;
    CHECK_OK(rp_world_add_points(few, &points, NULL));
    points.count = 9;
    CHECK_OK(rp_world_add_points(many, &points, NULL));
    bytes state = save(few);
    CHECK_OK(rp_world_restore(many, state.data, state.size));
    uint64_t want, got;
    CHECK_OK(rp_world_add_points(few, &points, &want));
    CHECK_OK(rp_world_add_points(many, &points, &got));
    CHECK(got == want);
    rp_state_free(state.data);
    rp_world_destroy(few);
    rp_world_destroy(many);
}

// Catches a save that changes what it saves.
static void saving_changes_nothing(void)
{
    FOR_EACH_VARIANT(i)
    {
        rp_world *watched = make_world(&variants[i], NULL), *alone = make_world(&variants[i], NULL);
        for (int step = 0; step < 60; step++) {
            bytes a = save(watched), b = save(watched);
            CHECK(same(&a, &b));
            rp_state_free(a.data);
            rp_state_free(b.data);
            CHECK_OK(rp_world_step(watched));
            CHECK_OK(rp_world_step(alone));
        }
        bytes a = save(watched), b = save(alone);
        check_context("variant %d", i);
        CHECK(same(&a, &b));
        rp_state_free(a.data);
        rp_state_free(b.data);
        rp_world_destroy(watched);
        rp_world_destroy(alone);
    }
}

// Catches memory that is saved or computed with before it is written: one world gets its memory
// full of zeros as a rule, the other full of NaN.
static void what_was_in_the_memory_before_does_not_show(void)
{
    FOR_EACH_VARIANT(i)
    {
        failing_allocator fa;
        failing_allocator_init(&fa, -1);
        rp_world *plain = make_world(&variants[i], NULL);
        rp_world *dirty = make_world(&variants[i], &fa.allocator);
        check_context("variant %d", i);
        for (int k = 0; k < 3; k++) {
            bytes a = save(plain), b = save(dirty);
            CHECK(same(&a, &b));
            rp_state_free(a.data);
            rp_state_free(b.data);
            CHECK_HELPER(step_many(plain, 30));
            CHECK_HELPER(step_many(dirty, 30));
        }
        rp_world_destroy(plain);
        rp_world_destroy(dirty);
        failing_allocator_finish(&fa);
    }
}

// A world, and an earlier state of it to be spoilt: a refused restore must leave the world as it
// is.
typedef struct scene {
    rp_world *world;
    bytes now, earlier;
} scene;

static void start(scene *s, const variant *v)
{
    s->world = make_world(v, NULL);
    CHECK_HELPER(step_many(s->world, 20));
    CHECK_HELPER(leave_pending(s->world, false));
    s->earlier = save(s->world);
    CHECK_HELPER(step_many(s->world, 20));
    s->now = save(s->world);
    CHECK(!same(&s->now, &s->earlier));
}

static void end(scene *s)
{
    rp_state_free(s->now.data);
    rp_state_free(s->earlier.data);
    rp_world_destroy(s->world);
}

static void refuse(scene *s, const void *data, size_t size)
{
    CHECK_ERROR(rp_world_restore(s->world, data, size), RP_ERR_ARGUMENT, "state");
    bytes after = save(s->world);
    const bool unchanged = same(&s->now, &after);
    rp_state_free(after.data);
    CHECK(unchanged);
}

// Catches a read past the end of what there is.
static void a_truncated_state_is_refused(void)
{
    FOR_EACH_VARIANT(i)
    {
        scene s;
        CHECK_HELPER(start(&s, &variants[i]));
        for (size_t size = 0; size < s.earlier.size;
             size += size < 2 * HEADER ? 1 : s.earlier.size / 30 + 1) {
            check_context("variant %d, %zu of %zu bytes", i, size, s.earlier.size);
            // a block of its own, so that a sanitizer sees its end
            void *part = malloc(size + 1);
            memcpy(part, s.earlier.data, size);
            CHECK_HELPER(refuse(&s, part, size));
            free(part);
        }
        CHECK_HELPER(refuse(&s, s.earlier.data, s.earlier.size - 1));
        end(&s);
    }
}

// Catches a state that is taken though its numbers mean something else here.
static void a_state_of_another_world_is_refused(void)
{
    FOR_EACH_VARIANT(i)
    {
        scene s;
        CHECK_HELPER(start(&s, &variants[i]));
        FOR_EACH_VARIANT(k)
        {
            if (k != i) {
                rp_world *other = make_world(&variants[k], NULL);
                CHECK_HELPER(step_many(other, 3));
                CHECK_HELPER(leave_pending(other, false));
                bytes foreign = save(other);
                check_context("variant %d from %d", i, k);
                CHECK_HELPER(refuse(&s, foreign.data, foreign.size));
                rp_state_free(foreign.data);
                rp_world_destroy(other);
            }
        }
        // the same, but of heavier sand
        rp_world *twin = make_world(&variants[i], NULL);
        twin->material[0].density *= 1.5;
        const rp_group heavy = {.volume = 1e-4, .mass = 1.5 * 2200.0 * 1e-4};
        CHECK_OK(rp_world_reserve_groups(twin, &twin->species[0], twin->set[0].groups + 1));
        rp_world_put_group(twin, &twin->species[0], &heavy);
        bytes foreign = save(twin);
        check_context("variant %d, heavier sand", i);
        CHECK_HELPER(refuse(&s, foreign.data, foreign.size));
        rp_state_free(foreign.data);
        rp_world_destroy(twin);
        end(&s);
    }
}

// Catches bytes that are believed because there are enough of them.
static void bytes_that_are_no_state_are_refused(void)
{
    scene s;
    CHECK_HELPER(start(&s, &variants[0]));
    unsigned char *noise = malloc(s.earlier.size);
    uint64_t random = 1;
    for (int trial = 0; trial < 20; trial++) {
        for (size_t i = 0; i < s.earlier.size; i++) {
            noise[i] = trial == 0 ? 0 : trial == 1 ? 0xff : (unsigned char)test_bits(&random);
        }
        CHECK_HELPER(refuse(&s, noise, s.earlier.size));
    }
    free(noise);
    end(&s);
}

// Catches a count that nothing else in the state has to agree with.
static void a_flipped_bit_in_the_header_is_refused(void)
{
    for (int i = 0; i < 2; i++) {
        scene s;
        CHECK_HELPER(start(&s, &variants[i]));
        unsigned char *copy = malloc(s.earlier.size);
        memcpy(copy, s.earlier.data, s.earlier.size);
        for (int bit = 0; bit < 8 * HEADER; bit++) {
            if (bit / 64 == TRAVEL / 8) {
                continue;
            }
            copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
            check_context("variant %d, byte %d, bit %d", i, bit / 8, bit % 8);
            CHECK_HELPER(refuse(&s, copy, s.earlier.size));
            copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        // `travel` may be any distance, but it must be one
        static const double wrong[] = {NAN, INFINITY, -INFINITY, -1.0};
        for (int k = 0; k < 4; k++) {
            check_context("variant %d, travel %g", i, wrong[k]);
            memcpy(copy + TRAVEL, &wrong[k], sizeof wrong[k]);
            CHECK_HELPER(refuse(&s, copy, s.earlier.size));
        }
        free(copy);
        end(&s);
    }
}

// Catches a group that is used as an index before anyone has looked at it.
static void particles_of_unknown_groups_are_refused(void)
{
    static const uint16_t wrong[] = {3, 1000, 0xfffe, 0xffff};
    FOR_EACH_VARIANT(i)
    {
        scene s;
        rp_world *world = s.world = make_world(&variants[i], NULL);
        CHECK_HELPER(step_many(world, 20));
        CHECK_HELPER(leave_pending(world, false));
        s.now = save(world);
        s.earlier = save(world);
        rp_state_view view;
        CHECK_OK(rp_state_view_make(s.earlier.data, s.earlier.size, &view));
        const size_t slots = view.part[0].slots_at[RP_COL_GROUP],
                     births = view.part[0].births_at[RP_COL_GROUP];
        uint16_t found;
        memcpy(&found, (char *)s.earlier.data + births, sizeof found);
        CHECK_EQUAL(found, 2); // the points' group: the offsets are right
        for (int k = 0; k < 4; k++) {
            for (int birth = 0; birth < 2; birth++) {
                // 0xffff marks the dead: one more than the header says, and no mark for a birth
                char *at = (char *)s.earlier.data + (birth ? births : slots);
                uint16_t was;
                memcpy(&was, at, sizeof was);
                if (was == wrong[k]) {
                    continue;
                }
                memcpy(at, &wrong[k], sizeof wrong[k]);
                check_context("variant %d, group %d, %s", i, wrong[k], birth ? "birth" : "slot");
                CHECK_HELPER(refuse(&s, s.earlier.data, s.earlier.size));
                memcpy(at, &was, sizeof was);
            }
        }
        CHECK_OK(rp_world_restore(world, s.earlier.data, s.earlier.size));
        end(&s);
    }
}

// Catches damage that ends in a crash: the state is refused, or the world steps, or it fails with a
// sentence. A sanitizer must see nothing.
static void damaged_states_do_no_harm(void)
{
    uint64_t random = 99;
    FOR_EACH_VARIANT(i)
    {
        scene s;
        CHECK_HELPER(start(&s, &variants[i]));
        unsigned char *copy = malloc(s.earlier.size);
        // the front, where a byte has most meaning, more often than the columns
        const size_t front = HEADER + 1024 < s.earlier.size ? HEADER + 1024 : s.earlier.size;
        for (int trial = 0; trial < 150; trial++) {
            memcpy(copy, s.earlier.data, s.earlier.size);
            const int flips = 1 + test_below(&random, 3);
            for (int k = 0; k < flips; k++) {
                const size_t range = trial % 2 == 0 ? front : s.earlier.size;
                copy[(size_t)test_below(&random, (int)range)] ^=
                    (unsigned char)(1u << test_below(&random, 8));
            }
            check_context("variant %d, trial %d", i, trial);
            const rp_result restored = rp_world_restore(s.world, copy, s.earlier.size);
            CHECK(restored == RP_OK || restored == RP_ERR_ARGUMENT);
            for (int step = 0; step < 2 && restored == RP_OK; step++) {
                const rp_result stepped = rp_world_step(s.world);
                CHECK(stepped == RP_OK || stepped == RP_ERR_DIVERGED || stepped == RP_ERR_LIMIT);
            }
        }
        // after all that a good state works as ever
        CHECK_OK(rp_world_restore(s.world, s.earlier.data, s.earlier.size));
        CHECK_HELPER(step_many(s.world, 20));
        bytes after = save(s.world);
        CHECK(same(&s.now, &after));
        rp_state_free(after.data);
        free(copy);
        end(&s);
    }
}

// Catches a particle that is farther from its page than it can have travelled: between sorts it
// would leave the arena that its page scatters into.
static void a_particle_farther_than_it_travelled_is_refused(void)
{
    FOR_EACH_VARIANT(i)
    {
        scene s;
        CHECK_HELPER(start(&s, &variants[i]));
        char *copy = malloc(s.earlier.size);
        memcpy(copy, s.earlier.data, s.earlier.size);
        rp_state_view view;
        CHECK_OK(rp_state_view_make(s.earlier.data, s.earlier.size, &view));
        char *x = copy + view.part[0].slots_at[RP_COL_POSITION];
        const double travel = 0.5;
        memcpy(copy + TRAVEL, &travel, sizeof travel);
        for (int k = 0; k < 2; k++) {
            const double cell = k == 0 ? -0.9 : view.layout.cells[0] + 0.9;
            check_context("variant %d, cell %g", i, cell);
            if (view.layout.precision == RP_SINGLE) {
                const int32_t fixed = (int32_t)(cell * (1 << RP_FIXED_BITS));
                memcpy(x, &fixed, sizeof fixed);
            } else {
                memcpy(x, &cell, sizeof cell);
            }
            CHECK_ERROR(rp_world_restore(s.world, copy, s.earlier.size), RP_ERR_ARGUMENT,
                        "lies outside it");
        }
        free(copy);
        end(&s);
    }
}

// Catches numbers that are read in place: a state may come from any address.
static void a_state_may_lie_anywhere_in_memory(void)
{
    FOR_EACH_VARIANT(i)
    {
        scene s;
        CHECK_HELPER(start(&s, &variants[i]));
        char *copy = malloc(s.earlier.size + 1);
        memcpy(copy + 1, s.earlier.data, s.earlier.size);
        CHECK_OK(rp_world_restore(s.world, copy + 1, s.earlier.size));
        bytes after = save(s.world);
        check_context("variant %d", i);
        CHECK(same(&s.earlier, &after));
        rp_state_free(after.data);
        free(copy);
        end(&s);
    }
}

// Catches an empty world that cannot be saved, and the state of a full one that cannot come back to
// it.
static void an_empty_world_has_a_state_too(void)
{
    rp_world_def def = rp_default_world_def();
    def.dx = 0.1;
    rp_world *world;
    CHECK_OK(rp_world_create(&def, &world));
    bytes fresh = save(world);
    CHECK_OK(rp_world_run_frame(world));
    CHECK_OK(rp_world_restore(world, fresh.data, fresh.size));
    rp_stats stats;
    rp_world_stats(world, &stats);
    CHECK_EQUAL(stats.frame, 0);

    // filled, emptied, and back to full
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    CHECK_OK(rp_world_add_material(world, &sand, &box.material));
    box.upper[0] = box.upper[1] = box.upper[2] = 0.2;
    int64_t added;
    CHECK_OK(rp_world_add_box(world, &box, &added));
    CHECK_OK(rp_world_run_frame(world));
    bytes full = save(world);
    for (uint64_t id = 0; id < (uint64_t)added; id++) {
        CHECK_OK(rp_world_remove(world, &id, 1, NULL));
    }
    CHECK_OK(rp_world_run_frame(world));
    bytes empty = save(world);
    CHECK_OK(rp_world_restore(world, full.data, full.size));
    rp_world_stats(world, &stats);
    CHECK_EQUAL(stats.particles, added);
    CHECK_OK(rp_world_run_frame(world));
    CHECK_OK(rp_world_restore(world, empty.data, empty.size));
    rp_world_stats(world, &stats);
    CHECK_EQUAL(stats.particles, 0);
    CHECK_OK(rp_world_run_frame(world));
    rp_state_free(fresh.data);
    rp_state_free(full.data);
    rp_state_free(empty.data);
    rp_state_free(NULL);
    rp_world_destroy(world);
}

// Catches loads of bodies that are not there, and loads that a search in their order would miss.
static void loads_of_bodies_that_cannot_be_are_refused(void)
{
    static const struct {
        int load, body[2];
    } wrong[] = {
        {1, {1, 3}}, {1, {1, 1}}, {1, {2, 1}}, {0, {-1, 1}}, {1, {0, 1}}, {0, {1, 2}}, {1, {0, 99}},
    };
    static const double push[3] = {1.0, 2.0, 3.0};
    rp_world_def def = rp_default_world_def();
    scene s = {0};
    def.dx = 0.1;
    def.fields = 3;
    def.contact = true;
    CHECK_OK(rp_world_create(&def, &s.world));
    CHECK_OK(rp_pair_loads_reserve(&s.world->pair_loads, &s.world->allocator, 2));
    rp_pair_loads_add(&s.world->pair_loads, 1, 2, push, 0.5);
    rp_pair_loads_add(&s.world->pair_loads, 0, 1, push, 0.5);
    s.now = save(s.world);
    s.earlier = save(s.world);
    rp_state_view view;
    CHECK_OK(rp_state_view_make(s.earlier.data, s.earlier.size, &view));
    char *loads = NULL;
    for (int i = 0; i < view.header->entries; i++) {
        if (strcmp(view.entry[i].name, "bodies/loads") == 0) {
            loads = (char *)s.earlier.data + view.entry_at[i];
        }
    }
    CHECK(loads != NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *at = loads + (size_t)wrong[i].load * sizeof(rp_pair_load);
        int32_t was[2];
        memcpy(was, at, sizeof was);
        memcpy(at, wrong[i].body, sizeof was);
        check_context("bodies %d and %d in place %d", wrong[i].body[0], wrong[i].body[1],
                      wrong[i].load);
        CHECK_HELPER(refuse(&s, s.earlier.data, s.earlier.size));
        memcpy(at, was, sizeof was);
    }
    CHECK_OK(rp_world_restore(s.world, s.earlier.data, s.earlier.size));
    end(&s);
}

TEST_MAIN(TEST(a_state_goes_on_bit_for_bit), TEST(loads_of_bodies_that_cannot_be_are_refused),
          TEST(a_state_fills_an_empty_world), TEST(ids_go_on_from_the_state),
          TEST(saving_changes_nothing), TEST(what_was_in_the_memory_before_does_not_show),
          TEST(a_truncated_state_is_refused), TEST(a_state_of_another_world_is_refused),
          TEST(bytes_that_are_no_state_are_refused), TEST(a_flipped_bit_in_the_header_is_refused),
          TEST(particles_of_unknown_groups_are_refused), TEST(damaged_states_do_no_harm),
          TEST(a_particle_farther_than_it_travelled_is_refused),
          TEST(a_state_may_lie_anywhere_in_memory), TEST(an_empty_world_has_a_state_too))

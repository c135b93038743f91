// A whole scenario, once for every allocation it makes, with that one failing: a sentence, no
// crash, no leak, nothing half done; and with memory back it goes on to the same bits.
#include "repose/world.h"

#include "check.h"
#include "failing_allocator.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 40 };

// What the acts of the play share.
typedef struct play {
    const rp_allocator *allocator;
    rp_world *world, *twin;
    rp_material rubber, sand;
    void *middle; // a state to come back to
    size_t middle_size;
} play;

static rp_result create(const rp_allocator *a, rp_world **world)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.1;
    def.threads = 2;
    def.allocator = a;
    return rp_world_create(&def, world);
}

// ---- what goes into a world, piece by piece; each piece is all or nothing ----

static rp_result add_rubber(rp_world *world, play *p)
{
    const rp_material_def def = rp_default_elastic_def();
    return rp_world_add_material(world, &def, &p->rubber);
}

static rp_result add_block(rp_world *world, play *p)
{
    rp_box_def box = rp_default_box_def();
    box.material = p->rubber;
    box.upper[0] = 0.4;
    box.upper[1] = 0.3;
    return rp_world_add_box(world, &box, NULL);
}

static rp_result add_ground(rp_world *world, play *p)
{
    (void)p;
    const rp_plane_def plane = rp_default_plane_def();
    return rp_world_add_plane(world, &plane);
}

static rp_result add_room(rp_world *world, play *p)
{
    (void)p;
    const double lower[3] = {-4.0, -1.0, 0.0}, upper[3] = {4.0, 4.0, 0.0};
    return rp_world_add_walls(world, lower, upper, RP_SLIP, 0.1);
}

// Two new columns, hardening and volume gain, for particles that are there already.
static rp_result add_sand(rp_world *world, play *p)
{
    rp_material_def def = rp_default_sand_def();
    def.hardening = true;
    return rp_world_add_material(world, &def, &p->sand);
}

// A column of sand that spreads.
static rp_result add_column(rp_world *world, play *p)
{
    rp_box_def box = rp_default_box_def();
    box.material = p->sand;
    box.lower[0] = -1.0;
    box.lower[1] = 0.05;
    box.upper[0] = -0.5;
    box.upper[1] = 1.2;
    box.velocity_gradient[0][0] = 3.0;
    return rp_world_add_box(world, &box, NULL);
}

static rp_result add_grains(rp_world *world, play *p)
{
    enum { GRAINS = 20 };
    double x[GRAINS][3] = {{0}}, v[GRAINS][3] = {{0}};
    for (int i = 0; i < GRAINS; i++) {
        x[i][0] = -2.0 + 0.2 * i;
        x[i][1] = 1.0 + 0.05 * i;
        v[i][0] = 0.3 * i - 2.0;
    }
    rp_points_def points = rp_default_points_def();
    points.material = p->sand;
    points.count = GRAINS;
    points.position = &x[0][0];
    points.velocity = &v[0][0];
    points.volume = 1e-3;
    return rp_world_add_points(world, &points, NULL);
}

static rp_result remove_some(rp_world *world, play *p)
{
    (void)p;
    const uint64_t ids[] = {0, 5, 11, 50, 51, 52, 53, 100, 1000000};
    return rp_world_remove(world, ids, sizeof ids / sizeof ids[0], NULL);
}

typedef rp_result (*filling)(rp_world *world, play *p);
static const filling fillings[] = {add_rubber, add_block,  add_ground, add_room,
                                   add_sand,   add_column, add_grains};
enum { FILLINGS = sizeof fillings / sizeof fillings[0], FIRST_FILLINGS = 4 };

// ---- how a call is made ----

typedef struct director {
    failing_allocator *fa;
    bool gives_up; // at the first failure; else the call is made once more, with memory
    bool gave_up;
    int refusals;
} director;

// A failure is allowed while the allocator has one to give, and only as lack of memory. Returns
// whether to make the call again.
static bool once_more(director *d, const char *what, rp_result result, int *tries)
{
    if (result == RP_OK || d->gave_up) {
        return false;
    }
    if (result != RP_ERR_MEMORY || !d->fa->failed || strstr(rp_last_error(), "memory") == NULL ||
        d->refusals > 0 || ++*tries > 1) {
        check_record(__FILE__, __LINE__, "%s: result %d, \"%s\", allocation %lld fails", what,
                     result, rp_last_error(), (long long)d->fa->fail_at);
        d->gave_up = true;
        return false;
    }
    d->refusals++;
    d->gave_up = d->gives_up;
    return !d->gave_up;
}

#define CALL(d, call)                                                                              \
    do {                                                                                           \
        int tries_ = 0;                                                                            \
        while (!(d)->gave_up && once_more((d), #call, (call), &tries_)) {                          \
        }                                                                                          \
    } while (0)

// The state as bytes of our own; looking is not part of the play, so the allocator neither fails
// nor counts.
static void *look(failing_allocator *fa, const rp_world *world, size_t *size)
{
    const int64_t fail_at = fa->fail_at, count = fa->count;
    void *state = NULL, *copy = NULL;
    fa->fail_at = -1;
    if (rp_world_save(world, &state, size) == RP_OK) {
        copy = malloc(*size);
        memcpy(copy, state, *size);
    }
    rp_state_free(state);
    fa->fail_at = fail_at;
    fa->count = count;
    return copy;
}

// A set-up call that fails has changed nothing that can be seen or saved.
static void fill(director *d, rp_world *world, play *p, int which)
{
    for (int tries = 0; !d->gave_up;) {
        size_t before_size, after_size;
        void *before = look(d->fa, world, &before_size);
        const rp_result result = fillings[which](world, p);
        if (result != RP_OK) {
            void *after = look(d->fa, world, &after_size);
            check_context("filling %d, allocation %lld fails", which, (long long)d->fa->fail_at);
            CHECK_EQUAL(after_size, before_size);
            CHECK(memcmp(before, after, before_size) == 0);
            free(after);
        }
        free(before);
        if (!once_more(d, "fill", result, &tries)) {
            return;
        }
    }
}

static void perform(director *d, play *p)
{
    CALL(d, create(p->allocator, &p->world));
    for (int i = 0; i < FIRST_FILLINGS; i++) {
        CHECK_HELPER(fill(d, p->world, p, i));
    }
    for (int i = 0; i < 10; i++) {
        CALL(d, rp_world_step(p->world));
    }
    for (int i = FIRST_FILLINGS; i < FILLINGS; i++) {
        CHECK_HELPER(fill(d, p->world, p, i));
    }
    for (int i = 0; i < STEPS; i++) {
        CALL(d, rp_world_step(p->world));
    }
    CALL(d, rp_world_save(p->world, &p->middle, &p->middle_size));
    CALL(d, remove_some(p->world, p));
    for (int i = 0; i < STEPS; i++) {
        CALL(d, rp_world_step(p->world));
    }

    // a world made with the same calls takes the state over
    CALL(d, create(p->allocator, &p->twin));
    for (int i = 0; i < FILLINGS; i++) {
        CHECK_HELPER(fill(d, p->twin, p, i));
    }
    CALL(d, rp_world_restore(p->twin, p->middle, p->middle_size));
    CALL(d, remove_some(p->twin, p));
    for (int i = 0; i < STEPS; i++) {
        CALL(d, rp_world_step(p->twin));
    }
    // and the first one goes back to it
    CALL(d, rp_world_restore(p->world, p->middle, p->middle_size));
    CALL(d, remove_some(p->world, p));
    for (int i = 0; i < STEPS; i++) {
        CALL(d, rp_world_step(p->world));
    }
}

static void leave(play *p)
{
    rp_state_free(p->middle);
    rp_world_destroy(p->world);
    rp_world_destroy(p->twin);
}

typedef struct ending {
    void *world, *twin;
    size_t size;
} ending;

static void look_at_the_end(failing_allocator *fa, const play *p, ending *e)
{
    size_t twin_size;
    e->world = look(fa, p->world, &e->size);
    e->twin = look(fa, p->twin, &twin_size);
    CHECK_EQUAL(twin_size, e->size);
    CHECK(memcmp(e->world, e->twin, e->size) == 0);
}

static void free_ending(ending *e)
{
    free(e->world);
    free(e->twin);
}

// ---- tests ----

// Catches a memory error that is not passed on, or leaves something behind when the host gives up.
static void every_lack_of_memory_is_an_error_and_leaks_nothing(void)
{
    int64_t n = 0, refused = 0;
    for (bool failed = true; failed; n++) {
        failing_allocator fa;
        failing_allocator_init(&fa, n);
        director d = {.fa = &fa, .gives_up = true};
        play p = {.allocator = &fa.allocator};
        CHECK_HELPER(perform(&d, &p));
        leave(&p);
        failed = fa.failed;
        refused += d.refusals;
        check_context("allocation %lld fails", (long long)n);
        CHECK(check_failures() == 0);
        CHECK(failed || d.refusals == 0);
        CHECK_HELPER(failing_allocator_finish(&fa));
    }
    CHECK(n > 60);
    // a step's arena goes on with its old blocks when it cannot merge them: no error, few such
    CHECK(refused >= n - 1 - 4);
}

// Catches a step that has changed something before it found that there was no memory for the rest.
static void with_memory_back_the_world_goes_on_to_the_same_bits(void)
{
    ending want = {0};
    failing_allocator calm;
    failing_allocator_init(&calm, -1);
    director d = {.fa = &calm};
    play p = {.allocator = &calm.allocator};
    CHECK_HELPER(perform(&d, &p));
    CHECK_HELPER(look_at_the_end(&calm, &p, &want));
    rp_stats stats;
    rp_world_stats(p.world, &stats);
    CHECK(stats.sorts >= 4);
    leave(&p);
    const int64_t allocations = calm.count;
    CHECK_HELPER(failing_allocator_finish(&calm));

    // as the test above fails each of them, one in three will do where checks are slow
    const int64_t every = check_rounds(4) == 4 ? 1 : 3;
    for (int64_t n = 0; n < allocations; n += every) {
        failing_allocator fa;
        failing_allocator_init(&fa, n);
        d = (director){.fa = &fa};
        p = (play){.allocator = &fa.allocator};
        CHECK_HELPER(perform(&d, &p));
        check_context("allocation %lld of %lld fails", (long long)n, (long long)allocations);
        CHECK(fa.failed);
        ending got = {0};
        CHECK_HELPER(look_at_the_end(&fa, &p, &got));
        CHECK_EQUAL(got.size, want.size);
        CHECK(memcmp(got.world, want.world, want.size) == 0);
        free_ending(&got);
        leave(&p);
        CHECK_HELPER(failing_allocator_finish(&fa));
    }
    free_ending(&want);
}

// Catches a step that asks for memory again and again: after the first steps it needs none, as long
// as nothing is born, dies or spreads.
static void a_warm_step_allocates_nothing(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    play p = {.allocator = &fa.allocator};
    CHECK_OK(create(p.allocator, &p.world));
    for (int i = 0; i < FIRST_FILLINGS; i++) {
        CHECK_OK(fillings[i](p.world, &p));
    }
    for (int i = 0; i < 20; i++) {
        CHECK_OK(rp_world_step(p.world));
    }
    const int64_t before = fa.count;
    for (int i = 0; i < 200; i++) {
        CHECK_OK(rp_world_step(p.world));
    }
    CHECK_EQUAL(fa.count, before);
    leave(&p);
    failing_allocator_finish(&fa);
}

// ---- bodies that touch ----

// A row of blocks that is pushed together: each touches the next, more pairs than a first guess.
static rp_result make_row(const rp_allocator *a, rp_world **out)
{
    enum { BLOCKS = 80 };
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.1;
    def.threads = 2;
    def.fields = BLOCKS;
    def.contact = true;
    def.allocator = a;
    rp_result result = rp_world_create(&def, out);
    rp_box_def box = rp_default_box_def();
    const rp_material_def rubber = rp_default_elastic_def();
    result = result == RP_OK ? rp_world_add_material(*out, &rubber, &box.material) : result;
    for (int i = 0; i < BLOCKS && result == RP_OK; i++) {
        box.field = i;
        box.lower[0] = 0.2 * i;
        box.upper[0] = 0.2 * (i + 1);
        box.upper[1] = 0.2;
        box.velocity[0] = 1.0 - 2.0 * i / (BLOCKS - 1);
        result = rp_world_add_box(*out, &box, NULL);
    }
    return result;
}

// Catches loads of pairs that are counted before there is memory for all of them, and again when
// the step is made once more.
static void bodies_that_touch_give_each_other_the_same_after_a_lack_of_memory(void)
{
    enum { ROW_STEPS = 4 };
    void *want = NULL;
    size_t want_size = 0;
    int64_t first = 0, last = 0;
    for (int64_t n = -1; n < last; n = n < 0 ? first : n + 1) {
        failing_allocator fa;
        rp_world *world = NULL;
        failing_allocator_init(&fa, n);
        CHECK_OK(make_row(&fa.allocator, &world));
        first = fa.count;
        for (int i = 0; i < ROW_STEPS; i++) {
            const rp_result result = rp_world_step(world);
            if (result != RP_OK) {
                CHECK(result == RP_ERR_MEMORY && n >= 0);
                CHECK_OK(rp_world_step(world));
            }
        }
        last = n < 0 ? fa.count : last;
        size_t size;
        void *state = look(&fa, world, &size);
        check_context("allocation %lld of %lld to %lld fails", (long long)n, (long long)first,
                      (long long)last);
        if (n < 0) {
            want = state;
            want_size = size;
        } else {
            CHECK(fa.failed);
            CHECK_EQUAL(size, want_size);
            CHECK(memcmp(state, want, want_size) == 0);
            free(state);
        }
        rp_world_destroy(world);
        CHECK_HELPER(failing_allocator_finish(&fa));
    }
    CHECK(last > first + 5);
    free(want);
}

TEST_MAIN(TEST(every_lack_of_memory_is_an_error_and_leaks_nothing),
          TEST(with_memory_back_the_world_goes_on_to_the_same_bits),
          TEST(bodies_that_touch_give_each_other_the_same_after_a_lack_of_memory),
          TEST(a_warm_step_allocates_nothing))

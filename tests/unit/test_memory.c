#include "base/memory.h"
#include "base/result.h"
#include "check.h"
#include "failing_allocator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool aligned_to(const void *memory, size_t align) { return (uintptr_t)memory % align == 0; }

static void fill(unsigned char *memory, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) {
        memory[i] = (unsigned char)(seed + i * 7);
    }
}

static bool filled(const unsigned char *memory, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) {
        if (memory[i] != (unsigned char)(seed + i * 7)) {
            return false;
        }
    }
    return true;
}

// ---- the default allocator ----

// Catches a wrong threshold, and memory that cannot be written or given back.
static void small_arrays_start_on_a_line_and_big_ones_on_a_huge_page(void)
{
    static const size_t sizes[] = {
        1, 64, 4096, RP_HUGE_PAGE - 1, RP_HUGE_PAGE, RP_HUGE_PAGE * 3 + 1};
    const rp_allocator *a = rp_default_allocator();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_context("%zu bytes", sizes[i]);
        unsigned char *memory = a->allocate(sizes[i], RP_CACHE_LINE, a->context);
        CHECK(memory != NULL);
        CHECK(aligned_to(memory, sizes[i] >= RP_HUGE_PAGE ? RP_HUGE_PAGE : RP_CACHE_LINE));
        memset(memory, 1, sizes[i]);
        a->release(memory, sizes[i], a->context);
    }
}

// Catches an alignment that the system's own allocator refuses or that is not honoured.
static void every_power_of_two_is_honoured(void)
{
    const rp_allocator *a = rp_default_allocator();
    for (size_t align = 1; align <= (size_t)RP_HUGE_PAGE * 2; align *= 2) {
        check_context("align %zu", align);
        void *memory = a->allocate(100, align, a->context);
        CHECK(memory != NULL);
        CHECK(aligned_to(memory, align));
        a->release(memory, 100, a->context);
    }
}

// Whether the mapping around an address carries a flag: 1, 0, or -1 where the system does not say.
static int mapping_flag(const void *memory, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    if (file == NULL) {
        return -1;
    }
    char line[512];
    bool inside = false;
    int found = -1;
    while (found < 0 && fgets(line, sizeof line, file) != NULL) {
        uintptr_t begin, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            inside = begin <= (uintptr_t)memory && (uintptr_t)memory < end;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            found = strstr(line, flag) != NULL;
        }
    }
    fclose(file);
    return found;
}

// Catches a madvise() that is missing or refused, which shows nowhere else than in the speed.
static void big_arrays_ask_for_huge_pages(void)
{
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
        printf("     no huge pages on this machine: the next line proves nothing\n");
        return;
    }
    const rp_allocator *a = rp_default_allocator();
    const size_t bytes = (size_t)RP_HUGE_PAGE * 4;
    char *memory = a->allocate(bytes, RP_CACHE_LINE, a->context);
    CHECK(memory != NULL);
    const int first = mapping_flag(memory, " hg"), last = mapping_flag(memory + bytes - 1, " hg");
    a->release(memory, bytes, a->context);
    CHECK(first != 0);
    CHECK(last != 0);
}

// ---- growing arrays ----

// Catches a copy of the wrong length, a lost capacity, and a shrink that moves the data.
static void a_buffer_keeps_what_it_held(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    rp_buffer buffer = {0};
    CHECK_OK(rp_buffer_reserve(&buffer, &fa.allocator, 1000, 0, "test"));
    CHECK(buffer.bytes >= 1000);
    CHECK(aligned_to(buffer.data, RP_CACHE_LINE));
    fill(buffer.data, 1000, 5);

    CHECK_OK(rp_buffer_reserve(&buffer, &fa.allocator, 100000, 1000, "test"));
    CHECK(buffer.bytes >= 100000);
    CHECK(filled(buffer.data, 1000, 5));
    fill(buffer.data, 100000, 9);

    const rp_buffer before = buffer;
    CHECK_OK(rp_buffer_reserve(&buffer, &fa.allocator, 10, 10, "test"));
    CHECK_OK(rp_buffer_reserve(&buffer, &fa.allocator, 100000, 0, "test"));
    CHECK(buffer.data == before.data && buffer.bytes == before.bytes);
    CHECK(filled(buffer.data, 100000, 9));

    rp_buffer_free(&buffer, &fa.allocator);
    CHECK(buffer.data == NULL && buffer.bytes == 0);
    rp_buffer_free(&buffer, &fa.allocator);
    failing_allocator_finish(&fa);
}

// Catches a buffer that is freed, emptied or resized before the new memory is there.
static void a_buffer_that_cannot_grow_is_as_it_was(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, 1);
    rp_buffer buffer = {0};
    CHECK_OK(rp_buffer_reserve(&buffer, &fa.allocator, 1000, 0, "test"));
    fill(buffer.data, 1000, 5);
    const rp_buffer before = buffer;
    CHECK_ERROR(
        rp_buffer_reserve(&buffer, &fa.allocator, 123456, 1000, "particle column 'velocity'"),
        RP_ERR_MEMORY, "out of memory: 123456 bytes for particle column 'velocity'");
    CHECK(fa.failed);
    CHECK(buffer.data == before.data && buffer.bytes == before.bytes);
    CHECK(filled(buffer.data, 1000, 5));
    rp_buffer_free(&buffer, &fa.allocator);
    failing_allocator_finish(&fa);
}

// Catches a caller that promises to keep more than there is, which would read past the end.
static void keeping_more_than_there_is_is_a_bug(void)
{
    check_expect_assert();
    rp_buffer buffer = {0};
    CHECK_OK(rp_buffer_reserve(&buffer, rp_default_allocator(), 64, 0, "test"));
    CHECK_OK(rp_buffer_reserve(&buffer, rp_default_allocator(), 10, 65, "test"));
    CHECK(strstr(check_last_assert(), "keep <= ") != NULL);
    rp_buffer_free(&buffer, rp_default_allocator());
}

// ---- sizes nobody has ----

// Catches sums that wrap around: a huge request would come back as a small block.
static void absurd_sizes_are_out_of_memory(void)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX - 64, SIZE_MAX / 2 + 1,
                                   SIZE_MAX / 2};
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    const rp_allocator *a = &fa.allocator;
    rp_scratch arena;
    rp_scratch_init(&arena, a);
    CHECK(rp_scratch_get(&arena, 100, "test") != NULL);
    rp_buffer buffer = {0};
    CHECK_OK(rp_buffer_reserve(&buffer, a, 100, 0, "test"));
    const int64_t count = fa.count;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_context("%zu bytes", sizes[i]);
        CHECK_ERROR(rp_buffer_reserve(&buffer, a, sizes[i], 64, "a column"), RP_ERR_MEMORY,
                    "out of memory: ");
        CHECK(rp_new(a, sizes[i], "a world") == NULL);
        CHECK(strstr(rp_last_error(), " bytes for a world") != NULL);
        CHECK(rp_scratch_get(&arena, sizes[i], "sums") == NULL);
        CHECK(strstr(rp_last_error(), " bytes for sums") != NULL);
    }
    CHECK_EQUAL(fa.count, count); // not even asked
    rp_buffer_free(&buffer, a);
    rp_scratch_free(&arena);
    failing_allocator_finish(&fa);
}

// ---- small objects ----

// Catches an object that is not zeroed (the allocator hands out 0xff) or freed with another size.
static void a_new_object_is_zero(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, 1);
    unsigned char *object = rp_new(&fa.allocator, 1001, "a world");
    CHECK(object != NULL);
    CHECK(aligned_to(object, RP_CACHE_LINE));
    for (int i = 0; i < 1001; i++) {
        CHECK_EQUAL(object[i], 0);
    }
    CHECK(rp_new(&fa.allocator, 77, "a world") == NULL);
    CHECK(strcmp(rp_last_error(), "out of memory: 77 bytes for a world") == 0);
    rp_delete(&fa.allocator, object, 1001);
    rp_delete(&fa.allocator, NULL, 77);
    failing_allocator_finish(&fa);
}

// ---- the arena ----

enum { PIECES = 200 };

static size_t piece_size(int i) { return (size_t)i * i * 37 % 50000; }

// What a step does: take pieces of all sizes, write them, find them as written.
static void use_arena(rp_scratch *arena)
{
    unsigned char *piece[PIECES];
    for (int i = 0; i < PIECES; i++) {
        piece[i] = rp_scratch_get(arena, piece_size(i), "a piece");
        CHECK(piece[i] != NULL);
        CHECK(aligned_to(piece[i], RP_CACHE_LINE));
        fill(piece[i], piece_size(i), (unsigned)i);
    }
    for (int i = 0; i < PIECES; i++) {
        CHECK(filled(piece[i], piece_size(i), (unsigned)i));
    }
}

// Catches pieces that overlap or leave their block, and blocks that are lost.
static void pieces_of_an_arena_do_not_overlap(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    rp_scratch arena;
    rp_scratch_init(&arena, &fa.allocator);
    for (int step = 0; step < 3; step++) {
        check_context("step %d", step);
        CHECK_HELPER(use_arena(&arena));
        rp_scratch_reset(&arena);
    }
    rp_scratch_free(&arena);
    rp_scratch_free(&arena);
    failing_allocator_finish(&fa);
}

// Catches empty pieces at one address, or NULL for something that is no failure.
static void two_empty_pieces_are_two_places(void)
{
    rp_scratch arena;
    rp_scratch_init(&arena, rp_default_allocator());
    const void *first = rp_scratch_get(&arena, 0, "nothing"),
               *second = rp_scratch_get(&arena, 0, "nothing");
    CHECK(first != NULL && second != NULL && first != second);
    rp_scratch_free(&arena);
}

// Catches a reset that frees its blocks or merges them into one that is too small.
static void a_warm_arena_allocates_nothing(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    rp_scratch arena;
    rp_scratch_init(&arena, &fa.allocator);
    rp_scratch_reset(&arena);
    CHECK_EQUAL(fa.count, 0);
    CHECK_HELPER(use_arena(&arena));
    CHECK(fa.outstanding_blocks > 1); // or there is nothing to merge
    rp_scratch_reset(&arena);
    CHECK_EQUAL(fa.outstanding_blocks, 1);

    const int64_t warm = fa.count;
    for (int step = 0; step < 5; step++) {
        CHECK_HELPER(use_arena(&arena));
        rp_scratch_reset(&arena);
    }
    CHECK_EQUAL(fa.count, warm);
    rp_scratch_free(&arena);
    failing_allocator_finish(&fa);
}

// Catches an arena that loses its old blocks with the failed merge, or cannot use them any more.
static void an_arena_that_cannot_merge_goes_on_with_its_blocks(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, -1);
    rp_scratch arena;
    rp_scratch_init(&arena, &fa.allocator);
    CHECK_HELPER(use_arena(&arena));
    const int64_t blocks = fa.outstanding_blocks;
    CHECK(blocks > 1);

    (void)rp_fail(RP_ERR_FILE, "an older sentence");
    fa.fail_at = fa.count;
    rp_scratch_reset(&arena);
    CHECK(fa.failed);
    CHECK_EQUAL(fa.outstanding_blocks, blocks);
    CHECK(strcmp(rp_last_error(), "an older sentence") == 0); // nobody is told of this failure

    // pieces come in another order than blocks: one more block may be needed, not a second set
    CHECK_HELPER(use_arena(&arena));
    CHECK(fa.outstanding_blocks <= blocks + 1);
    rp_scratch_reset(&arena);
    CHECK_EQUAL(fa.outstanding_blocks, 1);
    rp_scratch_free(&arena);
    failing_allocator_finish(&fa);
}

// Catches a leak or a broken list on each allocation an arena can fail in.
static void an_arena_survives_every_failed_allocation(void)
{
    bool failed = true;
    int64_t n = 0;
    for (; failed; n++) {
        check_context("allocation %d fails", (int)n);
        failing_allocator fa;
        failing_allocator_init(&fa, n);
        rp_scratch arena;
        rp_scratch_init(&arena, &fa.allocator);
        for (int step = 0; step < 3; step++) {
            int missing = 0;
            for (int i = 0; i < PIECES; i++) {
                unsigned char *piece = rp_scratch_get(&arena, piece_size(i), "a piece");
                if (piece == NULL) {
                    missing++;
                    CHECK(strstr(rp_last_error(), "bytes for a piece") != NULL);
                } else {
                    memset(piece, 1, piece_size(i));
                }
            }
            CHECK(missing <= 1);
            rp_scratch_reset(&arena);
        }
        failed = fa.failed;
        rp_scratch_free(&arena);
        failing_allocator_finish(&fa);
    }
    CHECK(n > 3);
}

// ---- the failing allocator itself ----

// Catches a bookkeeper that does not count: every test that trusts it would pass.
static void the_failing_allocator_keeps_its_books(void)
{
    failing_allocator fa;
    failing_allocator_init(&fa, 1);
    const rp_allocator *a = &fa.allocator;
    void *first = a->allocate(100, 64, a->context);
    CHECK(first != NULL && aligned_to(first, 64));
    CHECK(!fa.failed);
    CHECK(a->allocate(10, 64, a->context) == NULL);
    CHECK(fa.failed);
    void *third = a->allocate(30, 4096, a->context);
    CHECK(third != NULL && aligned_to(third, 4096));
    CHECK_EQUAL(fa.count, 3);
    CHECK_EQUAL(fa.outstanding_blocks, 2);
    CHECK_EQUAL(fa.outstanding_bytes, 130);

    a->release(first, 100, a->context);
    CHECK_EQUAL(fa.wrong_releases, 0);
    a->release(third, 31, a->context);
    CHECK_EQUAL(fa.wrong_releases, 1);
    a->release(&fa, 8, a->context);
    CHECK_EQUAL(fa.wrong_releases, 2);
    CHECK_EQUAL(fa.outstanding_blocks, 0);
    CHECK_EQUAL(fa.outstanding_bytes, 0);
    fa.wrong_releases = 0; // these were on purpose
    failing_allocator_finish(&fa);
}

TEST_MAIN(TEST(small_arrays_start_on_a_line_and_big_ones_on_a_huge_page),
          TEST(every_power_of_two_is_honoured), TEST(big_arrays_ask_for_huge_pages),
          TEST(a_buffer_keeps_what_it_held), TEST(a_buffer_that_cannot_grow_is_as_it_was),
          TEST(keeping_more_than_there_is_is_a_bug), TEST(absurd_sizes_are_out_of_memory),
          TEST(a_new_object_is_zero), TEST(pieces_of_an_arena_do_not_overlap),
          TEST(two_empty_pieces_are_two_places), TEST(a_warm_arena_allocates_nothing),
          TEST(an_arena_that_cannot_merge_goes_on_with_its_blocks),
          TEST(an_arena_survives_every_failed_allocation),
          TEST(the_failing_allocator_keeps_its_books))

#include "base/memory.h"

#include "base/result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---- the default allocator ----

// Big arrays are mapped on their own, so that what is released is really given back: a heap would
// keep the pieces that a growing column leaves behind. Mapped with room to align, the ends are cut
// off.
static void *map_huge(size_t size, size_t align)
{
    align = align > RP_HUGE_PAGE ? align : RP_HUGE_PAGE;
    char *memory =
        mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    const size_t page = 4096, head = (align - (uintptr_t)memory % align) % align;
    const size_t end = (head + size + page - 1) / page * page;
    if (head > 0) {
        munmap(memory, head);
    }
    if (size + align > end) {
        munmap(memory + end, size + align - end);
    }
    // only advice: a kernel without huge pages serves small ones
    (void)madvise(memory + head, size, MADV_HUGEPAGE);
    return memory + head;
}

static void *default_allocate(size_t size, size_t align, void *context)
{
    (void)context;
    if (size >= RP_HUGE_PAGE) {
        return map_huge(size, align);
    }
    void *memory = NULL;
    align = align < sizeof(void *) ? sizeof(void *) : align;
    return posix_memalign(&memory, align, size) == 0 ? memory : NULL;
}

static void default_release(void *memory, size_t size, void *context)
{
    (void)context;
    if (size >= RP_HUGE_PAGE) {
        munmap(memory, size);
    } else {
        free(memory);
    }
}

const rp_allocator *rp_default_allocator(void)
{
    static const rp_allocator standard = {default_allocate, default_release, NULL};
    return &standard;
}

// ---- a limit ----

static void *limited_allocate(size_t size, size_t align, void *context)
{
    rp_limited *l = context;
    if (atomic_fetch_add(&l->used, size) + size <= l->limit) {
        void *memory = l->base.allocate(size, align, l->base.context);
        if (memory != NULL) {
            return memory;
        }
    }
    atomic_fetch_sub(&l->used, size);
    return NULL;
}

static void limited_release(void *memory, size_t size, void *context)
{
    rp_limited *l = context;
    l->base.release(memory, size, l->base.context);
    atomic_fetch_sub(&l->used, size);
}

rp_allocator rp_limited_allocator(rp_limited *limited, const rp_allocator *base, size_t limit)
{
    limited->base = *base;
    limited->limit = limit;
    atomic_init(&limited->used, 0);
    return (rp_allocator){limited_allocate, limited_release, limited};
}

// ---- what the rest is made of ----

static void out_of_memory(size_t bytes, const char *what)
{
    rp_fail(RP_ERR_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}

// No object is larger than PTRDIFF_MAX; saying so here keeps the sums below from wrapping around.
static bool too_big(size_t bytes) { return bytes > PTRDIFF_MAX - RP_HUGE_PAGE; }

static size_t whole_lines(size_t bytes)
{
    return (bytes + RP_CACHE_LINE - 1) / RP_CACHE_LINE * RP_CACHE_LINE;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// ---- growing arrays ----

rp_result rp_buffer_reserve(rp_buffer *buffer, const rp_allocator *a, size_t bytes, size_t keep,
                            const char *what)
{
    RP_ASSERT(keep <= buffer->bytes);
    if (bytes <= buffer->bytes) {
        return RP_OK;
    }

    // no more than asked: callers that grow often know better by how much
    void *data = NULL;
    if (!too_big(bytes)) {
        data = a->allocate(whole_lines(bytes), RP_CACHE_LINE, a->context);
    }
    if (data == NULL) {
        out_of_memory(bytes, what);
        return RP_ERR_MEMORY;
    }
    if (keep > 0) {
        memcpy(data, buffer->data, keep);
    }
    rp_buffer_free(buffer, a);
    *buffer = (rp_buffer){data, whole_lines(bytes)};
    return RP_OK;
}

void rp_buffer_free(rp_buffer *buffer, const rp_allocator *a)
{
    if (buffer->data != NULL) {
        a->release(buffer->data, buffer->bytes, a->context);
    }
    *buffer = (rp_buffer){0};
}

// ---- small objects ----

void *rp_new(const rp_allocator *a, size_t bytes, const char *what)
{
    void *object = too_big(bytes) ? NULL : a->allocate(bytes, RP_CACHE_LINE, a->context);
    if (object == NULL) {
        out_of_memory(bytes, what);
        return NULL;
    }
    return memset(object, 0, bytes);
}

void rp_delete(const rp_allocator *a, void *object, size_t bytes)
{
    if (object != NULL) {
        a->release(object, bytes, a->context);
    }
}

// ---- the scratch memory ----

enum {
    FIRST_BLOCK = 64 << 10,
    HEADER = RP_CACHE_LINE, // of a block; what it hands out starts behind it
};

struct rp_scratch_block {
    struct rp_scratch_block *next;
    size_t bytes; // behind the header
    size_t used;  // as it was when another block came into use
};

_Static_assert(sizeof(struct rp_scratch_block) <= HEADER, "a block's data starts on a cache line");

// Sets no sentence: rp_scratch_reset() does without.
static struct rp_scratch_block *new_block(const rp_allocator *a, size_t bytes)
{
    struct rp_scratch_block *block = NULL;
    if (!too_big(bytes)) {
        block = a->allocate(HEADER + bytes, RP_CACHE_LINE, a->context);
    }
    if (block != NULL) {
        *block = (struct rp_scratch_block){.bytes = bytes};
    }
    return block;
}

static void free_blocks(rp_scratch *scratch)
{
    const rp_allocator *a = scratch->allocator;
    for (struct rp_scratch_block *block = scratch->block, *next; block != NULL; block = next) {
        next = block->next;
        a->release(block, HEADER + block->bytes, a->context);
    }
    scratch->block = NULL;
    scratch->used = 0;
}

static size_t capacity_of(const rp_scratch *scratch)
{
    size_t bytes = 0;
    for (const struct rp_scratch_block *block = scratch->block; block != NULL;
         block = block->next) {
        bytes += block->bytes;
    }
    return bytes;
}

// Puts a block with that much room in front.
static bool use_block_with_room(rp_scratch *scratch, size_t bytes)
{
    if (scratch->block != NULL) {
        if (bytes <= scratch->block->bytes - scratch->used) {
            return true;
        }
        scratch->block->used = scratch->used;
    }

    // a full block may have an emptier one behind it, above all after a reset that could not merge
    struct rp_scratch_block **link = &scratch->block;
    while (*link != NULL && bytes > (*link)->bytes - (*link)->used) {
        link = &(*link)->next;
    }
    struct rp_scratch_block *block = *link;
    if (block != NULL) {
        *link = block->next;
    } else {
        const size_t half = capacity_of(scratch) / 2;
        block =
            new_block(scratch->allocator, larger(bytes, larger(FIRST_BLOCK, whole_lines(half))));
        if (block == NULL) {
            return false;
        }
    }
    block->next = scratch->block;
    scratch->block = block;
    scratch->used = block->used;
    return true;
}

void rp_scratch_init(rp_scratch *scratch, const rp_allocator *a)
{
    *scratch = (rp_scratch){.allocator = a};
}

void *rp_scratch_get(rp_scratch *scratch, size_t bytes, const char *what)
{
    // never nothing, so that two empty arrays are two places
    const size_t room = too_big(bytes) ? 0 : whole_lines(larger(bytes, 1));
    if (room == 0 || !use_block_with_room(scratch, room)) {
        out_of_memory(bytes, what);
        return NULL;
    }
    char *memory = (char *)scratch->block + HEADER + scratch->used;
    scratch->used += room;
    return memory;
}

void rp_scratch_reset(rp_scratch *scratch)
{
    scratch->used = 0;
    if (scratch->block == NULL) {
        return;
    }
    if (scratch->block->next != NULL) {
        struct rp_scratch_block *merged = new_block(scratch->allocator, capacity_of(scratch));
        if (merged != NULL) {
            free_blocks(scratch);
            scratch->block = merged;
        }
    }
    for (struct rp_scratch_block *block = scratch->block; block != NULL; block = block->next) {
        block->used = 0;
    }
}

void rp_scratch_free(rp_scratch *scratch) { free_blocks(scratch); }

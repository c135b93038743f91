// Memory of a world: an allocator the host may replace, growing arrays, and a step's scratch.
#pragma once

#include "repose/base.h"

#include <stdatomic.h>

enum {
    RP_CACHE_LINE = 64,
    RP_HUGE_PAGE = 2 << 20, // arrays at least this big are aligned to it and ask for huge pages
};

// The allocator a world uses when its def names none: aligned, zeroing nothing, huge pages for big
// arrays.
const rp_allocator *rp_default_allocator(void);

// An allocator that hands out no more than `limit` bytes of another one's at a time.
typedef struct rp_limited {
    rp_allocator base;
    size_t limit;
    atomic_size_t used;
} rp_limited;
rp_allocator rp_limited_allocator(rp_limited *limited, const rp_allocator *base, size_t limit);

// An array that remembers what it needs to be freed. Zero-initialise before first use.
typedef struct rp_buffer {
    void *data;
    size_t bytes; // capacity
} rp_buffer;

// Make room for at least `bytes`, keeping the first `keep` bytes. On failure the buffer is as it
// was.
rp_result rp_buffer_reserve(rp_buffer *buffer, const rp_allocator *a, size_t bytes, size_t keep,
                            const char *what);
void rp_buffer_free(rp_buffer *buffer, const rp_allocator *a);

// A zeroed small object; NULL when there is no memory (rp_last_error() says so).
void *rp_new(const rp_allocator *a, size_t bytes, const char *what);
void rp_delete(const rp_allocator *a, void *object, size_t bytes);

// Scratch memory of one step: bump allocation from blocks that are kept for the next step, so that
// after the first steps a step allocates nothing. Not for use by several threads at once.
typedef struct rp_scratch {
    const rp_allocator *allocator;
    struct rp_scratch_block *block; // the one in use first
    size_t used;                    // bytes of the block in use
} rp_scratch;

void rp_scratch_init(rp_scratch *scratch, const rp_allocator *a);
// 64-byte aligned, not zeroed; NULL when there is no memory (rp_last_error() says so).
void *rp_scratch_get(rp_scratch *scratch, size_t bytes, const char *what);
// Forget everything handed out. Merges the blocks into one, so that the next step needs no new one;
// when even that cannot be had, the old blocks stay.
void rp_scratch_reset(rp_scratch *scratch);
void rp_scratch_free(rp_scratch *scratch);

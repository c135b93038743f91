// An allocator that fails on request and keeps books. It walks a call through its out-of-memory
// paths:
//
//   for (int64_t n = 0;; n++) {
//       failing_allocator fa;
//       failing_allocator_init(&fa, n);
//       ... the call under test, with &fa.allocator; then give everything back ...
//       const bool failed = fa.failed;
//       failing_allocator_finish(&fa);
//       if (!failed) {
//           break; // the call needs no more than n allocations
//       }
//   }
//
// What it hands out is filled with 0xff bytes (NaN in either precision), so that nobody lives on
// zeros by luck. Any thread may use it; read the counts when none does.
#pragma once

#include "repose/base.h"

#include <pthread.h>

typedef struct failing_allocator {
    rp_allocator allocator; // its context points at this struct, which must stay in place
    int64_t fail_at;        // the allocation to fail, counted from 0; -1: none
    int64_t count;          // allocations asked for, the failed one included
    bool failed;            // whether it has come to that one
    int64_t outstanding_blocks;
    size_t outstanding_bytes;
    int64_t wrong_releases; // of a size other than allocated, or of memory that is not outstanding

    struct failing_allocator_block *blocks;
    pthread_mutex_t mutex;
} failing_allocator;

void failing_allocator_init(failing_allocator *fa, int64_t fail_at);

// Fails the running test when memory is outstanding or was released wrongly. Frees what leaked.
void failing_allocator_finish(failing_allocator *fa);

// Parallel loops.
#pragma once

#include "repose/base.h"

// Runs body(ctx, i, thread) for i in [0, count) on `threads` threads, in chunks handed out as
// threads come free. Which thread gets which i is not fixed, so body may write only what belongs to
// i (or to `thread`, for scratch). Few items run on the calling thread alone. Every thread runs
// with round-to-nearest and denormals flushed, and leaves the mode as it found it.
void rp_parallel_for(int threads, int64_t count, int64_t chunk,
                     void (*body)(void *ctx, int64_t i, int thread), void *ctx);

// Threads to use when the host does not say: the processors this process may run on.
int rp_default_threads(void);

// Round to nearest, denormals flushed to zero, for as long as a step runs on this thread.
typedef struct rp_float_mode {
    unsigned saved;
} rp_float_mode;
rp_float_mode rp_float_mode_enter(void);
void rp_float_mode_leave(rp_float_mode mode);

// SPDX-License-Identifier: Apache-2.0
// Parallel loops: one pool of threads for the whole process.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs body(ctx, i, thread) for i in [0, count) on `threads` threads, in chunks handed out as
/// threads come free. Which thread gets which i is not fixed, so body may write only what belongs
/// to i (or to `thread`, for scratch). Few items run on the calling thread alone, and so does a
/// loop within a loop. Every thread runs with round-to-nearest and denormals flushed, and leaves
/// the mode as it found it.
RP_API void rp_parallel_for(int threads, int64_t count, int64_t chunk,
                            void (*body)(void *ctx, int64_t i, int thread), void *ctx);

/// Let handlers of the host hear of a crash of the calling thread: signals of crashes are not
/// blocked, and there is a stack to run on (sigaltstack), unless it has one, should its own have
/// run out. The library's own threads do it.
RP_API void rp_thread_begin(void);

/// Threads to use when the host does not say: the processors this process may run on.
RP_API int rp_default_threads(void);

#ifdef __cplusplus
}
#endif

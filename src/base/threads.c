#include "base/threads.h"

#include <omp.h>

#ifdef __SSE__
#include <xmmintrin.h>
enum {
    FLUSH_RESULTS = 0x8000,  // a denormal result becomes zero (FTZ)
    FLUSH_OPERANDS = 0x0040, // a denormal operand counts as zero (DAZ)
    ROUNDING = 0x6000,       // both bits clear: to nearest
};
#endif

rp_float_mode rp_float_mode_enter(void)
{
#ifdef __SSE__
    const unsigned saved = _mm_getcsr();
    _mm_setcsr((saved & ~(unsigned)ROUNDING) | FLUSH_RESULTS | FLUSH_OPERANDS);
    return (rp_float_mode){saved};
#else
    return (rp_float_mode){0};
#endif
}

void rp_float_mode_leave(rp_float_mode mode)
{
#ifdef __SSE__
    _mm_setcsr(mode.saved);
#else
    (void)mode;
#endif
}

void rp_parallel_for(int threads, int64_t count, int64_t chunk,
                     void (*body)(void *ctx, int64_t i, int thread), void *ctx)
{
    if (chunk < 1) {
        chunk = 1;
    }
    if (threads <= 1 || count <= chunk) {
        const rp_float_mode mode = rp_float_mode_enter();
        for (int64_t i = 0; i < count; i++) {
            body(ctx, i, 0);
        }
        rp_float_mode_leave(mode);
        return;
    }

    // a full team even for few chunks: runtimes end and start threads when its size changes
#pragma omp parallel num_threads(threads)
    {
        const int thread = omp_get_thread_num();
        const rp_float_mode mode = rp_float_mode_enter();
#pragma omp for schedule(dynamic, chunk)
        for (int64_t i = 0; i < count; i++) {
            body(ctx, i, thread);
        }
        rp_float_mode_leave(mode);
    }
}

int rp_default_threads(void)
{
    // not sched_getaffinity(): under OMP_PROC_BIND this thread is already tied to one processor
    return omp_get_num_procs();
}

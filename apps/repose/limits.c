#include "limits.h"

#include <repose/repose.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double wall_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

double cpu_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// ---- fused multiply-adds ----

enum { CHAINS = 12, TURNS = 200000 }; // enough chains to hide the latency of each

// sum[k] = sum[k] * factor + term, TURNS times; in `name`, with vectors of `bytes` bytes
#define FMA_LOOP(name, type, bytes, features, fma)                                                 \
    __attribute__((target(features), noinline)) static double name(void)                           \
    {                                                                                              \
        typedef type wide __attribute__((vector_size(bytes)));                                     \
        wide sum[CHAINS], factor = (wide){0} + (type)0.999, term = (wide){0} + (type)0.001;        \
        for (int k = 0; k < CHAINS; k++) {                                                         \
            sum[k] = (wide){0} + (type)k;                                                          \
        }                                                                                          \
        for (int i = 0; i < TURNS; i++) {                                                          \
            _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; k++) { sum[k] = fma; }            \
        }                                                                                          \
        wide all = sum[0];                                                                         \
        for (int k = 1; k < CHAINS; k++) {                                                         \
            all += sum[k];                                                                         \
        }                                                                                          \
        return (double)all[0];                                                                     \
    }

typedef struct fma_loop {
    double (*run)(void);
    double flops; // of a call
} fma_loop;

#if defined(__x86_64__)
#include <immintrin.h>
FMA_LOOP(fma_f32_512, float, 64, "avx512f",
         (wide)_mm512_fmadd_ps((__m512)sum[k], (__m512)factor, (__m512)term))
FMA_LOOP(fma_f64_512, double, 64, "avx512f",
         (wide)_mm512_fmadd_pd((__m512d)sum[k], (__m512d)factor, (__m512d)term))
FMA_LOOP(fma_f32_256, float, 32, "avx2,fma",
         (wide)_mm256_fmadd_ps((__m256)sum[k], (__m256)factor, (__m256)term))
FMA_LOOP(fma_f64_256, double, 32, "avx2,fma",
         (wide)_mm256_fmadd_pd((__m256d)sum[k], (__m256d)factor, (__m256d)term))
FMA_LOOP(fma_f32_128, float, 16, "sse2", sum[k] * factor + term)
FMA_LOOP(fma_f64_128, double, 16, "sse2", sum[k] * factor + term)

static fma_loop widest(int bits)
{
    const double each = 2.0 * CHAINS * TURNS / bits;
    if (__builtin_cpu_supports("avx512f")) {
        return (fma_loop){bits == 32 ? fma_f32_512 : fma_f64_512, 512 * each};
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return (fma_loop){bits == 32 ? fma_f32_256 : fma_f64_256, 256 * each};
    }
    return (fma_loop){bits == 32 ? fma_f32_128 : fma_f64_128, 128 * each};
}
#else
static double fma_plain(void)
{
    double sum[CHAINS] = {0};
    for (int i = 0; i < TURNS; i++) {
        for (int k = 0; k < CHAINS; k++) {
            sum[k] = fma(sum[k], 0.999, 0.001);
        }
    }
    double all = 0.0;
    for (int k = 0; k < CHAINS; k++) {
        all += sum[k];
    }
    return all;
}

static fma_loop widest(int bits)
{
    (void)bits;
    return (fma_loop){fma_plain, 2.0 * CHAINS * TURNS};
}
#endif

typedef struct fma_run {
    fma_loop loop;
    double *result; // [i], so that the loop is not thrown away
} fma_run;

static void fma_body(void *context, int64_t i, int thread)
{
    (void)thread;
    const fma_run *run = context;
    run->result[i] = run->loop.run();
}

double limit_fma(int threads, int bits)
{
    enum { TRIES = 8, EACH = 4 }; // several loops a thread, so that threads may start late
    double *result = calloc((size_t)threads * EACH, sizeof *result);
    fma_run run = {.loop = widest(bits), .result = result};
    double best = 0.0;
    for (int i = 0; i < TRIES && result != NULL; i++) {
        const double start = wall_seconds();
        rp_parallel_for(threads, (int64_t)threads * EACH, 1, fma_body, &run);
        best = fmax(best, threads * EACH * run.loop.flops / (wall_seconds() - start));
    }
    free(result);
    return best * 1e-9;
}

// ---- memory ----

enum { TRIAD_REALS = 4 << 20, TRIAD_PIECE = 1 << 14 };

typedef struct triad_run {
    double *a, *b, *c;
} triad_run;

static void triad_body(void *context, int64_t i, int thread)
{
    (void)thread;
    const triad_run *run = context;
    double *restrict a = run->a + i * TRIAD_PIECE;
    const double *restrict b = run->b + i * TRIAD_PIECE, *restrict c = run->c + i * TRIAD_PIECE;
    for (int k = 0; k < TRIAD_PIECE; k++) {
        a[k] = b[k] + 3.0 * c[k];
    }
}

double limit_triad(int threads)
{
    enum { TRIES = 8 };
    double *memory = malloc(3 * TRIAD_REALS * sizeof *memory);
    if (memory == NULL) {
        return 0.0;
    }
    for (int64_t i = 0; i < 3 * TRIAD_REALS; i++) {
        memory[i] = (double)i;
    }
    triad_run run = {memory, memory + TRIAD_REALS, memory + 2 * TRIAD_REALS};
    double best = 0.0;
    for (int i = 0; i < TRIES; i++) {
        const double start = wall_seconds();
        rp_parallel_for(threads, TRIAD_REALS / TRIAD_PIECE, 1, triad_body, &run);
        best = fmax(best, 3.0 * TRIAD_REALS * sizeof(double) / (wall_seconds() - start));
    }
    free(memory);
    return best * 1e-9;
}

// ---- the clock ----

double limit_clock(void)
{
    enum { TRIES = 8 };
    const int64_t turns = 1 << 20;
    double best = 0.0;
    for (int i = 0; i < TRIES; i++) {
        const double start = wall_seconds();
        uint64_t x = 1;
        for (int64_t k = 0; k < turns; k++) {
            // eight additions, each waiting for the one before; the compiler must not fold them
            for (int u = 0; u < 8; u++) {
                x += (uint64_t)k;
                __asm__ volatile("" : "+r"(x));
            }
        }
        best = fmax(best, 8.0 * (double)turns / (wall_seconds() - start));
    }
    return best * 1e-9;
}

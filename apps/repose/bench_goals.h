// The goals that benchmarks are held against.
#pragma once

#include "bench_case.h"

typedef struct bench_done {
    bench_case asked;
    bench_result found;
} bench_done;

// Print each goal that these results can tell something about.
void bench_print_goals(const bench_done *done, int count, int threads);

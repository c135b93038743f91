// What this machine can do at best, measured: numbers to hold a benchmark's results against.
#pragma once

// Both are the best of several short runs on `threads` threads at once.

// Fused multiply-adds on registers alone, two operations each, in the widest vectors that the
// processor has [Gflop/s].
// @param bits 32 or 64
double limit_fma(int threads, int bits);
// a = b + s c on arrays that no cache holds, 24 bytes a turn [GB/s].
double limit_triad(int threads);
// Cycles per second of the core that this thread is on, from a chain of additions [GHz].
double limit_clock(void);

double wall_seconds(void);
// Of all threads of this process. On a machine that others use, the time that a step would take on
// one of its own.
double cpu_seconds(void);

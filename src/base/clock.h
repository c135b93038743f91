// Time for stopwatches.
#pragma once

#include <time.h>

// Seconds of a clock that only goes forward; where it starts has no meaning.
static inline double rp_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

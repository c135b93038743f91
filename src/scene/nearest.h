// The nearest known spelling.
#pragma once

// Feed candidates one by one, then look at `best`; NULL when none was near enough to be meant.
typedef struct nearest {
    const char *wanted;
    const char *best;
    int distance;
} nearest;

nearest rp_nearest_start(const char *wanted);
// The candidate must outlive the search.
void rp_nearest_try(nearest *n, const char *candidate);

// Blue noise in a shape: samples that keep their distance from each other and are as dense at the
// surface as in the middle.
//
// All samples come from one pattern that fills space without end: a tile with Poisson-disk samples
// that fits to itself on all sides, repeated. It is made once per process and holds no edge, so a
// shape cut out of it has no denser outer strip, which sampling the shape itself would have. A seed
// turns and shifts the pattern. Turned, its period does not line up with anything: a flat cut meets
// the tile at ever other places, and no repetition shows.
#pragma once

#include "repose/shape.h"

typedef rp_result (*rp_sample_visit)(void *context, const double x[3]);

// Calls `visit` for every sample inside the shape, in the same order every time, and ends when it
// fails. There is one sample per spacing^dimension on average. The shape must have bounds, fewer
// than 2^32 spacings apart.
rp_result rp_sample_shape(const rp_shape *shape, int dimension, double spacing, uint64_t seed,
                          rp_sample_visit visit, void *context);

// No two samples are nearer to each other than this many spacings.
double rp_sample_distance(int dimension);

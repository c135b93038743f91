// A motion for colliders of tests: straight on, and turning evenly.
#pragma once

#include "repose/functions.h"

#include "random.h"

// A start, a speed and an even turn about an axis.
typedef struct test_flight {
    double start[3], speed[3], axis[3], spin, angle;
} test_flight;

static inline rp_result test_fly(void *context, double t, rp_pose *out)
{
    const test_flight *f = context;
    const double half = 0.5 * (f->angle + f->spin * t);
    for (int a = 0; a < 3; a++) {
        out->position[a] = f->start[a] + f->speed[a] * t;
        out->rotation[a] = 3.0 * sin(half) * f->axis[a]; // any length will do
    }
    out->rotation[3] = 3.0 * cos(half);
    return RP_OK;
}

static inline test_flight test_random_flight(uint64_t *random, int dim)
{
    test_flight f = {.spin = test_between(random, -20.0, 20.0),
                     .angle = test_between(random, -3.0, 3.0)};
    test_direction(random, f.axis);
    for (int a = 0; a < dim; a++) {
        f.start[a] = test_between(random, -1.0, 1.0);
        f.speed[a] = test_between(random, -3.0, 3.0);
    }
    if (dim == 2) {
        f.axis[0] = f.axis[1] = 0.0;
        f.axis[2] = 1.0;
    }
    return f;
}

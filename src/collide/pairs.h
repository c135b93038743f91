// How bodies touch: one rule for all pairs of velocity fields, and others for some of them. Nothing
// here is bodies times bodies: thousands of them take no more room than what was said.
#pragma once

#include "base/memory.h"
#include "core/layout.h"
#include "repose/contact.h"

typedef struct rp_pair_rule {
    rp_contact contact;
    double friction;
    rp_normals normals;
    bool gap;
} rp_pair_rule;

// A pair that something was said of.
typedef struct rp_pair {
    uint16_t body[2]; // the first is the lower
    rp_pair_rule rule;
} rp_pair;

typedef struct rp_pairs {
    rp_pair_rule all; // that nothing else is said of
    rp_impulses impulses;
    rp_buffer list; // rp_pair, in ascending order
    int count;
} rp_pairs;

// Separate, without friction, automatic normals, by gap, exact.
rp_pairs rp_pairs_default(void);
void rp_pairs_free(rp_pairs *pairs, const rp_allocator *a);

// Say something of a pair of different bodies, in any order; what was said before is forgotten.
// @return on failure the rules are as they were
rp_result rp_pairs_set(rp_pairs *pairs, const rp_allocator *a, int b, int d,
                       const rp_pair_rule *rule);
// The rule of a pair, b < d.
const rp_pair_rule *rp_pairs_rule(const rp_pairs *pairs, int b, int d);

// ---- what they gave each other ----

typedef struct rp_pair_load {
    int32_t body[2]; // the first is the lower
    double given[3]; // to the second since the last frame [kg m/s]; the first got the opposite
    double force[3]; // on the second, mean over the last whole frame [N]
    double
        rubbed[2]; // energy that friction between them took: since then, and within that frame [J]
} rp_pair_load;

// Those that ever touched.
typedef struct rp_pair_loads {
    rp_buffer list; // rp_pair_load, in ascending order
    rp_local count;
} rp_pair_loads;

// Room for so many pairs more than there are: adding cannot fail, since a step that fails halfway
// would count what it added again.
rp_result rp_pair_loads_reserve(rp_pair_loads *loads, const rp_allocator *a, int64_t more);
// @param b, d bodies, b < d
void rp_pair_loads_add(rp_pair_loads *loads, int b, int d, const double impulse[3], double rubbed);
// A frame ends: what was given becomes the mean force. Pairs that did not touch in it go.
void rp_pair_loads_end_frame(rp_pair_loads *loads, double fps);
// Forget what was given so far in this frame.
void rp_pair_loads_forget(rp_pair_loads *loads);
static inline const rp_pair_load *rp_pair_loads_at(const rp_pair_loads *loads, rp_local index)
{
    return (const rp_pair_load *)loads->list.data + index;
}

// How bodies touch: one rule for all pairs of velocity fields, and others for some of them. Nothing
// here is bodies times bodies: thousands of them take no more room than what was said.
#pragma once

#include "base/memory.h"
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

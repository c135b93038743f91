// What rp_places holds, and how a world goes through it.
#pragma once

#include "repose/particles.h"
#include "shape/sample.h"

// Which filling of a shape it was: the number of the call in its world, and what decides the
// places.
typedef struct rp_filling_key {
    int call;
    uint64_t first_id, seed;
    double spacing, jitter, volume;
    rp_sampling sampling;
} rp_filling_key;

// Note a place of a filling that is being sampled; begin with rp_places_begin().
void rp_places_begin(rp_places *places, const rp_filling_key *key);
void rp_places_note(rp_places *places, const double x[3]);

// Visit the places of this filling, if they are there, and forget them when `last`.
// @return false when they are not
bool rp_places_visit(rp_places *places, const rp_filling_key *key, bool last, rp_sample_visit visit,
                     void *context, rp_result *result);

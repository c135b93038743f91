// The water of one picture: particles that become a surface, and wet the sand around them.
#pragma once

#include "render/crowd.h"
#include "render/shot.h"
#include "repose/record.h"
#include "repose/skin.h"

typedef struct rp_pool {
    double (*point)[3];   // [m]
    float (*velocity)[3]; // [m/s]; NULL while the shutter is quick
    float *volume;        // [m^3]
    size_t count, room;
    bool colored; // it has a colour of its own
    vec color;    // linear
} rp_pool;

rp_result rp_pool_open(rp_pool *pool, int64_t room, bool moving);
void rp_pool_free(rp_pool *pool);
void rp_pool_add(rp_pool *pool, const double x[3], const double *velocity, double volume);

// Darkens what is wet in the crowd, and makes the surface.
// @param record for walls; may be NULL
// @param[out] prop without vertices where there is no water; released by rp_props_free()
rp_result rp_pool_show(const rp_pool *pool, rp_crowd *sand, const rp_record *record, int64_t frame,
                       const rp_shot *shot, rp_prop *prop);

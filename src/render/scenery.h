// What stands before the camera, as Embree wants it: spheres for particles, triangles for
// colliders, and a ground without end.
//
// Places on the stage are single precision: metres less an origin near the middle of the picture,
// divided by a unit of about its size, so that a world of any extent looks the same to a ray. With
// an open shutter everything is there twice, as it is when the shutter opens and when it closes.
#pragma once

#include "render/vec.h"
#include "repose/base.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rp_grains {
    float (*at[2])[4];         // x, y, z, radius; the second is NULL while nothing moves
    unsigned char (*color)[3]; // sRGB
    size_t count;
} rp_grains;

typedef struct rp_prop {
    float (*vertex[2])[4]; // the fourth is not used; the second is NULL where nothing moves
    float (*normal)[3];
    uint32_t (*triangle)[3]; // counter-clockwise from outside; not seen from within
    size_t vertices, triangles;
    enum { RP_PROP_SOLID, RP_PROP_GLASS, RP_PROP_WATER } kind;
    vec color;  // linear; of water, what is left of white light after `deep`
    float deep; // [units]
} rp_prop;

typedef struct rp_ground {
    bool there;
    vec point, normal;
    vec color; // linear
} rp_ground;

// What a ray meets first.
typedef struct rp_meeting {
    float t;
    vec at, normal; // the normal is that of the surface, whichever side the ray comes from
    vec color;
    enum {
        RP_MEETS_NOTHING,
        RP_MEETS_GRAIN,
        RP_MEETS_PROP,
        RP_MEETS_GROUND,
        RP_MEETS_GLASS,
        RP_MEETS_WATER
    } kind;
    float step; // how far off the surface the next ray must begin
} rp_meeting;

typedef struct rp_scenery rp_scenery;

// Keeps pointers to all of it.
// @param quick a tree that is made faster and is slower to look through
// @return RP_ERR_MEMORY; *stage is then NULL
rp_result rp_scenery_open(const rp_grains *grains, const rp_prop *prop, int props,
                          const rp_ground *ground, bool quick, rp_scenery **stage);
void rp_scenery_close(rp_scenery *stage);

// @param time 0 when the shutter opens, 1 when it closes
// @param glass false: glass and water are not there
rp_meeting rp_scenery_meet(const rp_scenery *stage, vec from, vec to, float time, bool glass);
// Is there anything but glass and water on the way?
bool rp_scenery_blocks(const rp_scenery *stage, vec from, vec to, float time);
// What a ray crosses before it has gone `far`.
typedef struct rp_panes {
    int glass, water; // surfaces
    float wet;        // way through water [units]
} rp_panes;
rp_panes rp_scenery_panes(const rp_scenery *stage, vec from, vec to, float time, float far);
// The water on the stage; NULL: there is none.
const rp_prop *rp_scenery_water(const rp_scenery *stage);

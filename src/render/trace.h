// Light on a stage: a path tracer with a soft sun, a sky, and a few bounces between matte things.
#pragma once

#include "render/scenery.h"

// A pinhole camera on the stage.
typedef struct rp_lens {
    int width, height;      // of the picture [pixels]
    vec eye;                // on the stage
    vec right, up, forward; // unit vectors
    float tangent;          // of half the field of view, from the middle up
    vec focus;              // the middle of what is shown; the ground fades around it
    float reach;            // how far what is shown reaches from there
    bool flat;              // a slice: light comes from the front
    bool horizon;           // the ground goes on to it, else it melts into the backdrop
} rp_lens;

typedef struct rp_effort {
    int samples; // of a pixel
    int bounces; // of light, between matte things
    bool quick;  // no light but the sun is followed; what the sky gives is guessed
    int threads;
} rp_effort;

// What is shown of data must be told apart more than it must be pretty.
typedef enum rp_mood { RP_MOOD_SUN, RP_MOOD_CHART } rp_mood;

// Linear light into image[height][width], from the top.
void rp_trace(const rp_scenery *stage, const rp_lens *lens, const rp_effort *effort, rp_mood mood,
              vec *image);

// Light on a stage: a path tracer with a soft sun, a sky, and a few bounces between matte things.
#pragma once

#include "render/scenery.h"

// A half-space as a slice shows it: no more than a line from the front, so it is drawn as what lies
// behind that line.
typedef struct rp_cut {
    vec point, normal; // on the stage; the normal points out of it
    vec color;         // linear
    float deep;        // how much of it is drawn [units]
    bool fades;        // into the backdrop, with depth
} rp_cut;

enum { RP_CUTS_MOST = 32 };

// A pinhole camera on the stage, or one that looks the same way everywhere.
typedef struct rp_lens {
    int width, height;      // of the picture [pixels]
    vec eye;                // on the stage
    vec right, up, forward; // unit vectors
    float tangent;          // of half the field of view, from the middle up
    vec focus;              // the middle of what is shown; the ground fades around it
    float reach;            // how far what is shown reaches from there
    bool parallel;     // looks start in the plane of the eye, `tangent` from its middle to its top
    const rp_cut *cut; // the first that a place lies in is seen
    int cuts;
    bool flat;    // a slice: light comes from the front
    bool horizon; // the ground goes on to it, else it melts into the backdrop
} rp_lens;

typedef struct rp_effort {
    int samples; // of a pixel
    int bounces; // of light, between matte things
    bool quick;  // no light but the sun is followed; what the sky gives is guessed
    int threads;
    bool (*stop)(void *context); // asked by every thread: leave the rest undone; NULL: never
    void *stop_context;
} rp_effort;

static inline bool rp_effort_ends(const rp_effort *e)
{
    return e->stop != NULL && e->stop(e->stop_context);
}

// What is shown of data must be told apart more than it must be pretty.
typedef enum rp_mood { RP_MOOD_SUN, RP_MOOD_CHART } rp_mood;

// Linear light into image[height][width], from the top. Where the effort ends it is left
// unfinished.
void rp_trace(const rp_scenery *stage, const rp_lens *lens, const rp_effort *effort, rp_mood mood,
              vec *image);

// A picture from a crowd: onto the stage, light, tone.
#pragma once

#include "render/camera.h"
#include "render/crowd.h"
#include "render/trace.h"

typedef struct rp_shot {
    rp_camera camera;
    rp_effort effort;
    rp_mood mood;
    double shutter;  // for how long it is open, around the time of the frame [s]
    bool has_ground; // otherwise it lies below everything
    double ground_point[3], ground_normal[3];
    float ground_color[3];    // linear
    rp_cut cut[RP_CUTS_MOST]; // besides the ground, for a view that is parallel
    int cuts;
    bool horizon; // the ground goes on to it, else it melts into the backdrop
} rp_shot;

// Metres to the stage, where y is up.
typedef struct rp_scale {
    double origin[3], unit;
    bool z_up; // off the stage
} rp_scale;
rp_scale rp_shot_scale(const rp_camera *camera);
vec rp_scale_place(const rp_scale *scale, const double x[3]);
vec rp_scale_direction(const rp_scale *scale, const double n[3]);

// @param prop on the stage of this shot
// @param radius of those in the crowd that have none of their own [m]
// @param[out] rgb [height][width][3]; untouched on failure
rp_result rp_shot_take(const rp_shot *shot, rp_crowd *crowd, const rp_prop *prop, int props,
                       double radius, unsigned char *rgb);

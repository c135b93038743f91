// The colliders of a run on the stage of a picture.
#pragma once

#include "render/shot.h"
#include "repose/record.h"

// A collider that is flat, faces up and stays where it is: it is drawn as ground without end.
// @return its number, or -1
int rp_props_ground(const rp_record *record);

// Everything else that is not hidden, at a frame; in a parallel view without half-spaces. Slopes
// without end go as far as what there is to see.
// @param frames for how many frames the shutter is open; 0: it is quick
// @param[out] prop with room for one more, released with rp_props_free(); NULL on failure
rp_result rp_props_make(const rp_record *record, const rp_camera *camera, int64_t frame,
                        double frames, rp_prop **prop, int *props);
// Half-spaces other than the ground, as a slice shows them. @return how many
int rp_props_cuts(const rp_record *record, const rp_camera *camera, int64_t frame,
                  rp_cut cut[RP_CUTS_MOST]);
void rp_props_free(rp_prop *prop, int props);

// A point of a collider at a frame [m].
void rp_props_place(const rp_pose *pose, const float x[3], double out[3]);

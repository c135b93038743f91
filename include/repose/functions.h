// SPDX-License-Identifier: Apache-2.0
// What changes with time or place: functions that a host gives to a world, and poses.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A vector that changes with time, such as gravity in a tilting box. Must be pure: the same t
/// gives the same vector. Called on the stepping thread only. A call that fails (rp_fail) ends the
/// step before anything has changed.
typedef struct rp_vector_of_time {
    rp_result (*call)(void *context, double t, double out[3]); ///< NULL: use the constant instead
    void *context;
} rp_vector_of_time;

/// A vector that changes from place to place, such as the velocity of a vortex.
typedef struct rp_vector_of_place {
    rp_result (*call)(void *context, const double x[3], double out[3]); ///< NULL: use the constant
    void *context;
} rp_vector_of_place;

/// A vector that changes with time and place, such as a wind. Must be pure, as rp_vector_of_time.
typedef struct rp_vector_field {
    rp_result (*call)(void *context, double t, const double x[3], double out[3]); ///< NULL: none
    void *context;
} rp_vector_field;

/// Where a body is and how it is turned.
typedef struct rp_pose {
    double position[3]; ///< [m]
    double rotation[4]; ///< quaternion x, y, z, w; need not be of length 1, must not be 0
} rp_pose;

/// A pose that changes with time. Must be pure, as rp_vector_of_time.
typedef struct rp_pose_of_time {
    rp_result (*call)(void *context, double t, rp_pose *out); ///< NULL: it stays where it is
    void *context;
} rp_pose_of_time;

#ifdef __cplusplus
}
#endif

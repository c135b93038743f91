// Where something is and how it is turned, ready to be used: a pose with its rotation as a matrix.
#pragma once

#include "repose/functions.h"

typedef struct rp_placing {
    double position[3], rotation[3][3];
} rp_placing;

rp_placing rp_placing_of(const rp_pose *pose);
// With a rotation of length 1.
rp_pose rp_placing_pose(const rp_placing *at);
// What is described in the parent's frame, in the world's.
void rp_placing_go_along(const rp_placing *parent, rp_placing *own);
// The turn from one to the other, the shorter way: its axis times its angle [rad].
void rp_placing_turn(const rp_placing *from, const rp_placing *to, double out[3]);
// A corner of a box: a bit of `number` for each axis.
void rp_box_corner(const double lower[3], const double upper[3], int number, double out[3]);
// A box around a box that is placed.
void rp_placing_bounds(const rp_placing *at, const double lower[3], const double upper[3],
                       double out[2][3]);

static inline void rp_rotate(const double R[3][3], const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = R[a][0] * x[0] + R[a][1] * x[1] + R[a][2] * x[2];
    }
}

// Back again.
static inline void rp_unrotate(const double R[3][3], const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = R[0][a] * x[0] + R[1][a] * x[1] + R[2][a] * x[2];
    }
}

// A place in the frame of what is placed, in the world.
static inline void rp_placing_world(const rp_placing *at, const double x[3], double out[3])
{
    rp_rotate(at->rotation, x, out);
    for (int a = 0; a < 3; a++) {
        out[a] += at->position[a];
    }
}

// And back.
static inline void rp_placing_local(const rp_placing *at, const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = 0.0;
        for (int b = 0; b < 3; b++) {
            out[a] += at->rotation[b][a] * (x[b] - at->position[b]);
        }
    }
}

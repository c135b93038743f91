// Joints: what holds two bodies together, or a body to a collider or to the world.
//
// A joint takes away some of the ways in which one can move against the other, and may have a motor
// and an end on the way that is left. It is solved as bumps are, in turn with them: each block of
// it at once, until none changes.
#pragma once

#include "collide/bumps.h"
#include "repose/rigid.h"

typedef struct rp_link {
    // described once
    rp_joint_kind kind;
    int a, b;            // colliders; b may be -1: the world
    double place[2][3];  // of the joint, in the frame of each
    double axis[2][3];   // the same
    double turned[3][3]; // how a is turned in the frame of b where the joint is at 0
    double low, high;    // end of the way that is left, [rad] or [m]; may be infinite
    bool driven;
    double strength; // of the motor, [N m] or [N]; may be infinite
    // in the step
    double speed;                 // that the motor wants, [rad/s] or [m/s]
    double arm[2][3];             // from the position of each to the place
    double along[3];              // the axis in the world
    double way;                   // how far it is along or about it, [rad] or [m]
    double miss[2][3];            // of the places [m]; of the turn [rad]
    double linear[3], angular[3]; // impulses on a [kg m/s], [kg m^2/s]
    double drive, stop;           // of the motor and of an end, about or along the axis
    double back;                  // of an end, while it is mended
} rp_link;

// What a joint did in the last step, and how far it has turned: state.
typedef struct rp_link_state {
    double force[3], torque[3], drive, stop;
    double way; // [rad] or [m]
} rp_link_state;

// Where joints are at the start of a step, with what the last one did.
void rp_links_begin(rp_link *link, int links, const rp_bumping *m, rp_link_state *state);
void rp_links_warm(rp_link *link, int links, const rp_bumping *m);
// Through all of them. @return the largest change of a velocity [m/s]
double rp_links_sweep(rp_link *link, int links, const rp_bumping *m);
void rp_links_end(const rp_link *link, int links, const rp_bumping *m, rp_link_state *state);
// One round of moving back what has drifted apart or got beyond an end, by velocities that are not
// kept.
void rp_links_mend(rp_link *link, int links, const rp_bumping *m, bool first);
// Do they hold these two together?
bool rp_links_join(const rp_link *link, int links, int a, int b);

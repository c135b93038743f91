// Bodies: what a collider is as a whole. A collider is where contact happens, its body is whom it
// happens to: it has mass, moves, and gets the momentum that nodes give up.
//
// A scripted body has infinite mass: it goes where its collider's motion takes it, its velocity and
// spin follow from the poses of the step, and what it is given is only counted. A body of finite
// mass answers by changing velocity and spin, and goes where these take it (rp_body_fly). In 2D it
// moves in the plane and spins about z, and masses are per metre of depth.
//
// While a step is taken a body is where its collider is at the start of the step; what it is given
// is counted about that place, which for a body of finite mass is its centre of mass.
#pragma once

#include "collide/collider.h"

#include <math.h>

// Momentum, and angular momentum about a place [kg m/s], [kg m^2/s].
typedef struct rp_impulse {
    double linear[3], angular[3];
} rp_impulse;

// Add what acts at the end of an arm from that place.
static inline void rp_impulse_add(rp_impulse *sum, const double arm[3], const double linear[3])
{
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum->linear[a] += linear[a];
        sum->angular[a] += arm[b] * linear[c] - arm[c] * linear[b];
    }
}

typedef struct rp_body {
    // described once
    const rp_collider *collider;
    int dim;
    double mass;          // [kg]; infinite: scripted
    double inertia[3][3]; // about its position, in its own frame [kg m^2]; in 2D only [2][2]
    double inverse[3][3]; // of the inertia; 0 about axes that nothing can turn it about
    // in the step
    rp_placing pose;
    double velocity[3];  // of pose.position [m/s]
    double spin[3];      // [rad/s]
    double turned[3][3]; // `inverse` in the world's frame, while bodies meet (collide/bumps.h)
    double mend[2][3];   // velocity and spin that it is moved with in the step, but does not have
    rp_impulse given;
    double worked; // by one that deforms on what it touches [J]; of others velocity and spin say it
} rp_body;

rp_body rp_body_scripted(const rp_collider *collider);
// At rest where its collider is at the start of the step.
// @param inertia symmetric and positive; see rp_body
rp_body rp_body_free(const rp_collider *collider, int dim, double mass, const double inertia[3][3]);

// A step begins: nothing is given yet. A scripted body takes pose, velocity and spin from its
// collider, after rp_colliders_move(); with dt = 0 it is at rest.
void rp_body_begin(rp_body *body, double dt);
// Of the point of it that is at x, v + w x r [m/s]. rp_collider_velocity() is the mean over the
// step, along the chord of a turn.
void rp_body_velocity(const rp_body *body, const double x[3], double out[3]);
// Give it an impulse at x [kg m/s].
void rp_body_push(rp_body *body, const double x[3], const double impulse[3]);
// Give it what was added up about its position.
void rp_body_take(rp_body *body, const rp_impulse *impulse);
// Take a free body on for dt, as nothing acts on it: straight on, and turning as a top does. Energy
// and angular momentum stay what they are to rounding, however it tumbles (docs/theory.md, Free
// rigid bodies). What it is mended by moves it and turns its spin along: its energy stays, too.
// @param[in,out] pose of the body, of which body->pose is the placing
void rp_body_fly(rp_body *body, double dt, rp_pose *pose);
// About pose.position [kg m^2/s].
void rp_body_angular(const rp_body *body, double out[3]);
// Is it of finite mass?
static inline bool rp_body_is_free(const rp_body *body) { return body->mass < INFINITY; }
// [J]; 0 for a scripted one, whose motion is paid for by whoever moves it.
double rp_body_kinetic(const rp_body *body);

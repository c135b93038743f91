// Energy that nothing brought in.
//
// Sand, rubber and water lose energy, or keep it. What they gain comes from gravity and the field
// of accelerations, from what emitters pour and from colliders and bodies that move, and all of it
// is known without a look at the particles: momentum changes by what gravity and the field give
// less what colliders take, gravity works at the rate g . P, and a body brings in what it gives,
// times its velocity. So at the end of a frame
//
//     kinetic + elastic  <=  kinetic + elastic at its start  +  work
//
// up to what finite steps are off by. A run that blows up breaks this by factors. What is above is
// added up from frame to frame, since a slow explosion is one, too, and what sand loses later is
// taken off.
//
// All of it is state: a run that goes on after a break decides as one without.
#pragma once

#include "repose/stats.h"
#include "solver/solver.h"

typedef struct rp_watch {
    double energy;            // at the start of the frame [J]
    double work;              // brought in since then [J]
    double mass, momentum[3]; // followed from step to step, counted at the end of frames
    double surplus;           // that nothing brought in, since there was none [J]
    double account;           // energy at that time, and what was brought in since then [J]
    double most;              // that the account has been since then [J]
    double told;              // 1: it was said
} rp_watch;

// From now on. Nothing is known of what was before.
void rp_watch_begin(rp_world *world, const rp_totals *totals);
// After each step.
// @param layers that emitters had poured before it
void rp_watch_step(rp_world *world, const rp_step *step, const double *layers);
// What came with a velocity.
void rp_watch_births(rp_world *world, double mass, const double velocity[3]);
// At the end of a frame. Warns once; past the limit the world has failed.
// @param limit of rp_run_def.energy_limit
rp_result rp_watch_frame(rp_world *world, const rp_totals *totals, double limit);

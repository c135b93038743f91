// Free rigid bodies among the particles of SPH: walls that the loop over stresses leads.
#pragma once

#include "solver/led.h"
#include "solver/sph/passes.h"

typedef struct rp_sph_grip {
    uint32_t wall; // entry of job->wall
    uint16_t collider;
    double mass;   // of the particle [kg]
    double arm[3]; // from the body's position to it [m]
} rp_sph_grip;

typedef struct rp_sph_bodies {
    rp_led led;
    rp_sph_grip *grip; // particles near free bodies, by page and slot
    int64_t grips;
} rp_sph_bodies;

// After walls were found.
rp_result rp_sph_bodies_find(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job);
// A loop for step->dt begins.
rp_result rp_sph_bodies_begin(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job);
// After a round of forces. @return the largest change of a body's velocity [m/s]
double rp_sph_bodies_answer(rp_sph_bodies *b, const rp_sph_job *job);
// After the loop, and before rp_sph_walls_sum(): particles that bodies press go along with what the
// last round has changed.
void rp_sph_bodies_settle(const rp_sph_bodies *b, const rp_sph_job *job);

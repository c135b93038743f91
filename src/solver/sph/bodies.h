// Free rigid bodies among the particles of SPH.
//
// A body is a wall whose velocity is an unknown of the loop over stresses: after each round of
// forces it goes as it would by what it was given, as if all particles that it presses went along
// at once. That is less than it may come to in a round, so that a body that is light beside its
// sand is not thrown about. What it has in the end is what its particles have lost.
#pragma once

#include "collide/rigids.h"
#include "solver/solver.h"
#include "solver/sph/passes.h"

typedef struct rp_sph_grip {
    uint32_t wall; // entry of job->wall
    uint16_t collider;
    double mass;   // of the particle [kg]
    double arm[3]; // from the body's position to it [m]
} rp_sph_grip;

typedef struct rp_sph_bodies {
    rp_rigids rigids;
    rp_sph_grip *grip; // particles near free bodies, by page and slot
    int64_t grips;
    rp_body *came;        // [colliders] as the step has found them
    double (*alone)[6];   // [colliders] velocity and spin without particles
    double (*unknown)[6]; // with them
    double (*last)[6];    // before the last round
    double (*sum)[42];    // what each is given, and its slope
    double wanted;        // [s] the step that they came for
} rp_sph_bodies;

// After walls were found.
rp_result rp_sph_bodies_find(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job);
// A loop for step->dt begins; bodies are as they came.
rp_result rp_sph_bodies_begin(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job);
// After a round of forces. @return the largest change of a body's velocity [m/s]
double rp_sph_bodies_answer(rp_sph_bodies *b, const rp_sph_job *job);
// After the loop: particles that bodies press go along with what the last round has changed, so
// that a body goes as its particles were told, and has just what they have lost.
void rp_sph_bodies_settle(const rp_sph_bodies *b, const rp_sph_job *job);
// Bodies meet each other, with what particles have given them by rp_sph_walls_sum().
void rp_sph_bodies_meet(rp_sph_bodies *b);

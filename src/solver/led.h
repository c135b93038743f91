// Free rigid bodies that a loop leads: where stress is found by iteration, velocity and spin of a
// body are unknowns of the same loop.
//
// After each round the body goes on as it would by what it was given, if all that it presses went
// along at once: one step of Newton's method for what sticks, and less than one for the rest, so
// that a body that is light beside its sand is not thrown about. When the loop has ended, what is
// pressed gets the last change of the body: then the body has just what its sand has lost, and goes
// where its sand was told, whatever is left of the residual (docs/theory.md, section 21).
#pragma once

#include "collide/rigids.h"
#include "solver/solver.h"

typedef struct rp_led {
    rp_rigids rigids;     // rigids.free: how many there are; 0: the rest is nothing
    rp_body *came;        // [colliders] as the step has found them
    double (*alone)[6];   // [colliders] velocity and spin without the loop
    double (*unknown)[6]; // with it
    double (*last)[6];    // before the last round
    double (*sum)[42];    // what each is given, and its slope
    double wanted;        // [s] the step that they came for
} rp_led;

rp_result rp_led_find(rp_led *led, const rp_step *step);
// A loop for step->dt begins, which may be shorter than the step was: bodies are as they came, with
// what they did to each other in the last step.
rp_result rp_led_begin(rp_led *led, const rp_step *step);

// Of the point of a body at the end of an arm from its position [m/s]; by_last: what the last round
// has changed.
void rp_led_velocity(const rp_led *led, int collider, const double arm[3], bool by_last,
                     double out[3]);
// A round ends: first what each body is given, `back` by each mass that it presses; then all go on.
void rp_led_clear(rp_led *led);
void rp_led_give(rp_led *led, int collider, const double arm[3], double mass, const double back[3]);
// @return the largest change of a velocity [m/s]
double rp_led_go_on(rp_led *led);
// Bodies have what the step gave them (rp_body_push), and meet each other.
void rp_led_meet(rp_led *led);

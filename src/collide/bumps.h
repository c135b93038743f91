// Where free bodies meet each other and colliders that go their own way.
//
// Bodies are known by points of their surface (a skin), and by the distance to it. A point of one
// that is about to get into the other is a *bump*: it may push the two apart, within the step, and
// rub as Coulomb's cone allows. All bumps are solved for together, one after the other until none
// has anything to say (block Gauss-Seidel), from what they did in the step before.
//
// What has got too deep by rounding and by turning is moved apart without a velocity, so that
// mending adds no motion.
#pragma once

#include "collide/body.h"

// Points all over a collider's surface, in its own frame: middles of small balls that touch it from
// inside. A ball that lies on a face is felt by the face, even where edges of two bodies lie on
// each other; the price are edges that are round by the radius.
typedef struct rp_skin {
    rp_buffer buffer; // double[points][3]
    int32_t points;
    double spacing; // between them [m]
    double radius;  // of the balls [m]
} rp_skin;

// None where the shape has no end: others touch it with theirs.
rp_result rp_skin_make(rp_skin *skin, const rp_shape *shape, int dim, const rp_allocator *a);
static inline double (*rp_skin_point(const rp_skin *skin))[3]
{
    return (double(*)[3])skin->buffer.data;
}

// How a collider behaves towards bodies.
typedef struct rp_temper {
    double friction; // infinite: nothing slides
    double restitution;
} rp_temper;

// What a bump did in the last step, which the next one begins with: state. All numbers, so that a
// frame can hold it.
typedef struct rp_echo {
    double a, b, owner, point; // who met whom, with which point of whose skin
    double force[3];           // on a [N]
} rp_echo;

typedef struct rp_bump {
    int a, b;  // colliders; a is free
    int owner; // of the point: a or b
    int32_t point;
    double arm[2][3]; // from the position of each to the place
    double normal[3]; // from b to a
    double gap;       // [m], negative: too deep
    double friction;
    double least;     // velocity along the normal that is wanted at least [m/s]
    double answer[2]; // change of velocity by an impulse: along the normal, and at most across
    double push;      // along the normal, on a [kg m/s]
    double rub[3];    // across
} rp_bump;

// The bumps of a step.
typedef struct rp_bumps {
    rp_buffer buffer; // rp_bump
    int32_t count;
} rp_bumps;

typedef struct rp_bumping {
    const rp_collider *collider;
    int colliders;
    rp_body *body;
    const rp_skin *skin;
    const rp_temper *temper;
    bool (*apart)(const void *context, int a, int b); // these two do not meet; may be NULL
    const void *context;
    int dim;
    double dt;
    const double *gravity; // [m/s^2]
    double slow;           // approach that does not bounce [m/s], negative
} rp_bumping;

// How deep two lie in each other, as far as points of either know, and where [m]; 0: they do not.
double rp_bumps_overlap(const rp_bumping *m, int a, int b, double where[3]);

// All bumps of a step, in the order of colliders and points; with what echoes know of them.
rp_result rp_bumps_find(rp_bumps *bumps, const rp_bumping *m, const rp_echo *echo, int32_t echoes,
                        const rp_allocator *a);
// Begin with what the last step did: bodies get it.
void rp_bumps_warm(rp_bumps *bumps, const rp_bumping *m);
// Through all of them and back. @return the largest change of a velocity [m/s]
double rp_bumps_sweep(rp_bumps *bumps, const rp_bumping *m);
// What they did goes to `given` of all bodies, and to echoes, of which there is room for as many.
void rp_bumps_end(const rp_bumps *bumps, const rp_bumping *m, rp_echo *echo);
bool rp_bumps_need_mending(const rp_bumps *bumps, const rp_bumping *m);
// One round of moving apart what is too deep, by velocities that are not kept; after
// rp_bumps_end().
void rp_bumps_mend(const rp_bumps *bumps, const rp_bumping *m, bool first);

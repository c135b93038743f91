// Solid things: where they are, how they move, and how far away their surface is.
#pragma once

#include "collide/placing.h"
#include "core/grid.h"
#include "shape/sequence.h"

enum { RP_COLLIDER_LIMIT = 1000 }; // of a world, rigid bodies among them

typedef struct rp_collider {
    // described once
    rp_shape *shape; // a reference of its own
    rp_contact contact;
    double friction;
    rp_pose_of_time motion;
    int parent; // an earlier collider that it goes along with, or -1
    char name[RP_NAME_SIZE];
    bool permeable;  // water passes, and sand within is held
    bool moves;      // by itself or with its parent
    bool free;       // of a body of finite mass (collide/rigids.h), which says where it is
    bool thin;       // sand may feel two faces of it at once (collide/thin.h)
    rp_look look;    // for pictures
    double color[3]; // sRGB
    rp_morph *morph; // of a shape that deforms, and its own; NULL: it stays as it is
    // where it is at the start and at the end of the step; written by rp_colliders_move()
    rp_placing begin, end;
} rp_collider;

// Take the poses at the start and the end of a step from the motions of all colliders, in order.
// Free ones stay as they are.
rp_result rp_colliders_move(rp_collider *collider, int colliders, double t, double dt);
// Where one of them is at a moment, as its motion and those of its parents say. Not of free ones.
rp_result rp_colliders_place(const rp_collider *collider, int index, double t, rp_placing *out);
// A pose that a motion gives, checked; `who` stands in messages.
rp_result rp_motion_place(const rp_pose_of_time *motion, const char *who, const char *name,
                          double t, rp_placing *out);
// To its surface where it is at the start of the step, negative inside [m].
double rp_collider_distance(const rp_collider *collider, const double x[3]);
// The same, with the way out.
double rp_collider_look(const rp_collider *collider, const double x[3], double normal[3]);
// A box around it where it is at the start of the step; false when it has no end along one of the
// first `dim` axes.
bool rp_collider_bounds(const rp_collider *collider, int dim, double lower[3], double upper[3]);
// The same where it is at another moment.
bool rp_collider_bounds_at(const rp_collider *collider, const rp_placing *at, int dim,
                           double lower[3], double upper[3]);
// A ball around it where it is at the start of the step; without end if it has none. For the first
// question of many: who may be near whom?
typedef struct rp_ball {
    double middle[3], radius;
} rp_ball;
rp_ball rp_ball_of(const rp_collider *collider, int dim);
static inline bool rp_ball_near(const rp_ball *ball, const double x[3], double reach)
{
    double away2 = 0.0;
    for (int a = 0; a < 3; a++) {
        away2 += (x[a] - ball->middle[a]) * (x[a] - ball->middle[a]);
    }
    return !(away2 > (ball->radius + reach) * (ball->radius + reach));
}
// How fast the point of it that is at x at the start of the step moves in the step: from where its
// pose takes that point, divided by dt, so that what a script moves and what sand feels cannot
// differ. No point of the collider need be there: x may be outside of it. One that deforms moves
// there as it does where it is nearest [m/s].
void rp_collider_velocity(const rp_collider *collider, const double x[3], double dt, double out[3]);
// Distance, way out and velocity at once.
double rp_collider_meet(const rp_collider *collider, const double x[3], double dt, double normal[3],
                        double velocity[3]);
// How far any point of a collider goes within the step, as far as it is or comes near this box [m].
double rp_colliders_way(const rp_collider *collider, int colliders, int dim, const double lower[3],
                        const double upper[3]);
// Where it is at the end of the step.
rp_pose rp_collider_pose(const rp_collider *collider);

// Can a node of this block feel the collider within a step?
bool rp_collider_near_block(const rp_collider *c, const rp_layout *l, const int32_t block[3]);

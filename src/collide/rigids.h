// Free rigid bodies: what a step makes of all that acts on them at once.
//
// A free body is the collider of a body of finite mass (body.h). What it does to nodes depends on
// how it moves, and how it moves on what nodes give it back: a body that is light beside the sand
// that it touches would be thrown about if the two took turns. So both are solved for together,
// body by body, in the six unknowns that a body has (three in 2D): docs/theory.md, Free rigid
// bodies.
//
// rp_rigids_find() says which pages a body may touch, with room for their nodes, and where bodies
// meet (bumps.h): all that can fail for lack of memory. Once nodes have their velocities,
// rp_rigids_solve() lets all come to terms and gives each what is its own.
//
// Sums run over nodes in key order, in pieces of one size, so that bits do not depend on threads.
#pragma once

#include "collide/body.h"
#include "collide/bumps.h"
#include "collide/contact.h"
#include "collide/joints.h"

// What a free body asks of a node, and gets.
typedef struct rp_grip {
    rp_local page;
    int32_t node;       // number in its block
    uint16_t collider;  // whose body it is
    uint16_t before;    // how many grips of the same node come before it
    uint16_t after;     // and after it
    double mass;        // of the node [kg]
    double velocity[3]; // of the node before bodies act [m/s]
    double arm[3];      // from the body's position to the node [m]
    double normal[3];   // out of the body
    double gap;         // way to where it is held, over dt [m/s]
    double impulse[3];  // that the node is given [kg m/s]
    bool inside;        // the node is there already
} rp_grip;

enum { RP_JOINT_LIMIT = 128 };

// What a world keeps of its free bodies, besides bodies: how all colliders meet them.
typedef struct rp_company {
    rp_skin skin[RP_COLLIDER_LIMIT]; // of each collider
    rp_temper temper[RP_COLLIDER_LIMIT];
    int skins; // that are made
    rp_bumps bumps;
    rp_buffer echo; // rp_echo: state
    rp_local echoes;
    rp_link link[RP_JOINT_LIMIT];
    rp_link_state link_state[RP_JOINT_LIMIT]; // state
    int links;
    double gravity[3];                 // [m/s^2]
    double rest;                       // velocity that gravity gives in a step [m/s]
    rp_impulse met[RP_COLLIDER_LIMIT]; // what each collider got of others in the step, not of nodes
    rp_impulse pull[RP_COLLIDER_LIMIT]; // what gravity and the scene gave each before the step
} rp_company;

// A bit per collider.
typedef struct rp_reach {
    uint64_t bits[(RP_COLLIDER_LIMIT + 63) / 64];
} rp_reach;

typedef struct rp_rigids {
    const rp_collider *collider;
    int colliders;
    rp_company *company;
    rp_bumping meeting;
    int free;       // of them are free
    rp_local *page; // [pages] that a body may touch, in key order
    rp_reach *near; // which bodies, of each
    rp_local pages;
    int64_t room;       // for grips
    rp_grip *grip;      // of all pages, those of a page where the ones before may all be full
    int64_t *first;     // [pages + 1]: of a page
    int32_t *count;     // [pages]
    int64_t *own;       // grips of a body, one body after the other
    int64_t *own_first; // [colliders + 1]
    double *piece;      // sums over pieces of a body's grips
} rp_rigids;

// For a method without nodes: only where bodies meet. Then it calls, in a step that may be tried
// again from here with bodies as they came: rp_rigids_warm(), whatever its particles do to bodies,
// and rp_rigids_meet().
// @param company of the world; NULL: there are no free bodies
rp_result rp_rigids_gather(rp_rigids *r, rp_company *company, const rp_collider *collider,
                           int colliders, rp_body *body, double dt, int dim,
                           const rp_allocator *allocator);
// Bodies get what they did to each other in the last step.
void rp_rigids_warm(rp_rigids *r);
// And what they do in this one.
void rp_rigids_meet(rp_rigids *r);

// A body that would go on at `alone` is given `given` where it goes at `unknown` (velocity, then
// spin), and less by `slope` for every bit that it goes faster: one step of Newton's method.
// @param[in,out] unknown
// @return how much a velocity has changed by it [m/s]
double rp_rigids_newton(const rp_body *body, const double alone[6], const double given[6],
                        const double slope[6][6], double unknown[6]);

// @param company of the world; NULL: there are no free bodies
// @param scratch of the step
rp_result rp_rigids_find(rp_rigids *r, rp_company *company, const rp_collider *collider,
                         int colliders, rp_body *body, double dt, const rp_grid *grid, int threads,
                         rp_scratch *scratch);

// May a free body touch nodes of this page? All others are done without it.
bool rp_rigids_reach(const rp_rigids *r, rp_local page);

// Let free bodies and nodes act on each other in a step of dt. Bodies come with the velocity that
// they would have without, and leave with what they have then; `given` is what they were given.
// @param[in,out] rubbed the energy that was rubbed off is added [J]
void rp_rigids_solve(rp_rigids *r, const rp_grid *grid, int threads, double *rubbed);

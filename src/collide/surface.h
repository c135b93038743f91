// The surface of a body as a node sees it, from the particles that reach the node: where it points
// and how far it comes, docs/theory.md (B1) to (B4).
#pragma once

#include "collide/cells.h"

// A page of particles near a block.
typedef struct rp_view {
    const rp_cells *cells;
    const rp_set *set;
    const rp_page *page;
    int32_t away[3]; // from the first node of the block to that of the page [cells]
} rp_view;

// One body around a block: its pages. Of one dimension and order of splines, as the world has it.
typedef struct rp_views {
    const rp_view *view;
    int count;
    int dim, order;
} rp_views;

// Cells of all bodies at a node that hold particles: lists, filled anew at every node.
typedef struct rp_sight_room {
    rp_cell_box *box;     // what the balls of a cell fill, from the node [cells]
    int32_t *first, *end; // its particles
    const rp_view **view; // the page that they are in
    int count, most;
} rp_sight_room;
// What a body at a node adds to them at most: cells of the widest stencil, in every page that may
// have drifted into them.
enum { RP_SIGHT_MOST = 512 };

// One body at one node. From the node, in cells.
typedef struct rp_sight {
    const rp_sight_room *room;
    int first, end; // cells in the room
    int particles;
    bool cut;       // there was no room for all cells: it may reach anywhere
    double node[3]; // where the node is, from the first of the block
    int dim, order;
    double middle[3]; // of the cells, about
} rp_sight;

// What reaches a node, and cells `ring` further around it.
rp_sight rp_sight_of(const rp_views *views, const int node[3], int ring, rp_sight_room *room);
// What reaches the nodes of a box, as the first of them sees it: for bounds.
rp_sight rp_sight_of_box(const rp_views *views, const int first[3], const int last[3],
                         rp_sight_room *room);

// How far a body reaches along a direction of length 1, at most.
double rp_sight_bound(const rp_sight *s, const double way[3]);
// ... and exactly, by its balls.
double rp_sight_reach(const rp_sight *s, const double way[3]);
// Between two bodies along a normal from the first to the second; negative: they overlap.
static inline double rp_sight_gap(const rp_sight *b, const rp_sight *d, const double normal[3])
{
    const double back[3] = {-normal[0], -normal[1], -normal[2]};
    return -(rp_sight_reach(b, normal) + rp_sight_reach(d, back));
}

// The way out of a body, from the depths of its particles: that of a flat face is exact, wherever
// particles are.
typedef struct rp_face {
    bool known;
    double normal[3];
    double rough; // how far depths are from those below a plane [cells]
} rp_face;
rp_face rp_sight_face(const rp_sight *s);

// The outward gradient of a body's mass at a node, sum of m grad w, with the gradient by the
// particle's place [kg / cell].
void rp_sight_gradient(const rp_sight *s, double out[3]);
// The normal of the plane that separates the particles of two bodies best: penalised logistic
// regression (Nairn, Hammerquist & Smith 2020), docs/theory.md (B3).
// @param[in,out] normal a guess, kept where there is no better one
void rp_sight_separate(const rp_sight *b, const rp_sight *d, double normal[3]);

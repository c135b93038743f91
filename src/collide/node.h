// Bodies that meet at one node: impulses between them, docs/theory.md (B4) and (B5).
//
// Every pair of bodies that share a node asks that they do not approach faster than what closes the
// gap between them within the step, and holds the one on the other by friction. Two bodies have an
// answer in one line. More have one all at once: block Gauss-Seidel over the pairs, in the order of
// bodies, until impulses stand still to rounding. The cone of friction is a cone, and since it is
// solved to the end, no order of the bodies and no turn of the axes shows.
#pragma once

#include "collide/pairs.h"

// Two bodies of a node. Impulses act on the second, and their opposite on the first.
typedef struct rp_node_pair {
    int b, d;                 // numbers among the bodies of the node, b < d
    const rp_pair_rule *rule; // contact and friction
    double normal[3];         // from b to d, of length 1
    double
        speed; // at which they may approach: what closes the gap in the step, 0 where there is none
    bool touches;      // there is no gap: sticky bodies hold each other also when they would part
    double impulse[3]; // [out] [kg m/s]
} rp_node_pair;

// Resolve contact of all pairs.
// @param v [bodies][3] velocities, which are changed; @param m [bodies] masses
// @param still changes of impulses below this share of all momenta are none
// @return sweeps that it took; RP_NODE_SWEEPS where impulses do not stand still even so
int rp_node_resolve(double (*v)[3], const double *m, int bodies, rp_node_pair *pair, int pairs,
                    rp_impulses how, double still);

enum { RP_NODE_SWEEPS = 200 };

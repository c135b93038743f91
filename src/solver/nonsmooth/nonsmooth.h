// What the method of rigid grains keeps between steps.
#pragma once

#include <stdint.h>

// The stress of a cell, or at a node, from which the next step starts: an array in key order, saved
// as "nonsmooth/stress". Where there is no pressure there is none.
typedef struct rp_node_stress {
    uint64_t key;         // of its page
    uint32_t field, node; // a cell has the number of its first node
    double lambda[6];     // components as of cone.h, above the tip of the cone [Pa]
    float bend[12];       // and how a cell bends (problem.h) [Pa]
} rp_node_stress;

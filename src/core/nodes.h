// Unknowns at nodes, for methods that solve for them: active nodes are numbered in key order, so
// that a system has the same rows for any number of threads, and sums over nodes are made page by
// page, in double, and added in key order.
#pragma once

#include "core/grid.h"

#define RP_NO_NUMBER UINT32_MAX

// Numbers of the nodes that carry mass. Good until the next rp_grid_build() or P2G.
typedef struct rp_node_numbers {
    rp_buffer number; // uint32_t[page][node], RP_NO_NUMBER where there is no mass
    rp_local count;
} rp_node_numbers;

// Number all nodes heavier than `least` [kg], by the mass in the momentum channel. Refused where
// there are several ranks.
// @return on failure the numbers are as they were
rp_result rp_nodes_number(rp_node_numbers *numbers, const rp_grid *grid, double least);
void rp_node_numbers_free(rp_node_numbers *numbers, const rp_allocator *a);

static inline const uint32_t *rp_nodes_numbers(const rp_node_numbers *numbers, const rp_grid *grid,
                                               rp_local page)
{
    return (const uint32_t *)numbers->number.data + (size_t)page * (size_t)grid->layout.nodes;
}

// The sum over all nodes of the products of the first `comps` numbers of two channels: the same
// bits for any number of threads and ranks; NaN when those cannot be reached.
// @param partial room for a number per page
double rp_nodes_dot(const rp_grid *grid, int a, int b, int comps, int threads, double *partial);

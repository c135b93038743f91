// Colliders as SPH sees them: half-spaces full of mirror images, of any shape.
//
// A particle at distance d < H from a surface is told how much of its support lies behind it (Z)
// and how the kernel's gradient adds up there (G, along the normal). Where several colliders are
// near, what one hides is not counted again: the share of all is 1 - prod (1 - Z_k), and each acts
// with G_k prod_{l != k} (1 - Z_l).
#pragma once

#include "collide/body.h"
#include "solver/sph/passes.h"

typedef struct rp_sph_walls {
    rp_buffer entry; // rp_sph_wall
    rp_buffer first; // uint32_t[pages + 1]
} rp_sph_walls;

void rp_sph_walls_free(rp_sph_walls *walls, const rp_allocator *a);
// All particles near colliders, where both are at the start of the step. Adds to the job's fill and
// stiffness.
// @param dt that the colliders' poses belong to
rp_result rp_sph_walls_find(rp_sph_walls *walls, const rp_collider *collider, int colliders,
                            double dt, int threads, rp_sph_job *job);
// Hand over what walls have given particles.
void rp_sph_walls_sum(const rp_sph_job *job, rp_body *body);

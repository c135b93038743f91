// The world: owns particles, grid, walls and the solver; chooses the step; implements
// include/repose/.
#pragma once

#include "core/grid.h"
#include "solver/solver.h"

enum { RP_MATERIAL_LIMIT = 256, RP_PLANE_LIMIT = 64 };

struct rp_world {
    // described once
    rp_world_def def;
    rp_allocator allocator; // a copy: the def may have lived on the stack
    const rp_kernels *kernels;
    const rp_law *laws;
    const rp_solver *solver;
    rp_material_def material[RP_MATERIAL_LIMIT];
    int materials;
    rp_plane plane[RP_PLANE_LIMIT];
    int planes;
    int threads;

    // what kernels read of the groups, kept beside set.group
    rp_buffer group_reals, group_laws;
    double stiffness, lightest;

    // state
    rp_set set;
    rp_grid grid;
    void *solver_state;
    rp_time time;
    uint64_t next_id;
    double newborn_speed, newborn_gradient;
    rp_registry registry;

    rp_arena scratch;
    rp_stats stats; // born, removed and sorts are state too
    bool failed;    // a step diverged: readable, but not to be stepped
};

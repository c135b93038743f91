// What the laws say of particles of several materials, side by side: each law is asked of its own
// ones. Frames that are written with stress, readers of frames and probes all ask here.
#pragma once

#include "core/columns.h"
#include "model/material.h"

typedef struct rp_mixture {
    rp_material_def *material; // a copy
    int materials;
    int dim;
    int64_t most;     // particles that can be asked of at once
    double *gathered; // those of one material: columns, then stress and volume
} rp_mixture;

rp_result rp_mixture_open(rp_mixture *mixture, const rp_material_def *material, int materials,
                          int dim, int64_t most);
void rp_mixture_close(rp_mixture *mixture);

// Numbers of a column that a particle has.
int rp_mixture_comps(const rp_mixture *mixture, rp_column_id column);
// The columns that any of the laws needs, as 1u << rp_column_id.
unsigned rp_mixture_needs(const rp_mixture *mixture);

// Cauchy stress [Pa], xx yy zz xy xz yz, and the logarithm of the volume over that at rest. What is
// of no known material stays as it is.
// @param material number of each particle's
// @param state columns of all of them; what is NULL is neutral
rp_result rp_mixture_ask(const rp_mixture *mixture, const uint16_t *material,
                         const rp_material_state *state, int64_t count, double (*stress)[6],
                         double *log_ratio);

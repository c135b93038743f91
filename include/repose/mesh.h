// SPDX-License-Identifier: Apache-2.0
// Meshes that are as fine as the grid that will see them wants them.
#pragma once

#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The same as rp_shape_mesh(), at a resolution that follows from the mesh: four cells of distances
/// across where it is thin, each a quarter of `dx` at the least and all of it at the most.
/// @param def its `resolution` is left alone, unless it is > 0: then it counts
/// @param dx of the grid [m]
RP_API rp_result rp_shape_mesh_for(const rp_mesh_def *def, double dx, rp_shape **shape);

/// What became of a mesh.
typedef struct rp_mesh_fit {
    double resolution; ///< of its distances [m]
    double
        thickness; ///< of the solid where it is thin, at most four times the resolution or dx [m]
} rp_mesh_fit;
/// @return false: the shape is no mesh
RP_API bool rp_shape_mesh_fit(const rp_shape *shape, rp_mesh_fit *fit);

#ifdef __cplusplus
}
#endif

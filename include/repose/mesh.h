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

/// A surface of triangles that deforms: where its vertices are at several times, and straight on in
/// between. Only in 3D, and only for colliders.
typedef struct rp_sequence_def {
    const char *const *file;  ///< OBJ, STL, PLY or glTF, one for each time; NULL: from the arrays
    int count;                ///< of times, at least 1
    const double *vertices;   ///< [count][vertex_count][3]
    const int32_t *triangles; ///< [triangle_count][3] vertices, counter-clockwise from outside
    int64_t vertex_count, triangle_count;
    double fps;   ///< times in a second
    double start; ///< when it is as in the first one; before that it does not move [s]
    bool loop;    ///< after the last comes the first again; else it stays as in the last
    double scale; ///< metres in a unit of the files or the arrays
    int turn;     ///< about x: 1 takes what is up along y to z, -1 takes z to y
    /// All that is within half of this from the surface is solid, which may be open [m]; 0: what
    /// the surface encloses.
    double thickness;
    uint32_t cookie;
} rp_sequence_def;

/// Scale 1, 24 times in a second, from 0 s on, without a loop.
RP_API rp_sequence_def rp_default_sequence_def(void);
/// All must have the same triangles, of the same vertices in the same order. The shape itself, as
/// whoever asks for a distance or a volume sees it, is the first one.
/// @return RP_ERR_FILE when a file is not there or is no mesh
RP_API rp_result rp_shape_sequence(const rp_sequence_def *def, rp_shape **shape);

#ifdef __cplusplus
}
#endif

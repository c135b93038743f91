// SPDX-License-Identifier: Apache-2.0
// Regions of space as signed distances: what sand fills and what it runs into.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A region of space. It never changes once it is made, so particles and colliders may share it;
/// everyone who keeps one holds a reference. In a 2D world the third coordinate is 0.
typedef struct rp_shape rp_shape;

/// All points on the far side of a plane from where `normal` points (which need not be a unit
/// vector).
/// @param[out] shape released with rp_shape_release(); NULL on failure
RP_API rp_result rp_shape_half_space(const double point[3], const double normal[3],
                                     rp_shape **shape);
/// @param lower, upper [m]; an infinite side is open, as the third one of a rectangle in 2D
RP_API rp_result rp_shape_box(const double lower[3], const double upper[3], rp_shape **shape);
/// @param radius [m]
RP_API rp_result rp_shape_sphere(const double center[3], double radius, rp_shape **shape);

/// A closed surface of triangles, only in 3D: from a file, or from arrays. It is turned into a
/// field of distances, exact at nodes `resolution` apart near the surface and interpolated in
/// between; farther away than a few cells distances are safe: never too large, and with the right
/// sign.
typedef struct rp_mesh_def {
    const char *file;         ///< OBJ, STL, PLY or glTF; NULL: from the arrays
    const double *vertices;   ///< [vertex_count][3]
    const int32_t *triangles; ///< [triangle_count][3] vertices, counter-clockwise from outside
    int64_t vertex_count, triangle_count;
    double scale;      ///< metres in a unit of the file or the arrays
    double resolution; ///< [m]; details smaller than this are lost
    bool repair;       ///< weld, turn and fill what is not a closed surface, instead of refusing it
    int threads;       ///< 0: as many as the process may use; the shape is the same
    uint32_t cookie;
} rp_mesh_def;

/// Scale 1, no repair; a file or arrays, and a resolution, must be set.
RP_API rp_mesh_def rp_default_mesh_def(void);
/// Vertices in the same place are one. A surface that is open, turned or crowded is refused with
/// the place where it is, unless `repair` is set; what was repaired is logged.
/// @return RP_ERR_FILE when the file is not there or is no mesh
RP_API rp_result rp_shape_mesh(const rp_mesh_def *def, rp_shape **shape);

/// One more reference to the same shape. @return the shape
RP_API rp_shape *rp_shape_retain(const rp_shape *shape);
/// Give a reference back; the last one frees the shape. NULL is fine.
RP_API void rp_shape_release(rp_shape *shape);

/// Distance to the surface [m], negative inside.
/// @param[out] gradient the way out of the shape, a unit vector; may be NULL
RP_API double rp_shape_distance(const rp_shape *shape, const double x[3], double gradient[3]);
/// The smallest box around the shape. @return false when it reaches to infinity along one of the
/// first `dimension` axes
RP_API bool rp_shape_bounds(const rp_shape *shape, int dimension, double lower[3], double upper[3]);
/// [m^3], or [m^2] in 2D; infinite when the shape is
RP_API double rp_shape_volume(const rp_shape *shape, int dimension);

#ifdef __cplusplus
}
#endif

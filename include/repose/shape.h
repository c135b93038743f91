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

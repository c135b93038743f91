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
/// A box whose edges and corners are rounded; it keeps its outer size.
/// @param round radius of the edges [m], 0 to half the shortest side
RP_API rp_result rp_shape_rounded_box(const double lower[3], const double upper[3], double round,
                                      rp_shape **shape);
/// @param radius [m]
RP_API rp_result rp_shape_sphere(const double center[3], double radius, rp_shape **shape);
/// All points within `radius` of the straight line from a to b.
RP_API rp_result rp_shape_capsule(const double a[3], const double b[3], double radius,
                                  rp_shape **shape);
/// @param base middle of the lower face [m]
/// @param axis from there to the upper face, of any length but 0
RP_API rp_result rp_shape_cylinder(const double base[3], const double axis[3], double radius,
                                   double height, rp_shape **shape);
/// @param base middle of the face [m]
/// @param axis from there to the tip, of any length but 0
RP_API rp_result rp_shape_cone(const double base[3], const double axis[3], double radius,
                               double height, rp_shape **shape);
/// @param major from the middle to the middle of the tube [m]
/// @param minor radius of the tube [m], at most `major`
RP_API rp_result rp_shape_torus(const double center[3], const double axis[3], double major,
                                double minor, rp_shape **shape);
/// @param radii along x, y and z [m]; an infinite one makes an elliptic cylinder, as of an ellipse
/// in 2D
RP_API rp_result rp_shape_ellipsoid(const double center[3], const double radii[3],
                                    rp_shape **shape);

/// A profile that is turned about an axis: a bottle, a funnel, the glass of an hourglass.
typedef struct rp_revolve_def {
    double base[3];             ///< where the axis has height 0 [m]
    double axis[3];             ///< of any length but 0
    const double (*profile)[2]; ///< points of a line: distance from the axis, height along it [m]
    int points;                 ///< 2 to 4096
    /// Of a shell around the line [m]; 0: solid between the line and the axis. A solid whose line
    /// ends where it began is a ring.
    double thickness;
    double round; ///< radius of the arcs that replace the corners of the line [m]; 0: none
    uint32_t cookie;
} rp_revolve_def;

/// Upright and solid, without a profile.
RP_API rp_revolve_def rp_default_revolve_def(void);
/// The distance is exact; inside a bent shell it is a bound.
RP_API rp_result rp_shape_revolve(const rp_revolve_def *def, rp_shape **shape);

/// A landscape: all that lies below heights given on a regular grid, joined by triangles. It goes
/// down without end, and beyond the edges of the grid the heights of the edge go on; intersect it
/// with a box for a piece of it.
typedef struct rp_height_field_def {
    double min[2], max[2]; ///< x and z of the first and the last column and row [m]
    const double *height;  ///< [row][column], y [m]
    int columns, rows; ///< along x and z; a single row is a profile that goes on along z, for 2D
    bool z_up;         ///< turned as a whole: what would be at (x, y, z) is at (x, -z, y)
    uint32_t cookie;
} rp_height_field_def;

RP_API rp_height_field_def rp_default_height_field_def(void);
/// The distance to the triangles is exact everywhere. The heights are copied.
RP_API rp_result rp_shape_height_field(const rp_height_field_def *def, rp_shape **shape);

/// The numbers of a grey PNG of 1 to 16 bits, 0 for black to 1 for white, from the top row down.
/// @param[out] values [row][column], released with free(); NULL on failure
RP_API rp_result rp_read_grey_png(const char *path, double **values, int *columns, int *rows);

/// Operators. The shapes that go in are kept for as long as the new one lives. At most 256
/// operators may be nested, with at most 10000 simple shapes in all.
///
/// Distances are bounds: their sign is right and they never exceed the true distance to the
/// surface, but they may be smaller, as inside a union near a seam.
/// @param part `parts` shapes, at least one
RP_API rp_result rp_shape_union(rp_shape *const part[], int parts, rp_shape **shape);
RP_API rp_result rp_shape_intersect(rp_shape *const part[], int parts, rp_shape **shape);
/// What is in `from` and in none of the parts.
RP_API rp_result rp_shape_subtract(const rp_shape *from, rp_shape *const part[], int parts,
                                   rp_shape **shape);
/// All points whose distance to the other shape is less than `distance` [m]; a negative one makes
/// it thinner. Corners become round, except where the other shape's distance is a bound.
RP_API rp_result rp_shape_offset(const rp_shape *other, double distance, rp_shape **shape);
/// All that is outside.
RP_API rp_result rp_shape_invert(const rp_shape *other, rp_shape **shape);
/// Scaled about the origin, then turned about it, then moved.
/// @param rotation a quaternion x, y, z, w of any length but 0
RP_API rp_result rp_shape_move(const rp_shape *other, const double position[3],
                               const double rotation[4], double scale, rp_shape **shape);

/// Told of a file that another one names, which lies in the same folder; a failure is passed on.
typedef rp_result (*rp_mesh_uses)(void *context, const char *name);

/// A closed surface of triangles, only in 3D: from a file, or from arrays. It is turned into a
/// field of distances, exact at nodes `resolution` apart near the surface and interpolated in
/// between; farther away than a few cells distances are safe: never too large, and with the right
/// sign.
typedef struct rp_mesh_def {
    const char *file;         ///< OBJ, STL, PLY or glTF 2.0; NULL: from the arrays
    rp_mesh_uses uses;        ///< told of every other file that the file names; NULL: nobody
    void *context;            ///< of `uses`
    const double *vertices;   ///< [vertex_count][3]
    const int32_t *triangles; ///< [triangle_count][3] vertices, counter-clockwise from outside
    int64_t vertex_count, triangle_count;
    double scale;      ///< metres in a unit of the file or the arrays
    int turn;          ///< about x: 1 takes what is up along y to z, -1 takes z to y
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

/// Distance to the surface [m], negative inside; of operators, a bound of it.
/// @param[out] gradient the way out of the shape, a unit vector; may be NULL
RP_API double rp_shape_distance(const rp_shape *shape, const double x[3], double gradient[3]);
/// A box around the shape, for all but operators the smallest. @return false when it reaches to
/// infinity along one of the first `dimension` axes
RP_API bool rp_shape_bounds(const rp_shape *shape, int dimension, double lower[3], double upper[3]);
/// [m^3], or [m^2] in 2D, of the cut with the plane z = 0; infinite when the shape is. Where there
/// is no formula it is integrated to 1e-4 or better, once, when it is first asked for.
RP_API double rp_shape_volume(const rp_shape *shape, int dimension);

/// A surface as triangles, to look at.
typedef struct rp_surface {
    float (*vertex)[3], (*normal)[3]; ///< [m], unit vectors that point out of the shape
    uint32_t (*triangle)[3];          ///< vertices, counter-clockwise from outside
    int64_t vertices, triangles;
} rp_surface;

/// The surface of a shape within a box, as fine as `cell` [m]. Edges stay sharp. A mesh has the
/// triangles that it was made of, as they are after a repair, and a box twelve, moved and turned or
/// not. Where the box cuts the shape the surface is open; a half-space becomes a rectangle of the
/// box's size. In 2D it is that of the cut, as thick as the box is along z.
/// @param[out] surface released with rp_surface_free()
RP_API rp_result rp_shape_surface(const rp_shape *shape, int dimension, const double lower[3],
                                  const double upper[3], double cell, rp_surface *surface);
RP_API void rp_surface_free(rp_surface *surface);

#ifdef __cplusplus
}
#endif

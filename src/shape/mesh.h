// Triangles on their way to a shape: read from a file or taken from arrays (mesh_file.h, mesh.c),
// made into one closed surface or refused (mesh_surface.c), put into a tree that finds the nearest
// one (mesh_tree.c), and made into a field of distances (mesh.c).
#pragma once

#include "base/memory.h"
#include "repose/mesh.h"

// Corners of a triangle run counter-clockwise seen from outside. Zero-initialise before first use.
typedef struct rp_mesh {
    rp_buffer place_buffer, triangle_buffer;
    int32_t places, triangles; // in use
} rp_mesh;

// Places, and triangles: more than any scan that is around has, and what a machine can still sort.
enum { RP_MESH_LIMIT = 1 << 25 };
#define RP_MESH_MOST_BYTES ((size_t)1 << 32) // of a file

static inline double (*rp_mesh_place(const rp_mesh *mesh))[3]
{
    return (double(*)[3])mesh->place_buffer.data;
}
static inline int32_t (*rp_mesh_triangle(const rp_mesh *mesh))[3]
{
    return (int32_t(*)[3])mesh->triangle_buffer.data;
}

// Make room for so many in all. What is there stays.
rp_result rp_mesh_reserve(rp_mesh *mesh, int64_t places, int64_t triangles);
void rp_mesh_free(rp_mesh *mesh);

// What a def speaks of, from its file or its arrays, in metres and turned, and as it is there.
rp_result rp_mesh_take(const rp_mesh_def *def, rp_mesh *out);
// All triangles of def->file. Its indices and places have been checked.
rp_result rp_mesh_read(const rp_mesh_def *def, rp_mesh *out);

// Check that the mesh is one closed surface, or mend it; `name` stands in messages. Afterwards
// every edge is walked as often one way as the other, so that any line enters as often as it
// leaves.
rp_result rp_mesh_close(rp_mesh *mesh, const char *name, bool repair);
// What it encloses; negative when it is inside out. Only of a closed mesh.
double rp_mesh_volume(const rp_mesh *mesh);
void rp_mesh_bounds(const rp_mesh *mesh, double lower[3], double upper[3]);

// The nearest triangle, by a tree of boxes. Zero-initialise before first use.
typedef struct rp_mesh_tree {
    rp_buffer corner_buffer; // of triangles, those that are near each other together
    rp_buffer box_buffer;    // children of node i are 2 i and 2 i + 1; the root is 1
    rp_buffer number_buffer; // int32_t: which triangle of the mesh each of them is
    int32_t triangles, leaves;
} rp_mesh_tree;

rp_result rp_mesh_tree_make(const rp_mesh *mesh, rp_mesh_tree *out);
void rp_mesh_tree_free(rp_mesh_tree *tree);
// Distance to the surface: exact up to `exact` [m], beyond that too small by up to a fiftieth of
// the rest, which shortens the search. `nearest` is a triangle to look at first, any one; left
// behind is one that is near.
double rp_mesh_tree_distance(const rp_mesh_tree *tree, const double x[3], double exact,
                             int32_t *nearest);
// The same triangles with their corners elsewhere. As fast as a tree of its own as long as what was
// near each other stays so.
void rp_mesh_tree_refit(const rp_mesh_tree *tree, const int32_t (*corners)[3],
                        const double (*place)[3]);
// A place of a mesh: a triangle, and shares of its corners, which are 0 where it is on an edge.
typedef struct rp_mesh_spot {
    int32_t triangle;
    double share[3];
} rp_mesh_spot;
// The nearest one, and how far it is. Of several that are as near, always the same.
double rp_mesh_tree_nearest(const rp_mesh_tree *tree, const double x[3], rp_mesh_spot *out);
// How thick the solid is where it is thin, less what edges have: a fiftieth of the surface may be
// thinner.
// @param most what is thicker is as good as this [m]
rp_result rp_mesh_thickness(const rp_mesh_tree *tree, double most, double *out);

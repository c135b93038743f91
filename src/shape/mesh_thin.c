// How thin a closed surface is: from random places on it, each as likely as any other, straight
// into it until the nearest triangle is one that faces the other way.
#include "base/hash.h"
#include "base/result.h"
#include "shape/class.h"
#include "shape/mesh.h"

#include <math.h>
#include <stdlib.h>

enum { SPOTS = 1024, THINNER = SPOTS / 50 }; // a fiftieth of the surface may be thinner: edges are

// Cosine between normals: faces at less than 30 degrees are those of one wall. A wedge of 45 has an
// edge, and nothing falls through it.
static const double OPPOSED = -0.87;

// Normal of a triangle, of length 1. @return its area
static double triangle_normal(const double corner[3][3], double out[3])
{
    double side[2][3], length = 0.0;
    for (int a = 0; a < 3; a++) {
        side[0][a] = corner[1][a] - corner[0][a];
        side[1][a] = corner[2][a] - corner[0][a];
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = side[0][b] * side[1][c] - side[0][c] * side[1][b];
    }
    length = sqrt(rp_dot(out, out));
    for (int a = 0; a < 3; a++) {
        out[a] = length > 0.0 ? out[a] / length : 0.0;
    }
    return 0.5 * length;
}

// The way through the solid from a place of triangle `from`, or `most`.
static double thickness_at(const rp_mesh_tree *tree, int32_t from, const double x[3], double most)
{
    const double(*corner)[3][3] = tree->corner_buffer.data;
    double normal[3];
    int32_t nearest = from;
    triangle_normal(corner[from], normal);
    for (double way = 1e-3 * most; way < most;) {
        double at[3], facing[3];
        for (int a = 0; a < 3; a++) {
            at[a] = x[a] - way * normal[a];
        }
        const double d = rp_mesh_tree_distance(tree, at, most, &nearest);
        triangle_normal(corner[nearest], facing);
        if (rp_dot(normal, facing) < OPPOSED) {
            return fmin(way + d, most);
        }
        way += fmax(d, 0.01 * most);
    }
    return most;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

rp_result rp_mesh_thickness(const rp_mesh_tree *tree, double most, double *out)
{
    const double(*corner)[3][3] = tree->corner_buffer.data;
    double *sum = malloc((size_t)tree->triangles * sizeof *sum);
    double thick[SPOTS], area = 0.0;
    if (sum == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: areas of a mesh");
    }
    for (int32_t i = 0; i < tree->triangles; i++) {
        double normal[3];
        area += triangle_normal(corner[i], normal);
        sum[i] = area;
    }
    int32_t at = 0;
    for (int i = 0; i < SPOTS; i++) {
        const uint64_t spot = (uint64_t)i;
        double x[3], u = rp_unit(rp_hash(1, spot, RP_FOR_SAMPLES, 0)),
                     v = rp_unit(rp_hash(2, spot, RP_FOR_SAMPLES, 0));
        // spots go along the list of triangles, evenly by area
        while (at < tree->triangles - 1 && sum[at] < area * (i + 0.5) / SPOTS) {
            at++;
        }
        if (u + v > 1.0) {
            u = 1.0 - u;
            v = 1.0 - v;
        }
        for (int a = 0; a < 3; a++) {
            x[a] = corner[at][0][a] + u * (corner[at][1][a] - corner[at][0][a]) +
                   v * (corner[at][2][a] - corner[at][0][a]);
        }
        thick[i] = thickness_at(tree, at, x, most);
    }
    free(sum);
    qsort(thick, SPOTS, sizeof thick[0], compare_doubles);
    *out = thick[THINNER];
    return RP_OK;
}

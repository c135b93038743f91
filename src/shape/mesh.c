// A closed surface of triangles as a field of distances.
//
// Nodes lie a cell apart. Cells are grouped into blocks of 8 x 8 x 8; those that the surface comes
// near hold the distance at all their nodes, and in between it is interpolated. Elsewhere only the
// corners of blocks hold one, and what is interpolated between them is lowered to be safe: the true
// distance is never less, and the side is right.
//
// The side of a node is the number of times that the surface has been entered, less the times it
// has been left, on the way along x to the node. For a closed surface that is exact, and it needs
// no normals. Every line of nodes is looked at once; the table of crossings is as big as the
// surface.
#include "shape/mesh.h"

#include "base/result.h"
#include "base/threads.h"
#include "shape/class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 8,            // cells along an edge
    NODES = BLOCK + 1,    // along an edge, those of its neighbours included
    BAND = 3,             // cells to either side of the surface that are in fine blocks at least
    MOST_BLOCKS = 1 << 24 // 2048 cells along each axis
};

typedef float block_nodes[NODES][NODES][NODES];

typedef struct field {
    rp_shape shape;
    double lower[3], upper[3], volume; // of the surface
    double thickness;                  // where it is thin [m]
    double cell, corner[3];            // [m]; place of the first node
    int64_t blocks[3];
    rp_buffer coarse; // float: distance at corners of blocks
    rp_buffer slot;   // int32_t: fine block of each block, -1: none
    rp_buffer fine;   // block_nodes
    rp_mesh mesh;     // the surface itself, to be looked at
} field;

// Crossings
// -----------------------------------------------------------------------------------------------

typedef struct crossing {
    int64_t line;
    double x;
    int enters; // 1, or -1 when it leaves
} crossing;

typedef struct crossings {
    rp_buffer buffer;
    int64_t count;
} crossings;

static double node_place(const field *f, int axis, int64_t index)
{
    return f->corner[axis] + f->cell * (double)index;
}

static int64_t line_at(const field *f, int64_t j, int64_t k)
{
    return j * (BLOCK * f->blocks[2] + 1) + k;
}

// On which side of the way from a to b the origin lies. The products of floats are exact as
// doubles, so the sign is; where it is 0 the origin is thought to be moved by next to nothing, in
// the same way for all. A line then crosses exactly one of two triangles that share an edge.
static int side_of(const float a[2], const float b[2])
{
    const double area = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
    return area > 0.0     ? 1
           : area < 0.0   ? -1
           : b[1] != a[1] ? (b[1] > a[1] ? 1 : -1)
           : a[0] != b[0] ? (a[0] > b[0] ? 1 : -1)
                          : 0;
}

// Where the line of nodes (j, k) crosses a triangle. @return 1 when it goes in, -1 out, 0 by
static int cross(const field *f, const double *const corner[3], int64_t j, int64_t k, double *x)
{
    const double y = node_place(f, 1, j), z = node_place(f, 2, k);
    float flat[3][2];
    double weight[3], sum = 0.0;
    int sides = 0;
    for (int i = 0; i < 3; i++) {
        flat[i][0] = (float)(corner[i][1] - y);
        flat[i][1] = (float)(corner[i][2] - z);
    }
    for (int i = 0; i < 3; i++) {
        const float *a = flat[(i + 1) % 3], *b = flat[(i + 2) % 3];
        sides += side_of(a, b);
        weight[i] = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
        sum += weight[i];
    }
    if ((sides != 3 && sides != -3) || sum == 0.0) {
        return 0;
    }
    *x = (weight[0] * corner[0][0] + weight[1] * corner[1][0] + weight[2] * corner[2][0]) / sum;
    // counter-clockwise in y and z: it looks along +x, so the line leaves
    return sides > 0 ? -1 : 1;
}

static rp_result add_crossing(crossings *c, crossing new)
{
    if ((size_t)(c->count + 1) * sizeof new > c->buffer.bytes) {
        RP_TRY(rp_buffer_reserve(&c->buffer, rp_default_allocator(),
                                 (2 * (size_t)c->count + 1024) * sizeof new,
                                 (size_t)c->count * sizeof new, "crossings of a mesh"));
    }
    ((crossing *)c->buffer.data)[c->count++] = new;
    return RP_OK;
}

static rp_result cross_triangle(const field *f, const double *const corner[3], crossings *out)
{
    int64_t first[3] = {0}, last[3] = {0};
    for (int a = 1; a < 3; a++) {
        const double low = fmin(fmin(corner[0][a], corner[1][a]), corner[2][a]);
        const double high = fmax(fmax(corner[0][a], corner[1][a]), corner[2][a]);
        first[a] = (int64_t)floor((low - f->corner[a]) / f->cell);
        last[a] = (int64_t)ceil((high - f->corner[a]) / f->cell);
    }
    for (int64_t j = first[1]; j <= last[1]; j++) {
        for (int64_t k = first[2]; k <= last[2]; k++) {
            crossing c = {.line = line_at(f, j, k)};
            c.enters = cross(f, corner, j, k, &c.x);
            if (c.enters != 0) {
                RP_TRY(add_crossing(out, c));
            }
        }
    }
    return RP_OK;
}

static int compare_crossings(const void *a, const void *b)
{
    const crossing *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1)
           : x->x != y->x     ? (x->x < y->x ? -1 : 1)
                              : x->enters - y->enters;
}

static rp_result list_crossings(const field *f, const rp_mesh *mesh, crossings *out)
{
    for (int32_t t = 0; t < mesh->triangles; t++) {
        const int32_t *triangle = rp_mesh_triangle(mesh)[t];
        const double *corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = rp_mesh_place(mesh)[triangle[k]];
        }
        RP_TRY(cross_triangle(f, corner, out));
    }
    if (out->count > 0) {
        qsort(out->buffer.data, (size_t)out->count, sizeof(crossing), compare_crossings);
    }
    return RP_OK;
}

// The first crossing of a line, or of one after it.
static int64_t first_crossing(const crossings *c, int64_t line)
{
    const crossing *list = c->buffer.data;
    int64_t low = 0, high = c->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (list[middle].line < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Distances
// -----------------------------------------------------------------------------------------------

typedef struct making {
    field *field;
    const rp_mesh_tree *tree;
    const crossings *crossings;
    const int64_t *fine_blocks; // index of each fine block
} making;

// Signed distances at every `step`-th node of a line along x. `nearest` is a triangle near the
// first node, or any one, and then the one that was nearest to it.
static void fill_line(const making *m, const int64_t first[3], int step, int64_t count,
                      int32_t *nearest, float *out, int64_t stride)
{
    const field *f = m->field;
    const crossing *list = m->crossings->buffer.data;
    const int64_t line = line_at(f, first[1], first[2]);
    int64_t at = first_crossing(m->crossings, line);
    int32_t guess = *nearest;
    int inside = 0;
    bool begun = false;
    for (int64_t i = 0; i < count; i++) {
        const double x[3] = {node_place(f, 0, first[0] + i * step), node_place(f, 1, first[1]),
                             node_place(f, 2, first[2])};
        for (; at < m->crossings->count && list[at].line == line && list[at].x < x[0]; at++) {
            inside += list[at].enters;
        }
        if (isnan(out[i * stride])) {
            const double distance = rp_mesh_tree_distance(m->tree, x, BAND * f->cell, &guess);
            *nearest = begun ? *nearest : guess;
            begun = true;
            out[i * stride] = (float)(inside > 0 ? -distance : distance);
        }
    }
}

static void fill_coarse(void *context, int64_t item, int thread)
{
    const making *m = context;
    const field *f = m->field;
    const int64_t n[2] = {f->blocks[1] + 1, f->blocks[2] + 1};
    const int64_t first[3] = {0, BLOCK * (item / n[1]), BLOCK * (item % n[1])};
    float *out = (float *)f->coarse.data + item;
    int32_t nearest = 0;
    (void)thread;
    for (int64_t i = 0; i <= f->blocks[0]; i++) {
        out[i * n[0] * n[1]] = NAN;
    }
    fill_line(m, first, BLOCK, f->blocks[0] + 1, &nearest, out, n[0] * n[1]);
}

// A block is fine when the ball around it comes near to the surface.
static void choose_fine(void *context, int64_t item, int thread)
{
    const making *m = context;
    const field *f = m->field;
    const double half = 0.5 * BLOCK, reach = f->cell * (BAND + half * sqrt(3.0));
    int32_t nearest = 0;
    (void)thread;
    for (int64_t i = 0; i < f->blocks[0]; i++) {
        const int64_t b[3] = {i, item / f->blocks[2], item % f->blocks[2]};
        double middle[3];
        for (int a = 0; a < 3; a++) {
            middle[a] = f->corner[a] + f->cell * BLOCK * ((double)b[a] + 0.5);
        }
        const bool near = rp_mesh_tree_distance(m->tree, middle, BAND * f->cell, &nearest) <= reach;
        ((int32_t *)f->slot.data)[i * f->blocks[1] * f->blocks[2] + item] = near ? 0 : -1;
    }
}

// Far from the surface, where searches are long, every other node along each axis is searched for
// and those between are the mean of the up to eight around them.
static void fill_far_nodes(const field *f, block_nodes node)
{
    const float far = (float)((BAND + 2) * f->cell);
    for (int n = 0; n < NODES * NODES * NODES; n++) {
        const int at[3] = {n / (NODES * NODES), n / NODES % NODES, n % NODES};
        float sum = 0.0F, least = INFINITY;
        for (int k = 0; k < 8; k++) {
            int near[3]; // even ones to either side, or twice the same
            for (int a = 0; a < 3; a++) {
                near[a] = at[a] + (k >> a & 1 ? at[a] % 2 : -(at[a] % 2));
            }
            const float value = node[near[0]][near[1]][near[2]];
            sum += value;
            least = fminf(least, fabsf(value));
        }
        float *here = &node[at[0]][at[1]][at[2]];
        *here = isnan(*here) && least > far ? 0.125F * sum : *here;
    }
}

static void fill_lines(const making *m, const int64_t corner[3], int step, block_nodes node)
{
    int32_t nearest = 0;
    for (int j = 0; j < NODES; j += step) {
        for (int k = 0; k < NODES; k += step) {
            const int64_t first[3] = {corner[0], corner[1] + j, corner[2] + k};
            fill_line(m, first, step, BLOCK / step + 1, &nearest, &node[0][j][k],
                      step * NODES * NODES);
        }
    }
}

static void fill_fine(void *context, int64_t item, int thread)
{
    const making *m = context;
    const field *f = m->field;
    const int64_t block = m->fine_blocks[item];
    const int64_t corner[3] = {BLOCK * (block / (f->blocks[1] * f->blocks[2])),
                               BLOCK * (block / f->blocks[2] % f->blocks[1]),
                               BLOCK * (block % f->blocks[2])};
    block_nodes *node = (block_nodes *)f->fine.data + item;
    (void)thread;
    for (int n = 0; n < NODES * NODES * NODES; n++) {
        ((float *)node)[n] = NAN;
    }
    fill_lines(m, corner, 2, *node);
    fill_far_nodes(f, *node);
    fill_lines(m, corner, 1, *node);
}

static rp_result list_fine(field *f, rp_buffer *list, int64_t *count)
{
    const rp_allocator *a = rp_default_allocator();
    const int64_t blocks = f->blocks[0] * f->blocks[1] * f->blocks[2];
    int32_t *slot = f->slot.data;
    *count = 0;
    for (int64_t b = 0; b < blocks; b++) {
        slot[b] = slot[b] < 0 ? -1 : (int32_t)(*count)++;
    }
    RP_TRY(rp_buffer_reserve(list, a, (size_t)*count * sizeof(int64_t), 0, "blocks of a mesh"));
    for (int64_t b = 0; b < blocks; b++) {
        if (slot[b] >= 0) {
            ((int64_t *)list->data)[slot[b]] = b;
        }
    }
    return rp_buffer_reserve(&f->fine, a, (size_t)*count * sizeof(block_nodes), 0,
                             "distances of a mesh");
}

static rp_result fill_field(field *f, making *m, rp_buffer *list, int threads)
{
    const rp_allocator *a = rp_default_allocator();
    const int64_t *n = f->blocks, rows = (n[1] + 1) * (n[2] + 1);
    int64_t count;
    RP_TRY(rp_buffer_reserve(&f->coarse, a, (size_t)((n[0] + 1) * rows) * sizeof(float), 0,
                             "distances of a mesh"));
    RP_TRY(rp_buffer_reserve(&f->slot, a, (size_t)(n[0] * n[1] * n[2]) * sizeof(int32_t), 0,
                             "blocks of a mesh"));
    rp_parallel_for(threads, rows, 1, fill_coarse, m);
    rp_parallel_for(threads, n[1] * n[2], 1, choose_fine, m);
    RP_TRY(list_fine(f, list, &count));
    m->fine_blocks = list->data;
    rp_parallel_for(threads, count, 1, fill_fine, m);
    return RP_OK;
}

static rp_result make_field(field *f, const rp_mesh *mesh, const rp_mesh_tree *tree, int threads)
{
    const rp_allocator *a = rp_default_allocator();
    crossings c = {0};
    rp_buffer list = {0};
    making m = {.field = f, .tree = tree, .crossings = &c};
    rp_result result = list_crossings(f, mesh, &c);
    if (result == RP_OK) {
        result = fill_field(f, &m, &list, threads);
    }
    rp_buffer_free(&c.buffer, a);
    rp_buffer_free(&list, a);
    return result;
}

// The class
// -----------------------------------------------------------------------------------------------

// Between eight nodes; `at` is in [0, 1]^3, the gradient per cell.
static double interpolate(const float *node, const int64_t stride[3], const double at[3],
                          double gradient[3])
{
    double value = 0.0;
    memset(gradient, 0, 3 * sizeof *gradient);
    for (int k = 0; k < 8; k++) {
        double w[3], slope[3];
        int64_t index = 0;
        for (int a = 0; a < 3; a++) {
            const bool upper = (k >> a & 1) != 0;
            w[a] = upper ? at[a] : 1.0 - at[a];
            slope[a] = upper ? 1.0 : -1.0;
            index += upper ? stride[a] : 0;
        }
        const double v = (double)node[index];
        value += w[0] * w[1] * w[2] * v;
        gradient[0] += slope[0] * w[1] * w[2] * v;
        gradient[1] += w[0] * slope[1] * w[2] * v;
        gradient[2] += w[0] * w[1] * slope[2] * v;
    }
    return value;
}

static double normalize(double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++) {
        v[a] = length > 0.0 ? v[a] / length : a == 1; // every way is as good: take up
    }
    return length;
}

// Within the blocks; `p` in cells from the first node.
static double distance_within(const field *f, const double p[3], double gradient[3])
{
    int64_t b[3], index = 0;
    double at[3];
    for (int a = 0; a < 3; a++) {
        b[a] = (int64_t)(p[a] / BLOCK);
        b[a] = b[a] < f->blocks[a] ? b[a] : f->blocks[a] - 1;
        index = index * f->blocks[a] + b[a];
    }
    const int32_t slot = ((const int32_t *)f->slot.data)[index];
    if (slot >= 0) {
        const int64_t stride[3] = {NODES * NODES, NODES, 1};
        const float *node = (const float *)((const block_nodes *)f->fine.data + slot);
        for (int a = 0; a < 3; a++) {
            const double within = p[a] - (double)(BLOCK * b[a]);
            const int cell = within < BLOCK ? (int)within : BLOCK - 1;
            at[a] = within - cell;
            node += cell * stride[a];
        }
        const double distance = interpolate(node, stride, at, gradient);
        normalize(gradient);
        return distance;
    }
    const int64_t n = f->blocks[2] + 1, stride[3] = {(f->blocks[1] + 1) * n, n, 1};
    const float *node = f->coarse.data;
    for (int a = 0; a < 3; a++) {
        at[a] = p[a] / BLOCK - (double)b[a];
        node += b[a] * stride[a];
    }
    const double distance = interpolate(node, stride, at, gradient), size = fabs(distance);
    normalize(gradient);
    // distances from a point curve most, by 1 / distance in two directions, and what is
    // interpolated over a length l lies too high by l^2 / 8 of each; nothing here is nearer than
    // the band
    const double length = BLOCK * f->cell;
    return copysign(fmax(size - length * length / (4.0 * size), BAND * f->cell), distance);
}

// Outside of the blocks, from the point of them that is nearest to x: what is to the surface from
// there is at least a right angle off the way there.
static double field_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const field *f = (const field *)shape;
    double p[3], beyond[3], away2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const double at = (x[a] - f->corner[a]) / f->cell;
        p[a] = fmin(fmax(at, 0.0), (double)(BLOCK * f->blocks[a]));
        beyond[a] = (at - p[a]) * f->cell;
        away2 += beyond[a] * beyond[a];
    }
    const double distance = distance_within(f, p, gradient);
    if (away2 == 0.0) {
        return distance;
    }
    for (int a = 0; a < 3; a++) {
        gradient[a] = beyond[a] + distance * gradient[a];
    }
    normalize(gradient);
    return sqrt(away2 + distance * distance);
}

static void field_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const field *f = (const field *)shape;
    memcpy(lower, f->lower, sizeof f->lower);
    memcpy(upper, f->upper, sizeof f->upper);
}

// The area of a slice is not known.
static double field_volume(const rp_shape *shape, int dimension)
{
    return dimension == 3 ? ((const field *)shape)->volume : NAN;
}

static rp_result field_triangles(const rp_shape *shape, const rp_shape_slab *slab, rp_mesh *out)
{
    const rp_mesh *mesh = &((const field *)shape)->mesh;
    if (slab != NULL) {
        return RP_OK;
    }
    RP_TRY(rp_mesh_reserve(out, mesh->places, mesh->triangles));
    out->places = mesh->places;
    out->triangles = mesh->triangles;
    memcpy(rp_mesh_place(out), rp_mesh_place(mesh), (size_t)mesh->places * sizeof(double[3]));
    memcpy(rp_mesh_triangle(out), rp_mesh_triangle(mesh),
           (size_t)mesh->triangles * sizeof(int32_t[3]));
    return RP_OK;
}

static void field_free(rp_shape *shape)
{
    field *f = (field *)shape;
    rp_mesh_free(&f->mesh);
    rp_buffer_free(&f->coarse, rp_default_allocator());
    rp_buffer_free(&f->slot, rp_default_allocator());
    rp_buffer_free(&f->fine, rp_default_allocator());
}

rp_mesh_def rp_default_mesh_def(void)
{
    return (rp_mesh_def){.scale = 1.0, .cookie = RP_DEF_COOKIE};
}

static rp_result check_def(const rp_mesh_def *def, double dx)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh: start from rp_default_mesh_def()");
    }
    if (!(def->scale > 0.0 && isfinite(def->scale))) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh.scale: want > 0, got %g", def->scale);
    }
    if (def->turn < -1 || def->turn > 1) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh.turn: want -1 to 1, got %d", def->turn);
    }
    const bool chosen = def->resolution == 0.0 && dx > 0.0 && isfinite(dx);
    if (!chosen && !(def->resolution > 0.0 && isfinite(def->resolution))) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh.resolution: want > 0 m, got %g", def->resolution);
    }
    return RP_OK;
}

static rp_result take_arrays(const rp_mesh_def *def, rp_mesh *out)
{
    if (def->vertices == NULL || def->triangles == NULL || def->triangle_count < 1 ||
        def->vertex_count < 1) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "mesh: want a file, or vertices and triangles, got neither");
    }
    RP_TRY(rp_mesh_reserve(out, def->vertex_count, def->triangle_count));
    for (int64_t i = 0; i < 3 * def->vertex_count; i++) {
        if (!isfinite(def->vertices[i])) {
            return rp_fail(RP_ERR_ARGUMENT, "mesh.vertices: vertex %lld is not finite",
                           (long long)(i / 3));
        }
    }
    for (int64_t i = 0; i < 3 * def->triangle_count; i++) {
        if (def->triangles[i] < 0 || def->triangles[i] >= def->vertex_count) {
            return rp_fail(RP_ERR_ARGUMENT, "mesh.triangles: triangle %lld wants vertex %d of %lld",
                           (long long)(i / 3), def->triangles[i], (long long)def->vertex_count);
        }
    }
    out->places = (int32_t)def->vertex_count;
    out->triangles = (int32_t)def->triangle_count;
    memcpy(out->place_buffer.data, def->vertices, (size_t)out->places * sizeof(double[3]));
    memcpy(out->triangle_buffer.data, def->triangles, (size_t)out->triangles * sizeof(int32_t[3]));
    return RP_OK;
}

// Blocks around the surface, with the band to spare.
static rp_result lay_out(field *f, const rp_mesh *mesh, const char *name, double cell)
{
    double blocks = 1.0;
    f->cell = cell;
    rp_mesh_bounds(mesh, f->lower, f->upper);
    for (int a = 0; a < 3; a++) {
        const double along = ceil(((f->upper[a] - f->lower[a]) / cell + 2.0 * (BAND + 1)) / BLOCK);
        blocks *= along;
        f->blocks[a] = along <= MOST_BLOCKS ? (int64_t)along : 0;
        f->corner[a] = f->lower[a] - (BAND + 1) * cell;
    }
    if (!(blocks <= MOST_BLOCKS)) {
        return rp_fail(RP_ERR_LIMIT,
                       "%s: a resolution of %g m makes %.3g blocks of %d^3 cells; want at most %d",
                       name, cell, blocks, BLOCK, MOST_BLOCKS);
    }
    return RP_OK;
}

static const double MOST_CELLS = 1e7; // along the surface: about a gigabyte

static double surface_area(const rp_mesh *mesh, double lower[3], double upper[3])
{
    const double(*place)[3] = (const double(*)[3])rp_mesh_place(mesh);
    double area = 0.0;
    for (int a = 0; a < 3; a++) {
        lower[a] = INFINITY;
        upper[a] = -INFINITY;
    }
    for (int32_t i = 0; i < mesh->triangles; i++) {
        const int32_t *corner = rp_mesh_triangle(mesh)[i];
        double side[2][3], twice2 = 0.0;
        for (int a = 0; a < 3; a++) {
            side[0][a] = place[corner[1]][a] - place[corner[0]][a];
            side[1][a] = place[corner[2]][a] - place[corner[0]][a];
            for (int k = 0; k < 3; k++) {
                lower[a] = fmin(lower[a], place[corner[k]][a]);
                upper[a] = fmax(upper[a], place[corner[k]][a]);
            }
        }
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            const double cross = side[0][b] * side[1][c] - side[0][c] * side[1][b];
            twice2 += cross * cross;
        }
        area += 0.5 * sqrt(twice2);
    }
    return area;
}

// A mesh in centimetres taken for metres would keep the machine busy for minutes; its size says it.
static rp_result check_size(const rp_mesh *mesh, const char *name, double resolution)
{
    double lower[3], upper[3];
    const double area = surface_area(mesh, lower, upper);
    if (isfinite(area) && area > MOST_CELLS * resolution * resolution) {
        return rp_fail(
            RP_ERR_LIMIT,
            "%s: it is %.3g x %.3g x %.3g m large, and its surface has %.2g cells of %g "
            "m: want at most %.2g; is its scale wrong (0.01: its units are centimetres, 0.001: "
            "millimetres), or the resolution too fine?",
            name, upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2],
            area / (resolution * resolution), resolution, MOST_CELLS);
    }
    return RP_OK;
}

// Four cells across where it is thin, unless that takes too many of them.
static double choose_resolution(const rp_mesh *mesh, double dx, double thickness)
{
    double lower[3], upper[3];
    const double area = surface_area(mesh, lower, upper), few = 0.1 * MOST_CELLS;
    const double fine = fmin(fmax(0.25 * thickness, 0.25 * dx), dx);
    return fmin(fmax(fine, sqrt(area / few)), dx);
}

// All that needs the tree.
static rp_result make_distances(const rp_mesh_def *def, double dx, const char *name, field *f,
                                const rp_mesh_tree *tree)
{
    const bool given = def->resolution > 0.0;
    RP_TRY(rp_mesh_thickness(tree, 4.0 * fmax(dx, def->resolution), &f->thickness));
    RP_TRY(lay_out(f, &f->mesh, name,
                   given ? def->resolution : choose_resolution(&f->mesh, dx, f->thickness)));
    return make_field(f, &f->mesh, tree, def->threads > 0 ? def->threads : rp_default_threads());
}

rp_result rp_mesh_take(const rp_mesh_def *def, rp_mesh *out)
{
    RP_TRY(def->file != NULL ? rp_mesh_read(def, out) : take_arrays(def, out));
    for (int32_t i = 0; i < out->places; i++) {
        double *x = rp_mesh_place(out)[i];
        const double y = x[1], z = x[2];
        x[1] = def->turn == 0 ? y : -def->turn * z;
        x[2] = def->turn == 0 ? z : def->turn * y;
        for (int a = 0; a < 3; a++) {
            x[a] *= def->scale;
        }
    }
    return RP_OK;
}

static rp_result make_shape(const rp_mesh_def *def, double dx, field *f)
{
    rp_mesh *mesh = &f->mesh;
    const char *name = def->file != NULL ? def->file : "mesh";
    RP_TRY(rp_mesh_take(def, mesh));
    RP_TRY(rp_mesh_close(mesh, name, def->repair));
    RP_TRY(check_size(mesh, name, fmax(def->resolution, dx)));
    f->volume = rp_mesh_volume(mesh);
    rp_mesh_tree tree = {0};
    rp_result result = rp_mesh_tree_make(mesh, &tree);
    result = result == RP_OK ? make_distances(def, dx, name, f, &tree) : result;
    rp_mesh_tree_free(&tree);
    return result;
}

static const rp_shape_class class = {.distance = field_distance,
                                     .bounds = field_bounds,
                                     .volume = field_volume,
                                     .free = field_free,
                                     .triangles = field_triangles};

bool rp_shape_mesh_fit(const rp_shape *shape, rp_mesh_fit *fit)
{
    const field *f = (const field *)shape;
    if (shape->class != &class) {
        return false;
    }
    *fit = (rp_mesh_fit){.resolution = f->cell, .thickness = f->thickness};
    return true;
}

rp_result rp_shape_mesh_for(const rp_mesh_def *def, double dx, rp_shape **shape)
{
    *shape = NULL;
    rp_shape *made;
    RP_TRY(check_def(def, dx));
    RP_TRY(rp_shape_new(&class, sizeof(field), &made));
    const rp_result result = make_shape(def, dx, (field *)made);
    if (result != RP_OK) {
        rp_shape_release(made);
        return result;
    }
    *shape = made;
    return RP_OK;
}

rp_result rp_shape_mesh(const rp_mesh_def *def, rp_shape **shape)
{
    return rp_shape_mesh_for(def, 0.0, shape);
}

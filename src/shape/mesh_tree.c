#include "base/result.h"
#include "base/three.h"
#include "shape/mesh.h"

#include <math.h>
#include <string.h>

enum { LEAF = 4 }; // triangles, at most

typedef struct box {
    double lower[3], upper[3];
} box;

typedef double triangle[3][3];

// The triangles of leaf i are those from here to that of leaf i + 1.
static int32_t first_of(const rp_mesh_tree *tree, int64_t leaf)
{
    return (int32_t)(leaf * tree->triangles / tree->leaves);
}

// ---- making it ----

typedef struct entry {
    double middle[3];
    int32_t triangle;
} entry;

static void list_triangles(const rp_mesh *mesh, entry *list)
{
    for (int32_t t = 0; t < mesh->triangles; t++) {
        const int32_t *corner = rp_mesh_triangle(mesh)[t];
        list[t] = (entry){.triangle = t};
        for (int k = 0; k < 9; k++) {
            list[t].middle[k % 3] += rp_mesh_place(mesh)[corner[k / 3]][k % 3] / 3.0;
        }
    }
}

static bool is_before(const entry *a, const entry *b, int axis)
{
    return a->middle[axis] != b->middle[axis] ? a->middle[axis] < b->middle[axis]
                                              : a->triangle < b->triangle;
}

// Put the `wanted` lowest first, by quickselect.
static void part(entry *list, int32_t count, int32_t wanted, int axis)
{
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const entry pivot = list[low + (high - low) / 2];
        int32_t i = low, j = high;
        while (i <= j) {
            while (is_before(&list[i], &pivot, axis)) {
                i++;
            }
            while (is_before(&pivot, &list[j], axis)) {
                j--;
            }
            if (i <= j) {
                const entry swapped = list[i];
                list[i++] = list[j];
                list[j--] = swapped;
            }
        }
        if (wanted <= j) {
            high = j;
        } else if (wanted >= i) {
            low = i;
        } else {
            return;
        }
    }
}

// Halves, again and again, across the longest side.
static void split(const rp_mesh_tree *tree, entry *list, int64_t first_leaf, int64_t leaves)
{
    if (leaves == 1) {
        return;
    }
    const int32_t first = first_of(tree, first_leaf), end = first_of(tree, first_leaf + leaves);
    const int32_t half = first_of(tree, first_leaf + leaves / 2);
    int axis = 0;
    double longest = -1.0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = first; i < end; i++) {
            low = fmin(low, list[i].middle[a]);
            high = fmax(high, list[i].middle[a]);
        }
        axis = high - low > longest ? a : axis;
        longest = fmax(longest, high - low);
    }
    part(list + first, end - first, half - first, axis);
    split(tree, list, first_leaf, leaves / 2);
    split(tree, list, first_leaf + leaves / 2, leaves / 2);
}

static void grow(box *b, const double x[3])
{
    for (int a = 0; a < 3; a++) {
        b->lower[a] = fmin(b->lower[a], x[a]);
        b->upper[a] = fmax(b->upper[a], x[a]);
    }
}

static void fill_boxes(const rp_mesh_tree *tree)
{
    const triangle *corner = tree->corner_buffer.data;
    box *node = tree->box_buffer.data;
    for (int32_t i = 2 * tree->leaves - 1; i > 0; i--) {
        node[i] = (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        if (i < tree->leaves) {
            for (int child = 0; child < 2; child++) {
                grow(&node[i], node[2 * i + child].lower);
                grow(&node[i], node[2 * i + child].upper);
            }
            continue;
        }
        const int64_t leaf = i - tree->leaves;
        for (int32_t t = first_of(tree, leaf); t < first_of(tree, leaf + 1); t++) {
            for (int k = 0; k < 3; k++) {
                grow(&node[i], corner[t][k]);
            }
        }
    }
}

void rp_mesh_tree_refit(const rp_mesh_tree *tree, const int32_t (*corners)[3],
                        const double (*place)[3])
{
    const int32_t *number = tree->number_buffer.data;
    triangle *corner = tree->corner_buffer.data;
    for (int32_t i = 0; i < tree->triangles; i++) {
        for (int k = 0; k < 3; k++) {
            memcpy(corner[i][k], place[corners[number[i]][k]], sizeof(double[3]));
        }
    }
    fill_boxes(tree);
}

static rp_result make(const rp_mesh *mesh, rp_buffer *list, rp_mesh_tree *out)
{
    const rp_allocator *a = rp_default_allocator();
    const size_t count = (size_t)mesh->triangles;
    out->triangles = mesh->triangles;
    for (out->leaves = 1; (int64_t)out->leaves * LEAF < mesh->triangles;) {
        out->leaves *= 2;
    }
    RP_TRY(rp_buffer_reserve(list, a, count * sizeof(entry), 0, "triangles of a tree"));
    RP_TRY(rp_buffer_reserve(&out->corner_buffer, a, count * sizeof(triangle), 0,
                             "triangles of a tree"));
    RP_TRY(rp_buffer_reserve(&out->box_buffer, a, 2 * (size_t)out->leaves * sizeof(box), 0,
                             "boxes of triangles"));
    RP_TRY(rp_buffer_reserve(&out->number_buffer, a, count * sizeof(int32_t), 0,
                             "triangles of a tree"));
    list_triangles(mesh, list->data);
    split(out, list->data, 0, out->leaves);
    for (size_t i = 0; i < count; i++) {
        ((int32_t *)out->number_buffer.data)[i] = ((entry *)list->data)[i].triangle;
    }
    rp_mesh_tree_refit(out, (const int32_t(*)[3])rp_mesh_triangle(mesh),
                       (const double(*)[3])rp_mesh_place(mesh));
    return RP_OK;
}

rp_result rp_mesh_tree_make(const rp_mesh *mesh, rp_mesh_tree *out)
{
    rp_buffer list = {0};
    const rp_result result = make(mesh, &list, out);
    rp_buffer_free(&list, rp_default_allocator());
    if (result != RP_OK) {
        rp_mesh_tree_free(out);
    }
    return result;
}

void rp_mesh_tree_free(rp_mesh_tree *tree)
{
    rp_buffer_free(&tree->corner_buffer, rp_default_allocator());
    rp_buffer_free(&tree->box_buffer, rp_default_allocator());
    rp_buffer_free(&tree->number_buffer, rp_default_allocator());
}

// ---- asking it ----

static void minus(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] - b[i];
    }
}

// |p - s ab - t ac|^2
static double length2(const double p[3], const double ab[3], double s, const double ac[3], double t)
{
    const double d[3] = {p[0] - s * ab[0] - t * ac[0], p[1] - s * ab[1] - t * ac[1],
                         p[2] - s * ab[2] - t * ac[2]};
    return rp_dot(d, d);
}

// Which corner, edge or face is nearest follows from where x lies along the edges (the products of
// corner k with both edges, u and v) and from the signs of three areas.
static double triangle_distance2(const triangle t, const double x[3])
{
    double ab[3], ac[3], p[3][3], u[3], v[3];
    minus(t[1], t[0], ab);
    minus(t[2], t[0], ac);
    for (int k = 0; k < 3; k++) {
        minus(x, t[k], p[k]);
        u[k] = rp_dot(ab, p[k]);
        v[k] = rp_dot(ac, p[k]);
    }
    if (u[0] <= 0.0 && v[0] <= 0.0) {
        return rp_dot(p[0], p[0]);
    }
    if (u[1] >= 0.0 && v[1] <= u[1]) {
        return rp_dot(p[1], p[1]);
    }
    if (v[2] >= 0.0 && u[2] <= v[2]) {
        return rp_dot(p[2], p[2]);
    }
    const double area_ab = u[0] * v[1] - u[1] * v[0], area_ac = u[2] * v[0] - u[0] * v[2];
    const double area_bc = u[1] * v[2] - u[2] * v[1];
    if (area_ab <= 0.0 && u[0] >= 0.0 && u[1] <= 0.0) {
        return length2(p[0], ab, u[0] / (u[0] - u[1]), ac, 0.0);
    }
    if (area_ac <= 0.0 && v[0] >= 0.0 && v[2] <= 0.0) {
        return length2(p[0], ab, 0.0, ac, v[0] / (v[0] - v[2]));
    }
    if (area_bc <= 0.0 && v[1] >= u[1] && u[2] >= v[2]) {
        const double s = (v[1] - u[1]) / (v[1] - u[1] + u[2] - v[2]);
        return length2(p[0], ab, 1.0 - s, ac, s);
    }
    const double sum = area_ab + area_ac + area_bc;
    return length2(p[0], ab, area_ac / sum, ac, area_ab / sum);
}

static double box_distance2(const box *b, const double x[3])
{
    double sum = 0.0;
    for (int a = 0; a < 3; a++) {
        const double below = b->lower[a] - x[a], above = x[a] - b->upper[a];
        const double beyond = below > above ? below : above;
        sum += beyond > 0.0 ? beyond * beyond : 0.0;
    }
    return sum;
}

// Distances that count as good enough when `best2` is the least so far.
static double good_enough(double best2, double exact)
{
    const double best = sqrt(best2);
    return best > exact ? best - 0.02 * (best - exact) : best;
}

double rp_mesh_tree_distance(const rp_mesh_tree *tree, const double x[3], double exact,
                             int32_t *nearest)
{
    const triangle *corner = tree->corner_buffer.data;
    const box *node = tree->box_buffer.data;
    struct {
        int32_t node;
        double distance2;
    } ahead[64]; // one per level, and the tree has no more than 29
    int count = 1;
    double best = triangle_distance2(corner[*nearest], x), enough = good_enough(best, exact);
    ahead[0].node = 1;
    ahead[0].distance2 = box_distance2(&node[1], x);
    while (count > 0) {
        const int32_t i = ahead[--count].node;
        if (ahead[count].distance2 >= enough * enough) {
            continue;
        }
        if (i >= tree->leaves) {
            const int64_t leaf = i - tree->leaves;
            for (int32_t t = first_of(tree, leaf); t < first_of(tree, leaf + 1); t++) {
                const double d2 = triangle_distance2(corner[t], x);
                if (d2 < best) {
                    best = d2;
                    enough = good_enough(best, exact);
                    *nearest = t;
                }
            }
            continue;
        }
        // the nearer child is looked at first
        const double d[2] = {box_distance2(&node[2 * i], x), box_distance2(&node[2 * i + 1], x)};
        const int far = d[0] > d[1] ? 0 : 1;
        for (int k = 0; k < 2; k++) {
            const int child = k == 0 ? far : 1 - far;
            ahead[count].node = 2 * i + child;
            ahead[count++].distance2 = d[child];
        }
    }
    return enough;
}

// The place of a triangle that is nearest to x, by shares of its corners. @return its distance^2
static double spot_in_triangle(const triangle t, const double x[3], double share[3])
{
    double ab[3], ac[3], p[3][3], u[3], v[3], s = 0.0, r = 0.0; // s of ab, r of ac
    minus(t[1], t[0], ab);
    minus(t[2], t[0], ac);
    for (int k = 0; k < 3; k++) {
        minus(x, t[k], p[k]);
        u[k] = rp_dot(ab, p[k]);
        v[k] = rp_dot(ac, p[k]);
    }
    const double area_ab = u[0] * v[1] - u[1] * v[0], area_ac = u[2] * v[0] - u[0] * v[2];
    const double area_bc = u[1] * v[2] - u[2] * v[1], sum = area_ab + area_ac + area_bc;
    if (u[0] <= 0.0 && v[0] <= 0.0) {
        s = r = 0.0;
    } else if (u[1] >= 0.0 && v[1] <= u[1]) {
        s = 1.0;
    } else if (v[2] >= 0.0 && u[2] <= v[2]) {
        r = 1.0;
    } else if (area_ab <= 0.0 && u[0] >= 0.0 && u[1] <= 0.0) {
        s = u[0] / (u[0] - u[1]);
    } else if (area_ac <= 0.0 && v[0] >= 0.0 && v[2] <= 0.0) {
        r = v[0] / (v[0] - v[2]);
    } else if (area_bc <= 0.0 && v[1] >= u[1] && u[2] >= v[2]) {
        r = (v[1] - u[1]) / (v[1] - u[1] + u[2] - v[2]);
        s = 1.0 - r;
    } else if (sum > 0.0) {
        s = area_ac / sum;
        r = area_ab / sum;
    }
    share[0] = s + r == 1.0 ? 0.0 : 1.0 - s - r;
    share[1] = s;
    share[2] = r;
    return length2(p[0], ab, s, ac, r);
}

double rp_mesh_tree_nearest(const rp_mesh_tree *tree, const double x[3], rp_mesh_spot *out)
{
    const triangle *corner = tree->corner_buffer.data;
    const int32_t *number = tree->number_buffer.data;
    const box *node = tree->box_buffer.data;
    struct {
        int32_t node;
        double distance2;
    } ahead[64];
    int count = 1;
    double best = INFINITY;
    ahead[0].node = 1;
    ahead[0].distance2 = box_distance2(&node[1], x);
    while (count > 0) {
        const int32_t i = ahead[--count].node;
        // a box may seem farther than what is in it by rounding
        if (ahead[count].distance2 > best * (1.0 + 1e-12)) {
            continue;
        }
        if (i >= tree->leaves) {
            const int64_t leaf = i - tree->leaves;
            for (int32_t t = first_of(tree, leaf); t < first_of(tree, leaf + 1); t++) {
                double share[3];
                const double d2 = spot_in_triangle(corner[t], x, share);
                if (d2 < best || (d2 == best && number[t] < out->triangle)) {
                    best = d2;
                    out->triangle = number[t];
                    memcpy(out->share, share, sizeof share);
                }
            }
            continue;
        }
        const double d[2] = {box_distance2(&node[2 * i], x), box_distance2(&node[2 * i + 1], x)};
        const int far = d[0] > d[1] ? 0 : 1;
        for (int k = 0; k < 2; k++) {
            const int child = k == 0 ? far : 1 - far;
            ahead[count].node = 2 * i + child;
            ahead[count++].distance2 = d[child];
        }
    }
    return sqrt(best);
}

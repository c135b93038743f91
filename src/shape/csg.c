// Shapes made of shapes.
//
// Each operation gives a function with the right sign whose slope is at most 1, if its operands do:
// the least or the greatest of some, one with its sign turned, one with a number added. So what
// comes out never exceeds the true distance (class.h).
#include "base/memory.h"
#include "base/result.h"
#include "shape/sequence.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_DEPTH = 256,   // a distance goes down by recursion
    MOST_PARTS = 10000, // one shape used twice counts twice: it is asked twice
    LEAF = 4,           // parts at the end of a tree
};

typedef struct extent {
    double lower[3], upper[3];
} extent;

typedef struct part {
    rp_shape *shape;
    bool outside; // what counts is all that is outside of it
    extent bounds;
} part;

typedef struct operation {
    rp_shape shape;
    double lower[3], upper[3];
    rp_shape_measure measure;

    double distance;                       // of offset
    double scale, position[3], turn[3][3]; // of move: x = turn * scale * local + position
    int loose;    // of a union: so many parts are always asked; the others are in the tree
    extent *node; // of that tree
    int nodes;
    int parts;
    part part[];
} operation;

static const rp_shape_class union_class, intersect_class, offset_class, move_class;

// ---- bounds ----

static bool is_empty(const extent *e)
{
    return e->lower[0] > e->upper[0] || e->lower[1] > e->upper[1] || e->lower[2] > e->upper[2];
}

static extent everything(void)
{
    return (extent){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
}

static extent nothing(void)
{
    return (extent){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static extent join(extent a, const extent *b)
{
    for (int i = 0; i < 3 && !is_empty(b); i++) {
        a.lower[i] = fmin(a.lower[i], b->lower[i]);
        a.upper[i] = fmax(a.upper[i], b->upper[i]);
    }
    return a;
}

static extent meet(extent a, const extent *b)
{
    for (int i = 0; i < 3; i++) {
        a.lower[i] = fmax(a.lower[i], b->lower[i]);
        a.upper[i] = fmin(a.upper[i], b->upper[i]);
    }
    return a;
}

static extent turned(const operation *o, const extent *e)
{
    extent out;
    for (int i = 0; i < 3; i++) {
        out.lower[i] = out.upper[i] = o->position[i];
        for (int j = 0; j < 3; j++) {
            const double by = o->scale * o->turn[i][j];
            if (by != 0.0) { // nothing of an infinite side is nothing
                out.lower[i] += by * (by > 0.0 ? e->lower[j] : e->upper[j]);
                out.upper[i] += by * (by > 0.0 ? e->upper[j] : e->lower[j]);
            }
        }
    }
    return out;
}

// Around all points where the distance is less than `level`. Where it is a bound, that may be more
// than all within `level` of the shape: two planes that meet at a sharp angle have a long tip.
static extent bounds_at(const rp_shape *shape, double level)
{
    const operation *o = (const operation *)shape;
    extent e;
    if (shape->class == &union_class) {
        e = nothing();
        for (int i = 0; i < o->parts; i++) {
            const extent one = bounds_at(o->part[i].shape, level);
            e = join(e, &one);
        }
    } else if (shape->class == &intersect_class) {
        e = everything();
        for (int i = 0; i < o->parts; i++) {
            const extent one =
                o->part[i].outside ? everything() : bounds_at(o->part[i].shape, level);
            e = meet(e, &one);
        }
    } else if (shape->class == &offset_class) {
        e = bounds_at(o->part[0].shape, level + o->distance);
    } else if (shape->class == &move_class) {
        const extent one = bounds_at(o->part[0].shape, level / o->scale);
        e = is_empty(&one) ? one : turned(o, &one);
    } else {
        shape->class->bounds(shape, e.lower, e.upper);
        for (int i = 0; i < 3; i++) {
            e.lower[i] -= level;
            e.upper[i] += level;
        }
    }
    return e;
}

// Of an empty shape, a point.
static void keep_bounds(operation *o)
{
    const extent e = bounds_at(&o->shape, 0.0);
    for (int i = 0; i < 3; i++) {
        const double middle = 0.5 * (e.lower[i] + e.upper[i]);
        o->lower[i] = is_empty(&e) ? (isfinite(middle) ? middle : 0.0) : e.lower[i];
        o->upper[i] = is_empty(&e) ? o->lower[i] : e.upper[i];
    }
}

static void operator_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const operation *o = (const operation *)shape;
    memcpy(lower, o->lower, sizeof o->lower);
    memcpy(upper, o->upper, sizeof o->upper);
}

// ---- distances ----

// Many parts of a union stand in a tree of boxes: node i holds the parts from first to end, its
// halves are nodes 2 i + 1 and 2 i + 2. The true distance of a simple shape is at least that of the
// box around it, so a box that is farther than the best part so far need not be opened.

static double squared_distance_to_box(const extent *e, const double x[3])
{
    double d2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const double d = fmax(0.0, fmax(e->lower[a] - x[a], x[a] - e->upper[a]));
        d2 += d * d;
    }
    return d2;
}

typedef struct nearest {
    const double *x;
    double least, *gradient;
} nearest;

static bool may_be_nearer(const nearest *n, double box2)
{
    return n->least > 0.0 ? box2 < n->least * n->least : box2 == 0.0;
}

static void try_part(nearest *n, const part *p)
{
    double gradient[3];
    const double phi = p->shape->class->distance(p->shape, n->x, gradient);
    if (phi < n->least) {
        n->least = phi;
        memcpy(n->gradient, gradient, sizeof gradient);
    }
}

static void search(const operation *o, nearest *n, int node, int first, int end)
{
    if (end - first <= LEAF) {
        for (int i = first; i < end; i++) {
            const double box2 = squared_distance_to_box(&o->part[i].bounds, n->x);
            if (n->least == INFINITY || may_be_nearer(n, box2)) {
                try_part(n, &o->part[i]);
            }
        }
        return;
    }
    const int middle = first + (end - first) / 2, left = 2 * node + 1;
    const double box2[2] = {squared_distance_to_box(&o->node[left], n->x),
                            squared_distance_to_box(&o->node[left + 1], n->x)};
    for (int k = 0; k < 2; k++) {
        const int half = (box2[1] < box2[0]) != (k == 1); // the nearer one first
        if (may_be_nearer(n, box2[half])) {
            search(o, n, left + half, half == 0 ? first : middle, half == 0 ? middle : end);
        }
    }
}

static double union_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const operation *o = (const operation *)shape;
    nearest n = {.x = x, .least = INFINITY, .gradient = gradient};
    for (int i = 0; i < o->loose; i++) {
        try_part(&n, &o->part[i]);
    }
    if (o->parts > o->loose) {
        search(o, &n, 0, o->loose, o->parts);
    }
    return n.least;
}

static int compare_along(int axis, const void *a, const void *b)
{
    const extent *p = &((const part *)a)->bounds, *q = &((const part *)b)->bounds;
    for (int i = 0; i < 3; i++) {
        const int at = (axis + i) % 3;
        const double u = p->lower[at] + p->upper[at], v = q->lower[at] + q->upper[at];
        if (u != v) {
            return u < v ? -1 : 1;
        }
    }
    return 0;
}
static int compare_x(const void *a, const void *b) { return compare_along(0, a, b); }
static int compare_y(const void *a, const void *b) { return compare_along(1, a, b); }
static int compare_z(const void *a, const void *b) { return compare_along(2, a, b); }

// Halve the parts along the longest side of the box around them.
static void plant(operation *o, int node, int first, int end)
{
    static int (*const compare[])(const void *, const void *) = {compare_x, compare_y, compare_z};
    extent e = nothing();
    for (int i = first; i < end; i++) {
        e = join(e, &o->part[i].bounds);
    }
    o->node[node] = e;
    if (end - first <= LEAF) {
        return;
    }
    int longest = 0;
    for (int a = 1; a < 3; a++) {
        longest = e.upper[a] - e.lower[a] > e.upper[longest] - e.lower[longest] ? a : longest;
    }
    qsort(&o->part[first], (size_t)(end - first), sizeof(part), compare[longest]);
    const int middle = first + (end - first) / 2;
    plant(o, 2 * node + 1, first, middle);
    plant(o, 2 * node + 2, middle, end);
}

// Operators give bounds, which may be less than the distance to their box, and half-spaces have no
// box: they stay in front of the tree.
static rp_result plant_tree(operation *o)
{
    for (int i = 0; i < o->parts; i++) {
        const extent *e = &o->part[i].bounds;
        if (o->part[i].shape->depth > 0 || !rp_is_finite(e->lower) || !rp_is_finite(e->upper)) {
            const part other = o->part[o->loose];
            o->part[o->loose++] = o->part[i];
            o->part[i] = other;
        }
    }
    o->nodes = 1;
    for (int left = o->parts - o->loose; left > LEAF; left = (left + 1) / 2) {
        o->nodes = 2 * o->nodes + 1;
    }
    o->node =
        rp_new(rp_default_allocator(), (size_t)o->nodes * sizeof(extent), "a union of shapes");
    if (o->node == NULL) {
        return RP_ERR_MEMORY;
    }
    plant(o, 0, o->loose, o->parts);
    return RP_OK;
}

static double intersect_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const operation *o = (const operation *)shape;
    double most = -INFINITY, n[3];
    for (int i = 0; i < o->parts; i++) {
        const part *p = &o->part[i];
        const double sign = p->outside ? -1.0 : 1.0;
        const double phi = sign * p->shape->class->distance(p->shape, x, n);
        if (phi > most) {
            most = phi;
            for (int a = 0; a < 3; a++) {
                gradient[a] = sign * n[a];
            }
        }
    }
    return most;
}

static double offset_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const operation *o = (const operation *)shape;
    const rp_shape *other = o->part[0].shape;
    return other->class->distance(other, x, gradient) - o->distance;
}

static double move_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const operation *o = (const operation *)shape;
    const rp_shape *other = o->part[0].shape;
    double local[3], n[3];
    for (int a = 0; a < 3; a++) {
        local[a] = 0.0;
        for (int b = 0; b < 3; b++) {
            local[a] += o->turn[b][a] * (x[b] - o->position[b]);
        }
        local[a] /= o->scale;
    }
    const double phi = other->class->distance(other, local, n);
    for (int a = 0; a < 3; a++) {
        gradient[a] = rp_dot(o->turn[a], n);
    }
    return o->scale * phi;
}

// ---- triangles ----

// Those of what is moved. A slab stays one when it is turned about its own axis only.
static rp_result move_triangles(const rp_shape *shape, const rp_shape_slab *slab, rp_mesh *out)
{
    const operation *o = (const operation *)shape;
    const rp_shape *other = o->part[0].shape;
    rp_shape_slab local;
    if (other->class->triangles == NULL || (slab != NULL && o->turn[2][2] != 1.0)) {
        return RP_OK;
    }
    if (slab != NULL) {
        local.middle = (slab->middle - o->position[2]) / o->scale;
        local.half = slab->half / o->scale;
    }
    RP_TRY(other->class->triangles(other, slab != NULL ? &local : NULL, out));
    for (int32_t i = 0; i < out->places; i++) {
        double *x = rp_mesh_place(out)[i], moved[3];
        for (int a = 0; a < 3; a++) {
            moved[a] = o->scale * rp_dot(o->turn[a], x) + o->position[a];
        }
        memcpy(x, moved, sizeof moved);
    }
    return RP_OK;
}

// ---- volumes ----

static double operator_volume(const rp_shape *shape, int dimension)
{
    return rp_shape_measured(shape, &((operation *)(uintptr_t)shape)->measure, dimension);
}

// In 2D, if it stays in the plane.
static double move_volume(const rp_shape *shape, int dimension)
{
    const operation *o = (const operation *)shape;
    if (dimension == 2 && !(o->turn[2][2] == 1.0 && o->position[2] == 0.0)) {
        return operator_volume(shape, 2);
    }
    const double unscaled = rp_shape_volume(o->part[0].shape, dimension);
    return unscaled * o->scale * o->scale * (dimension == 3 ? o->scale : 1.0);
}

// ---- making them ----

static void release_parts(rp_shape *shape)
{
    const operation *o = (operation *)shape;
    for (int i = 0; i < o->parts; i++) {
        rp_shape_release(o->part[i].shape);
    }
    rp_delete(rp_default_allocator(), o->node, (size_t)o->nodes * sizeof(extent));
}

static const rp_shape_class union_class = {.distance = union_distance,
                                           .bounds = operator_bounds,
                                           .volume = operator_volume,
                                           .free = release_parts};
static const rp_shape_class intersect_class = {.distance = intersect_distance,
                                               .bounds = operator_bounds,
                                               .volume = operator_volume,
                                               .free = release_parts};
static const rp_shape_class offset_class = {.distance = offset_distance,
                                            .bounds = operator_bounds,
                                            .volume = operator_volume,
                                            .free = release_parts};
static const rp_shape_class move_class = {.distance = move_distance,
                                          .bounds = operator_bounds,
                                          .volume = move_volume,
                                          .free = release_parts,
                                          .triangles = move_triangles};

static rp_result check_size(const char *word, const rp_shape *shape, int *depth, int *parts)
{
    RP_TRY(rp_shape_check_still(word, shape));
    *depth = shape->depth + 1 > *depth ? shape->depth + 1 : *depth;
    *parts += shape->parts > 0 ? shape->parts : 1;
    if (*depth > MOST_DEPTH) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s: want at most %d operators inside each other, got more; union, "
                       "intersect and subtract take any number of shapes at once",
                       word, MOST_DEPTH);
    }
    if (*parts > MOST_PARTS) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want at most %d simple shapes in all, got more", word,
                       MOST_PARTS);
    }
    return RP_OK;
}

static void take_part(operation *o, const rp_shape *shape, bool outside)
{
    part *p = &o->part[o->parts++];
    p->shape = rp_shape_retain(shape);
    p->outside = outside;
    shape->class->bounds(shape, p->bounds.lower, p->bounds.upper);
}

// `first` may be NULL. Bounds are still to be found.
static rp_result make(const char *word, const rp_shape_class *class, const rp_shape *first,
                      rp_shape *const part_[], int parts, bool outside, operation **out)
{
    int depth = 0, below = 0;
    *out = NULL;
    for (int i = first != NULL ? -1 : 0; i < parts; i++) {
        const rp_shape *shape = i < 0 ? first : part_[i];
        if (shape == NULL) {
            return rp_fail(RP_ERR_ARGUMENT, "%s: want shapes, got NULL", word);
        }
        RP_TRY(check_size(word, shape, &depth, &below));
    }
    const size_t room = (size_t)parts + (first != NULL);
    rp_shape *shape;
    RP_TRY(rp_shape_new(class, sizeof(operation) + room * sizeof(part), &shape));
    shape->depth = depth;
    shape->parts = below;
    *out = (operation *)shape;
    if (first != NULL) {
        take_part(*out, first, false);
    }
    for (int i = 0; i < parts; i++) {
        take_part(*out, part_[i], outside);
    }
    return RP_OK;
}

// A union of massive shapes is one: the ray into it stays in the part that it began in. So is the
// outside of a convex shape, and what convex shapes have in common is convex.
static void note_form(operation *o)
{
    bool convex = o->shape.class == &intersect_class, massive = o->shape.class == &union_class;
    for (int i = 0; i < o->parts; i++) {
        convex = convex && o->part[i].shape->convex && !o->part[i].outside;
        massive = massive && o->part[i].shape->massive;
    }
    o->shape.convex = convex;
    o->shape.massive = massive || (o->shape.class == &intersect_class && o->parts == 1 &&
                                   o->part[0].outside && o->part[0].shape->convex);
}

static rp_result combine(const char *word, const rp_shape_class *class, const rp_shape *first,
                         rp_shape *const part_[], int parts, bool outside, rp_shape **shape)
{
    *shape = NULL;
    if (parts < 1) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want at least one shape, got %d", word, parts);
    }
    operation *o;
    RP_TRY(make(word, class, first, part_, parts, outside, &o));
    if (class == &union_class && plant_tree(o) != RP_OK) {
        rp_shape_release(&o->shape);
        return RP_ERR_MEMORY;
    }
    keep_bounds(o);
    note_form(o);
    *shape = &o->shape;
    return RP_OK;
}

rp_result rp_shape_union(rp_shape *const part_[], int parts, rp_shape **shape)
{
    return combine("union", &union_class, NULL, part_, parts, false, shape);
}

rp_result rp_shape_intersect(rp_shape *const part_[], int parts, rp_shape **shape)
{
    return combine("intersect", &intersect_class, NULL, part_, parts, false, shape);
}

static rp_result refuse_null(const char *word)
{
    return rp_fail(RP_ERR_ARGUMENT, "%s: want a shape, got NULL", word);
}

rp_result rp_shape_subtract(const rp_shape *from, rp_shape *const part_[], int parts,
                            rp_shape **shape)
{
    *shape = NULL;
    if (from == NULL) {
        return refuse_null("subtract");
    }
    return combine("subtract", &intersect_class, from, part_, parts, true, shape);
}

rp_result rp_shape_invert(const rp_shape *other, rp_shape **shape)
{
    rp_shape *const part_[] = {(rp_shape *)(uintptr_t)other};
    return combine("invert", &intersect_class, NULL, part_, 1, true, shape);
}

rp_result rp_shape_offset(const rp_shape *other, double distance, rp_shape **shape)
{
    *shape = NULL;
    if (other == NULL) {
        return refuse_null("offset");
    }
    if (!isfinite(distance)) {
        return rp_fail(RP_ERR_ARGUMENT, "offset.distance: want a finite number, got %g", distance);
    }
    operation *o;
    RP_TRY(make("offset", &offset_class, other, NULL, 0, false, &o));
    o->distance = distance;
    keep_bounds(o);
    *shape = &o->shape;
    return RP_OK;
}

// The matrix of a unit quaternion.
static void to_matrix(const double q[4], double m[3][3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rows[3][3] = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)},
        {2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)},
        {2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)},
    };
    memcpy(m, rows, sizeof rows);
}

rp_result rp_shape_move(const rp_shape *other, const double position[3], const double rotation[4],
                        double scale, rp_shape **shape)
{
    *shape = NULL;
    if (other == NULL) {
        return refuse_null("move");
    }
    RP_TRY(rp_shape_check_point("move.position", position));
    const double length = hypot(hypot(rotation[0], rotation[1]), hypot(rotation[2], rotation[3]));
    if (!(length > 0.0 && isfinite(length))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "move.rotation: want a quaternion that is not 0, got one of length %g",
                       length);
    }
    if (!(scale > 0.0 && isfinite(scale))) {
        return rp_fail(RP_ERR_ARGUMENT, "move.scale: want > 0, got %g", scale);
    }
    operation *o;
    RP_TRY(make("move", &move_class, other, NULL, 0, false, &o));
    const double unit[4] = {rotation[0] / length, rotation[1] / length, rotation[2] / length,
                            rotation[3] / length};
    o->scale = scale;
    memcpy(o->position, position, sizeof o->position);
    to_matrix(unit, o->turn);
    keep_bounds(o);
    o->shape.convex = other->convex;
    o->shape.massive = other->massive;
    *shape = &o->shape;
    return RP_OK;
}

// Landscapes: heights on a grid, joined by triangles.
//
// The nearest triangle is found by branch and bound. Cells are grouped two by two into blocks,
// blocks into larger ones, up to one that holds all, each with the least and greatest height in it.
// The height straight above or below gives a first distance; after that, a block is entered only
// when its box is nearer than the best triangle so far, nearer halves first. A place close to the
// surface looks at a few triangles, and one far away at not many more.
//
//      columns    0   1   2        the grid of heights, here 3 x 2 (o), and the ring of cells
//            .   .   .   .   .     around it, which reach as far as anybody asks: there the
//   row 0    .   o---o---o   .     heights of the edge go on
//            .   | / | / |   .
//   row 1    .   o---o---o   .     a cell is cut from its corner with the least x and the
//            .   .   .   .   .     greatest z to the opposite one
#include "base/memory.h"
#include "base/result.h"
#include "shape/class.h"

#include <string.h>

enum {
    MOST_HEIGHTS = 1 << 24,
    MOST_LEVELS = 26,
};

typedef struct span {
    float least, most; // rounded outwards
} span;

typedef struct height_field {
    rp_shape shape;
    double min[2], step[2]; // along x and z [m]
    int count[2];           // columns, rows
    double *height;
    double most;
    bool z_up; // see rp_height_field_def
    // level 0 has a span per cell, ring included; the last has one for all
    int levels;
    int blocks[MOST_LEVELS][2];
    span *span[MOST_LEVELS];
} height_field;

static int clamp(int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; }

// A height by column and row; -1 and count are those of the ring.
static double height_at(const height_field *f, int column, int row)
{
    return f->height[(size_t)clamp(row, f->count[1]) * (size_t)f->count[0] +
                     (size_t)clamp(column, f->count[0])];
}

// ---- the nearest point ----

typedef struct query {
    const height_field *f;
    double x[3];
    double edge[2][2]; // where the ring ends, along each axis below and above
    double best2;      // squared distance to the nearest point so far
    double nearest[3], normal[3];
} query;

static double coordinate(const query *q, int axis, int i)
{
    const height_field *f = q->f;
    return i < 0                ? q->edge[axis][0]
           : i < f->count[axis] ? f->min[axis] + i * f->step[axis]
                                : q->edge[axis][1];
}

// Corners c[0] to c[3] of a cell: (x, z) least and least, greatest and least, and so on.
static void corners_of(const query *q, int column, int row, double c[4][3])
{
    for (int i = 0; i < 4; i++) {
        const int u = column + (i & 1), v = row + (i >> 1);
        c[i][0] = coordinate(q, 0, u);
        c[i][1] = height_at(q->f, u, v);
        c[i][2] = coordinate(q, 1, v);
    }
}

static void minus(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] - b[i];
    }
}

static void mix(const double a[3], double t, const double u[3], double s, const double v[3],
                double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] + t * u[i] + s * v[i];
    }
}

static double portion(double part, double whole)
{
    return whole > 0.0 ? fmin(1.0, fmax(0.0, part / whole)) : 0.0;
}

// The point of a triangle nearest to x, by the region of its plane that x projects to: a corner, a
// side or the face (the usual case distinction with the barycentric coordinates of x).
static void nearest_on_triangle(const double a[3], const double b[3], const double c[3],
                                const double x[3], double out[3])
{
    double ab[3], ac[3], bc[3], ax[3], bx[3], cx[3];
    minus(b, a, ab);
    minus(c, a, ac);
    minus(c, b, bc);
    minus(x, a, ax);
    minus(x, b, bx);
    minus(x, c, cx);
    const double d1 = rp_dot(ab, ax), d2 = rp_dot(ac, ax), d3 = rp_dot(ab, bx);
    const double d4 = rp_dot(ac, bx), d5 = rp_dot(ab, cx), d6 = rp_dot(ac, cx);
    const double at_a = d3 * d6 - d5 * d4, at_b = d5 * d2 - d1 * d6, at_c = d1 * d4 - d3 * d2;
    if (at_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        mix(a, portion(d1, d1 - d3), ab, 0.0, ac, out);
    } else if (at_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        mix(a, 0.0, ab, portion(d2, d2 - d6), ac, out);
    } else if (at_a <= 0.0 && d4 >= d3 && d5 >= d6) {
        mix(b, portion(d4 - d3, (d4 - d3) + (d5 - d6)), bc, 0.0, ac, out);
    } else if (d1 <= 0.0 && d2 <= 0.0) {
        memcpy(out, a, 3 * sizeof *out);
    } else if (d3 >= 0.0 && d4 <= d3) {
        memcpy(out, b, 3 * sizeof *out);
    } else if (d6 >= 0.0 && d5 <= d6) {
        memcpy(out, c, 3 * sizeof *out);
    } else {
        const double sum = at_a + at_b + at_c;
        mix(a, at_b / sum, ab, at_c / sum, ac, out);
    }
}

// Corners in such an order that the normal points up.
static void try_triangle(query *q, const double a[3], const double b[3], const double c[3])
{
    double on[3], from[3];
    nearest_on_triangle(a, b, c, q->x, on);
    minus(q->x, on, from);
    const double d2 = rp_dot(from, from);
    if (d2 < q->best2) {
        double ab[3], ac[3];
        minus(b, a, ab);
        minus(c, a, ac);
        q->best2 = d2;
        memcpy(q->nearest, on, sizeof on);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            q->normal[i] = ab[j] * ac[k] - ab[k] * ac[j];
        }
    }
}

static void try_cell(query *q, int column, int row)
{
    double c[4][3];
    corners_of(q, column, row, c);
    try_triangle(q, c[0], c[2], c[1]);
    try_triangle(q, c[3], c[1], c[2]);
}

static double squared_distance_to_block(const query *q, int level, int u, int v)
{
    const height_field *f = q->f;
    const span s = f->span[level][(size_t)v * (size_t)f->blocks[level][0] + (size_t)u];
    const double low = fmax(s.least - q->x[1], q->x[1] - s.most);
    double d2 = low > 0.0 ? low * low : 0.0;
    for (int a = 0; a < 2; a++) {
        // cells count from the ring on: cell i lies between coordinates i - 1 and i
        const int first = (a == 0 ? u : v) << level;
        const int last = first + (1 << level);
        const double x = q->x[2 * a];
        const double beside = fmax(coordinate(q, a, first - 1) - x,
                                   x - coordinate(q, a, clamp(last, f->count[a] + 2) - 1));
        d2 += beside > 0.0 ? beside * beside : 0.0;
    }
    return d2;
}

static void search(query *q, int level, int u, int v)
{
    if (level == 0) {
        try_cell(q, u - 1, v - 1);
        return;
    }
    const int *blocks = q->f->blocks[level - 1];
    double near[4];
    for (int i = 0; i < 4; i++) {
        const int p = 2 * u + (i & 1), r = 2 * v + (i >> 1);
        near[i] = p < blocks[0] && r < blocks[1] ? squared_distance_to_block(q, level - 1, p, r)
                                                 : INFINITY;
    }
    for (int round = 0; round < 4; round++) {
        int next = 0;
        for (int i = 1; i < 4; i++) {
            next = near[i] < near[next] ? i : next;
        }
        if (!(near[next] < q->best2)) {
            return;
        }
        near[next] = INFINITY;
        search(q, level - 1, 2 * u + (next & 1), 2 * v + (next >> 1));
    }
}

// The cell below or above a place, counted from 0 inside of the ring.
static int cell_of(const height_field *f, int axis, double x)
{
    const double at = f->count[axis] > 1 ? floor((x - f->min[axis]) / f->step[axis])
                      : x < f->min[axis] ? -1.0
                                         : 0.0;
    return (int)fmin(f->count[axis] - 1.0, fmax(-1.0, at));
}

// Height of the surface straight above or below.
static double surface_at(const query *q, int column, int row)
{
    double c[4][3];
    corners_of(q, column, row, c);
    const double u = portion(q->x[0] - c[0][0], c[1][0] - c[0][0]);
    const double v = portion(q->x[2] - c[0][2], c[2][2] - c[0][2]);
    return u + v <= 1.0
               ? c[0][1] + u * (c[1][1] - c[0][1]) + v * (c[2][1] - c[0][1])
               : c[3][1] + (1.0 - u) * (c[2][1] - c[3][1]) + (1.0 - v) * (c[1][1] - c[3][1]);
}

static double height_field_distance(const rp_shape *shape, const double at[3], double gradient[3])
{
    const height_field *f = (const height_field *)shape;
    const double x[3] = {at[0], f->z_up ? at[2] : at[1], f->z_up ? -at[1] : at[2]};
    query q = {.f = f, .x = {x[0], x[1], x[2]}, .best2 = INFINITY};
    const int column = cell_of(f, 0, x[0]), row = cell_of(f, 1, x[2]);

    // the ring reaches past the place, and then past all that may be nearer than what is below it
    for (int pass = 0; pass < 2; pass++) {
        const double reach = pass == 0 ? 0.0 : 2.0 * fabs(x[1] - surface_at(&q, column, row));
        for (int a = 0; a < 2; a++) {
            const double first = f->min[a], last = first + (f->count[a] - 1) * f->step[a];
            const double beyond = reach + f->step[a];
            q.edge[a][0] = fmin(first, x[2 * a]) - beyond;
            q.edge[a][1] = fmax(last, x[2 * a]) + beyond;
        }
    }
    const bool inside = x[1] < surface_at(&q, column, row);
    try_cell(&q, column, row);
    search(&q, f->levels - 1, 0, 0);
    for (int a = 0; a < 2; a++) {
        // along an axis without change nothing is nearer than what is abreast, free of round-off
        q.nearest[2 * a] = f->count[a] == 1 ? x[2 * a] : q.nearest[2 * a];
    }

    const double d = sqrt(q.best2), sign = inside ? -1.0 : 1.0;
    const double size = fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
    double n[3];
    minus(x, q.nearest, n);
    // on the surface, the way up from the triangle
    const bool on_surface = !(d > 1e-12 * size);
    const double length = on_surface ? sqrt(rp_dot(q.normal, q.normal)) : sign * d;
    for (int a = 0; a < 3; a++) {
        gradient[a] = (on_surface ? q.normal[a] : n[a]) / length;
    }
    if (f->z_up) {
        const double up = gradient[1];
        gradient[1] = -gradient[2];
        gradient[2] = up;
    }
    return sign * d;
}

static void height_field_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const height_field *f = (const height_field *)shape;
    for (int a = 0; a < 3; a++) {
        lower[a] = -INFINITY;
        upper[a] = a == (f->z_up ? 2 : 1) ? f->most : INFINITY;
    }
}

static double height_field_volume(const rp_shape *shape, int dimension)
{
    (void)shape;
    (void)dimension;
    return INFINITY;
}

// ---- making it ----

static size_t spans_of(const height_field *f, int level)
{
    return (size_t)f->blocks[level][0] * (size_t)f->blocks[level][1];
}

static void height_field_free(rp_shape *shape)
{
    height_field *f = (height_field *)shape;
    const rp_allocator *a = rp_default_allocator();
    rp_delete(a, f->height, (size_t)f->count[0] * (size_t)f->count[1] * sizeof *f->height);
    for (int l = 0; l < f->levels; l++) {
        rp_delete(a, f->span[l], spans_of(f, l) * sizeof(span));
    }
}

// Floats save half the memory; the box of a block must not become smaller by that.
static span span_of(double least, double most)
{
    const float low = (float)least, high = (float)most;
    return (span){low > least ? nextafterf(low, -INFINITY) : low,
                  high < most ? nextafterf(high, INFINITY) : high};
}

static span span_of_cell(const height_field *f, int column, int row)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 4; i++) {
        const double y = height_at(f, column + (i & 1), row + (i >> 1));
        least = fmin(least, y);
        most = fmax(most, y);
    }
    return span_of(least, most);
}

static span span_of_block(const height_field *f, int level, int u, int v)
{
    const int *below = f->blocks[level - 1];
    span s = {INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        const int p = 2 * u + (i & 1), r = 2 * v + (i >> 1);
        if (p < below[0] && r < below[1]) {
            const span one = f->span[level - 1][(size_t)r * (size_t)below[0] + (size_t)p];
            s.least = fminf(s.least, one.least);
            s.most = fmaxf(s.most, one.most);
        }
    }
    return s;
}

static rp_result group_blocks(height_field *f)
{
    int size[2] = {f->count[0] + 1, f->count[1] + 1};
    for (int l = 0;; l++) {
        RP_ASSERT(l < MOST_LEVELS);
        memcpy(f->blocks[l], size, sizeof size);
        f->span[l] =
            rp_new(rp_default_allocator(), spans_of(f, l) * sizeof(span), "a height field");
        if (f->span[l] == NULL) {
            return RP_ERR_MEMORY;
        }
        f->levels = l + 1;
        for (int v = 0; v < size[1]; v++) {
            for (int u = 0; u < size[0]; u++) {
                f->span[l][(size_t)v * (size_t)size[0] + (size_t)u] =
                    l == 0 ? span_of_cell(f, u - 1, v - 1) : span_of_block(f, l, u, v);
            }
        }
        if (size[0] == 1 && size[1] == 1) {
            return RP_OK;
        }
        size[0] = (size[0] + 1) / 2;
        size[1] = (size[1] + 1) / 2;
    }
}

static rp_result copy_heights(const rp_height_field_def *def, height_field *f)
{
    const size_t count = (size_t)def->columns * (size_t)def->rows;
    f->height = rp_new(rp_default_allocator(), count * sizeof *f->height, "a height field");
    if (f->height == NULL) {
        return RP_ERR_MEMORY;
    }
    f->most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(def->height[i])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "height_field.height: want finite numbers, got %g in column %zu of row "
                           "%zu",
                           def->height[i], i % (size_t)def->columns + 1,
                           i / (size_t)def->columns + 1);
        }
        f->height[i] = def->height[i];
        f->most = fmax(f->most, f->height[i]);
    }
    return RP_OK;
}

static rp_result check_def(const rp_height_field_def *def)
{
    const int count[2] = {def->columns, def->rows};
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "height_field: start from rp_default_height_field_def()");
    }
    if (def->height == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "height_field.height: want numbers, got NULL");
    }
    if (def->columns < 1 || def->rows < 1 ||
        (double)def->columns * (double)def->rows > MOST_HEIGHTS) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "height_field: want at least one column and row and at most %d heights, got "
                       "%d x %d",
                       MOST_HEIGHTS, def->columns, def->rows);
    }
    for (int a = 0; a < 2; a++) {
        const bool fits = def->max[a] > def->min[a] || count[a] == 1;
        if (!fits || !isfinite(def->min[a]) || !isfinite(def->max[a])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "height_field.max: want > min along %s, which is %g, got %g",
                           a == 0 ? "x" : "z", def->min[a], def->max[a]);
        }
    }
    return RP_OK;
}

rp_height_field_def rp_default_height_field_def(void)
{
    return (rp_height_field_def){.cookie = RP_DEF_COOKIE};
}

rp_result rp_shape_height_field(const rp_height_field_def *def, rp_shape **shape)
{
    static const rp_shape_class class = {.distance = height_field_distance,
                                         .bounds = height_field_bounds,
                                         .volume = height_field_volume,
                                         .free = height_field_free};
    *shape = NULL;
    RP_TRY(check_def(def));
    rp_shape *made;
    RP_TRY(rp_shape_new(&class, sizeof(height_field), &made));
    height_field *f = (height_field *)made;
    const int count[2] = {def->columns, def->rows};
    f->z_up = def->z_up;
    for (int a = 0; a < 2; a++) {
        f->count[a] = count[a];
        f->min[a] = def->min[a];
        f->step[a] = count[a] > 1 ? (def->max[a] - def->min[a]) / (count[a] - 1) : 1.0;
    }
    rp_result result = copy_heights(def, f);
    if (result == RP_OK) {
        result = group_blocks(f);
    }
    if (result != RP_OK) {
        rp_shape_release(made);
        return result;
    }
    *shape = made;
    return RP_OK;
}

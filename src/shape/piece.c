// A piece of a body as a shape: what is in the body and on its side of all cuts. Each side is a
// signed distance whose slope is at most 1, and the greatest of them is one, too (class.h).
#include "base/result.h"
#include "shape/class.h"
#include "shape/cut.h"

#include <stdlib.h>
#include <string.h>

// Another site, by its distance.
typedef struct other {
    double way[3], distance; // from the site of the piece: of length 1, and [m]
} other;

typedef struct piece {
    rp_shape shape;
    rp_shape_measure measure;
    rp_cut *cut;
    int64_t label;
    int others; // of sites, the nearest first
    other other[];
} piece;

static void flip(double gradient[3], double sign)
{
    for (int a = 0; a < 3; a++) {
        gradient[a] *= sign;
    }
}

static double plane_distance(const piece *p, const double x[3], double gradient[3])
{
    double most = -INFINITY;
    for (int i = 0; i < p->cut->def.count; i++) {
        const double sign = p->label >> i & 1 ? -1.0 : 1.0;
        const double phi = sign * height_over(p->cut, i, x);
        if (phi > most) {
            most = phi;
            memcpy(gradient, p->cut->normal[i], sizeof p->cut->normal[i]);
            flip(gradient, sign);
        }
    }
    return most;
}

// The slope of teeth of 45 degrees is the square root of 2.
static double tooth_distance(const piece *p, const double x[3], double gradient[3])
{
    const rp_cut *cut = p->cut;
    const double way = way_along(cut, x), turn = way / (2.0 * cut->def.tooth);
    const double sign = p->label != 0 ? -1.0 : 1.0;
    const double rise = turn - floor(turn) < 0.5 ? -1.0 : 1.0;
    for (int a = 0; a < 3; a++) {
        gradient[a] = sign * sqrt(0.5) * (cut->normal[0][a] - rise * cut->def.along[a]);
    }
    return sign * sqrt(0.5) * (height_over(cut, 0, x) - tooth_at(cut, way));
}

// Of the plane halfway to another site. One so far away that its plane cannot matter ends the
// search.
static double cell_distance(const piece *p, const double x[3], double gradient[3])
{
    double from[3], most = -INFINITY;
    for (int a = 0; a < 3; a++) {
        from[a] = x[a] - p->cut->point[p->label][a];
    }
    const double away = sqrt(dot(from, from));
    for (int i = 0; i < p->others && away - 0.5 * p->other[i].distance > most; i++) {
        const double phi = dot(from, p->other[i].way) - 0.5 * p->other[i].distance;
        if (phi > most) {
            most = phi;
            memcpy(gradient, p->other[i].way, sizeof p->other[i].way);
        }
    }
    return most;
}

static double side_distance(const piece *p, const double x[3], double gradient[3])
{
    switch (p->cut->def.kind) {
    case RP_CUT_PLANES:
        return plane_distance(p, x, gradient);
    case RP_CUT_ZIGZAG:
        return tooth_distance(p, x, gradient);
    case RP_CUT_VORONOI:
        return cell_distance(p, x, gradient);
    case RP_CUT_SHAPE: {
        const double sign = p->label != 0 ? -1.0 : 1.0;
        const double phi = rp_shape_distance(p->cut->def.cutter, x, gradient);
        flip(gradient, sign);
        return sign * phi;
    }
    }
    return INFINITY;
}

static double piece_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const piece *p = (const piece *)shape;
    const rp_cut_def *def = &p->cut->def;
    double side[3], body = INFINITY;
    for (int i = 0; i < def->shapes; i++) {
        double own[3];
        const double phi = rp_shape_distance(def->shape[i], x, own);
        if (phi < body) {
            body = phi;
            memcpy(gradient, own, sizeof own);
        }
    }
    const double phi = side_distance(p, x, side);
    if (phi > body) {
        memcpy(gradient, side, sizeof side);
        return phi;
    }
    return body;
}

static void piece_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const piece *p = (const piece *)shape;
    memcpy(lower, p->cut->lower, sizeof p->cut->lower);
    memcpy(upper, p->cut->upper, sizeof p->cut->upper);
}

static double piece_volume(const rp_shape *shape, int dimension)
{
    piece *p = (piece *)(uintptr_t)shape;
    return rp_shape_measured(shape, &p->measure, dimension);
}

static void release_cut(rp_shape *shape) { rp_cut_destroy(((piece *)shape)->cut); }

static int compare_others(const void *a, const void *b)
{
    const double x = ((const other *)a)->distance, y = ((const other *)b)->distance;
    return (x > y) - (x < y);
}

rp_result rp_cut_shape(const rp_cut *cut, int number, rp_shape **shape)
{
    static const rp_shape_class class = {.distance = piece_distance,
                                         .bounds = piece_bounds,
                                         .volume = piece_volume,
                                         .free = release_cut};
    *shape = NULL;
    if (number < 0 || number >= cut->pieces) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.piece: want 0 to %d, got %d", cut->pieces - 1, number);
    }
    const int sites = cut->def.kind == RP_CUT_VORONOI ? cut->def.count : 0;
    RP_TRY(rp_shape_new(&class, sizeof(piece) + (size_t)sites * sizeof(other), shape));
    piece *p = (piece *)*shape;
    p->cut = rp_cut_retain(cut);
    p->label = cut->label[number];
    for (int i = 0; i < sites; i++) {
        if (i == p->label) {
            continue;
        }
        other *o = &p->other[p->others++];
        for (int a = 0; a < 3; a++) {
            o->way[a] = cut->point[i][a] - cut->point[p->label][a];
        }
        o->distance = sqrt(dot(o->way, o->way));
        flip(o->way, 1.0 / o->distance);
    }
    qsort(p->other, (size_t)p->others, sizeof *p->other, compare_others);
    return RP_OK;
}

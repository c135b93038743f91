#include "collide/thin.h"

#include "base/hash.h"
#include "shape/class.h"

#include <math.h>
#include <string.h>

static const double SHORTEST = 0.05; // [cells]: the least way along a ray
static const double OPPOSED = -0.3;  // cosine between the ways out of two faces of one wall
static const double SOME = 0.2;      // of the mass on one side, as much as counts on the other

// Through the solid against the way out of a face: where it ends [m]; more than `most` when it does
// not.
static double way_through(const rp_collider *c, double h, const double x[3], double phi,
                          const double normal[3], double most, double exit_normal[3])
{
    const double least = SHORTEST * h;
    double way = fmax(phi, 0.0) + least, in = -1.0, depth = 0.0;
    while (way <= most + h) {
        double at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = x[a] - way * normal[a];
        }
        const double d = rp_collider_look(c, at, exit_normal);
        if (d > 0.0 && in >= 0.0) {
            return in + (way - in) * depth / (depth + d);
        }
        if (d > 0.0 && way > fmax(phi, 0.0) + 0.5 * h) {
            return INFINITY; // nothing solid after all: a bound, or an edge
        }
        if (d <= 0.0) {
            in = way;
            depth = -d;
        }
        way += fmax(fabs(d), least);
    }
    return INFINITY;
}

void rp_thin_other(const rp_collider *c, const rp_layout *l, const double x[3], double phi,
                   const double normal[3], double out[4])
{
    const double reach = rp_thin_reach(l);
    out[0] = 1.0;
    out[1] = out[2] = out[3] = 0.0;
    // of two faces the other one is the farther one
    if (phi > reach || -phi > reach) {
        return;
    }
    double facing[3];
    const double way = way_through(c, l->h, x, phi, normal, reach, facing);
    const double along = rp_dot(normal, facing);
    if (way <= reach && along < OPPOSED) {
        out[0] = way * along;
        memcpy(out + 1, facing, sizeof facing);
    }
}

bool rp_shape_is_thin(const rp_shape *shape, const rp_layout *l)
{
    enum { SPOTS = 4096, TURNS = 16 };
    const rp_collider c = {.shape = (rp_shape *)shape};
    const double twice = 2.0 * rp_thin_reach(l);
    double lower[3], upper[3];
    if (shape->massive) {
        return false;
    }
    if (!rp_shape_bounds(shape, l->dim, lower, upper)) {
        return true;
    }
    for (int i = 0; i < SPOTS; i++) {
        double x[3] = {0}, normal[3], facing[3], phi = INFINITY;
        for (int a = 0; a < l->dim; a++) {
            x[a] = lower[a] + (upper[a] - lower[a]) *
                                  rp_unit(rp_hash((uint64_t)a, (uint64_t)i, RP_FOR_SAMPLES, 0));
        }
        for (int turn = 0; turn < TURNS && fabs(phi) > SHORTEST * l->h; turn++) {
            phi = rp_shape_distance(shape, x, normal);
            for (int a = 0; a < l->dim; a++) {
                x[a] -= phi * normal[a];
            }
        }
        if (fabs(phi) <= SHORTEST * l->h &&
            way_through(&c, l->h, x, 0.0, normal, twice, facing) <= twice &&
            rp_dot(normal, facing) < OPPOSED) {
            return true;
        }
    }
    return false;
}

// The mass around a node, one cell along `way` from it.
static double mass_along(const rp_masses mass, int dim, const double way[3])
{
    double sum = 0.0;
    for (int k = 0; k < 1 << dim; k++) {
        int at[3] = {1, 1, 1};
        double w = 1.0;
        for (int a = 0; a < dim; a++) {
            const double part = fabs(way[a]);
            at[a] += (k >> a & 1) == 0 ? 0 : way[a] > 0.0 ? 1 : -1;
            w *= (k >> a & 1) == 0 ? 1.0 - part : part;
        }
        sum += w * mass[at[0]][at[1]][at[2]];
    }
    return sum;
}

rp_thin_side rp_thin_find_side(const rp_masses mass, int dim, double phi, const double normal[3],
                               const double other[4])
{
    double across[3] = {0}, back[3] = {0}, length = 0.0;
    for (int a = 0; a < dim; a++) {
        across[a] = normal[a] - other[1 + a];
        length += across[a] * across[a];
    }
    length = sqrt(length);
    for (int a = 0; a < dim; a++) {
        across[a] /= length;
        back[a] = -across[a];
    }
    const double here = mass_along(mass, dim, across), there = mass_along(mass, dim, back);
    const double some = phi > 0.0 ? 1.0 : SOME;
    return here < some * there ? RP_THIN_OTHER : there <= some * here ? RP_THIN_NEAR : RP_THIN_BOTH;
}

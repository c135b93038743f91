// Where a collider is: distance, way out, bounds.
#include "collide/collider.h"

#include <math.h>
#include <string.h>

double rp_collider_look(const rp_collider *c, const double x[3], double normal[3])
{
    if (!c->moves) {
        return rp_shape_distance(c->shape, x, normal);
    }
    double local[3], gradient[3];
    rp_placing_local(&c->begin, x, local);
    rp_mesh_spot spot;
    const double phi = c->morph != NULL ? rp_morph_look(c->morph, local, gradient, &spot)
                                        : rp_shape_distance(c->shape, local, gradient);
    rp_rotate(c->begin.rotation, gradient, normal);
    return phi;
}

double rp_collider_distance(const rp_collider *c, const double x[3])
{
    double normal[3];
    return rp_collider_look(c, x, normal);
}

bool rp_collider_bounds_at(const rp_collider *c, const rp_placing *at, int dim, double lower[3],
                           double upper[3])
{
    double box[2][3];
    bool bounded = true;
    if (c->morph != NULL) {
        rp_morph_bounds(c->morph, lower, upper);
    } else {
        bounded = rp_shape_bounds(c->shape, dim, lower, upper);
    }
    if (dim == 2) {
        lower[2] = upper[2] = 0.0;
    }
    if (!bounded) {
        return false;
    }
    rp_placing_bounds(at, lower, upper, box);
    memcpy(lower, box[0], sizeof box[0]);
    memcpy(upper, box[1], sizeof box[1]);
    return true;
}

bool rp_collider_bounds(const rp_collider *c, int dim, double lower[3], double upper[3])
{
    return rp_collider_bounds_at(c, &c->begin, dim, lower, upper);
}

rp_ball rp_ball_of(const rp_collider *c, int dim)
{
    rp_ball ball = {.radius = INFINITY};
    double lower[3], upper[3], own[3] = {0}, turned[3], far2 = 0.0;
    if (c->morph != NULL || !rp_shape_bounds(c->shape, dim, lower, upper)) {
        return ball;
    }
    for (int a = 0; a < dim; a++) {
        own[a] = 0.5 * (lower[a] + upper[a]);
        far2 += 0.25 * (upper[a] - lower[a]) * (upper[a] - lower[a]);
    }
    rp_rotate(c->begin.rotation, own, turned);
    for (int a = 0; a < 3; a++) {
        ball.middle[a] = turned[a] + c->begin.position[a];
    }
    ball.radius = sqrt(far2);
    return ball;
}

bool rp_collider_near_block(const rp_collider *c, const rp_layout *l, const int32_t block[3])
{
    // from the middle of the block to its last node, and a step's way of at most one cell with some
    // to spare
    double middle[3] = {0}, reach2 = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const double half = 0.5 * (l->cells[a] - 1);
        middle[a] = l->h * (block[a] * l->cells[a] + half);
        reach2 += half * half;
    }
    const double reach = l->h * (sqrt(reach2) + 2.0);
    if (c->morph != NULL) { // the box around it is known, and its nearest triangle takes a search
        double lower[3], upper[3], away2 = 0.0;
        rp_collider_bounds(c, l->dim, lower, upper);
        for (int a = 0; a < l->dim; a++) {
            const double away = fmax(0.0, fmax(lower[a] - middle[a], middle[a] - upper[a]));
            away2 += away * away;
        }
        if (away2 > reach * reach) {
            return false;
        }
    }
    return rp_collider_distance(c, middle) < reach;
}

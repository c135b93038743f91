// Where colliders are at the start and at the end of a step, and how far they go in between.
#include "base/result.h"
#include "collide/collider.h"

#include <math.h>
#include <string.h>

rp_result rp_motion_place(const rp_pose_of_time *motion, const char *who, const char *name,
                          double t, rp_placing *out)
{
    rp_pose pose = {.rotation = {0.0, 0.0, 0.0, 1.0}};
    if (motion->call != NULL) {
        RP_TRY(motion->call(motion->context, t, &pose));
    }
    double length2 = 0.0;
    bool finite = true;
    for (int i = 0; i < 4; i++) {
        length2 += pose.rotation[i] * pose.rotation[i];
        finite = finite && (i == 3 || isfinite(pose.position[i]));
    }
    if (!finite || !(length2 > 0.0 && isfinite(length2))) {
        return rp_fail(RP_ERR_ARGUMENT, "the motion of %s '%s' gave no pose at t = %g s", who, name,
                       t);
    }
    *out = rp_placing_of(&pose);
    return RP_OK;
}

static rp_result pose_at(const rp_collider *c, double t, rp_placing *out)
{
    return rp_motion_place(&c->motion, "collider", c->name, t, out);
}

rp_result rp_colliders_place(const rp_collider *collider, int index, double t, rp_placing *out)
{
    RP_TRY(pose_at(&collider[index], t, out));
    for (int i = collider[index].parent; i >= 0; i = collider[i].parent) {
        rp_placing parent;
        RP_TRY(pose_at(&collider[i], t, &parent));
        rp_placing_go_along(&parent, out);
    }
    return RP_OK;
}

rp_result rp_colliders_move(rp_collider *collider, int colliders, double t, double dt)
{
    for (int i = 0; i < colliders; i++) {
        rp_collider *c = &collider[i];
        if (c->moves && !c->free) {
            RP_TRY(pose_at(c, t, &c->begin));
            RP_TRY(pose_at(c, t + dt, &c->end));
        }
        if (c->morph != NULL) {
            rp_morph_move(c->morph, t, dt);
        }
        if (c->parent >= 0) {
            rp_placing_go_along(&collider[c->parent].begin, &c->begin);
            rp_placing_go_along(&collider[c->parent].end, &c->end);
        }
    }
    return RP_OK;
}

rp_pose rp_collider_pose(const rp_collider *c) { return rp_placing_pose(&c->end); }

// Where the point of a collider that is at x goes in the step, less x, over dt.
// @param way that it goes within the collider's frame
static void carried(const rp_collider *c, const double x[3], const double local[3],
                    const double way[3], double dt, double out[3])
{
    double there[3];
    const double at[3] = {local[0] + way[0], local[1] + way[1], local[2] + way[2]};
    rp_rotate(c->end.rotation, at, there);
    for (int a = 0; a < 3; a++) {
        out[a] = (there[a] + c->end.position[a] - x[a]) / dt;
    }
}

void rp_collider_velocity(const rp_collider *c, const double x[3], double dt, double out[3])
{
    double local[3], normal[3], way[3] = {0.0, 0.0, 0.0};
    if (!c->moves) {
        out[0] = out[1] = out[2] = 0.0;
        return;
    }
    rp_placing_local(&c->begin, x, local);
    if (c->morph != NULL) {
        rp_mesh_spot spot;
        rp_morph_look(c->morph, local, normal, &spot);
        rp_morph_way(c->morph, &spot, way);
    }
    carried(c, x, local, way, dt, out);
}

double rp_collider_meet(const rp_collider *c, const double x[3], double dt, double normal[3],
                        double velocity[3])
{
    if (c->morph == NULL) {
        rp_collider_velocity(c, x, dt, velocity);
        return rp_collider_look(c, x, normal);
    }
    double local[3], gradient[3], way[3];
    rp_mesh_spot spot;
    rp_placing_local(&c->begin, x, local);
    const double phi = rp_morph_look(c->morph, local, gradient, &spot);
    rp_morph_way(c->morph, &spot, way);
    rp_rotate(c->begin.rotation, gradient, normal);
    carried(c, x, local, way, dt, velocity);
    return phi;
}

// The part of `box` that a collider is in at the start or at the end of the step, or between.
static bool common_box(const rp_collider *c, int dim, double lower[3], double upper[3])
{
    double begin[2][3], end[2][3];
    if (!rp_collider_bounds_at(c, &c->begin, dim, begin[0], begin[1]) ||
        !rp_collider_bounds_at(c, &c->end, dim, end[0], end[1])) {
        return true;
    }
    bool some = true;
    for (int a = 0; a < dim; a++) {
        lower[a] = fmax(lower[a], fmin(begin[0][a], end[0][a]));
        upper[a] = fmin(upper[a], fmax(begin[1][a], end[1][a]));
        some = some && lower[a] <= upper[a];
    }
    return some;
}

double rp_colliders_way(const rp_collider *collider, int colliders, int dim, const double lower[3],
                        const double upper[3])
{
    double most2 = 0.0;
    for (int i = 0; i < colliders; i++) {
        const rp_collider *c = &collider[i];
        double box[2][3];
        memcpy(box[0], lower, sizeof box[0]);
        memcpy(box[1], upper, sizeof box[1]);
        if (!c->moves || !(lower[0] <= upper[0]) || !common_box(c, dim, box[0], box[1])) {
            continue;
        }
        // the way is an affine function of the place, but for what it deforms: the longest is at a
        // corner
        double within = 0.0;
        if (c->morph != NULL) {
            double own[2][3];
            rp_morph_bounds(c->morph, own[0], own[1]); // unless it stands: all of it
            const bool goes = c->motion.call != NULL || c->parent >= 0;
            within = rp_morph_longest_way(c->morph, goes ? own[0] : box[0], goes ? own[1] : box[1]);
        }
        for (int k = 0; k < 8; k++) {
            double x[3], local[3], way[3], way2 = 0.0;
            rp_box_corner(box[0], box[1], k, x);
            rp_placing_local(&c->begin, x, local);
            carried(c, x, local, (double[3]){0.0, 0.0, 0.0}, 1.0, way);
            for (int a = 0; a < dim; a++) {
                way2 += way[a] * way[a];
            }
            const double way1 = sqrt(way2) + within;
            most2 = fmax(most2, way1 * way1);
        }
    }
    return sqrt(most2);
}

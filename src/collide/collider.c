#include "collide/collider.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

// A node that lies on a wall up to rounding is on the wall, so that a floor on a grid line acts
// there.
static const double ON_WALL = 1e-9; // [cells]

void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3])
{
    if (contact == RP_STICKY) {
        if (phi <= 0.0) {
            v[0] = v[1] = v[2] = 0.0;
        }
        return;
    }
    const double vn = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2];
    double push = 0.0; // change of the normal velocity that the wall causes
    if (contact == RP_SEPARATE) {
        // phi(x') >= min(phi(x), 0)
        const double least = phi > 0.0 ? -phi / dt : 0.0;
        push = vn < least ? least - vn : 0.0;
    } else if (phi <= 0.0) {
        push = -vn;
    }
    if (push == 0.0) {
        return;
    }
    double t[3], t2 = 0.0;
    for (int a = 0; a < 3; a++) {
        t[a] = v[a] - vn * normal[a];
        t2 += t[a] * t[a];
    }
    // friction takes at most friction * |push| and never reverses the slip
    const double slip = sqrt(t2), bite = friction * fabs(push);
    const double kept = slip > bite ? 1.0 - bite / slip : 0.0;
    for (int a = 0; a < 3; a++) {
        v[a] = kept * t[a] + (vn + push) * normal[a];
    }
}

// ---- motion ----

static void rotation_matrix(const double q[4], double R[3][3])
{
    const double n = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[i][i] = 1.0 - n * (q[j] * q[j] + q[k] * q[k]);
        R[i][j] = n * (q[i] * q[j] - q[k] * q[3]);
        R[j][i] = n * (q[i] * q[j] + q[k] * q[3]);
    }
}

static rp_result pose_at(const rp_collider *c, double t, double position[3], double R[3][3])
{
    rp_pose pose = {.rotation = {0.0, 0.0, 0.0, 1.0}};
    RP_TRY(c->motion.call(c->motion.context, t, &pose));
    double length2 = 0.0;
    bool finite = true;
    for (int i = 0; i < 4; i++) {
        length2 += pose.rotation[i] * pose.rotation[i];
        finite = finite && (i == 3 || isfinite(pose.position[i]));
    }
    if (!finite || !(length2 > 0.0 && isfinite(length2))) {
        return rp_fail(RP_ERR_ARGUMENT, "the motion of collider '%s' gave no pose at t = %g s",
                       c->name, t);
    }
    memcpy(position, pose.position, sizeof pose.position);
    rotation_matrix(pose.rotation, R);
    return RP_OK;
}

rp_result rp_collider_move(rp_collider *c, double t, double dt)
{
    if (c->motion.call == NULL) {
        return RP_OK;
    }
    RP_TRY(pose_at(c, t, c->begin.position, c->begin.rotation));
    return pose_at(c, t + dt, c->end.position, c->end.rotation);
}

// A place in the frame in which the shape is described, at the start of the step.
static void to_shape(const rp_collider *c, const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = 0.0;
        for (int b = 0; b < 3; b++) {
            out[a] += c->begin.rotation[b][a] * (x[b] - c->begin.position[b]);
        }
    }
}

static void rotate(const double R[3][3], const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = R[a][0] * x[0] + R[a][1] * x[1] + R[a][2] * x[2];
    }
}

// Distance and way out at the start of the step, and how fast the collider moves there: from where
// its pose takes that point of it within the step.
static double look(const rp_collider *c, const double x[3], double dt, double normal[3],
                   double velocity[3])
{
    velocity[0] = velocity[1] = velocity[2] = 0.0;
    if (c->motion.call == NULL) {
        return rp_shape_distance(c->shape, x, normal);
    }
    double local[3], gradient[3], there[3];
    to_shape(c, x, local);
    const double phi = rp_shape_distance(c->shape, local, gradient);
    rotate(c->begin.rotation, gradient, normal);
    rotate(c->end.rotation, local, there);
    for (int a = 0; a < 3; a++) {
        velocity[a] = (there[a] + c->end.position[a] - x[a]) / dt;
    }
    return phi;
}

// ---- nodes ----

bool rp_collider_near_block(const rp_collider *c, const rp_layout *l, const int32_t block[3])
{
    // from the middle of the block to its last node, and a step's way of at most one cell with some
    // to spare
    double middle[3] = {0}, normal[3], velocity[3], reach2 = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const double half = 0.5 * (l->cells[a] - 1);
        middle[a] = l->h * (block[a] * l->cells[a] + half);
        reach2 += half * half;
    }
    return look(c, middle, 1.0, normal, velocity) < l->h * (sqrt(reach2) + 2.0);
}

static void collide(const rp_collider *collider, int colliders, double h, const double x[3],
                    double dt, double v[3])
{
    for (int i = 0; i < colliders; i++) {
        double normal[3], moving[3];
        double phi = look(&collider[i], x, dt, normal, moving);
        phi = fabs(phi) < ON_WALL * h ? 0.0 : phi;
        for (int a = 0; a < 3; a++) {
            v[a] -= moving[a];
        }
        rp_contact_resolve(collider[i].contact, collider[i].friction, normal, phi, dt, v);
        for (int a = 0; a < 3; a++) {
            v[a] += moving[a];
        }
    }
}

void rp_colliders_apply(const rp_collider *collider, int colliders, const rp_layout *l,
                        const int32_t block[3], double dt, void *quads)
{
    float *single = quads;
    double *twice = quads;
    int n = 0;
    for (int i = 0; i < l->cells[0]; i++) {
        for (int j = 0; j < l->cells[1]; j++) {
            for (int k = 0; k < l->cells[2]; k++, n += RP_QUAD) {
                const bool is_single = l->precision == RP_SINGLE;
                if (!(is_single ? single[n + 3] > 0.0f : twice[n + 3] > 0.0)) {
                    continue;
                }
                const double x[3] = {
                    l->h * (block[0] * l->cells[0] + i),
                    l->h * (block[1] * l->cells[1] + j),
                    l->dim == 3 ? l->h * (block[2] * l->cells[2] + k) : 0.0,
                };
                double v[3];
                for (int a = 0; a < 3; a++) {
                    v[a] = is_single ? (double)single[n + a] : twice[n + a];
                }
                collide(collider, colliders, l->h, x, dt, v);
                for (int a = 0; a < l->dim; a++) {
                    if (is_single) {
                        single[n + a] = (float)v[a];
                    } else {
                        twice[n + a] = v[a];
                    }
                }
            }
        }
    }
}

#include "collide/body.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

rp_body rp_body_scripted(const rp_collider *collider)
{
    rp_body body = {.collider = collider, .dim = 3, .mass = INFINITY, .pose = collider->begin};
    for (int a = 0; a < 3; a++) {
        body.inertia[a][a] = INFINITY;
    }
    return body;
}

// By cofactors.
static void invert(const double m[3][3], double out[3][3])
{
    double det = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            out[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
        det += m[0][i] * out[i][0];
    }
    RP_ASSERT(det > 0.0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[i][j] /= det;
        }
    }
}

rp_body rp_body_free(const rp_collider *collider, int dim, double mass, const double inertia[3][3])
{
    RP_ASSERT(mass > 0.0 && isfinite(mass));
    rp_body body = {.collider = collider, .dim = dim, .mass = mass, .pose = collider->begin};
    if (dim == 3) {
        memcpy(body.inertia, inertia, sizeof body.inertia);
        invert(inertia, body.inverse);
    } else {
        RP_ASSERT(inertia[2][2] > 0.0);
        body.inertia[2][2] = inertia[2][2];
        body.inverse[2][2] = 1.0 / inertia[2][2];
    }
    return body;
}

void rp_body_begin(rp_body *body, double dt)
{
    const rp_collider *c = body->collider;
    body->given = (rp_impulse){0};
    body->worked = 0.0;
    if (rp_body_is_free(body)) {
        return;
    }
    body->pose = c->begin;
    double turn[3] = {0};
    const bool goes = c->moves && dt > 0.0;
    if (goes) {
        rp_placing_turn(&c->begin, &c->end, turn);
    }
    for (int a = 0; a < 3; a++) {
        body->velocity[a] = goes ? (c->end.position[a] - c->begin.position[a]) / dt : 0.0;
        body->spin[a] = goes ? turn[a] / dt : 0.0;
    }
}

static void arm_of(const rp_body *body, const double x[3], double arm[3])
{
    for (int a = 0; a < 3; a++) {
        arm[a] = x[a] - body->pose.position[a];
    }
}

void rp_body_velocity(const rp_body *body, const double x[3], double out[3])
{
    double arm[3];
    arm_of(body, x, arm);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = body->velocity[a] + body->spin[b] * arm[c] - body->spin[c] * arm[b];
    }
}

void rp_body_push(rp_body *body, const double x[3], const double impulse[3])
{
    rp_impulse sum = {0};
    double arm[3];
    arm_of(body, x, arm);
    rp_impulse_add(&sum, arm, impulse);
    rp_body_take(body, &sum);
}

// A tensor of the body's own frame, times a vector of the world.
static void apply(const rp_body *body, const double own[3][3], const double v[3], double out[3])
{
    double local[3], turned[3];
    rp_unrotate(body->pose.rotation, v, local);
    rp_rotate(own, local, turned); // any matrix will do
    rp_rotate(body->pose.rotation, turned, out);
}

void rp_body_take(rp_body *body, const rp_impulse *impulse)
{
    for (int a = 0; a < 3; a++) {
        body->given.linear[a] += impulse->linear[a];
        body->given.angular[a] += impulse->angular[a];
    }
    if (!rp_body_is_free(body)) {
        return;
    }
    double spin[3];
    apply(body, body->inverse, impulse->angular, spin);
    for (int a = 0; a < 3; a++) {
        body->velocity[a] += a < body->dim ? impulse->linear[a] / body->mass : 0.0;
        body->spin[a] += spin[a];
    }
}

void rp_body_angular(const rp_body *body, double out[3])
{
    apply(body, body->inertia, body->spin, out);
}

// tan(x) / x without libm, for small x: to rounding below 0.05.
static double tangent_ratio(double x2)
{
    return 1.0 + x2 * (1.0 / 3 + x2 * (2.0 / 15 + x2 * (17.0 / 315 + x2 * (62.0 / 2835))));
}

static double length_of(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

// docs/theory.md (70) and (71): the angular momentum of the body's own frame by the implicit
// midpoint rule, and the turn of that midpoint's spin.
// @param[in,out] own angular momentum in the body's frame
// @param[in,out] q rotation of the body
static void tumble(const rp_body *body, double dt, double own[3], double q[4])
{
    enum { ROUNDS = 40 };
    double middle[3] = {own[0], own[1], own[2]}, half[3] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        double spin[3], change = 0.0;
        rp_rotate(body->inverse, middle, spin); // any matrix will do
        const double angle2 =
            0.25 * dt * dt * (spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]);
        // a step as long as makes the turn about a fixed axis exact
        const double stretch = 0.5 * dt * tangent_ratio(angle2);
        for (int a = 0; a < 3; a++) {
            half[a] = stretch * spin[a];
        }
        const double before[3] = {middle[0], middle[1], middle[2]};
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            middle[a] = own[a] + before[b] * half[c] - before[c] * half[b];
        }
        for (int a = 0; a < 3; a++) {
            change = fmax(change, fabs(middle[a] - before[a]));
        }
        if (change <= 4e-16 * length_of(own)) {
            break;
        }
    }
    for (int a = 0; a < 3; a++) {
        own[a] = 2.0 * middle[a] - own[a];
    }
    // q times (half, 1)
    const double p[4] = {q[0], q[1], q[2], q[3]};
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        q[a] = p[a] + p[3] * half[a] + p[b] * half[c] - p[c] * half[b];
    }
    q[3] = p[3] - p[0] * half[0] - p[1] * half[1] - p[2] * half[2];
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        q[i] /= size;
    }
}

// Moves it without a motion: its spin is turned with it, so that it neither gains nor loses energy.
static void mend(rp_body *body, double dt, rp_pose *pose)
{
    const double *v = body->mend[0], *w = body->mend[1];
    double own[3];
    if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0 && w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0) {
        return;
    }
    rp_unrotate(body->pose.rotation, body->spin, own);
    double *q = pose->rotation, size2 = 0.0;
    const double p[4] = {q[0], q[1], q[2], q[3]};
    // (half, 1) times q
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        pose->position[a] += dt * v[a];
        q[a] = p[a] + 0.5 * dt * (p[3] * w[a] + w[b] * p[c] - w[c] * p[b]);
    }
    q[3] = p[3] - 0.5 * dt * (w[0] * p[0] + w[1] * p[1] + w[2] * p[2]);
    for (int i = 0; i < 4; i++) {
        size2 += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) {
        q[i] /= sqrt(size2);
    }
    body->pose = rp_placing_of(pose);
    rp_rotate(body->pose.rotation, own, body->spin);
}

void rp_body_fly(rp_body *body, double dt, rp_pose *pose)
{
    static const double TURN = 0.05; // [rad] that it turns at once, at most
    static const double MOST = 4096.0;
    double local[3], own[3], norm2 = 0.0;
    mend(body, dt, pose);
    rp_unrotate(body->pose.rotation, body->spin, local);
    rp_rotate(body->inertia, local, own);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            norm2 += body->inverse[a][b] * body->inverse[a][b];
        }
        pose->position[a] += dt * body->velocity[a];
    }
    // it may spin up to this fast while it tumbles
    const double fastest = length_of(own) * sqrt(norm2);
    const int parts = (int)fmax(1.0, fmin(MOST, ceil(fastest * dt / TURN)));
    for (int i = 0; i < parts && fastest > 0.0; i++) {
        tumble(body, dt / parts, own, pose->rotation);
    }
    body->pose = rp_placing_of(pose);
    rp_rotate(body->inverse, own, local);
    rp_rotate(body->pose.rotation, local, body->spin);
}

double rp_body_kinetic(const rp_body *body)
{
    if (!rp_body_is_free(body)) {
        return 0.0;
    }
    double angular[3], twice = 0.0;
    apply(body, body->inertia, body->spin, angular);
    for (int a = 0; a < 3; a++) {
        twice += body->mass * body->velocity[a] * body->velocity[a] + body->spin[a] * angular[a];
    }
    return 0.5 * twice;
}

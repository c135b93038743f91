#include "collide/body.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

static bool is_free(const rp_body *body) { return isfinite(body->mass); }

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
    if (is_free(body)) {
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
    if (!is_free(body)) {
        return;
    }
    double spin[3];
    apply(body, body->inverse, impulse->angular, spin);
    for (int a = 0; a < 3; a++) {
        body->velocity[a] += a < body->dim ? impulse->linear[a] / body->mass : 0.0;
        body->spin[a] += spin[a];
    }
}

double rp_body_kinetic(const rp_body *body)
{
    if (!is_free(body)) {
        return 0.0;
    }
    double angular[3], twice = 0.0;
    apply(body, body->inertia, body->spin, angular);
    for (int a = 0; a < 3; a++) {
        twice += body->mass * body->velocity[a] * body->velocity[a] + body->spin[a] * angular[a];
    }
    return 0.5 * twice;
}

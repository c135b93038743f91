#include "collide/joints.h"

#include "base/three.h"

#include <string.h>

// The two sides of a joint; NULL: the world, or one that nothing moves.
static rp_body *side(const rp_link *l, const rp_bumping *m, int which)
{
    const int collider = which == 0 ? l->a : l->b;
    return collider >= 0 ? &m->body[collider] : NULL;
}

static void give(const rp_link *l, const rp_bumping *m, const double linear[3],
                 const double angular[3])
{
    for (int k = 0; k < 2; k++) {
        rp_body *body = side(l, m, k);
        if (body == NULL || !rp_body_is_free(body)) {
            continue;
        }
        const double sign = k == 0 ? 1.0 : -1.0;
        double turn[3], spin[3];
        rp_cross(l->arm[k], linear, turn);
        for (int i = 0; i < 3; i++) {
            turn[i] += angular[i];
        }
        rp_rotate(body->turned, turn, spin); // any matrix will do
        for (int i = 0; i < 3; i++) {
            body->velocity[i] += i < body->dim ? sign * linear[i] / body->mass : 0.0;
            body->spin[i] += sign * spin[i];
        }
    }
}

// Of a against b: of the place, and of turning.
static void between(const rp_link *l, const rp_bumping *m, double u[3], double w[3])
{
    memset(u, 0, 3 * sizeof *u);
    memset(w, 0, 3 * sizeof *w);
    for (int k = 0; k < 2; k++) {
        const rp_body *body = side(l, m, k);
        if (body == NULL) {
            continue;
        }
        const double sign = k == 0 ? 1.0 : -1.0;
        double turned[3];
        rp_cross(body->spin, l->arm[k], turned);
        for (int i = 0; i < 3; i++) {
            u[i] += sign * (body->velocity[i] + turned[i]);
            w[i] += sign * body->spin[i];
        }
    }
}

// What a unit of impulse changes: of the place along x, and of turning about x.
static void answers(const rp_link *l, const rp_bumping *m, const double x[3], double u[3],
                    double w[3])
{
    memset(u, 0, 3 * sizeof *u);
    memset(w, 0, 3 * sizeof *w);
    for (int k = 0; k < 2; k++) {
        const rp_body *body = side(l, m, k);
        if (body == NULL || !rp_body_is_free(body)) {
            continue;
        }
        double turn[3], spin[3], moved[3];
        rp_cross(l->arm[k], x, turn);
        rp_rotate(body->turned, turn, spin);
        rp_cross(spin, l->arm[k], moved);
        rp_rotate(body->turned, x, spin);
        for (int i = 0; i < 3; i++) {
            u[i] += (i < body->dim ? x[i] / body->mass : 0.0) + moved[i];
            w[i] += spin[i];
        }
    }
}

// Unit vectors across the axis, and the axis.
static void frame_of(const double axis[3], double out[3][3])
{
    memcpy(out[2], axis, 3 * sizeof *axis);
    rp_across(axis, out[0], out[1]);
}

// The impulse along the first `count` of these that brings what is left of a velocity to nothing.
// Directions in which nothing can be moved, as out of the plane in 2D, get none.
static void settle(const rp_link *l, const rp_bumping *m, double basis[3][3], int count, bool turn,
                   const double off[3], double out[3])
{
    double A[3][4] = {{0}};
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < count; i++) {
        double u[3], w[3];
        answers(l, m, basis[i], u, w);
        for (int k = 0; k < count; k++) {
            A[k][i] = rp_dot(basis[k], turn ? w : u);
        }
        A[i][3] = -rp_dot(basis[i], off);
    }
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        largest = fmax(largest, A[i][i]);
    }
    for (int i = 0; i < count; i++) {
        const bool fixed = !(A[i][i] > 1e-12 * largest);
        for (int k = i + 1; k < count && !fixed; k++) {
            const double f = A[k][i] / A[i][i];
            for (int j = i; j < 4; j++) {
                A[k][j] -= f * A[i][j];
            }
        }
        A[i][i] = fixed ? 0.0 : A[i][i];
    }
    double x[3] = {0};
    for (int i = count - 1; i >= 0; i--) {
        double rest = A[i][3];
        for (int j = i + 1; j < count; j++) {
            rest -= A[i][j] * x[j];
        }
        x[i] = A[i][i] > 0.0 ? rest / A[i][i] : 0.0;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            out[k] += x[i] * basis[i][k];
        }
    }
}

// Where the side of a joint is: the world is at rest.
static const rp_placing *placing_of(const rp_link *l, const rp_bumping *m, int which)
{
    static const rp_placing world = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const rp_body *body = side(l, m, which);
    return body != NULL ? &body->pose : &world;
}

void rp_links_begin(rp_link *link, int links, const rp_bumping *m, rp_link_state *state)
{
    for (int i = 0; i < links; i++) {
        rp_link *l = &link[i];
        rp_placing at[2];
        double place[2][3], axis[2][3];
        for (int k = 0; k < 2; k++) {
            at[k] = *placing_of(l, m, k);
            rp_rotate(at[k].rotation, l->place[k], l->arm[k]);
            rp_rotate(at[k].rotation, l->axis[k], axis[k]);
            for (int a = 0; a < 3; a++) {
                place[k][a] = l->arm[k][a] + at[k].position[a];
            }
        }
        memcpy(l->along, axis[1], sizeof l->along);
        // both arms lead to the same place, so that nothing turns by being held
        for (int a = 0; a < 3; a++) {
            l->arm[1][a] += place[0][a] - place[1][a];
            l->miss[0][a] = place[0][a] - place[1][a];
        }
        // b, turned as the joint would have it, to a
        rp_placing wanted = {0};
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                for (int k = 0; k < 3; k++) {
                    wanted.rotation[a][b] += at[1].rotation[a][k] * l->turned[k][b];
                }
            }
        }
        double turn[3];
        rp_placing_turn(&wanted, &at[0], turn);
        if (l->kind == RP_JOINT_HINGE) {
            const double round = 6.283185307179586476925, angle = rp_dot(turn, l->along);
            l->way = angle + round * floor((state[i].way - angle) / round + 0.5);
            rp_cross(axis[1], axis[0], l->miss[1]);
        } else {
            l->way = rp_dot(l->miss[0], l->along);
            memcpy(l->miss[1], turn, sizeof turn);
        }
        state[i].way = l->way;
        for (int a = 0; a < 3; a++) {
            l->linear[a] = m->dt * state[i].force[a];
            l->angular[a] = m->dt * state[i].torque[a];
        }
        l->drive = l->driven ? m->dt * state[i].drive : 0.0;
        l->stop = m->dt * state[i].stop;
    }
}

// Impulse of motor and end, in the direction in which the joint is free.
static void give_along(const rp_link *l, const rp_bumping *m, double much)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    double impulse[3];
    for (int a = 0; a < 3; a++) {
        impulse[a] = much * l->along[a];
    }
    give(l, m, l->kind == RP_JOINT_SLIDER ? impulse : none,
         l->kind == RP_JOINT_SLIDER ? none : impulse);
}

void rp_links_warm(rp_link *link, int links, const rp_bumping *m)
{
    for (int i = 0; i < links; i++) {
        give(&link[i], m, link[i].linear, link[i].angular);
        give_along(&link[i], m, link[i].drive + link[i].stop);
    }
}

// Keep the rate of the way that is left between two, by an impulse that pushes up at the lower one
// only, and down at the upper.
// @param[in,out] stop the impulse
// @return how much it changed the rate
static double keep_between(const rp_link *l, const rp_bumping *m, double each, double low,
                           double high, double *stop)
{
    double u[3], w[3];
    between(l, m, u, w);
    const double rate = rp_dot(l->kind == RP_JOINT_SLIDER ? u : w, l->along) - *stop * each;
    const double wanted = rate < low ? low - rate : rate > high ? high - rate : 0.0;
    const double more = wanted / each - *stop;
    *stop += more;
    give_along(l, m, more);
    return fabs(more) * each;
}

// What a unit of impulse changes of the rate of the way that is left; 0: there is none, or nothing
// can be moved along it.
static double answer_along(const rp_link *l, const rp_bumping *m)
{
    double u[3], w[3];
    answers(l, m, l->along, u, w);
    return l->kind == RP_JOINT_FIXED    ? 0.0
           : l->kind == RP_JOINT_SLIDER ? rp_dot(u, l->along)
                                        : rp_dot(w, l->along);
}

static bool has_end(const rp_link *l) { return l->low > -INFINITY || l->high < INFINITY; }

// Motor and end of the way that is left.
static double sweep_along(rp_link *l, const rp_bumping *m)
{
    double changed = 0.0;
    const double each = answer_along(l, m);
    if (!(each > 0.0)) {
        return 0.0;
    }
    if (l->driven) {
        double u[3], w[3];
        between(l, m, u, w);
        const double rate = rp_dot(l->kind == RP_JOINT_SLIDER ? u : w, l->along);
        const double most = l->strength * m->dt, wanted = l->drive + (l->speed - rate) / each;
        const double kept = fmin(fmax(wanted, -most), most), more = kept - l->drive;
        l->drive = kept;
        give_along(l, m, more);
        changed = fabs(more) * each;
    }
    if (has_end(l)) { // not beyond it within the step; beyond it, mending leads back
        const double low = -fmax(l->way - l->low, 0.0) / m->dt;
        const double high = fmax(l->high - l->way, 0.0) / m->dt;
        changed = fmax(changed, keep_between(l, m, each, low, high, &l->stop));
    }
    return changed;
}

// A length that makes turning comparable with moving.
static double arm_of(const rp_link *l) { return fmax(sqrt(rp_dot(l->arm[0], l->arm[0])), 1e-3); }

double rp_links_sweep(rp_link *link, int links, const rp_bumping *m)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    double changed = 0.0;
    for (int i = 0; i < links; i++) {
        rp_link *l = &link[i];
        double basis[3][3], u[3], w[3], impulse[3];
        frame_of(l->along, basis);
        changed = fmax(changed, (l->kind == RP_JOINT_SLIDER ? 1.0 : arm_of(l)) * sweep_along(l, m));
        between(l, m, u, w);
        const double turn = l->kind == RP_JOINT_HINGE ? rp_dot(w, l->along) : 0.0;
        changed = fmax(changed, arm_of(l) * sqrt(fmax(rp_dot(w, w) - turn * turn, 0.0)));
        settle(l, m, basis, l->kind == RP_JOINT_HINGE ? 2 : 3, true, w, impulse);
        give(l, m, none, impulse);
        for (int a = 0; a < 3; a++) {
            l->angular[a] += impulse[a];
        }
        between(l, m, u, w);
        settle(l, m, basis, l->kind == RP_JOINT_SLIDER ? 2 : 3, false, u, impulse);
        give(l, m, impulse, none);
        for (int a = 0; a < 3; a++) {
            l->linear[a] += impulse[a];
        }
        double off = rp_dot(u, u);
        off -= l->kind == RP_JOINT_SLIDER ? rp_dot(u, l->along) * rp_dot(u, l->along) : 0.0;
        changed = fmax(changed, sqrt(fmax(off, 0.0)));
    }
    return changed;
}

void rp_links_end(const rp_link *link, int links, const rp_bumping *m, rp_link_state *state)
{
    for (int i = 0; i < links; i++) {
        const rp_link *l = &link[i];
        const bool slides = l->kind == RP_JOINT_SLIDER;
        for (int k = 0; k < 2; k++) {
            rp_body *body = side(l, m, k);
            if (body == NULL) {
                continue;
            }
            double linear[3];
            for (int a = 0; a < 3; a++) {
                const double all = (l->drive + l->stop) * l->along[a], sign = k == 0 ? 1.0 : -1.0;
                linear[a] = sign * (l->linear[a] + (slides ? all : 0.0));
                body->given.angular[a] += sign * (l->angular[a] + (slides ? 0.0 : all));
            }
            rp_impulse_add(&body->given, l->arm[k], linear);
        }
        for (int a = 0; a < 3; a++) {
            state[i].force[a] = l->linear[a] / m->dt;
            state[i].torque[a] = l->angular[a] / m->dt;
        }
        state[i].drive = l->drive / m->dt;
        state[i].stop = l->stop / m->dt;
    }
}

void rp_links_mend(rp_link *link, int links, const rp_bumping *m, bool first)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    const double share = 0.8 / m->dt; // of what is off, in a step
    for (int i = 0; i < links; i++) {
        rp_link *l = &link[i];
        double basis[3][3], u[3], w[3], impulse[3];
        frame_of(l->along, basis);
        const double each = answer_along(l, m);
        l->back = first ? 0.0 : l->back;
        if (has_end(l) && each > 0.0) { // what is within must stay so
            const double under = l->low - l->way, over = l->way - l->high;
            keep_between(l, m, each, under > 0.0 ? share * under : under / m->dt,
                         over > 0.0 ? -share * over : -over / m->dt, &l->back);
        }
        between(l, m, u, w);
        for (int a = 0; a < 3; a++) {
            w[a] += share * l->miss[1][a];
        }
        settle(l, m, basis, l->kind == RP_JOINT_HINGE ? 2 : 3, true, w, impulse);
        give(l, m, none, impulse);
        between(l, m, u, w);
        for (int a = 0; a < 3; a++) {
            u[a] += share * l->miss[0][a];
        }
        settle(l, m, basis, l->kind == RP_JOINT_SLIDER ? 2 : 3, false, u, impulse);
        give(l, m, impulse, none);
    }
}

bool rp_links_join(const rp_link *link, int links, int a, int b)
{
    bool join = false;
    for (int i = 0; i < links; i++) {
        join = join || (link[i].a == a && link[i].b == b) || (link[i].a == b && link[i].b == a);
    }
    return join;
}

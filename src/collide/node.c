#include "collide/node.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The impulse that a pair should have, when the others stay as they are: what it has, and what
// takes away the approach that is left; then as much of it as the law of contact allows.
static void wanted_impulse(const rp_node_pair *p, const double relative[3], double mass,
                           double out[3])
{
    double trial[3];
    for (int a = 0; a < 3; a++) {
        trial[a] = p->impulse[a] + mass * relative[a];
    }
    const double across = dot(trial, p->normal) - mass * p->speed;
    if (p->rule->contact == RP_STICKY && (p->touches || across > 0.0)) {
        for (int a = 0; a < 3; a++) {
            out[a] = trial[a] - mass * p->speed * p->normal[a];
        }
        return;
    }
    if (!(across > 0.0)) {
        memset(out, 0, 3 * sizeof *out);
        return;
    }
    double along[3], length2 = 0.0;
    for (int a = 0; a < 3; a++) {
        along[a] = trial[a] - dot(trial, p->normal) * p->normal[a];
        length2 += along[a] * along[a];
    }
    const double length = sqrt(length2), most = p->rule->friction * across;
    const double kept = length > most ? most / length : 1.0;
    for (int a = 0; a < 3; a++) {
        out[a] = across * p->normal[a] + kept * along[a];
    }
}

// Give a pair another impulse. @return by how much it differs
static double give(rp_node_pair *p, double (*v)[3], const double *m, const double impulse[3])
{
    double most = 0.0;
    for (int a = 0; a < 3; a++) {
        const double more = impulse[a] - p->impulse[a];
        p->impulse[a] = impulse[a];
        v[p->b][a] -= more / m[p->b];
        v[p->d][a] += more / m[p->d];
        most = fabs(more) > most ? fabs(more) : most;
    }
    return most;
}

static double resolve_pair(rp_node_pair *p, double (*v)[3], const double *m)
{
    double relative[3], impulse[3];
    for (int a = 0; a < 3; a++) {
        relative[a] = v[p->b][a] - v[p->d][a];
    }
    wanted_impulse(p, relative, m[p->b] * m[p->d] / (m[p->b] + m[p->d]), impulse);
    return give(p, v, m, impulse);
}

// Wretborn (2017), section 3.2: each pair once, in turn, where one of them goes ahead of all. As
// printed, bodies that part would be pulled together; that they approach is asked for as well.
static void sweep_pairs(double (*v)[3], const double *m, int bodies, rp_node_pair *pair, int pairs)
{
    double all[3] = {0}, mass = 0.0;
    for (int b = 0; b < bodies; b++) {
        mass += m[b];
        for (int a = 0; a < 3; a++) {
            all[a] += m[b] * v[b][a];
        }
    }
    for (int i = 0; i < pairs; i++) {
        const double *n = pair[i].normal;
        const double common = dot(all, n) / mass;
        const double ahead = dot(v[pair[i].b], n) - common, behind = common - dot(v[pair[i].d], n);
        if (ahead > 0.0 || behind > 0.0) {
            resolve_pair(&pair[i], v, m);
        }
    }
}

int rp_node_resolve(double (*v)[3], const double *m, int bodies, rp_node_pair *pair, int pairs,
                    rp_impulses how, double still)
{
    double scale = 0.0;
    for (int b = 0; b < bodies; b++) {
        scale += m[b] * sqrt(dot(v[b], v[b]));
    }
    for (int i = 0; i < pairs; i++) {
        memset(pair[i].impulse, 0, sizeof pair[i].impulse);
    }
    if (how == RP_IMPULSES_PAIRS) {
        sweep_pairs(v, m, bodies, pair, pairs);
        return 1;
    }
    int sweep = 0;
    for (double most = INFINITY; most > still * scale && sweep < RP_NODE_SWEEPS; sweep++) {
        most = 0.0;
        for (int i = 0; i < pairs; i++) {
            const double change = resolve_pair(&pair[i], v, m);
            most = change > most ? change : most;
        }
        if (pairs == 1) {
            return 1; // exact at once
        }
    }
    return sweep;
}

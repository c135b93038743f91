// Horn's turn of each body, and who does not go along with it.
#include "repose/fit.h"

#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of one body: mass, and sums of mass times places then and now, and of their products.
typedef struct fit_sums {
    double mass, then[3], now[3], both[3][3];
} fit_sums;

// The eigenvector of the largest eigenvalue, by Jacobi's rotations.
static void largest_of_four(double A[4][4], double out[4])
{
    double V[4][4] = {{0}};
    for (int i = 0; i < 4; i++) {
        V[i][i] = 1.0;
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0, all = 0.0;
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 4; k++) {
                all += A[i][k] * A[i][k];
                off += i != k ? A[i][k] * A[i][k] : 0.0;
            }
        }
        if (!(off > 1e-30 * all)) {
            break;
        }
        for (int i = 0; i < 4; i++) {
            for (int k = i + 1; k < 4; k++) {
                const double turn = 0.5 * atan2(2.0 * A[i][k], A[k][k] - A[i][i]);
                const double c = cos(turn), s = sin(turn);
                for (int j = 0; j < 4; j++) { // columns, then rows
                    const double one = A[j][i], other = A[j][k], v = V[j][i], w = V[j][k];
                    A[j][i] = c * one - s * other;
                    A[j][k] = s * one + c * other;
                    V[j][i] = c * v - s * w;
                    V[j][k] = s * v + c * w;
                }
                for (int j = 0; j < 4; j++) {
                    const double one = A[i][j], other = A[k][j];
                    A[i][j] = c * one - s * other;
                    A[k][j] = s * one + c * other;
                }
            }
        }
    }
    int best = 0;
    for (int i = 1; i < 4; i++) {
        best = A[i][i] > A[best][best] ? i : best;
    }
    for (int j = 0; j < 4; j++) {
        out[j] = V[3][best] < 0.0 ? -V[j][best] : V[j][best];
    }
}

static void turn_by(const double q[4], const double x[3], double out[3])
{
    double t[3]; // 2 q x x
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        t[a] = 2.0 * (q[b] * x[c] - q[c] * x[b]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = x[a] + q[3] * t[a] + q[b] * t[c] - q[c] * t[b];
    }
}

// Horn (1987): the turn that takes the one to the other best.
static void solve_fit(const fit_sums *s, rp_fit *f)
{
    double S[3][3], middle[3];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            S[a][b] = s->both[a][b] / s->mass - s->then[a] / s->mass * (s->now[b] / s->mass);
        }
    }
    double N[4][4] = {
        {S[0][0] - S[1][1] - S[2][2], S[0][1] + S[1][0], S[2][0] + S[0][2], S[1][2] - S[2][1]},
        {0, S[1][1] - S[0][0] - S[2][2], S[1][2] + S[2][1], S[2][0] - S[0][2]},
        {0, 0, S[2][2] - S[0][0] - S[1][1], S[0][1] - S[1][0]},
        {0, 0, 0, S[0][0] + S[1][1] + S[2][2]}};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) {
            N[i][k] = N[k][i];
        }
    }
    largest_of_four(N, f->q);
    const double then[3] = {s->then[0] / s->mass, s->then[1] / s->mass, s->then[2] / s->mass};
    turn_by(f->q, then, middle);
    for (int a = 0; a < 3; a++) {
        f->shift[a] = s->now[a] / s->mass - middle[a];
    }
}

// How far a particle is from where its body takes it.
static double stray(const rp_fit *f, const double then[3], const double now[3])
{
    double x[3], way2 = 0.0;
    turn_by(f->q, then, x);
    for (int a = 0; a < 3; a++) {
        x[a] += f->shift[a] - now[a];
        way2 += x[a] * x[a];
    }
    return sqrt(way2);
}

rp_result rp_fit_bodies(const rp_fit_def *d, int bodies, rp_fit *fit, bool *left)
{
    // what has left drags the first fit along: let go of the farthest first
    enum { ROUNDS = 12 };
    static const double FAR = 2.0; // misfits
    fit_sums *sums = malloc(((size_t)bodies + 1) * sizeof *sums);
    if (sums == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the poses of %d bodies", bodies);
    }
    for (int b = 0; b < bodies; b++) {
        fit[b] = (rp_fit){.q = {0, 0, 0, 1}, .misfit = INFINITY};
    }
    if (left != NULL) {
        memset(left, 0, (size_t)d->count * sizeof *left);
    }
    for (int round = 0; round < ROUNDS; round++) {
        memset(sums, 0, (size_t)bodies * sizeof *sums);
        for (int64_t i = 0; i < d->count; i++) {
            const int body = d->body[i];
            if (body < 0 || body >= bodies || !(d->mass[i] > 0.0)) {
                continue;
            }
            const double *x = d->then[i], *y = d->now[i], m = d->mass[i];
            const rp_fit *f = &fit[body];
            if (round > 0 && stray(f, x, y) > fmax(d->away, FAR * f->misfit)) {
                continue;
            }
            fit_sums *s = &sums[body];
            s->mass += m;
            for (int a = 0; a < 3; a++) {
                s->then[a] += m * x[a];
                s->now[a] += m * y[a];
                for (int b = 0; b < 3; b++) {
                    s->both[a][b] += m * x[a] * y[b];
                }
            }
        }
        for (int b = 0; b < bodies; b++) {
            if (sums[b].mass > 0.0) {
                solve_fit(&sums[b], &fit[b]);
            }
            fit[b].misfit = sums[b].mass = 0.0;
            fit[b].particles = fit[b].debris = 0;
        }
        for (int64_t i = 0; i < d->count; i++) {
            const int body = d->body[i];
            if (body < 0 || body >= bodies || !(d->mass[i] > 0.0)) {
                continue;
            }
            const double way = stray(&fit[body], d->then[i], d->now[i]);
            fit[body].particles++;
            fit[body].debris += way > d->away;
            if (left != NULL) {
                left[i] = way > d->away;
            }
            if (way <= d->away || round + 1 < ROUNDS) {
                fit[body].misfit += d->mass[i] * way * way;
                sums[body].mass += d->mass[i];
            }
        }
        for (int b = 0; b < bodies; b++) {
            fit[b].misfit = sums[b].mass > 0.0 ? sqrt(fit[b].misfit / sums[b].mass) : NAN;
        }
    }
    free(sums);
    return RP_OK;
}

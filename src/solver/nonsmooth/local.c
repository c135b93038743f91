// One point, exactly. The shear that belongs to a pressure s is the least point of a quadratic in a
// ball of radius mu s: unique, and continuous in s. What is left is one equation for the pressure,
//
//     g_N(s) = b_N + W_NN s + W_NT l_T(s) = 0.
//
// Where b_N < 0 it has a root: g_N(0) = b_N, and for large s the shear is s x with x the least
// point of x W_TT x / 2 + x W_TN in the ball of radius mu. There x (W_TT x + W_TN) <= 0, and with
// it W_NN + W_NT x = (1, x) W (1, x) - x (W_TT x + W_TN) > 0.
#include "solver/nonsmooth/local.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SHEAR_MOST = 17 };

typedef struct point {
    int shears;
    double mu;
    double b_n, w_nn;
    // in the axes of W_TT: its values, and what pushes
    double value[SHEAR_MOST], b_t[SHEAR_MOST], w_nt[SHEAR_MOST];
    double axis[SHEAR_MOST][SHEAR_MOST]; // [axis][component]
} point;

// Axes and values of a symmetric matrix by Jacobi's rotations; A is used up.
static void find_axes(int n, double A[SHEAR_MOST][SHEAR_MOST], double axis[][SHEAR_MOST])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            axis[i][j] = i == j;
        }
    }
    for (int round = 0; round < 30; round++) {
        double off = 0.0, all = 0.0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                all += A[i][j] * A[i][j];
                off += i != j ? A[i][j] * A[i][j] : 0.0;
            }
        }
        if (!(off > 1e-32 * all)) {
            return;
        }
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                if (A[p][q] == 0.0) {
                    continue;
                }
                const double turn = 0.5 * (A[q][q] - A[p][p]) / A[p][q];
                const double t = copysign(1.0, turn) / (fabs(turn) + sqrt(turn * turn + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double kp = A[k][p], kq = A[k][q];
                    A[k][p] = c * kp - s * kq;
                    A[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; k++) {
                    const double pk = A[p][k], qk = A[q][k], ap = axis[p][k], aq = axis[q][k];
                    A[p][k] = c * pk - s * qk;
                    A[q][k] = s * pk + c * qk;
                    axis[p][k] = c * ap - s * aq;
                    axis[q][k] = s * ap + c * aq;
                }
            }
        }
    }
}

// The shear at a pressure, in the axes.
static void shear_at(const point *at, double s, double p[SHEAR_MOST])
{
    const double radius = at->mu * s;
    double c[SHEAR_MOST], push2 = 0.0;
    for (int i = 0; i < at->shears; i++) {
        c[i] = at->b_t[i] + at->w_nt[i] * s;
        push2 += c[i] * c[i];
        p[i] = 0.0;
    }
    if (!(radius > 0.0) || push2 == 0.0) {
        return;
    }
    // |p| falls as `more` grows, and 1 / |p| is concave in it: Newton comes from the left
    double more = 0.0;
    for (int round = 0; round < 100; round++) {
        double length2 = 0.0, slope = 0.0;
        for (int i = 0; i < at->shears; i++) {
            const double stiff = at->value[i] + more;
            p[i] = stiff > 0.0 ? -c[i] / stiff : 0.0;
            length2 += p[i] * p[i];
            slope += stiff > 0.0 ? p[i] * p[i] / stiff : 0.0;
        }
        const double length = sqrt(length2);
        if (length <= radius * (1.0 + 4e-16) || !(slope > 0.0)) {
            break;
        }
        const double next = more + length2 / slope * (length / radius - 1.0);
        if (!(next > more)) {
            break;
        }
        more = next;
    }
    double length2 = 0.0;
    for (int i = 0; i < at->shears; i++) {
        length2 += p[i] * p[i];
    }
    if (length2 > radius * radius) {
        for (int i = 0; i < at->shears; i++) {
            p[i] *= radius / sqrt(length2);
        }
    }
}

static double rate_at(const point *at, double s, double p[SHEAR_MOST])
{
    shear_at(at, s, p);
    double rate = at->b_n + at->w_nn * s;
    for (int i = 0; i < at->shears; i++) {
        rate += at->w_nt[i] * p[i];
    }
    return rate;
}

// The pressure at which the rate along N vanishes.
static double find_pressure(const point *at, double p[SHEAR_MOST])
{
    double low = 0.0, at_low = at->b_n, high = -at->b_n / at->w_nn, at_high;
    for (int round = 0; (at_high = rate_at(at, high, p)) < 0.0 && round < 1000; round++) {
        low = high;
        at_low = at_high;
        high *= 2.0;
    }
    // false position that halves the end which stays, and the interval when that is too slow
    int stays = 0;
    for (int round = 0; round < 200 && at_high != 0.0; round++) {
        double s = (low * at_high - high * at_low) / (at_high - at_low);
        if (round % 4 == 3 || !(s > low && s < high)) {
            s = 0.5 * (low + high);
        }
        if (!(s > low && s < high)) {
            break;
        }
        const double rate = rate_at(at, s, p);
        if (rate < 0.0) {
            low = s;
            at_low = rate;
            at_high *= stays < 0 ? 0.5 : 1.0;
            stays = -1;
        } else {
            high = s;
            at_high = rate;
            at_low *= stays > 0 ? 0.5 : 1.0;
            stays = 1;
        }
    }
    return high;
}

void rp_cone_solve(int n, const double *W, const double *b, double mu, double *l)
{
    memset(l, 0, sizeof(double) * (size_t)n);
    if (!(b[0] < 0.0) || !(W[0] > 0.0)) {
        return;
    }
    point at = {.shears = n - 1, .mu = mu, .b_n = b[0], .w_nn = W[0]};
    double A[SHEAR_MOST][SHEAR_MOST] = {{0}}, p[SHEAR_MOST];
    for (int i = 0; i < at.shears; i++) {
        for (int j = 0; j < at.shears; j++) {
            A[i][j] = W[(i + 1) * n + j + 1];
        }
    }
    find_axes(at.shears, A, at.axis);
    for (int i = 0; i < at.shears; i++) {
        at.value[i] = A[i][i];
        for (int j = 0; j < at.shears; j++) {
            at.b_t[i] += at.axis[i][j] * b[j + 1];
            at.w_nt[i] += at.axis[i][j] * W[j + 1];
        }
    }
    l[0] = find_pressure(&at, p);
    shear_at(&at, l[0], p);
    for (int i = 0; i < at.shears; i++) {
        for (int j = 0; j < at.shears; j++) {
            l[j + 1] += p[i] * at.axis[i][j];
        }
    }
}

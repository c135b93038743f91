#include "reference_mpm.h"

#include <math.h>
#include <stdlib.h>

// A spline of order 3 ends two cells from its node. Looking a little farther costs nothing: there
// it is zero.
enum { LOOK_BACK = 2, LOOK_AHEAD = 3 };

bool mpm_affine = false;

double mpm_spline(int order, double t)
{
    const double a = fabs(t);
    switch (order) {
    case 1:
        return a < 1.0 ? 1.0 - a : 0.0;
    case 2:
        return a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0.0;
    default:
        return a < 1.0   ? 0.5 * a * a * a - a * a + 2.0 / 3.0
               : a < 2.0 ? (2.0 - a) * (2.0 - a) * (2.0 - a) / 6.0
                         : 0.0;
    }
}

double mpm_slope(int order, double t)
{
    const double a = fabs(t), sign = t < 0.0 ? -1.0 : 1.0;
    switch (order) {
    case 1:
        return t >= -1.0 && t < 0.0 ? 1.0 : t >= 0.0 && t < 1.0 ? -1.0 : 0.0;
    case 2:
        return a < 0.5 ? -2.0 * t : a < 1.5 ? -sign * (1.5 - a) : 0.0;
    default:
        return a < 1.0   ? sign * (1.5 * a * a - 2.0 * a)
               : a < 2.0 ? -sign * 0.5 * (2.0 - a) * (2.0 - a)
                         : 0.0;
    }
}

bool mpm_grid_init(mpm_grid *grid, int dim, int order, double h, const int32_t period[3],
                   const mpm_particle *p, int count)
{
    *grid = (mpm_grid){.dim = dim, .order = order, .h = h, .size = {1, 1, 1}, .nodes = 1};
    for (int a = 0; a < dim; a++) {
        int32_t lower = INT32_MAX, upper = INT32_MIN;
        for (int i = 0; i < count; i++) {
            const int32_t cell = (int32_t)floorl(p[i].x[a]);
            lower = cell < lower ? cell : lower;
            upper = cell > upper ? cell : upper;
        }
        grid->period[a] = period != NULL ? period[a] : 0;
        grid->lower[a] = grid->period[a] > 0 ? 0 : lower - LOOK_BACK - 1;
        grid->size[a] =
            grid->period[a] > 0 ? grid->period[a] : upper + LOOK_AHEAD + 2 - grid->lower[a];
        grid->nodes *= grid->size[a];
    }
    grid->node = calloc((size_t)grid->nodes, sizeof *grid->node);
    return grid->node != NULL;
}

void mpm_grid_free(mpm_grid *grid) { free(grid->node); }

mpm_node *mpm_at(const mpm_grid *grid, const int32_t index[3])
{
    int64_t n = 0;
    for (int a = 0; a < 3; a++) {
        int32_t i = a < grid->dim ? index[a] - grid->lower[a] : 0;
        if (grid->period[a] > 0) {
            i = (i % grid->period[a] + grid->period[a]) % grid->period[a];
        }
        if (i < 0 || i >= grid->size[a]) {
            return NULL;
        }
        n = n * grid->size[a] + i;
    }
    return &grid->node[n];
}

void mpm_index(const mpm_grid *grid, int64_t n, int32_t index[3])
{
    for (int a = 2; a >= 0; a--) {
        index[a] = grid->lower[a] + (int32_t)(n % grid->size[a]);
        n /= grid->size[a];
    }
}

void mpm_visit(const mpm_grid *grid, const mpm_particle *p,
               void (*visit)(void *ctx, mpm_node *node, double w, const double dw[3],
                             const double r[3]),
               void *ctx)
{
    enum { LOOK = LOOK_BACK + LOOK_AHEAD + 1 };
    double w[3][LOOK], d[3][LOOK], r[3][LOOK];
    int32_t first[3] = {0};
    for (int a = 0; a < grid->dim; a++) {
        first[a] = (int32_t)floorl(p->x[a]) - LOOK_BACK;
        for (int n = 0; n < LOOK; n++) {
            const double t = (double)(p->x[a] - (first[a] + n));
            w[a][n] = mpm_spline(grid->order, t);
            d[a][n] = mpm_slope(grid->order, t) / grid->h;
            r[a][n] = -t * grid->h;
        }
    }
    // a node whose weight is only just zero counts: rounding may put it inside
    const double support = 0.5 * (grid->order + 1) * grid->h * (1.0 + 1e-6);
    for (int i = 0; i < LOOK; i++) {
        for (int j = 0; j < LOOK; j++) {
            for (int k = 0; k < (grid->dim == 3 ? LOOK : 1); k++) {
                const bool deep = grid->dim == 3;
                const double away[3] = {r[0][i], r[1][j], deep ? r[2][k] : 0.0};
                if (fabs(away[0]) > support || fabs(away[1]) > support || fabs(away[2]) > support) {
                    continue;
                }
                const double wz = deep ? w[2][k] : 1.0;
                const double dw[3] = {d[0][i] * w[1][j] * wz, w[0][i] * d[1][j] * wz,
                                      deep ? w[0][i] * w[1][j] * d[2][k] : 0.0};
                const int32_t index[3] = {first[0] + i, first[1] + j, deep ? first[2] + k : 0};
                mpm_node *node = mpm_at(grid, index);
                if (node != NULL) {
                    visit(ctx, node, w[0][i] * w[1][j] * wz, dw, away);
                }
            }
        }
    }
}

// 1 / D [1/m^2]
static double inertia_inverse(const mpm_grid *grid)
{
    return (grid->order == 2 ? 4.0 : 3.0) / (grid->h * grid->h);
}

static void add(mpm_sum *sum, double factor, double value)
{
    sum->value += factor * value;
    sum->size += fabs(factor * value);
}

typedef struct scatter {
    const mpm_grid *grid;
    const mpm_particle *p;
    double dt;
} scatter;

static void scatter_to(void *ctx, mpm_node *node, double w, const double dw[3], const double r[3])
{
    const scatter *s = ctx;
    const mpm_particle *p = s->p;
    const int dim = s->grid->dim;
    node->particles++;
    add(&node->mass, w, p->mass);
    node->mass.reach += p->mass;
    for (int i = 0; i < dim; i++) {
        add(&node->momentum[i], w, p->mass * p->v[i]);
        node->momentum[i].reach += p->mass * fabs(p->v[i]);
        for (int j = 0; j < dim; j++) {
            add(&node->momentum[i], w * r[j], p->mass * p->C[i][j]);
            node->momentum[i].reach += p->mass * s->grid->h * fabs(p->C[i][j]);
            const double fit = inertia_inverse(s->grid);
            add(&node->impulse[i], mpm_affine ? w * r[j] * fit : dw[j],
                -s->dt * p->volume * p->tau[i][j]);
            node->impulse[i].reach += s->dt * p->volume * fabs(p->tau[i][j]) *
                                      (mpm_affine ? fit * s->grid->h : 1.0 / s->grid->h);
        }
    }
}

void mpm_p2g(mpm_grid *grid, const mpm_particle *p, int count, int field, double dt)
{
    for (int i = 0; i < count; i++) {
        if (p[i].field == field) {
            mpm_visit(grid, &p[i], scatter_to, &(scatter){grid, &p[i], dt});
        }
    }
}

void mpm_velocity(mpm_grid *grid, const double push[3], double least)
{
    for (int64_t n = 0; n < grid->nodes; n++) {
        mpm_node *node = &grid->node[n];
        for (int a = 0; a < grid->dim; a++) {
            const double p = node->momentum[a].value + node->impulse[a].value;
            node->v[a] = node->mass.value > least ? p / node->mass.value + push[a] : 0.0;
        }
    }
}

typedef struct gather {
    const mpm_grid *grid;
    mpm_gathered *out;
} gather;

static void gather_from(void *ctx, mpm_node *node, double w, const double dw[3], const double r[3])
{
    const gather *g = ctx;
    mpm_gathered *out = g->out;
    const int dim = g->grid->dim;
    const double fit = inertia_inverse(g->grid);
    out->mass += w * node->mass.value;
    out->heaviest = fmax(out->heaviest, node->mass.value);
    for (int i = 0; i < dim; i++) {
        out->v[i] += w * node->v[i];
        out->speed = fmax(out->speed, fabs(node->v[i]));
        for (int j = 0; j < dim; j++) {
            const double slope = node->v[i] * dw[j], fitted = w * node->v[i] * r[j] * fit;
            out->grad[i][j] += mpm_affine ? fitted : slope;
            out->C[i][j] += g->grid->order == 1 ? slope : fitted;
        }
    }
}

void mpm_g2p(const mpm_grid *grid, const mpm_particle *p, mpm_gathered *out)
{
    *out = (mpm_gathered){0};
    mpm_visit(grid, p, gather_from, &(gather){grid, out});
}

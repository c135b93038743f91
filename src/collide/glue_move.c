// Glue goes along with what it holds.
#include "collide/glue_set.h"

#include "base/threads.h"

typedef struct moving {
    const rp_glue *glue;
    double dt;
    double *move; // [thread]: the farthest of any [cells]
} moving;

// Where the nodes of two fields around a block are; NULL: nowhere.
typedef struct surroundings {
    int32_t field[2];
    const void *nodes[RP_NEAR][2];
} surroundings;

static void look_around(const rp_glue *g, const rp_page *page, int b, int d, surroundings *out)
{
    if (out->field[0] == b && out->field[1] == d) {
        return;
    }
    *out = (surroundings){.field = {b, d}};
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        const bool there = neighbour(&g->grid->layout, page->block, n, offset, &key);
        for (int k = 0; k < 2 && there; k++) {
            const uint32_t found = rp_grid_find(g->grid, key, (uint16_t)out->field[k]);
            out->nodes[n][k] = found != RP_NO_PAGE
                                   ? rp_grid_nodes(g->grid, RP_CH_MOMENTUM, (rp_local)found)
                                   : NULL;
        }
    }
}

#define ALWAYS static inline __attribute__((always_inline))

// The nodes around a place: along each axis the block that they are in (0 to 2), their number in
// it, weights and slopes [1/cell].
typedef struct stencil {
    int block[3][4], within[3][4];
    double w[3][4], s[3][4];
} stencil;

// @return false: it has left the blocks around its own, which is told elsewhere
ALWAYS bool find_stencil(const rp_layout *l, const double x[3], stencil *out, const int dim,
                         const int order)
{
    for (int a = 0; a < dim; a++) {
        const int base = (int)floor(x[a] - l->shift);
        if (base < -l->cells[a] || base + order + 1 > 2 * l->cells[a]) {
            return false;
        }
        const double d = x[a] - base;
        if (order == 2) { // without a question
            const double below = 1.5 - d, above = d - 0.5;
            const double w[] = {0.5 * below * below, 0.75 - (d - 1.0) * (d - 1.0),
                                0.5 * above * above};
            const double slope[] = {-below, -2.0 * (d - 1.0), above};
            memcpy(out->w[a], w, sizeof w);
            memcpy(out->s[a], slope, sizeof slope);
        }
        for (int i = 0; i <= order; i++) {
            const int node = base + i;
            if (order != 2) {
                out->w[a][i] = spline(d - i, order, &out->s[a][i]);
            }
            out->block[a][i] = node < 0 ? 0 : node >= l->cells[a] ? 2 : 1;
            out->within[a][i] = node - (out->block[a][i] - 1) * l->cells[a];
        }
    }
    if (dim == 2) {
        out->block[2][0] = 1;
        out->within[2][0] = 0;
        out->w[2][0] = 1.0;
        out->s[2][0] = 0.0;
    }
    return true;
}

// Sums over the nodes that are there, of weights and slopes times the velocity, with 1 behind its
// three numbers. Glue that holds has merged all nodes that it reaches: either of its pieces has
// their velocity. Of glue that broke it does not matter.
typedef float four_floats __attribute__((vector_size(16)));

ALWAYS void sum_floats(const surroundings *around, const stencil *t, const int32_t cells[3],
                       double least, double out[4][4], const int dim, const int order)
{
    four_floats sum[4] = {{0}};
    for (int i = 0; i <= order; i++) {
        for (int j = 0; j <= order; j++) {
            const int row = (t->within[0][i] * cells[1] + t->within[1][j]) * cells[2];
            const void *const(*column)[2] =
                around->nodes + (ptrdiff_t)(t->block[0][i] * 3 + t->block[1][j]) * 3;
            four_floats along = {0}, sloped = {0};
            for (int k = 0; k <= (dim == 3 ? order : 0); k++) {
                const int n = RP_QUAD * (row + t->within[2][k]);
                const float *one = column[t->block[2][k]][0];
                if (one == NULL || !(one[n + 3] > (float)least)) {
                    one = column[t->block[2][k]][1];
                    if (one == NULL || !(one[n + 3] > (float)least)) {
                        continue;
                    }
                }
                four_floats u;
                memcpy(&u, one + n, sizeof u);
                u[3] = 1.0f;
                along += u * (float)t->w[2][k];
                sloped += u * (float)t->s[2][k];
            }
            const float flat = (float)(t->w[0][i] * t->w[1][j]);
            sum[0] += along * (float)(t->s[0][i] * t->w[1][j]);
            sum[1] += along * (float)(t->w[0][i] * t->s[1][j]);
            sum[2] += sloped * flat;
            sum[3] += along * flat;
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            out[i][k] = (double)sum[i][k];
        }
    }
}

static void sum_doubles(const surroundings *around, const stencil *t, const int32_t cells[3],
                        double least, double out[4][4], int dim, int order)
{
    memset(out, 0, 4 * sizeof *out);
    for (int i = 0; i <= order; i++) {
        for (int j = 0; j <= order; j++) {
            const int row = (t->within[0][i] * cells[1] + t->within[1][j]) * cells[2];
            for (int k = 0; k <= (dim == 3 ? order : 0); k++) {
                const int near = (t->block[0][i] * 3 + t->block[1][j]) * 3 + t->block[2][k];
                const int n = RP_QUAD * (row + t->within[2][k]);
                const double *one = around->nodes[near][0], *other = around->nodes[near][1];
                if (one == NULL || !(one[n + 3] > least)) {
                    one = other;
                }
                if (one == NULL || !(one[n + 3] > least)) {
                    continue;
                }
                const double u[4] = {one[n], one[n + 1], one[n + 2], 1.0};
                const double share[4] = {
                    t->s[0][i] * t->w[1][j] * t->w[2][k], t->w[0][i] * t->s[1][j] * t->w[2][k],
                    t->w[0][i] * t->w[1][j] * t->s[2][k], t->w[0][i] * t->w[1][j] * t->w[2][k]};
                for (int r = 0; r < 4; r++) {
                    for (int c = 0; c < 4; c++) {
                        out[r][c] += share[r] * u[c];
                    }
                }
            }
        }
    }
}

// Velocity and its gradient [m/s], [1/s] at a place of a block.
static void find_flow(const rp_glue *g, const surroundings *around, const double x[3], double v[3],
                      double gradient[3][3])
{
    const rp_layout *l = &g->grid->layout;
    stencil t;
    double sum[4][4];
    // what most worlds have is known when this is compiled
    if (l->dim == 3 && l->order == 2 && l->precision == RP_SINGLE) {
        if (!find_stencil(l, x, &t, 3, 2)) {
            return;
        }
        sum_floats(around, &t, l->cells, g->least, sum, 3, 2);
    } else {
        if (!find_stencil(l, x, &t, l->dim, l->order)) {
            return;
        }
        if (l->precision == RP_SINGLE) {
            sum_floats(around, &t, l->cells, g->least, sum, l->dim, l->order);
        } else {
            sum_doubles(around, &t, l->cells, g->least, sum, l->dim, l->order);
        }
    }
    for (int a = 0; a < l->dim; a++) {
        v[a] = sum[3][3] > 0.0 ? sum[3][a] / sum[3][3] : 0.0;
        for (int k = 0; k < l->dim; k++) {
            // as if nodes that are not there had the velocity of the place
            gradient[a][k] = (sum[k][a] - v[a] * sum[k][3]) / l->h;
        }
    }
}

// The same where the two pieces have velocities of their own: those of their mass, and how fast the
// second leaves the first [m/s].
static void find_parting(const rp_glue *g, const surroundings *around, const double x[3],
                         double v[3], double gradient[3][3], double parting[3])
{
    const rp_layout *l = &g->grid->layout;
    double sum[4][4] = {{0}}, both = 0.0;
    stencil t;
    if (!find_stencil(l, x, &t, l->dim, l->order)) {
        return;
    }
    const int wide = l->order + 1, deep = l->dim == 3 ? wide : 1;
    for (int k = 0; k < wide * wide * deep; k++) {
        const int at[3] = {k / (wide * deep), k / deep % wide, k % deep};
        const int near = (t.block[0][at[0]] * 3 + t.block[1][at[1]]) * 3 + t.block[2][at[2]];
        const int n =
            RP_QUAD * ((t.within[0][at[0]] * l->cells[1] + t.within[1][at[1]]) * l->cells[2] +
                       t.within[2][at[2]]);
        double mass[2] = {0}, u[2][3] = {{0}};
        for (int i = 0; i < 2 && t.w[0][at[0]] > 0.0; i++) {
            const void *q = around->nodes[near][i];
            mass[i] = q != NULL ? node_real(l, q, n + 3) : 0.0;
            mass[i] = mass[i] > g->least ? mass[i] : 0.0;
            for (int a = 0; a < l->dim && mass[i] > 0.0; a++) {
                u[i][a] = node_real(l, q, n + a);
            }
        }
        if (!(mass[0] + mass[1] > 0.0)) {
            continue;
        }
        const double w = t.w[0][at[0]] * t.w[1][at[1]] * t.w[2][at[2]];
        const double share[4] = {t.s[0][at[0]] * t.w[1][at[1]] * t.w[2][at[2]],
                                 t.w[0][at[0]] * t.s[1][at[1]] * t.w[2][at[2]],
                                 t.w[0][at[0]] * t.w[1][at[1]] * t.s[2][at[2]], w};
        const bool meet = mass[0] > 0.0 && mass[1] > 0.0;
        both += meet ? w : 0.0;
        for (int c = 0; c <= 3; c++) {
            const double mean =
                c < 3 ? (mass[0] * u[0][c] + mass[1] * u[1][c]) / (mass[0] + mass[1]) : 1.0;
            for (int r = 0; r < 4; r++) {
                sum[r][c] += share[r] * mean;
            }
            if (c < 3) {
                parting[c] += meet ? w * (u[1][c] - u[0][c]) : 0.0;
            }
        }
    }
    for (int a = 0; a < l->dim; a++) {
        v[a] = sum[3][3] > 0.0 ? sum[3][a] / sum[3][3] : 0.0;
        parting[a] = both > 0.0 ? parting[a] / both : 0.0;
        for (int k = 0; k < l->dim; k++) {
            gradient[a][k] = (sum[k][a] - v[a] * sum[k][3]) / l->h;
        }
    }
}

// What softens opens by what comes apart and slides. All is gone once nothing is left of its
// strength, or of one of its pieces around it.
static void open_further(const moving *m, rp_local slot, const double normal[3], double parting[3])
{
    const rp_set *set = m->glue->set;
    const double softening = m->glue->rule[material_of(set, slot)].softening;
    double across;
    const double opening = read_real(set, RP_COL_OPENING, slot, 0) +
                           m->dt * coming_apart(normal, set->layout.dim, parting, &across);
    write_real(set, RP_COL_OPENING, slot, 0, opening);
    write_real(set, RP_COL_SLACK, slot, 0, opening < softening ? 1.0 : 0.0);
}

static const double RUNAWAY = 8.0; // [cells]

static void move_page(void *ctx, int64_t index, int thread)
{
    const moving *m = ctx;
    const rp_glue *g = m->glue;
    const rp_set *set = g->set;
    const rp_layout *l = &set->layout;
    const rp_page *page = &rp_set_page(set)[index];
    surroundings around = {.field = {-1, -1}};
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double x[3], v[3] = {0}, gradient[3][3] = {{0}}, normal[3] = {0}, turned[3] = {0};
        double parting[3] = {0};
        if (is_dead(set, slot)) {
            continue;
        }
        look_around(g, page, page->field, partner_of(set, slot), &around);
        read_place(set, slot, x);
        const bool soft = softens(set, slot);
        if (soft) {
            find_parting(g, &around, x, v, gradient, parting);
        } else {
            find_flow(g, &around, x, v, gradient);
        }
        // a piece of surface that goes along: n' = -(grad v)^T n, and its area grows by the
        // divergence less the stretch across it
        double stretch = 0.0, divergence = 0.0, length2 = 0.0, steep2 = 0.0;
        for (int a = 0; a < l->dim; a++) {
            normal[a] = read_real(set, RP_COL_NORMAL, slot, a);
        }
        for (int a = 0; a < l->dim; a++) {
            turned[a] = normal[a];
            for (int k = 0; k < l->dim; k++) {
                turned[a] -= m->dt * gradient[k][a] * normal[k];
                stretch += normal[a] * gradient[a][k] * normal[k];
                steep2 += gradient[a][k] * gradient[a][k];
            }
            divergence += gradient[a][a];
            length2 += turned[a] * turned[a];
        }
        const double slack = read_real(set, RP_COL_SLACK, slot, 0) - m->dt * sqrt(steep2);
        if (soft) {
            open_further(m, slot, normal, parting);
        } else {
            write_real(set, RP_COL_SLACK, slot, 0, slack > 0.0 ? slack : 0.0);
        }
        const double length = sqrt(length2);
        for (int a = 0; a < l->dim && length > 0.0; a++) {
            write_real(set, RP_COL_NORMAL, slot, a, turned[a] / length);
        }
        const double area = read_real(set, RP_COL_AREA, slot, 0);
        const double grown = area * (1.0 + m->dt * (divergence - stretch));
        write_real(set, RP_COL_AREA, slot, 0, grown > 0.0 ? grown : area);
        for (int a = 0; a < l->dim; a++) {
            const double way = v[a] * m->dt / l->h;
            if (!(fabs(way) < RUNAWAY)) {
                continue; // who runs away is told elsewhere
            }
            void *at = rp_set_at(set, RP_COL_POSITION, slot, a);
            m->move[thread] = fmax(m->move[thread], fabs(way));
            if (l->precision == RP_SINGLE) {
                *(int32_t *)at += (int32_t)floor(way * (1 << RP_FIXED_BITS) + 0.5);
            } else {
                *(double *)at += way;
            }
        }
    }
}

double rp_glue_move(const rp_glue *g, int threads)
{
    enum { THREADS_MOST = 1024 };
    double move[THREADS_MOST] = {0}, most = 0.0;
    const int used = threads < THREADS_MOST ? threads : THREADS_MOST;
    const moving m = {g, g->dt, move};
    rp_parallel_for(used, g->set->pages, 2, move_page, (void *)(uintptr_t)&m);
    for (int t = 0; t < used; t++) {
        most = fmax(most, move[t]);
    }
    return most;
}

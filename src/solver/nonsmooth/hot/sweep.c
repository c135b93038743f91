// Gauss and Seidel over the points of a page, and what else walks all links. A chunk is gathered
// point by point, solved eight points at once, and scattered point by point (problem.h).
#include "solver/nonsmooth/hot/variant.h"
#include "solver/nonsmooth/local.h"

#include <stddef.h>

// ---- between nodes and points ----

typedef struct links {
    const rp_friction_link *of; // of a chunk, [8][each]
    int lanes, each;
} links;

// @param each nodes that a point sees: a constant where this is called
RP_INLINE links links_of(const rp_friction_problem *f, rp_local chunk, int each)
{
    return (links){f->link + (size_t)chunk * RP_CHUNK * (size_t)each, f->lanes[chunk], each};
}

// Component of a number for each of eight points.
typedef double eight[RP_CHUNK];

// The matrices sum_j u_j b_j^T, rows by component, of the points of a chunk.
RP_INLINE void gather(links l, const double *u, eight G[DIM * DIM])
{
    for (int lane = 0; lane < l.lanes; lane++) {
        const rp_friction_link *link = l.of + lane * l.each;
        quad column[DIM];
        for (int a = 0; a < DIM; a++) {
            column[a] = quad_all(0.0);
        }
        _Pragma("GCC unroll 3") for (int n = 0; n < l.each; n++)
        {
            const quad v = quad_load(u + (size_t)link[n].node * 4);
            _Pragma("GCC unroll 3") for (int a = 0; a < DIM; a++)
            {
                column[a] = quad_fma(v, quad_all((double)link[n].b[a]), column[a]);
            }
        }
        for (int a = 0; a < DIM; a++) {
            for (int c = 0; c < DIM; c++) {
                G[c * DIM + a][lane] = column[a][c];
            }
        }
    }
    for (int lane = l.lanes; lane < RP_CHUNK; lane++) {
        for (int i = 0; i < DIM * DIM; i++) {
            G[i][lane] = 0.0;
        }
    }
}

// u_j += X b_j times the inverse mass; that itself, in the fourth place, gets nothing.
RP_INLINE void scatter(links l, eight X[SIZE], double *u)
{
    static const int at[2][3][3] = {{{0, 2}, {2, 1}}, {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
    for (int lane = 0; lane < l.lanes; lane++) {
        const rp_friction_link *link = l.of + lane * l.each;
        quad column[DIM], any = quad_all(0.0);
        for (int a = 0; a < DIM; a++) {
            column[a] = quad_all(0.0);
            for (int c = 0; c < DIM; c++) {
                column[a][c] = X[at[DIM - 2][c][a]][lane];
            }
            any += column[a] * column[a];
        }
        if (any[0] + any[1] + any[2] == 0.0) {
            continue;
        }
        _Pragma("GCC unroll 3") for (int n = 0; n < l.each; n++)
        {
            double *to = u + (size_t)link[n].node * 4;
            const quad v = quad_load(to);
            quad force = column[0] * quad_all((double)link[n].b[0]);
            _Pragma("GCC unroll 2") for (int a = 1; a < DIM; a++)
            {
                force = quad_fma(column[a], quad_all((double)link[n].b[a]), force);
            }
            quad_store(to, quad_fma(quad_all(v[3]), force, v));
        }
    }
}

// Take out of a rate or a stress what walls do not let a point have.
RP_INLINE void take_off(const rp_friction_problem *f, rp_local chunk, int lane, vec g[SIZE])
{
    if (f->off_at[chunk] < 0) {
        return;
    }
    const double *off = f->off + (size_t)f->off_at[chunk] * RP_OFF_MOST * SIZE * RP_CHUNK + lane;
    for (int i = 0; i < RP_OFF_MOST; i++, off += SIZE * RP_CHUNK) {
        vec along = vset(0);
        for (int a = 1; a < SIZE; a++) {
            along = vfma(vload(off + a * RP_CHUNK), g[a], along);
        }
        for (int a = 1; a < SIZE; a++) {
            g[a] = vfma(-along, vload(off + a * RP_CHUNK), g[a]);
        }
    }
}

// Rates of some lanes of a chunk.
RP_INLINE void rates_of(const rp_friction_problem *f, rp_local chunk, eight G[DIM * DIM], int lane,
                        vec g[SIZE])
{
    vec M[DIM * DIM];
    for (int i = 0; i < DIM * DIM; i++) {
        M[i] = vload(&G[i][lane]);
    }
    cone_dual(DIM, M, g);
    take_off(f, chunk, lane, g);
    g[0] += vload(f->k + (size_t)chunk * RP_CHUNK + lane);
}

RP_INLINE double *stress_of(const rp_friction_problem *f, double *lambda, rp_local chunk)
{
    (void)f;
    return lambda + (size_t)chunk * SIZE * RP_CHUNK;
}

RP_INLINE int pair_of(int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low * SIZE - low * (low - 1) / 2 + high - low;
}

RP_INLINE vec block_at(const float *block, int pair, int lane)
{
    vec out;
    double wide[LANES];
    for (int l = 0; l < LANES; l++) {
        wide[l] = (double)block[pair * RP_CHUNK + lane + l];
    }
    memcpy(&out, wide, sizeof out);
    return out;
}

// ---- one chunk ----

// A step towards the law; where points are nodes a second one, with the rate that the first will
// cause. (Cells have blocks that are nearly isotropic, and it does not pay.)
RP_INLINE void step_chunk(const rp_friction_problem *f, rp_local chunk, bool twice,
                          eight G[DIM * DIM], eight X[SIZE])
{
    double *lambda = stress_of(f, f->lambda, chunk);
    const float *block = f->block + (size_t)chunk * PAIRS * RP_CHUNK;
    const double *per = f->per + (size_t)chunk * 2 * RP_CHUNK;
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        const vec mu = vload(f->mu + (size_t)chunk * RP_CHUNK + lane);
        const vec per_n = vload(per + lane), per_t = vload(per + RP_CHUNK + lane);
        vec g[SIZE], l[SIZE], change[SIZE], Y[SIZE];
        rates_of(f, chunk, G, lane, g);
        for (int a = 0; a < SIZE; a++) {
            l[a] = vload(lambda + a * RP_CHUNK + lane);
        }
        cone_step(SIZE, l, g, per_n, per_t, mu);
        if (twice) {
            for (int a = 0; a < SIZE; a++) {
                change[a] = l[a] - vload(lambda + a * RP_CHUNK + lane);
            }
            for (int a = 0; a < SIZE; a++) {
                for (int b = 0; b < SIZE; b++) {
                    g[a] = vfma(block_at(block, pair_of(a, b), lane), change[b], g[a]);
                }
            }
            cone_step(SIZE, l, g, per_n, per_t, mu);
        }
        for (int a = 0; a < SIZE; a++) {
            double *at = lambda + a * RP_CHUNK + lane;
            change[a] = l[a] - vload(at);
            vstore(at, l[a]);
        }
        cone_tensor(DIM, change, Y);
        for (int a = 0; a < SIZE; a++) {
            vstore(&X[a][lane], Y[a]);
        }
    }
}

static void solve_chunk(const rp_friction_problem *f, rp_local chunk, eight G[DIM * DIM],
                        eight X[SIZE])
{
    double *lambda = stress_of(f, f->lambda, chunk);
    const float *block = f->block + (size_t)chunk * PAIRS * RP_CHUNK;
    _Alignas(64) eight rate[SIZE], change[SIZE];
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        vec g[SIZE];
        rates_of(f, chunk, G, lane, g);
        for (int a = 0; a < SIZE; a++) {
            vstore(&rate[a][lane], g[a]);
            vstore(&change[a][lane], vset(0));
        }
    }
    for (int lane = 0; lane < f->lanes[chunk]; lane++) {
        double W[SIZE * SIZE], b[SIZE], l[SIZE];
        for (int i = 0; i < SIZE; i++) {
            b[i] = rate[i][lane];
            for (int j = 0; j < SIZE; j++) {
                W[i * SIZE + j] = (double)block[pair_of(i, j) * RP_CHUNK + lane];
                b[i] -= W[i * SIZE + j] * lambda[j * RP_CHUNK + lane];
            }
        }
        rp_cone_solve(SIZE, W, b, f->mu[(size_t)chunk * RP_CHUNK + (size_t)lane], l);
        for (int i = 0; i < SIZE; i++) {
            change[i][lane] = l[i] - lambda[i * RP_CHUNK + lane];
            lambda[i * RP_CHUNK + lane] = l[i];
        }
    }
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        vec c[SIZE], Y[SIZE];
        for (int a = 0; a < SIZE; a++) {
            c[a] = vload(&change[a][lane]);
        }
        cone_tensor(DIM, c, Y);
        for (int a = 0; a < SIZE; a++) {
            vstore(&X[a][lane], Y[a]);
        }
    }
}

// ---- a page ----

// Walls take back what they gave, look at the node without it, and give anew.
void RP_FRICTION(hold)(const rp_friction_problem *f, rp_local page)
{
    for (rp_local i = f->page_grip[page]; i < f->page_grip[page + 1]; i++) {
        const rp_friction_grip *grip = &f->grip[i];
        if (grip->contact == RP_STICKY) {
            continue; // the node has no freedom
        }
        double *u = f->u + (size_t)grip->node * 4, *given = f->u + (size_t)grip->at * 4, v[3] = {0};
        for (int a = 0; a < DIM; a++) {
            v[a] = u[a] - given[a] - grip->velocity[a];
        }
        rp_contact_resolve(grip->contact, grip->friction, grip->normal, grip->distance, f->dt, v);
        for (int a = 0; a < DIM; a++) {
            const double now = v[a] + grip->velocity[a];
            given[a] = now - (u[a] - given[a]);
            u[a] = now;
        }
    }
}

RP_INLINE void visit_chunk(const rp_friction_problem *f, rp_local chunk, int each, bool exact)
{
    _Alignas(64) eight G[DIM * DIM], X[SIZE];
    const links l = links_of(f, chunk, each);
    gather(l, f->u, G);
    if (exact) {
        solve_chunk(f, chunk, G, X);
    } else {
        step_chunk(f, chunk, each == AROUND, G, X);
    }
    scatter(l, X, f->u);
}

// Forth and back while the links are in the cache.
RP_INLINE void visit_page(const rp_friction_problem *f, rp_local page, int each, bool exact)
{
    const rp_local first = f->page_chunk[page], end = f->page_chunk[page + 1];
    for (rp_local chunk = first; chunk < end; chunk++) {
        visit_chunk(f, chunk, each, exact);
    }
    RP_FRICTION(hold)(f, page);
    for (rp_local chunk = end - 1; chunk >= first; chunk--) {
        visit_chunk(f, chunk, each, exact);
    }
    RP_FRICTION(hold)(f, page);
}

void RP_FRICTION(sweep)(const rp_friction_problem *f, rp_local page, bool exact)
{
    if (exact) {
        visit_page(f, page, f->links, true);
    } else if (f->links == CORNERS) {
        visit_page(f, page, CORNERS, false);
    } else {
        visit_page(f, page, AROUND, false);
    }
}

void RP_FRICTION(apply)(const rp_friction_problem *f, rp_local page)
{
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        _Alignas(64) eight X[SIZE];
        const double *lambda = stress_of(f, f->lambda, chunk);
        for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
            vec l[SIZE], Y[SIZE];
            for (int a = 0; a < SIZE; a++) {
                l[a] = vload(lambda + a * RP_CHUNK + lane);
            }
            cone_tensor(DIM, l, Y);
            for (int a = 0; a < SIZE; a++) {
                vstore(&X[a][lane], Y[a]);
            }
        }
        scatter(links_of(f, chunk, f->links), X, f->u);
    }
}

double RP_FRICTION(residual)(const rp_friction_problem *f, const double *lambda, const double *u,
                             rp_local page, double *worst)
{
    double sum = 0.0;
    *worst = 0.0;
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        _Alignas(64) eight G[DIM * DIM], far;
        const double *stress = lambda + (size_t)chunk * SIZE * RP_CHUNK;
        gather(links_of(f, chunk, f->links), u, G);
        for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
            const vec mu = vload(f->mu + (size_t)chunk * RP_CHUNK + lane);
            const vec scale = vload(f->scale + (size_t)chunk * RP_CHUNK + lane);
            vec g[SIZE], l[SIZE];
            rates_of(f, chunk, G, lane, g);
            for (int a = 0; a < SIZE; a++) {
                l[a] = scale * vload(stress + a * RP_CHUNK + lane);
            }
            vstore(&far[lane], cone_residual2(SIZE, l, g, mu));
        }
        for (int lane = 0; lane < f->lanes[chunk]; lane++) {
            sum += far[lane];
            // NaN is the worst of all
            *worst = far[lane] <= *worst ? *worst : far[lane];
        }
    }
    return sum;
}

// W_ii = B_i M^-1 B_i^T comes down to S = sum_j b_j b_j^T / m_j: the rate of a stress X is X S.
RP_INLINE void measure_chunk(const rp_friction_problem *f, rp_local chunk)
{
    const links of = links_of(f, chunk, f->links);
    _Alignas(64) eight S[DIM * DIM];
    memset(S, 0, sizeof S);
    for (int lane = 0; lane < of.lanes; lane++) {
        for (int n = 0; n < of.each; n++) {
            const rp_friction_link *link = &of.of[lane * of.each + n];
            const double inverse = f->u[(size_t)link->node * 4 + 3];
            for (int a = 0; a < DIM; a++) {
                for (int b = 0; b < DIM; b++) {
                    S[a * DIM + b][lane] += inverse * (double)link->b[a] * (double)link->b[b];
                }
            }
        }
    }
    static const int at[2][3][3] = {{{0, 2}, {2, 1}}, {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
    float *block = f->block + (size_t)chunk * PAIRS * RP_CHUNK;
    _Alignas(64) eight columns[SIZE][SIZE];
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        for (int e = 0; e < SIZE; e++) {
            vec l[SIZE], X[SIZE], G[DIM * DIM], g[SIZE];
            for (int a = 0; a < SIZE; a++) {
                l[a] = vset(a == e ? 1.0 : 0.0);
            }
            take_off(f, chunk, lane, l);
            cone_tensor(DIM, l, X);
            for (int a = 0; a < DIM; a++) {
                for (int b = 0; b < DIM; b++) {
                    G[a * DIM + b] = vset(0);
                    for (int c = 0; c < DIM; c++) {
                        const vec s = vload(&S[c * DIM + b][lane]);
                        G[a * DIM + b] = vfma(X[at[DIM - 2][a][c]], s, G[a * DIM + b]);
                    }
                }
            }
            cone_dual(DIM, G, g);
            take_off(f, chunk, lane, g);
            for (int a = 0; a < SIZE; a++) {
                vstore(&columns[e][a][lane], g[a]);
            }
        }
    }
    for (int lane = 0; lane < RP_CHUNK; lane++) {
        double W[SIZE][SIZE], trace = 0.0, bound = 0.0;
        for (int a = 0; a < SIZE; a++) {
            for (int e = 0; e < SIZE; e++) {
                W[a][e] = columns[e][a][lane];
            }
        }
        for (int a = 0; a < SIZE; a++) {
            double row = 0.0;
            trace += W[a][a];
            for (int b = 1; b < SIZE; b++) {
                row += W[a][b] < 0.0 ? -W[a][b] : W[a][b];
            }
            bound = a > 0 && row > bound ? row : bound;
            for (int b = a; b < SIZE; b++) {
                block[pair_of(a, b) * RP_CHUNK + lane] = (float)W[a][b];
            }
        }
        // both bound the largest eigenvalue of the part across
        const double across = trace - W[0][0] < bound ? trace - W[0][0] : bound, tiny = 1e-12;
        const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
        f->scale[own] = trace / SIZE > 1.0 ? trace / SIZE : 1.0;
        f->per[(size_t)chunk * 2 * RP_CHUNK + (size_t)lane] = W[0][0] > tiny ? 1.0 / W[0][0] : 0.0;
        f->per[(size_t)chunk * 2 * RP_CHUNK + RP_CHUNK + (size_t)lane] =
            across > tiny ? 1.0 / across : 0.0;
    }
}

void RP_FRICTION(measure)(const rp_friction_problem *f, rp_local page)
{
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        measure_chunk(f, chunk);
    }
}

// ---- Anderson's acceleration ----

// Notes what the last sweeps did, and the products that the weights come from. Differences of f
// only set the weights, so that float is enough; those of stress and velocity must keep u what it
// is for the stresses.
void RP_FRICTION(compare)(const rp_friction_problem *f, const rp_anderson *a, rp_local page,
                          double sums[RP_SUMS])
{
    memset(sums, 0, sizeof(double) * RP_SUMS);
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        for (int c = 0; c < SIZE; c++) {
            const size_t at = ((size_t)chunk * SIZE + (size_t)c) * RP_CHUNK;
            const double *scale = f->scale + (size_t)chunk * RP_CHUNK;
            float way[RP_CHUNK], scaled[RP_CHUNK], turned[RP_CHUNK];
            for (int l = 0; l < RP_CHUNK; l++) {
                const double now = f->lambda[at + l];
                way[l] = (float)(now - a->x[at + l]);
                scaled[l] = way[l] * (float)scale[l];
                if (a->grow) {
                    const float turn = way[l] - a->f[at + l];
                    a->df[a->newest][at + l] = turn;
                    a->dg[a->newest][at + l] = now - a->g[at + l];
                    turned[l] = turn * (float)scale[l];
                }
                a->f[at + l] = way[l];
                a->g[at + l] = now;
                sums[0] += (double)(scaled[l] * way[l]);
            }
            for (int h = 0; h < a->used; h++) {
                const float *df = a->df[h] + at;
                float one = 0.0f, two = 0.0f;
                for (int l = 0; l < RP_CHUNK; l++) {
                    one += df[l] * scaled[l];
                    two += df[l] * turned[l];
                }
                sums[1 + h] += (double)one;
                sums[1 + RP_ANDERSON_MOST + h] += (double)two;
            }
        }
    }
}

RP_INLINE void mix_velocities(const rp_friction_problem *f, const rp_anderson *a, size_t first,
                              size_t end, bool use)
{
    for (size_t i = first * 4; i < end * 4; i++) {
        double now = f->u[i];
        if (a->grow) {
            a->du[a->newest][i] = now - a->u[i];
        }
        a->u[i] = now;
        for (int h = 0; h < a->used && use; h++) {
            now += a->weight[h] * a->du[h][i];
        }
        f->u[i] = now;
    }
}

void RP_FRICTION(mix)(const rp_friction_problem *f, const rp_anderson *a, rp_local page)
{
    const size_t first = (size_t)f->page_chunk[page] * SIZE * RP_CHUNK,
                 end = (size_t)f->page_chunk[page + 1] * SIZE * RP_CHUNK;
    bool use = false;
    for (int h = 0; h < a->used; h++) {
        use = use || a->weight[h] != 0.0;
    }
    for (size_t i = first; i < end; i++) {
        double now = f->lambda[i];
        for (int h = 0; h < a->used && use; h++) {
            now += a->weight[h] * a->dg[h][i];
        }
        f->lambda[i] = a->x[i] = now;
    }
    mix_velocities(f, a, 1 + (size_t)f->page_node[page], 1 + (size_t)f->page_node[page + 1], use);
    mix_velocities(f, a, 1 + (size_t)f->nodes + (size_t)f->page_grip[page],
                   1 + (size_t)f->nodes + (size_t)f->page_grip[page + 1], use);
}

// Gauss and Seidel over the points of a page, and what else walks all links. A chunk is gathered
// point by point, solved eight points at once, and scattered point by point (problem.h).
#include "solver/nonsmooth/hot/variant.h"
#include "solver/nonsmooth/local.h"

#include <math.h>
#include <stddef.h>

// ---- between nodes and points ----

typedef struct links {
    const rp_friction_link *of; // of a chunk, [8][each]
    const float *bulk;          // of cells
    int lanes, each;
} links;

// @param each nodes that a point sees: a constant where this is called
RP_INLINE links links_of(const rp_friction_problem *f, rp_local chunk, int each)
{
    return (links){f->link + (size_t)chunk * RP_CHUNK * (size_t)each,
                   each == CORNERS ? f->bulk + (size_t)chunk * RP_CHUNK : NULL, f->lanes[chunk],
                   each};
}

// Components of the stress of a point, a constant where `each` is.
RP_INLINE int size_of(int each) { return each == CORNERS ? WHOLE : SIZE; }

// Which way a corner moves when the cell bends: with the product of some of its coordinates.
RP_INLINE bool bends_back(int mode, int corner)
{
    static const int axes[4] = {3, 6, 5, 7}; // x y, y z, z x, x y z
    return __builtin_popcount(~corner & axes[mode]) & 1;
}

// The rate of shear that counts, in a cell of volume 1, per sum of the velocities of its corners
// with signs as above, theory (G6).
#define BEND_RATE (DIM == 2 ? 0.70710678118654752440 : 0.25)

// Component of a number for each of eight points.
typedef double eight[RP_CHUNK];

// The matrices sum_j u_j b_j^T, rows by component, of the points of a chunk, and how cells bend.
RP_INLINE void gather(links l, const double *u, eight G[DIM * DIM + BENDS])
{
    for (int lane = 0; lane < l.lanes; lane++) {
        const rp_friction_link *link = l.of + lane * l.each;
        quad column[DIM], bend[MODES];
        for (int a = 0; a < DIM; a++) {
            column[a] = quad_all(0.0);
        }
        for (int m = 0; m < MODES; m++) {
            bend[m] = quad_all(0.0);
        }
        _Pragma("GCC unroll 8") for (int n = 0; n < l.each; n++)
        {
            const quad v = quad_load(u + (size_t)link[n].node * 4);
            _Pragma("GCC unroll 3") for (int a = 0; a < DIM; a++)
            {
                column[a] = quad_fma(v, quad_all((double)link[n].b[a]), column[a]);
            }
            for (int m = 0; m < MODES && l.each == CORNERS; m++) {
                bend[m] = bends_back(m, n) ? bend[m] - v : bend[m] + v;
            }
        }
        for (int a = 0; a < DIM; a++) {
            for (int c = 0; c < DIM; c++) {
                G[c * DIM + a][lane] = column[a][c];
            }
        }
        for (int m = 0; m < MODES && l.each == CORNERS; m++) {
            bend[m] *= quad_all(BEND_RATE * (double)l.bulk[lane]);
            for (int c = 0; c < DIM; c++) {
                G[DIM * DIM + m * DIM + c][lane] = bend[m][c];
            }
        }
    }
    for (int lane = l.lanes; lane < RP_CHUNK; lane++) {
        for (int i = 0; i < DIM * DIM + BENDS; i++) {
            G[i][lane] = 0.0;
        }
    }
}

// u_j += X b_j times the inverse mass; that itself, in the fourth place, gets nothing.
RP_INLINE void scatter(links l, eight X[WHOLE], double *u)
{
    static const int at[2][3][3] = {{{0, 2}, {2, 1}}, {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
    for (int lane = 0; lane < l.lanes; lane++) {
        const rp_friction_link *link = l.of + lane * l.each;
        quad column[DIM], bend[MODES], any = quad_all(0.0);
        for (int a = 0; a < DIM; a++) {
            column[a] = quad_all(0.0);
            for (int c = 0; c < DIM; c++) {
                column[a][c] = X[at[DIM - 2][c][a]][lane];
            }
            any += column[a] * column[a];
        }
        for (int m = 0; m < MODES && l.each == CORNERS; m++) {
            bend[m] = quad_all(0.0);
            for (int c = 0; c < DIM; c++) {
                bend[m][c] = X[SIZE + m * DIM + c][lane];
            }
            any += bend[m] * bend[m];
            bend[m] *= quad_all(BEND_RATE * (double)l.bulk[lane]);
        }
        if (any[0] + any[1] + any[2] == 0.0) {
            continue;
        }
        _Pragma("GCC unroll 8") for (int n = 0; n < l.each; n++)
        {
            double *to = u + (size_t)link[n].node * 4;
            const quad v = quad_load(to);
            quad force = column[0] * quad_all((double)link[n].b[0]);
            _Pragma("GCC unroll 2") for (int a = 1; a < DIM; a++)
            {
                force = quad_fma(column[a], quad_all((double)link[n].b[a]), force);
            }
            for (int m = 0; m < MODES && l.each == CORNERS; m++) {
                force = bends_back(m, n) ? force - bend[m] : force + bend[m];
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
RP_INLINE void rates_of(const rp_friction_problem *f, rp_local chunk, int each,
                        eight G[DIM * DIM + BENDS], int lane, vec g[WHOLE])
{
    vec M[DIM * DIM];
    for (int i = 0; i < DIM * DIM; i++) {
        M[i] = vload(&G[i][lane]);
    }
    cone_dual(DIM, M, g);
    take_off(f, chunk, lane, g);
    g[0] += vload(f->k + (size_t)chunk * RP_CHUNK + lane);
    for (int i = SIZE; i < size_of(each); i++) {
        g[i] = vload(&G[DIM * DIM + i - SIZE][lane]);
    }
}

// The tensor of a stress, and how it bends.
RP_INLINE void tensor_of(int each, const vec l[WHOLE], int lane, eight X[WHOLE])
{
    vec Y[SIZE];
    cone_tensor(DIM, l, Y);
    for (int a = 0; a < size_of(each); a++) {
        vstore(&X[a][lane], a < SIZE ? Y[a < SIZE ? a : 0] : l[a]);
    }
}

RP_INLINE int pair_of(int size, int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low * size - low * (low - 1) / 2 + high - low;
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

// A step of a stress towards the law, and the rate after it, where shear is 1 / per_t as stiff in
// all directions. What is thick holds back its end of the step: friction has the rest.
RP_INLINE void step_stress(int size, vec *l, vec *g, vec per_n, vec per_t, vec mu, vec thick)
{
    vec friction[WHOLE];
    for (int a = 1; a < size; a++) {
        l[a] = friction[a] = vfma(thick, g[a], l[a]);
    }
    per_t += thick;
    cone_step(size, l, g, per_n, per_t, mu);
    const vec tiny = vset(1e-30);
    for (int a = 1; a < size; a++) {
        g[a] += (l[a] - friction[a]) / vmax(per_t, tiny);
        l[a] = vfma(-thick, g[a], l[a]);
    }
}

// A step towards the law; where points are nodes a second one, with the rate that the first will
// cause. (Cells have blocks that are nearly isotropic, and it does not pay.)
RP_INLINE void step_chunk(const rp_friction_problem *f, rp_local chunk, int each,
                          eight G[DIM * DIM + BENDS], eight X[WHOLE])
{
    const int size = size_of(each);
    double *lambda = f->lambda + (size_t)chunk * (size_t)size * RP_CHUNK;
    const double *per = f->per + (size_t)chunk * 2 * RP_CHUNK;
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        const vec mu = vload(f->mu + (size_t)chunk * RP_CHUNK + lane);
        const vec thick = vload(f->thick + (size_t)chunk * RP_CHUNK + lane);
        const vec per_n = vload(per + lane), per_t = vload(per + RP_CHUNK + lane);
        vec g[WHOLE], l[WHOLE], change[WHOLE], before[SIZE];
        rates_of(f, chunk, each, G, lane, g);
        for (int a = 0; a < size; a++) {
            l[a] = vload(lambda + a * RP_CHUNK + lane);
        }
        for (int a = 0; a < SIZE; a++) {
            before[a] = g[a];
        }
        step_stress(size, l, g, per_n, per_t, mu, thick);
        if (each == AROUND) {
            const float *block = f->block + (size_t)chunk * PAIRS * RP_CHUNK;
            for (int a = 0; a < SIZE; a++) {
                change[a] = l[a] - vload(lambda + a * RP_CHUNK + lane);
                g[a] = before[a];
            }
            for (int a = 0; a < SIZE; a++) {
                for (int b = 0; b < SIZE; b++) {
                    g[a] = vfma(block_at(block, pair_of(SIZE, a, b), lane), change[b], g[a]);
                }
            }
            step_stress(SIZE, l, g, per_n, per_t, mu, thick);
        }
        for (int a = 0; a < size; a++) {
            double *at = lambda + a * RP_CHUNK + lane;
            change[a] = l[a] - vload(at);
            vstore(at, l[a]);
        }
        tensor_of(each, change, lane, X);
    }
}

RP_INLINE bool is_thick(const rp_friction_problem *f, rp_local chunk)
{
    bool any = false;
    for (int lane = 0; lane < RP_CHUNK; lane++) {
        any = any || f->thick[(size_t)chunk * RP_CHUNK + (size_t)lane] > 0.0;
    }
    return any;
}

RP_INLINE void solve_chunk(const rp_friction_problem *f, rp_local chunk, int each,
                           eight G[DIM * DIM + BENDS], eight X[WHOLE])
{
    const int size = size_of(each), pairs = size * (size + 1) / 2;
    double *lambda = f->lambda + (size_t)chunk * (size_t)size * RP_CHUNK;
    const float *block = f->block + (size_t)chunk * (size_t)pairs * RP_CHUNK;
    _Alignas(64) eight rate[WHOLE], change[WHOLE];
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        vec g[WHOLE];
        rates_of(f, chunk, each, G, lane, g);
        for (int a = 0; a < size; a++) {
            vstore(&rate[a][lane], g[a]);
            vstore(&change[a][lane], vset(0));
        }
    }
    for (int lane = 0; lane < f->lanes[chunk]; lane++) {
        double W[WHOLE * WHOLE], b[WHOLE], l[WHOLE];
        for (int i = 0; i < size; i++) {
            b[i] = rate[i][lane];
            for (int j = 0; j < size; j++) {
                W[i * size + j] = (double)block[pair_of(size, i, j) * RP_CHUNK + lane];
                b[i] -= W[i * size + j] * lambda[j * RP_CHUNK + lane];
            }
        }
        rp_cone_solve(size, W, b, f->mu[(size_t)chunk * RP_CHUNK + (size_t)lane], l);
        for (int i = 0; i < size; i++) {
            change[i][lane] = l[i] - lambda[i * RP_CHUNK + lane];
            lambda[i * RP_CHUNK + lane] = l[i];
        }
    }
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        vec c[WHOLE];
        for (int a = 0; a < size; a++) {
            c[a] = vload(&change[a][lane]);
        }
        tensor_of(each, c, lane, X);
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
    _Alignas(64) eight G[DIM * DIM + BENDS], X[WHOLE];
    const links l = links_of(f, chunk, each);
    gather(l, f->u, G);
    if (exact && !is_thick(f, chunk)) {
        solve_chunk(f, chunk, each, G, X);
    } else {
        step_chunk(f, chunk, each, G, X);
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
    if (f->links == CORNERS) {
        if (exact) {
            visit_page(f, page, CORNERS, true);
        } else {
            visit_page(f, page, CORNERS, false);
        }
    } else if (exact) {
        visit_page(f, page, AROUND, true);
    } else {
        visit_page(f, page, AROUND, false);
    }
}

RP_INLINE void apply_page(const rp_friction_problem *f, rp_local page, int each)
{
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        _Alignas(64) eight X[WHOLE];
        const double *lambda = f->lambda + (size_t)chunk * (size_t)size_of(each) * RP_CHUNK;
        for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
            vec l[WHOLE];
            for (int a = 0; a < size_of(each); a++) {
                l[a] = vload(lambda + a * RP_CHUNK + lane);
            }
            l[0] -= vload(f->glue + (size_t)chunk * RP_CHUNK + lane);
            tensor_of(each, l, lane, X);
        }
        scatter(links_of(f, chunk, each), X, f->u);
    }
}

void RP_FRICTION(apply)(const rp_friction_problem *f, rp_local page)
{
    if (f->links == CORNERS) {
        apply_page(f, page, CORNERS);
    } else {
        apply_page(f, page, AROUND);
    }
}

RP_INLINE double residual_page(const rp_friction_problem *f, const double *lambda, const double *u,
                               rp_local page, int each, double *worst)
{
    const int size = size_of(each);
    double sum = 0.0;
    *worst = 0.0;
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        _Alignas(64) eight G[DIM * DIM + BENDS], far;
        const double *stress = lambda + (size_t)chunk * (size_t)size * RP_CHUNK;
        gather(links_of(f, chunk, each), u, G);
        for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
            const vec mu = vload(f->mu + (size_t)chunk * RP_CHUNK + lane);
            const vec scale = vload(f->scale + (size_t)chunk * RP_CHUNK + lane);
            vec g[WHOLE], l[WHOLE];
            const vec thick = vload(f->thick + (size_t)chunk * RP_CHUNK + lane);
            rates_of(f, chunk, each, G, lane, g);
            for (int a = 0; a < size; a++) {
                const vec whole = vload(stress + a * RP_CHUNK + lane);
                l[a] = scale * (a > 0 ? vfma(thick, g[a], whole) : whole);
            }
            vstore(&far[lane], cone_residual2(size, l, g, mu));
        }
        for (int lane = 0; lane < f->lanes[chunk]; lane++) {
            sum += far[lane];
            // NaN is the worst of all
            *worst = far[lane] <= *worst ? *worst : far[lane];
        }
    }
    return sum;
}

double RP_FRICTION(residual)(const rp_friction_problem *f, const double *lambda, const double *u,
                             rp_local page, double *worst)
{
    return f->links == CORNERS ? residual_page(f, lambda, u, page, CORNERS, worst)
                               : residual_page(f, lambda, u, page, AROUND, worst);
}

// What W_ii = B_i M^-1 B_i^T comes down to: the rate of a stress X is X S, it bends a cell by X h,
// and bends have rates h and K.
typedef struct inertia {
    eight S[DIM * DIM]; // sum_j b_j b_j^T / m_j
    eight h[MODES * DIM], K[MODES * MODES];
} inertia;

RP_INLINE void find_inertia(links l, const double *u, inertia *out)
{
    memset(out, 0, sizeof *out);
    for (int lane = 0; lane < l.lanes; lane++) {
        for (int n = 0; n < l.each; n++) {
            const rp_friction_link *link = &l.of[lane * l.each + n];
            const double inverse = u[(size_t)link->node * 4 + 3];
            double bend[MODES];
            for (int m = 0; m < MODES && l.each == CORNERS; m++) {
                bend[m] = BEND_RATE * (double)l.bulk[lane] * (bends_back(m, n) ? -1.0 : 1.0);
            }
            for (int a = 0; a < DIM; a++) {
                const double push = inverse * (double)link->b[a];
                for (int b = 0; b < DIM; b++) {
                    out->S[a * DIM + b][lane] += push * (double)link->b[b];
                }
                for (int m = 0; m < MODES && l.each == CORNERS; m++) {
                    out->h[m * DIM + a][lane] += push * bend[m];
                }
            }
            for (int m = 0; m < MODES && l.each == CORNERS; m++) {
                for (int k = 0; k < MODES; k++) {
                    out->K[m * MODES + k][lane] += inverse * bend[m] * bend[k];
                }
            }
        }
    }
}

// The rates of all components that one of stress causes.
RP_INLINE void column_of(const rp_friction_problem *f, rp_local chunk, int each, const inertia *in,
                         int e, int lane, vec g[WHOLE])
{
    static const int at[2][3][3] = {{{0, 2}, {2, 1}}, {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
    vec G[DIM * DIM];
    if (e >= SIZE) {
        const int mode = (e - SIZE) / DIM, along = (e - SIZE) % DIM;
        for (int i = 0; i < DIM * DIM; i++) {
            G[i] = i / DIM == along ? vload(&in->h[mode * DIM + i % DIM][lane]) : vset(0);
        }
        for (int i = 0; i < BENDS; i++) {
            g[SIZE + i] = i % DIM == along ? vload(&in->K[mode * MODES + i / DIM][lane]) : vset(0);
        }
        cone_dual(DIM, G, g);
        return;
    }
    vec l[SIZE], X[SIZE];
    for (int a = 0; a < SIZE; a++) {
        l[a] = vset(a == e ? 1.0 : 0.0);
    }
    take_off(f, chunk, lane, l);
    cone_tensor(DIM, l, X);
    for (int a = 0; a < DIM; a++) {
        for (int b = 0; b < DIM; b++) {
            G[a * DIM + b] = vset(0);
            for (int c = 0; c < DIM; c++) {
                const vec s = vload(&in->S[c * DIM + b][lane]);
                G[a * DIM + b] = vfma(X[at[DIM - 2][a][c]], s, G[a * DIM + b]);
            }
        }
    }
    cone_dual(DIM, G, g);
    take_off(f, chunk, lane, g);
    for (int i = 0; i < BENDS && each == CORNERS; i++) {
        g[SIZE + i] = vset(0);
        for (int c = 0; c < DIM; c++) {
            g[SIZE + i] = vfma(X[at[DIM - 2][i % DIM][c]], vload(&in->h[i / DIM * DIM + c][lane]),
                               g[SIZE + i]);
        }
    }
}

RP_INLINE void measure_chunk(const rp_friction_problem *f, rp_local chunk, int each)
{
    const int size = size_of(each), pairs = size * (size + 1) / 2;
    _Alignas(64) inertia in;
    _Alignas(64) eight columns[WHOLE][WHOLE];
    find_inertia(links_of(f, chunk, each), f->u, &in);
    for (int lane = 0; lane < RP_CHUNK; lane += LANES) {
        for (int e = 0; e < size; e++) {
            vec g[WHOLE];
            column_of(f, chunk, each, &in, e, lane, g);
            for (int a = 0; a < size; a++) {
                vstore(&columns[e][a][lane], g[a]);
            }
        }
    }
    for (int lane = 0; lane < RP_CHUNK; lane++) {
        double own = 0.0, shear = 0.0, bend = 0.0, mixed = 0.0;
        for (int a = 0; a < size; a++) {
            double row = 0.0;
            own += a < SIZE ? columns[a][a][lane] : 0.0;
            for (int b = 1; b < size; b++) {
                const double w = columns[b][a][lane];
                row += (a < SIZE) == (b < SIZE) ? (w < 0.0 ? -w : w) : 0.0;
                mixed += a >= SIZE && b < SIZE ? w * w : 0.0;
            }
            shear = a > 0 && a < SIZE && row > shear ? row : shear;
            bend = a >= SIZE && row > bend ? row : bend;
            for (int b = a; b < size && f->block != NULL; b++) {
                f->block[((size_t)chunk * (size_t)pairs + (size_t)pair_of(size, a, b)) * RP_CHUNK +
                         (size_t)lane] = (float)columns[b][a][lane];
            }
        }
        // largest eigenvalues: both bound that of shear, and the root that of the whole
        const double normal = columns[0][0][lane], tiny = 1e-12;
        shear = own - normal < shear ? own - normal : shear;
        const double half = 0.5 * (shear - bend);
        const double most = 0.5 * (shear + bend) + sqrt(half * half + mixed);
        const size_t at = (size_t)chunk * RP_CHUNK + (size_t)lane;
        f->scale[at] = own / SIZE > 1.0 ? own / SIZE : 1.0;
        f->per[(size_t)chunk * 2 * RP_CHUNK + (size_t)lane] = normal > tiny ? 1.0 / normal : 0.0;
        f->per[(size_t)chunk * 2 * RP_CHUNK + RP_CHUNK + (size_t)lane] =
            most > tiny ? 1.0 / most : 0.0;
    }
}

void RP_FRICTION(measure)(const rp_friction_problem *f, rp_local page)
{
    for (rp_local chunk = f->page_chunk[page]; chunk < f->page_chunk[page + 1]; chunk++) {
        if (f->links == CORNERS) {
            measure_chunk(f, chunk, CORNERS);
        } else {
            measure_chunk(f, chunk, AROUND);
        }
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
        for (int c = 0; c < f->size; c++) {
            const size_t at = ((size_t)chunk * (size_t)f->size + (size_t)c) * RP_CHUNK;
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
    const size_t each = (size_t)f->size * RP_CHUNK, first = (size_t)f->page_chunk[page] * each,
                 end = (size_t)f->page_chunk[page + 1] * each;
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

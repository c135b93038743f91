// Anderson's acceleration over pairs of coloured Gauss-Seidel sweeps: each pair, forth and back, is
// a map of the stresses whose fixed point obeys the law, and the next start is the combination of
// the last results whose changes cancel best. Velocities and what walls give are affine in the
// stresses, so that they are combined with the same weights and need not be summed anew.
#include "base/threads.h"
#include "solver/nonsmooth/problem.h"

#include "solver/variant_list.h"

#include <math.h>
#include <string.h>

// ---- variants ----

#define DECLARE(dim, isa)                                                                          \
    void rp_friction_sum_##dim##d_##isa(const rp_grains *, rp_node_sum *);                         \
    void rp_friction_vectors_##dim##d_##isa(const rp_grains *, const int[3], double *);            \
    void rp_friction_corners_##dim##d_##isa(const rp_grains *, const int[3], double *,             \
                                            rp_node_sum *);                                        \
    void rp_friction_measure_##dim##d_##isa(const rp_friction_problem *, rp_local);                \
    void rp_friction_apply_##dim##d_##isa(const rp_friction_problem *, rp_local);                  \
    void rp_friction_sweep_##dim##d_##isa(const rp_friction_problem *, rp_local, bool);            \
    void rp_friction_hold_##dim##d_##isa(const rp_friction_problem *, rp_local);                   \
    double rp_friction_residual_##dim##d_##isa(const rp_friction_problem *, const double *,        \
                                               const double *, rp_local, double *);                \
    void rp_friction_compare_##dim##d_##isa(const rp_friction_problem *, const rp_anderson *,      \
                                            rp_local, double[RP_SUMS]);                            \
    void rp_friction_mix_##dim##d_##isa(const rp_friction_problem *, const rp_anderson *, rp_local);
RP_FOR_EACH_SOLVER_VARIANT(DECLARE)

enum { isa_plain = RP_ISA_PLAIN, isa_avx2 = RP_ISA_AVX2, isa_avx512 = RP_ISA_AVX512 };

#define ROW(d, i)                                                                                  \
    {.dim = d,                                                                                     \
     .isa = isa_##i,                                                                               \
     .sum = rp_friction_sum_##d##d_##i,                                                            \
     .vectors = rp_friction_vectors_##d##d_##i,                                                    \
     .corners = rp_friction_corners_##d##d_##i,                                                    \
     .measure = rp_friction_measure_##d##d_##i,                                                    \
     .apply = rp_friction_apply_##d##d_##i,                                                        \
     .sweep = rp_friction_sweep_##d##d_##i,                                                        \
     .grip = rp_friction_hold_##d##d_##i,                                                          \
     .residual = rp_friction_residual_##d##d_##i,                                                  \
     .compare = rp_friction_compare_##d##d_##i,                                                    \
     .mix = rp_friction_mix_##d##d_##i},
static const rp_friction_kernels table[] = {RP_FOR_EACH_SOLVER_VARIANT(ROW)};

const rp_friction_kernels *rp_friction_kernels_find(int dim, int isa)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].dim == dim && table[i].isa == isa) {
            return &table[i];
        }
    }
    return NULL;
}

// ---- loops over pages ----

enum {
    WINDOW = 3,    // more do not pay for their memory
    TOGETHER = 10, // sweeps between two looks at the residual
    TURNS = 4,     // of the walls of one node, where there are several
};

typedef struct solving {
    rp_friction_problem *f;
    const rp_friction_kernels *k;
    const rp_friction_wish *wish;
    rp_anderson past;
    const rp_local *page;     // of the colour
    const double *lambda, *u; // that the residual is of
    double (*sums)[RP_SUMS];  // [page]
} solving;

static void in_colours(solving *s, void (*body)(void *, int64_t, int))
{
    for (int c = 0; c < RP_COLOURS_MOST; c++) {
        const rp_local first = s->f->colour[c], end = s->f->colour[c + 1];
        s->page = s->f->in_colour + first;
        if (end > first) {
            rp_parallel_for(s->wish->threads, end - first, 1, body, s);
        }
    }
}

static void on_pages(solving *s, void (*body)(void *, int64_t, int))
{
    rp_parallel_for(s->wish->threads, s->f->pages, 8, body, s);
}

static void measure_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const solving *s = context;
    s->k->measure(s->f, (rp_local)page);
}

static void apply_page(void *context, int64_t i, int thread)
{
    (void)thread;
    const solving *s = context;
    s->k->apply(s->f, s->page[i]);
}

static void sweep_page(void *context, int64_t i, int thread)
{
    (void)thread;
    const solving *s = context;
    s->k->sweep(s->f, s->page[i], s->wish->exact);
}

static void grip_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const solving *s = context;
    s->k->grip(s->f, (rp_local)page);
}

static void residual_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const solving *s = context;
    s->sums[page][0] = s->k->residual(s->f, s->lambda, s->u, (rp_local)page, &s->sums[page][1]);
}

static void compare_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const solving *s = context;
    s->k->compare(s->f, &s->past, (rp_local)page, s->sums[page]);
}

static void mix_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const solving *s = context;
    s->k->mix(s->f, &s->past, (rp_local)page);
}

void rp_friction_apply(rp_friction_problem *f, const rp_friction_kernels *k, int threads)
{
    const rp_friction_wish wish = {.threads = threads};
    solving s = {.f = f, .k = k, .wish = &wish};
    in_colours(&s, apply_page);
}

// Walls have their say, and those that are led go on and have it once more.
// @return whether these are still far from where they go
static bool ask_walls(solving *s)
{
    on_pages(s, grip_page);
    const bool far = s->wish->lead != NULL && s->wish->lead(s->wish->context);
    if (s->wish->lead != NULL) {
        on_pages(s, grip_page);
    }
    return far;
}

// Velocities from the stresses alone.
static void find_velocities(solving *s)
{
    memcpy(s->f->u, s->f->start, rp_friction_velocities(s->f) * 4 * sizeof(double));
    in_colours(s, apply_page);
    for (int turn = 0; turn < TURNS && s->f->grips > 0; turn++) {
        (void)ask_walls(s);
    }
}

static double residual_of(solving *s, const double *lambda, const double *u)
{
    s->lambda = lambda;
    s->u = u;
    on_pages(s, residual_page);
    double sum = 0.0, most = 0.0;
    for (rp_local p = 0; p < s->f->pages; p++) {
        sum += s->sums[p][0];
        most = s->sums[p][1] <= most ? most : s->sums[p][1];
    }
    return s->wish->largest ? most : sum / (1.0 + (double)s->f->points);
}

static bool sweep_twice(solving *s)
{
    in_colours(s, sweep_page);
    return s->f->grips > 0 && ask_walls(s);
}

// ---- acceleration ----

// Weights of the past: least squares over the changes. A tiny share is added to the diagonal, where
// changes may be alike.
static void find_weights(rp_anderson *a, double A[][RP_ANDERSON_MOST], const double *right)
{
    double M[RP_ANDERSON_MOST][RP_ANDERSON_MOST + 1];
    const int n = a->used;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            M[i][j] = A[i][j];
        }
        M[i][i] = M[i][i] * (1.0 + 1e-7) + 1e-300;
        M[i][n] = right[i];
    }
    for (int i = 0; i < n; i++) {
        for (int r = 0; r < n; r++) {
            const double q = M[r][i] / M[i][i];
            for (int c = i; c <= n && r != i; c++) {
                M[r][c] -= q * M[i][c];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        a->weight[i] = -M[i][n] / M[i][i];
    }
}

typedef struct memory_of {
    double (*product)[RP_ANDERSON_MOST];
    double last; // size of the last change
    bool first;
} memory_of;

static void accelerate(solving *s, memory_of *m)
{
    rp_anderson *a = &s->past;
    a->grow = !m->first;
    if (a->grow) {
        a->used = a->used < a->window ? a->used + 1 : a->window;
    }
    on_pages(s, compare_page);
    double sum[RP_SUMS] = {0};
    for (rp_local p = 0; p < s->f->pages; p++) {
        for (int i = 0; i < RP_SUMS; i++) {
            sum[i] += s->sums[p][i];
        }
    }
    memset(a->weight, 0, sizeof a->weight);
    bool forgets = false;
    if (a->grow) {
        for (int h = 0; h < a->used; h++) {
            m->product[a->newest][h] = m->product[h][a->newest] = sum[1 + RP_ANDERSON_MOST + h];
        }
        forgets = !(sum[0] <= 4.0 * m->last); // it got worse: the past is of no use
        if (!forgets) {
            find_weights(a, m->product, sum + 1);
        }
    }
    on_pages(s, mix_page);
    if (a->grow) {
        a->newest = (a->newest + 1) % a->window;
    }
    if (forgets) {
        a->used = a->newest = 0;
    }
    m->first = false;
    m->last = sum[0];
}

static void *take(char **memory, size_t bytes)
{
    void *out = *memory;
    *memory += (bytes + 63) / 64 * 64;
    return out;
}

// Arrays of the solve; returns where they end.
static size_t lay_out(const rp_friction_problem *f, char *memory, solving *s, double **best)
{
    const size_t stresses = rp_friction_stresses(f), velocities = rp_friction_velocities(f) * 4;
    char *at = memory;
    rp_anderson *a = &s->past;
    *best = take(&at, stresses * sizeof(double));
    s->sums = take(&at, (size_t)(f->pages + 1) * sizeof *s->sums);
    a->x = take(&at, stresses * sizeof(double));
    a->g = take(&at, stresses * sizeof(double));
    a->u = take(&at, velocities * sizeof(double));
    a->f = take(&at, stresses * sizeof(float));
    for (int h = 0; h < WINDOW; h++) {
        a->df[h] = take(&at, stresses * sizeof(float));
        a->dg[h] = take(&at, stresses * sizeof(double));
        a->du[h] = take(&at, velocities * sizeof(double));
    }
    return (size_t)(at - memory);
}

size_t rp_friction_bytes(const rp_friction_problem *f)
{
    solving s = {0};
    double *best;
    return lay_out(f, NULL, &s, &best);
}

// Which point is farthest from the law, or no number.
static uint32_t find_worst(solving *s, rp_local *page_out)
{
    rp_local page = 0;
    (void)residual_of(s, s->f->lambda, s->f->u);
    for (rp_local p = 1; p < s->f->pages; p++) {
        if (isnan(s->sums[page][1])) {
            break;
        }
        page = s->sums[p][1] <= s->sums[page][1] ? page : p;
    }
    *page_out = page;
    // one chunk after the other, as a page of its own
    rp_friction_problem one = *s->f;
    rp_local range[2];
    double worst = -1.0;
    uint32_t found = 0;
    one.page_chunk = range;
    for (rp_local c = s->f->page_chunk[page]; c < s->f->page_chunk[page + 1]; c++) {
        double here;
        range[0] = c;
        range[1] = c + 1;
        (void)s->k->residual(&one, s->f->lambda, s->f->u, 0, &here);
        if (!(here <= worst)) {
            worst = here;
            found = s->f->point[(size_t)c * RP_CHUNK];
        }
        if (isnan(worst)) {
            break;
        }
    }
    return found;
}

rp_friction_outcome rp_friction_solve(rp_friction_problem *f, const rp_friction_kernels *k,
                                      const rp_friction_wish *wish, void *memory)
{
    solving s = {.f = f, .k = k, .wish = wish, .past = {.window = WINDOW}};
    const size_t bytes = rp_friction_stresses(f) * sizeof(double);
    double *best, product[RP_ANDERSON_MOST][RP_ANDERSON_MOST] = {{0}};
    memory_of past = {.product = product, .first = true};
    (void)lay_out(f, memory, &s, &best);
    rp_friction_outcome out = {0};

    memcpy(f->u, f->start, rp_friction_velocities(f) * 4 * sizeof(double)); // inverse masses
    on_pages(&s, measure_page);
    find_velocities(&s);
    // a start that obeys the law already is kept
    double residual = residual_of(&s, f->lambda, f->u);
    out.residual = residual;
    memcpy(best, f->lambda, bytes);
    memcpy(s.past.x, f->lambda, bytes);
    bool far = wish->lead != NULL && f->grips > 0;
    while ((!(residual < wish->tolerance) || far) && out.sweeps < wish->sweeps &&
           !isnan(residual)) {
        for (int i = 0; i < TOGETHER && out.sweeps < wish->sweeps; i += 2, out.sweeps += 2) {
            far = sweep_twice(&s);
            if (wish->accelerate) {
                accelerate(&s, &past);
            }
        }
        // of what the sweeps came to, not of what was made of it
        const double *lambda = wish->accelerate ? s.past.g : f->lambda;
        residual = residual_of(&s, lambda, wish->accelerate ? s.past.u : f->u);
        if (residual < out.residual) {
            out.residual = residual;
            memcpy(best, lambda, bytes);
        }
    }
    memcpy(f->lambda, best, bytes);
    find_velocities(&s);
    out.worst = !(out.residual < wish->tolerance) ? find_worst(&s, &out.worst_page) : 0;
    return out;
}

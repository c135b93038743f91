#include "solver/implicit/system.h"

#include "base/result.h"
#include "base/threads.h"
#include "solver/common.h"

#include <math.h>
#include <string.h>

#define REAL    float
#define NAME(x) x##_single
#include "solver/implicit/page_nodes.h"
#undef REAL
#undef NAME
#define REAL    double
#define NAME(x) x##_double
#include "solver/implicit/page_nodes.h"
#undef REAL
#undef NAME

// One of the two, by the world's precision.
#define EITHER(s, call, ...)                                                                       \
    ((s)->step->grid->layout.precision == RP_SINGLE ? call##_single(s, __VA_ARGS__)                \
                                                    : call##_double(s, __VA_ARGS__))

#define GET(pointer, bytes, what)                                                                  \
    do {                                                                                           \
        (pointer) = rp_scratch_get(step->scratch, (bytes), (what));                                \
        if ((pointer) == NULL) {                                                                   \
            return RP_ERR_MEMORY;                                                                  \
        }                                                                                          \
    } while (0)

// What the loops of one product share.
typedef struct looping {
    rp_system *s;
    int set;
    rp_transfer_job job;
    const double *x;
    double *out;
    int channel;
    bool linearises;
} looping;

static void take_page(void *context, int64_t p, int thread)
{
    (void)thread;
    rp_system *s = ((const looping *)context)->s;
    EITHER(s, take, (rp_local)p);
}

rp_result rp_system_begin(rp_system *s, rp_node_numbers *numbers, const rp_step *step,
                          double (*field)[3])
{
    const rp_grid *grid = step->grid;
    const rp_layout *l = &grid->layout;
    const size_t real = (size_t)rp_real_bytes(l), dim = (size_t)l->dim;
    *s = (rp_system){.step = step, .dt = step->dt, .numbers = numbers};
    for (int kind = 0; kind < RP_MATERIAL_KINDS; kind++) {
        s->law[kind] =
            rp_linear_law_find(kind, l->dim, step->kernels->real_bits, step->kernels->isa);
    }
    RP_TRY(rp_nodes_number(numbers, grid, rp_least_node_mass(step)));
    s->length = (int64_t)numbers->count * l->dim;
    const size_t nodes = (size_t)numbers->count + 1;
    GET(s->page, ((size_t)grid->pages + 1) * sizeof *s->page, "nodes of pages");
    GET(s->mass, nodes * sizeof(double), "masses of nodes");
    GET(s->root, nodes * sizeof(double), "masses of nodes");
    GET(s->before, nodes * dim * sizeof(double), "velocities of nodes");
    GET(s->push, nodes * dim * sizeof(double), "accelerations of nodes");
    uint32_t first = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        const uint32_t *number = rp_nodes_numbers(numbers, grid, p);
        s->page[p] = (rp_system_page){.first = first};
        for (int n = 0; n < l->nodes; n++) {
            if (number[n] == RP_NO_NUMBER) {
                continue;
            }
            s->page[p].count++;
            for (int a = 0; a < l->dim; a++) {
                const double more =
                    field != NULL ? field[(size_t)p * (size_t)l->nodes + (size_t)n][a] / step->dt
                                  : 0.0;
                s->push[(size_t)number[n] * dim + (size_t)a] = step->gravity[a] + more;
            }
        }
        first += s->page[p].count;
    }
    rp_local most_pages = 1;
    for (int i = 0; i < step->species_count; i++) {
        const rp_set *set = &step->set[i];
        const size_t slots = (size_t)set->slots + RP_LANES;
        most_pages = set->pages > most_pages ? set->pages : most_pages;
        if (!rp_set_has_mass(set)) {
            continue;
        }
        s->linear[i].comps = rp_linear_reals(l->dim);
        GET(s->linear[i].data, slots * real * (size_t)s->linear[i].comps,
            "the linearisation of particles");
    }
    GET(s->det, (size_t)most_pages * sizeof *s->det, "determinants of pages");
    looping loop = {.s = s};
    rp_parallel_for(step->threads, grid->pages, 16, take_page, &loop);
    return RP_OK;
}

static void spread_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const looping *loop = context;
    EITHER(loop->s, spread, loop->channel, loop->x, (rp_local)p);
}

void rp_system_spread(const rp_system *s, int channel, const double *x)
{
    looping loop = {.s = (rp_system *)s, .x = x, .channel = channel};
    rp_parallel_for(s->step->threads, s->step->grid->pages, 16, spread_page, &loop);
}

static void balance_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const looping *loop = context;
    const rp_system *s = loop->s;
    const rp_balance what = {.channel = RP_CH_BALANCE,
                             .linear = s->linear[loop->set],
                             .law = s->law,
                             .scale = s->dt,
                             .least_det = loop->linearises ? &s->det[p] : NULL};
    s->step->kernels->balance(&loop->job, &what, (rp_local)p);
}

static void collect_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const looping *loop = context;
    rp_system *s = loop->s;
    const rp_step *step = s->step;
    const size_t dim = (size_t)step->grid->layout.dim;
    const rp_system_page *page = &s->page[p];
    for (size_t n = page->first; n < page->first + page->count; n++) {
        for (size_t k = n * dim; k < (n + 1) * dim; k++) {
            const double rest = loop->linearises ? s->before[k] + s->dt * s->push[k] : 0.0;
            loop->out[k] = s->mass[n] * (loop->x[k] - rest);
        }
    }
    step->kernels->sum(step->grid, step->set, step->species_count, 1u << RP_CH_BALANCE,
                       (rp_local)p);
    EITHER(s, collect, loop->out, (rp_local)p);
}

static double balance(rp_system *s, bool linearises, const double *x, double *out)
{
    const rp_step *step = s->step;
    looping loop = {.s = s, .x = x, .out = out, .linearises = linearises};
    double least = INFINITY;
    rp_system_spread(s, RP_CH_BALANCE, x);
    for (int i = 0; i < step->species_count; i++) {
        const rp_set *set = &step->set[i];
        if (!rp_set_has_mass(set)) {
            continue;
        }
        loop.set = i;
        loop.job = (rp_transfer_job){.set = &step->set[i],
                                     .set_index = i,
                                     .grid = step->grid,
                                     .group = step->species[i].group_reals.data,
                                     .group_law = step->species[i].group_laws.data,
                                     .dt = s->dt,
                                     .gradient = step->gradient};
        rp_parallel_for(step->threads, set->pages, 4, balance_page, &loop);
        for (rp_local p = 0; p < set->pages && linearises; p++) {
            least = s->det[p] >= least || isnan(least) ? least : s->det[p];
        }
    }
    rp_parallel_for(step->threads, step->grid->pages, 8, collect_page, &loop);
    return least;
}

double rp_system_residual(rp_system *s, const double *v, double *out)
{
    return balance(s, true, v, out);
}

void rp_system_product(rp_system *s, const double *u, double *out) { balance(s, false, u, out); }

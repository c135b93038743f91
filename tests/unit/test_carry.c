// Generic scatter and gather, and the parts of G2P, for every variant: against a slow reference, as
// transposes of each other, and against the fused G2P.
//
// Bounds on rounding, with u = 2^-24 or 2^-53, as in test_transfer.c: along one axis weights,
// slopes and weights times distance (cells) are at most 1 and wrong by at most AXIS u.
//
//   scatter  products of up to three such numbers and one of the particle: 60 u of what particles
//            have without weights (mpm_sum.reach); n particles are added up and then arenas:
//            2 (n + 4) u of the sum of absolute values (mpm_sum.size).
//
//   gather   nodes of size up to 1: the weights of one axis are wrong by WIDTH AXIS u together,
//            while those of the others sum to 1: d WIDTH AXIS u, and N = WIDTH^d products are
//            added one by one. Slopes sum to 2 in absolute value, fitted ones too, which are
//            multiplied by 1/D (4 or 3), and so is what is wrong with them.
#include "base/threads.h"
#include "check.h"
#include "random.h"
#include "test_set.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AXIS = 15,
    COUNT = 150,
    COMPS = RP_CARRY_LIMIT * 3,
    SLOTS = 4096,
};

static const double inertia_inverse[] = {[2] = 4.0, [3] = 3.0};

// Numbers of the channels: nothing that kernels know, or quads, which take a way of their own.
static int wide = 13;

// ---- the bed ----

static test_particle cloud[COUNT];
static mpm_particle slow[COUNT];
static double own_mass[COUNT], own_times[COUNT], own_value[COUNT][COMPS]; // by id

// Random places and places on the faces of pages; pages of several groups, one group of which is of
// another law.
static void make_bed(test_bed *bed, const rp_kernels *k, bool periodic, bool own)
{
    uint64_t random = 5;
    test_bed_def def = test_default_bed(k, 0.1);
    def.own[0] = def.own[1] = wide;
    def.groups[0] = 3;
    def.group[0][0] = test_group_of(k->dim, RP_ELASTIC, 1.5, 2.0, 0.3, 0.5);
    def.group[0][1] = test_group_of(k->dim, RP_SAND, 0.5, 0.7, 0.2, 0.4);
    def.group[0][2] = test_group_of(k->dim, RP_ELASTIC, 3.0, 1.0, 0.1, 0.9);
    def.columns[0] |= own ? TEST_COLUMN(MASS) : 0u;
    for (int a = 0; a < k->dim && periodic; a++) {
        def.period[a] = 3 * RP_BLOCK_CELLS(k->dim, a);
    }
    for (int i = 0; i < COUNT; i++) {
        test_particle *p = &cloud[i];
        *p = (test_particle){.group = i % 5 == 0 ? i % 3 : 0};
        for (int a = 0; a < k->dim; a++) {
            const double cells = RP_BLOCK_CELLS(k->dim, a);
            p->x[a] = def.h * (i % 4 == 0 ? cells + 0.5 * (k->order - 1)
                                          : test_between(&random, 0.0, 2.0 * cells));
            p->v[a] = test_between(&random, -1.0, 1.0);
            p->strain[a] = -test_between(&random, 0.1, 1.0);
        }
        for (int c = k->dim; c < rp_sym_comps(k->dim); c++) {
            p->strain[c] = test_between(&random, -1.0, 1.0);
        }
    }
    CHECK_HELPER(test_bed_init(bed, &def));
    CHECK_HELPER(test_bed_add(bed, 0, cloud, COUNT));
    CHECK_HELPER(test_bed_sort(bed));
    CHECK(bed->set[0].slots <= SLOTS);
    test_bed_copy(bed, 0, slow);
    for (int i = 0; i < COUNT; i++) {
        own_times[i] = test_bed_rounded(bed, test_between(&random, -2.0, 2.0));
        own_mass[i] = slow[i].mass;
        for (int c = 0; c < COMPS; c++) {
            own_value[i][c] = test_bed_rounded(bed, test_between(&random, -1.0, 1.0));
        }
        if (own) {
            own_mass[i] = test_bed_rounded(bed, test_between(&random, 0.5, 1.5));
            const rp_local slot = test_bed_slot(bed, 0, (uint64_t)i);
            test_bed_put(bed, rp_set_at(&bed->set[0], RP_COL_MASS, slot, 0), 0, own_mass[i]);
        }
    }
}

static uint64_t id_of(const test_bed *bed, rp_local slot)
{
    return *(const uint64_t *)rp_set_at(&bed->set[0], RP_COL_ID, slot, 0);
}

// Where in lanes of `comps` numbers one of them is.
static int64_t lane_at(rp_local slot, int comps, int comp)
{
    return (int64_t)(slot / RP_LANES) * comps * RP_LANES + comp * RP_LANES + slot % RP_LANES;
}

static double lanes[SLOTS * COMPS], times[SLOTS]; // of either precision

// Random numbers in lanes; what lies past the end of pages is no number, and nobody may look.
static void fill_lanes(const test_bed *bed, int comps)
{
    memset(lanes, 0xff, sizeof lanes);
    memset(times, 0xff, sizeof times);
    for (rp_local p = 0; p < bed->set[0].pages; p++) {
        const rp_page *page = &rp_set_page(&bed->set[0])[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const uint64_t id = id_of(bed, slot);
            test_bed_put(bed, times, slot, own_times[id]);
            for (int c = 0; c < comps; c++) {
                test_bed_put(bed, lanes, lane_at(slot, comps, c), own_value[id][c]);
            }
        }
    }
}

// ---- quantities ----

// Numbers of a node; of a particle it is lanes.comps.
static int numbers_of(const rp_carry *what, int dim)
{
    switch (what->form) {
    case RP_CARRY_VALUES:
        return what->lanes.comps;
    case RP_CARRY_GRADIENTS:
        return what->lanes.comps / dim;
    default:
        return dim;
    }
}

// Which number of the particle belongs to (k, j); -1: none.
static int place_of(const rp_carry *what, int dim, int k, int j)
{
    static const int sym2[2][2] = {{0, 2}, {2, 1}}, sym3[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    switch (what->form) {
    case RP_CARRY_VALUES:
        return k;
    case RP_CARRY_GRADIENTS:
        return k * dim + j;
    case RP_CARRY_SYMMETRIC:
        return dim == 2 ? sym2[k][j] : sym3[k][j];
    default:
        return j == k ? 0 : -1;
    }
}

static double factor_of(const rp_carry *what, int id)
{
    return what->scale * (what->times.data != NULL ? own_times[id] : 1.0) *
           (what->factor == RP_TIMES_MASS     ? own_mass[id]
            : what->factor == RP_TIMES_VOLUME ? slow[id].volume
                                              : 1.0);
}

static double value_of(const rp_carry *what, int dim, int id, int k, int j)
{
    const int place = place_of(what, dim, k, j);
    return place < 0                  ? 0.0
           : what->stress             ? slow[id].tau[k][j]
           : what->lanes.data != NULL ? own_value[id][place]
                                      : 1.0;
}

// All forms, with all factors among them.
static int quantities(const test_bed *bed, rp_carry out[12])
{
    const int dim = bed->layout.dim, sym = rp_sym_comps(dim);
    const rp_lanes by = {times, 1};
    const rp_carry list[] = {
        {.form = RP_CARRY_VALUES, .lanes = {lanes, 1}, .scale = 1.0},
        {.form = RP_CARRY_VALUES, .lanes = {NULL, 1}, .factor = RP_TIMES_MASS, .scale = 1.0},
        {.form = RP_CARRY_VALUES, .lanes = {lanes, dim}, .first = 4, .times = by, .scale = 0.5},
        {.form = RP_CARRY_VALUES, .lanes = {lanes, 9}, .factor = RP_TIMES_VOLUME, .scale = 1.0},
        {.form = RP_CARRY_GRADIENTS, .lanes = {lanes, dim}, .first = 12, .scale = 1.0},
        {.form = RP_CARRY_GRADIENTS, .lanes = {lanes, dim * dim}, .times = by, .scale = -1.5},
        {.form = RP_CARRY_GRADIENTS, .lanes = {lanes, dim * 9}, .first = 2, .scale = 1.0},
        {.form = RP_CARRY_SYMMETRIC, .lanes = {lanes, sym}, .factor = RP_TIMES_VOLUME, .scale = 2},
        {.form = RP_CARRY_DIVERGENCE, .lanes = {lanes, 1}, .first = 1, .scale = 1.0},
        {.form = RP_CARRY_DIVERGENCE, .lanes = {NULL, 1}, .factor = RP_TIMES_MASS, .scale = 1.0},
        {.form = RP_CARRY_SYMMETRIC,
         .lanes = {NULL, sym},
         .stress = true,
         .factor = RP_TIMES_VOLUME,
         .times = by,
         .scale = -0.25},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (list[i].first + numbers_of(&list[i], dim) <= wide) {
            out[count] = list[i];
            out[count].channel = RP_CH_OWN;
            out[count++].gradient = mpm_affine ? RP_GRADIENT_AFFINE : RP_GRADIENT_SPLINE;
        }
    }
    return count;
}

// ---- the reference ----

typedef struct slow_grid {
    mpm_grid grid;
    mpm_sum *sum; // [node][RP_CARRY_LIMIT]
    double *u;    // [node][wide]
} slow_grid;

static void slow_init(slow_grid *g, const test_bed *bed)
{
    CHECK(mpm_grid_init(&g->grid, bed->layout.dim, bed->layout.order, bed->layout.h,
                        bed->def.period, slow, COUNT));
    g->sum = calloc((size_t)g->grid.nodes * RP_CARRY_LIMIT, sizeof *g->sum);
    g->u = calloc((size_t)g->grid.nodes * wide, sizeof *g->u);
    CHECK(g->sum != NULL && g->u != NULL);
}

static void slow_free(slow_grid *g)
{
    mpm_grid_free(&g->grid);
    free(g->sum);
    free(g->u);
}

typedef struct visit {
    slow_grid *g;
    const rp_carry *what;
    int id;
    double a[RP_CARRY_LIMIT][3]; // gathered
} visit;

// The weight, or its gradient; and how large it may be.
static double functions_of(const visit *v, double w, const double dw[3], const double r[3],
                           double phi[3])
{
    const mpm_grid *grid = &v->g->grid;
    const double fit = mpm_affine ? inertia_inverse[grid->order] / (grid->h * grid->h) : 0.0;
    if (v->what->form == RP_CARRY_VALUES) {
        phi[0] = w;
        return 1.0;
    }
    for (int j = 0; j < grid->dim; j++) {
        phi[j] = mpm_affine ? w * r[j] * fit : dw[j];
    }
    return mpm_affine ? fit * grid->h : 1.0 / grid->h;
}

static void scatter_to(void *ctx, mpm_node *node, double w, const double dw[3], const double r[3])
{
    const visit *v = ctx;
    const int dim = v->g->grid.dim, functions = v->what->form == RP_CARRY_VALUES ? 1 : dim;
    double phi[3];
    const double most = functions_of(v, w, dw, r, phi);
    node->particles++;
    for (int k = 0; k < numbers_of(v->what, dim); k++) {
        mpm_sum *sum = &v->g->sum[(node - v->g->grid.node) * RP_CARRY_LIMIT + k];
        for (int j = 0; j < functions; j++) {
            const double a = factor_of(v->what, v->id) * value_of(v->what, dim, v->id, k, j);
            sum->value += a * phi[j];
            sum->size += fabs(a * phi[j]);
            sum->reach += fabs(a) * most;
        }
    }
}

static void gather_from(void *ctx, mpm_node *node, double w, const double dw[3], const double r[3])
{
    visit *v = ctx;
    const int dim = v->g->grid.dim, functions = v->what->form == RP_CARRY_VALUES ? 1 : dim;
    double phi[3];
    (void)functions_of(v, w, dw, r, phi);
    for (int k = 0; k < numbers_of(v->what, dim); k++) {
        const double u = v->g->u[(node - v->g->grid.node) * wide + v->what->first + k];
        for (int j = 0; j < functions; j++) {
            v->a[k][j] += u * phi[j];
        }
    }
}

static void slow_scatter(slow_grid *g, const rp_carry *what)
{
    memset(g->sum, 0, (size_t)g->grid.nodes * RP_CARRY_LIMIT * sizeof *g->sum);
    for (int64_t n = 0; n < g->grid.nodes; n++) {
        g->grid.node[n].particles = 0;
    }
    for (int i = 0; i < COUNT; i++) {
        mpm_visit(&g->grid, &slow[i], scatter_to, &(visit){.g = g, .what = what, .id = i});
    }
}

// What a particle gets, as lanes have it.
static void slow_gather(slow_grid *g, const rp_carry *what, int id, double out[COMPS])
{
    visit v = {.g = g, .what = what, .id = id};
    const int dim = g->grid.dim;
    mpm_visit(&g->grid, &slow[id], gather_from, &v);
    memset(out, 0, COMPS * sizeof *out);
    for (int k = 0; k < numbers_of(what, dim); k++) {
        for (int j = 0; j < (what->form == RP_CARRY_VALUES ? 1 : dim); j++) {
            const int place = place_of(what, dim, k, j);
            const bool twice = what->form == RP_CARRY_SYMMETRIC && j != k;
            if (place >= 0) {
                out[place] += factor_of(what, id) * v.a[k][j] * (twice ? 0.5 : 1.0);
            }
        }
    }
}

static double scatter_bound(const test_bed *bed, const mpm_sum *sum, int particles)
{
    return bed->unit * ((3 * AXIS + 15) * sum->reach + 2.0 * (particles + 4) * sum->size);
}

static double gather_bound(const test_bed *bed, const rp_carry *what, int id)
{
    const int dim = bed->layout.dim, order = bed->layout.order, width = order + 1;
    const double nodes = pow(width, dim), size = fabs(factor_of(what, id));
    if (what->form == RP_CARRY_VALUES) {
        return bed->unit * size * (AXIS * dim * width + nodes + 8.0);
    }
    const double fit = mpm_affine ? inertia_inverse[order] : 1.0;
    const double each = AXIS * width * (fit + 2.0 * (dim - 1)) + 2.0 * (nodes + 8.0);
    return bed->unit * size * each / bed->layout.h *
           (what->form == RP_CARRY_DIVERGENCE ? (double)dim : 1.0);
}

// ---- the kernels ----

typedef struct loop {
    test_bed *bed;
    const rp_carry *what;
    rp_page_report report;
    rp_lanes velocity, gradient, density;
} loop;

static void scatter_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loop *l = ctx;
    l->bed->def.kernels->scatter(&l->bed->job[0], l->what, (rp_local)page);
}

static void gather_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loop *l = ctx;
    l->bed->def.kernels->gather(&l->bed->job[0], l->what, (rp_local)page);
}

static void sum_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loop *l = ctx;
    l->bed->def.kernels->sum(&l->bed->grid, l->bed->set, 1, 1u << RP_CH_OWN, (rp_local)page);
}

static void scatter(test_bed *bed, const rp_carry *what)
{
    loop l = {.bed = bed, .what = what};
    rp_parallel_for(1, bed->set[0].pages, 1, scatter_page, &l);
}

static void sum(test_bed *bed)
{
    rp_parallel_for(1, bed->grid.pages, 1, sum_page, &(loop){.bed = bed});
}

static void gather(test_bed *bed, const rp_carry *what)
{
    loop l = {.bed = bed, .what = what};
    rp_parallel_for(1, bed->set[0].pages, 1, gather_page, &l);
}

// ---- tests ----

// Every node has what the reference has, the numbers around it stay zero, and no node is missing.
static void compare_nodes(const test_bed *bed, slow_grid *g, const rp_carry *what)
{
    const int numbers = numbers_of(what, bed->layout.dim);
    for (int64_t n = 0; n < g->grid.nodes; n++) {
        g->grid.node[n].seen = false;
    }
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        const void *nodes = rp_grid_nodes(&bed->grid, what->channel, p);
        for (int n = 0; n < bed->layout.nodes; n++) {
            static const mpm_sum nothing;
            int32_t index[3];
            test_bed_index(bed, p, n, index);
            mpm_node *node = mpm_at(&g->grid, index);
            for (int c = 0; c < wide; c++) {
                const int k = c - what->first;
                const bool inside = k >= 0 && k < numbers && node != NULL;
                const mpm_sum *want =
                    inside ? &g->sum[(node - g->grid.node) * RP_CARRY_LIMIT + k] : &nothing;
                CHECK_NEAR(test_bed_get(bed, nodes, wide * n + c), want->value,
                           scatter_bound(bed, want, node != NULL ? node->particles : 0));
            }
            if (node != NULL) {
                node->seen = true;
            }
        }
    }
    for (int64_t n = 0; n < g->grid.nodes; n++) {
        CHECK(g->grid.node[n].seen || g->sum[n * RP_CARRY_LIMIT].size == 0.0);
    }
}

static void scatter_all(const rp_kernels *k)
{
    for (int bed_of = 0; bed_of < 4; bed_of++) {
        wide = bed_of == 3 ? RP_QUAD : 13;
        test_bed bed;
        slow_grid g;
        rp_carry list[12];
        CHECK_HELPER(make_bed(&bed, k, bed_of == 1, bed_of >= 2));
        CHECK_HELPER(slow_init(&g, &bed));
        const int count = quantities(&bed, list);
        for (int i = 0; i < count; i++) {
            fill_lanes(&bed, list[i].lanes.comps);
            scatter(&bed, &list[i]);
            sum(&bed);
            slow_scatter(&g, &list[i]);
            CHECK_HELPER(compare_nodes(&bed, &g, &list[i]));
        }
        slow_free(&g);
        test_bed_free(&bed);
    }
}
// Fails for a wrong weight, slope, factor, group, number of the channel, or page.
static void any_quantity_arrives_at_the_nodes(void) { test_each_variant(scatter_all); }

// Numbers in [-1, 1) by node.
static double random_number(const int32_t index[3], int c)
{
    uint64_t random =
        rp_mix64((uint64_t)(index[0] * 1000003 + index[1] * 1009 + index[2] + c * 7919));
    return test_between(&random, -1.0, 1.0);
}

static void set_nodes(test_bed *bed, slow_grid *g, int channel)
{
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        void *nodes = rp_grid_nodes(&bed->grid, channel, p);
        for (int n = 0; n < bed->layout.nodes; n++) {
            int32_t index[3];
            test_bed_index(bed, p, n, index);
            for (int c = 0; c < wide; c++) {
                test_bed_put(bed, nodes, wide * n + c, random_number(index, c));
            }
        }
    }
    for (int64_t n = 0; n < g->grid.nodes; n++) {
        int32_t index[3];
        mpm_index(&g->grid, n, index);
        for (int c = 0; c < wide; c++) {
            g->u[n * wide + c] = test_bed_rounded(bed, random_number(index, c));
        }
    }
}

static void gather_all(const rp_kernels *k)
{
    for (int bed_of = 0; bed_of < 4; bed_of++) {
        wide = bed_of == 3 ? RP_QUAD : 13;
        test_bed bed;
        slow_grid g;
        rp_carry list[12];
        CHECK_HELPER(make_bed(&bed, k, bed_of == 1, bed_of >= 2));
        CHECK_HELPER(slow_init(&g, &bed));
        set_nodes(&bed, &g, RP_CH_OWN);
        const int count = quantities(&bed, list);
        for (int i = 0; i < count; i++) {
            list[i].lanes.data = lanes;
            list[i].stress = false;
            const int comps = list[i].lanes.comps;
            fill_lanes(&bed, comps);
            gather(&bed, &list[i]);
            for (rp_local p = 0; p < bed.set[0].pages; p++) {
                const rp_page *page = &rp_set_page(&bed.set[0])[p];
                const rp_local past = page->first + page->count,
                               end = (past + RP_LANES - 1) / RP_LANES * RP_LANES;
                for (rp_local slot = page->first; slot < end; slot++) {
                    const int id = slot < past ? (int)id_of(&bed, slot) : -1;
                    double want[COMPS] = {0};
                    if (id >= 0) {
                        slow_gather(&g, &list[i], id, want);
                    }
                    for (int c = 0; c < comps; c++) {
                        CHECK_NEAR(test_bed_get(&bed, lanes, lane_at(slot, comps, c)), want[c],
                                   id >= 0 ? gather_bound(&bed, &list[i], id) : 0.0);
                    }
                }
            }
        }
        slow_free(&g);
        test_bed_free(&bed);
    }
}
// Fails likewise, and when a lane past the end of a page is left with anything.
static void any_quantity_arrives_at_the_particles(void) { test_each_variant(gather_all); }

// u . scatter(a) = a . gather(u), the pairs of a symmetric tensor counted twice. No reference but
// for bounds.
static void transposes(const rp_kernels *k)
{
    wide = 13;
    static double before[SLOTS * COMPS];
    test_bed bed;
    slow_grid g;
    rp_carry list[12];
    CHECK_HELPER(make_bed(&bed, k, true, false));
    CHECK_HELPER(slow_init(&g, &bed));
    set_nodes(&bed, &g, RP_CH_OWN + 1);
    const int count = quantities(&bed, list), dim = bed.layout.dim;
    for (int i = 0; i < count; i++) {
        rp_carry what = list[i];
        const int comps = what.lanes.comps, numbers = numbers_of(&what, dim);
        what.stress = false;
        what.lanes.data = lanes;
        fill_lanes(&bed, comps);
        memcpy(before, lanes, sizeof lanes);
        scatter(&bed, &what);
        sum(&bed);
        slow_scatter(&g, &what);
        what.channel = RP_CH_OWN + 1;
        gather(&bed, &what);
        double at_nodes = 0.0, at_particles = 0.0, size = 0.0, bound = 0.0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            for (int n = 0; n < bed.layout.nodes; n++) {
                int32_t index[3];
                test_bed_index(&bed, p, n, index);
                const mpm_node *node = mpm_at(&g.grid, index);
                for (int c = what.first; c < what.first + numbers; c++) {
                    const double u = test_bed_get(&bed, rp_grid_nodes(&bed.grid, RP_CH_OWN + 1, p),
                                                  wide * n + c);
                    at_nodes += u * test_bed_get(&bed, rp_grid_nodes(&bed.grid, RP_CH_OWN, p),
                                                 wide * n + c);
                    bound +=
                        fabs(u) *
                        scatter_bound(
                            &bed, &g.sum[(node - g.grid.node) * RP_CARRY_LIMIT + c - what.first],
                            node->particles);
                }
            }
        }
        for (int id = 0; id < COUNT; id++) {
            const rp_local slot = test_bed_slot(&bed, 0, (uint64_t)id);
            for (int c = 0; c < comps; c++) {
                const int64_t at = lane_at(slot, comps, c);
                const double pair = what.form == RP_CARRY_SYMMETRIC && c >= dim ? 2.0 : 1.0;
                const double a = pair * test_bed_get(&bed, before, at);
                at_particles += a * test_bed_get(&bed, lanes, at);
                size += fabs(a * test_bed_get(&bed, lanes, at));
                bound += fabs(a) * gather_bound(&bed, &what, id);
            }
        }
        CHECK_NEAR(at_nodes, at_particles, bound);
        // what is added up is large enough for the bound to say something
        CHECK(bound < 1e5 * bed.unit * size);
    }
    slow_free(&g);
    test_bed_free(&bed);
}
static void scatter_is_the_transpose_of_gather(void) { test_each_variant(transposes); }

// Several quantities share a channel: the first clears, the others add.
static void share_channel(const rp_kernels *k)
{
    test_bed bed;
    slow_grid g;
    CHECK_HELPER(make_bed(&bed, k, false, false));
    CHECK_HELPER(slow_init(&g, &bed));
    const rp_carry mass = {
        .channel = RP_CH_OWN, .lanes = {NULL, 1}, .factor = RP_TIMES_MASS, .scale = 1.0};
    rp_carry twice = mass;
    twice.add = true;
    scatter(&bed, &mass);
    scatter(&bed, &mass);
    scatter(&bed, &twice);
    sum(&bed);
    rp_carry both = mass;
    both.scale = 2.0;
    slow_scatter(&g, &both);
    CHECK_HELPER(compare_nodes(&bed, &g, &both));
    slow_free(&g);
    test_bed_free(&bed);
}
static void quantities_add_up_where_they_are_told_to(void) { test_each_variant(share_channel); }

// ---- the parts of G2P ----

static void random_quad(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const test_bed *bed = ctx;
    for (int a = 0; a < bed->layout.dim; a++) {
        quad[a] = 0.3 * random_number(index, a);
    }
    quad[3] = 1.0 + 0.5 * random_number(index, 3);
}

static void move_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    loop *l = ctx;
    l->bed->def.kernels->move(&l->bed->job[0], l->velocity, (rp_local)page, &l->report);
}

static void update_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    loop *l = ctx;
    l->bed->def.kernels->update(&l->bed->job[0], l->gradient, l->density, (rp_local)page,
                                &l->report);
}

// All bytes of a column are the same in both beds.
static bool same_column(const test_bed *a, const test_bed *b, rp_column_id c)
{
    const rp_column *x = &a->set[0].column[c], *y = &b->set[0].column[c];
    const size_t bytes = (size_t)a->set[0].slots * x->comps * x->bytes;
    return bytes > 0 && memcmp(x->buffer.data, y->buffer.data, bytes) == 0;
}

// The numbers of a column are those of the other bed, up to some roundings of the largest.
static bool near_column(const test_bed *a, const test_bed *b, rp_column_id c)
{
    static const double ROUNDINGS = 64.0;
    const rp_column *x = &a->set[0].column[c], *y = &b->set[0].column[c];
    double largest = 0.0, off = 0.0;
    for (rp_local i = 0; i < a->set[0].slots * x->comps; i++) {
        const double one = test_bed_get(a, x->buffer.data, i);
        const double two = test_bed_get(b, y->buffer.data, i);
        largest = fmax(largest, fabs(one));
        off = fmax(off, fabs(one - two));
    }
    const double rounding = a->layout.precision == RP_SINGLE ? FLT_EPSILON : DBL_EPSILON;
    return largest > 0.0 && off <= ROUNDINGS * rounding * largest;
}

// Gather by quantities, then move and update: numbers within the bounds of both gathers. And with
// the very numbers that G2P gathered, move and update give its bits.
static void split_g2p(const rp_kernels *k)
{
    static double gradients[SLOTS * 9], densities[SLOTS], other[SLOTS * 9];
    test_bed fused, split;
    CHECK_HELPER(make_bed(&fused, k, true, true));
    CHECK_HELPER(make_bed(&split, k, true, true));
    const int dim = k->dim;
    for (test_bed *bed = &fused; bed != NULL; bed = bed == &fused ? &split : NULL) {
        bed->job[0].dt = 0.05;
        bed->job[0].account = true;
        test_bed_set_nodes(bed, RP_CH_MOMENTUM, random_quad, bed);
    }
    const double per_volume = pow(split.layout.h, -dim);
    const rp_page_report whole = test_bed_g2p(&fused, 0);

    const rp_gradient gradient = split.job[0].gradient;
    rp_carry density = {.first = 3, .lanes = {densities, 1}, .scale = per_volume};
    rp_carry slopes = {.form = RP_CARRY_GRADIENTS,
                       .gradient = gradient,
                       .lanes = {gradients, dim * dim},
                       .scale = 1.0};
    rp_carry velocity = {.lanes = rp_lanes_of(&split.set[0], RP_COL_VELOCITY), .scale = 1.0};
    rp_carry fitted = {.form = RP_CARRY_GRADIENTS,
                       .gradient = RP_GRADIENT_AFFINE,
                       .lanes = {other, dim * dim},
                       .scale = 1.0};
    gather(&split, &density);
    gather(&split, &slopes);
    gather(&split, &velocity);
    gather(&split, &fitted);
    for (rp_local slot = 0; slot < split.set[0].slots; slot++) {
        const double slope = gather_bound(&split, &slopes, 0), value = slope * split.layout.h;
        for (int c = 0; c < dim; c++) {
            CHECK_NEAR(test_bed_get(&split, velocity.lanes.data, lane_at(slot, dim, c)),
                       test_bed_get(&fused, rp_set_at(&fused.set[0], RP_COL_VELOCITY, slot, c), 0),
                       2.0 * value);
        }
        for (int c = 0; c < dim * dim; c++) {
            const int64_t at = lane_at(slot, dim * dim, c);
            const void *C = rp_set_at(&fused.set[0], RP_COL_AFFINE, slot, c);
            CHECK_NEAR(test_bed_get(&split, other, at), test_bed_get(&fused, C, 0), 8.0 * slope);
        }
    }

    // the numbers of G2P, where they can be seen: C is the gradient
    if (mpm_affine || k->order == 1) {
        const rp_set *set = &fused.set[0];
        loop l = {.bed = &split,
                  .velocity = rp_lanes_of(set, RP_COL_VELOCITY),
                  .gradient = rp_lanes_of(set, RP_COL_AFFINE),
                  .density = {densities, 1}};
        rp_parallel_for(1, split.set[0].pages, 1, move_page, &l);
        rp_parallel_for(1, split.set[0].pages, 1, update_page, &l);
        CHECK(same_column(&fused, &split, RP_COL_POSITION));
        CHECK(same_column(&fused, &split, RP_COL_STRAIN));
        CHECK(l.report.speed2 == whole.speed2);
        CHECK(l.report.gradient2 == whole.gradient2);
        CHECK(l.report.move == whole.move);
        CHECK(!l.report.bad);
    }
    test_bed_free(&fused);
    test_bed_free(&split);
}
// Fails when the parts are another step than the whole.
static void the_parts_of_g2p_are_those_of_the_whole(void) { test_each_variant(split_g2p); }

// What is no number is told by the part that meets it.
static void bad_parts(const rp_kernels *k)
{
    static double bad[SLOTS * 9], calm[SLOTS * 9];
    for (int part = 0; part < 2; part++) {
        test_bed bed;
        CHECK_HELPER(make_bed(&bed, k, false, false));
        memset(bad, 0, sizeof bad);
        memset(calm, 0, sizeof calm);
        const rp_page *page = &rp_set_page(&bed.set[0])[bed.set[0].pages - 1];
        test_bed_put(&bed, bad, lane_at(page->first, part == 0 ? k->dim : k->dim * k->dim, 1), NAN);
        for (int with = 0; with < 2; with++) {
            double *data = with ? bad : calm;
            loop l = {.bed = &bed, .velocity = {data, k->dim}, .gradient = {data, k->dim * k->dim}};
            l.density = (rp_lanes){calm, 1};
            rp_parallel_for(1, bed.set[0].pages, 1, part == 0 ? move_page : update_page, &l);
            CHECK_EQUAL(l.report.bad, with);
        }
        test_bed_free(&bed);
    }
}
static void what_is_no_number_is_reported_by_its_part(void) { test_each_variant(bad_parts); }

// ---- ways through other channels ----

static void forces_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    loop *l = ctx;
    l->bed->def.kernels->p2g(&l->bed->job[0], (rp_local)page);
}

static bool number_found;
static bool number_any;

static void number_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    loop *l = ctx;
    number_found |=
        l->bed->def.kernels->number(&l->bed->job[0], RP_CH_OWN, lanes, number_any, (rp_local)page);
}

// Forces alone are those that carry scatters; a channel with twice the velocities and masses, and
// half of all that is gathered there, gives the bits of G2P, but for what comes of slopes, which
// are gathered about the middle of a cell there; one number is what gather finds.
static void through_others(const rp_kernels *k)
{
    test_bed bed, other;
    slow_grid g;
    wide = RP_QUAD;
    CHECK_HELPER(make_bed(&bed, k, true, false));
    CHECK_HELPER(slow_init(&g, &bed));
    rp_carry stress = {.channel = RP_CH_OWN,
                       .form = RP_CARRY_SYMMETRIC,
                       .gradient = bed.job[0].gradient,
                       .lanes = {NULL, rp_sym_comps(k->dim)},
                       .stress = true,
                       .factor = RP_TIMES_VOLUME,
                       .times = {times, 1},
                       .scale = -bed.job[0].dt};
    fill_lanes(&bed, 1);
    bed.job[0].force_channel = RP_CH_OWN;
    bed.job[0].times = times;
    loop l = {.bed = &bed};
    rp_parallel_for(1, bed.set[0].pages, 1, forces_page, &l);
    sum(&bed);
    slow_scatter(&g, &stress);
    CHECK_HELPER(compare_nodes(&bed, &g, &stress));
    slow_free(&g);

    bed.job[0].force_channel = 0;
    CHECK_HELPER(make_bed(&other, k, true, false));
    for (rp_local slot = 0; slot < bed.set[0].slots; slot++) {
        test_bed_put(&bed, times, slot, 0.5);
    }
    test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_quad, &bed);
    test_bed_set_nodes(&other, RP_CH_MOMENTUM, random_quad, &other);
    for (rp_local p = 0; p < bed.grid.pages; p++) {
        const void *from = rp_grid_nodes(&bed.grid, RP_CH_MOMENTUM, p);
        void *to = rp_grid_nodes(&bed.grid, RP_CH_OWN, p);
        for (int n = 0; n < bed.layout.nodes * RP_QUAD; n++) {
            test_bed_put(&bed, to, n, 2.0 * test_bed_get(&bed, from, n));
        }
    }
    // so short that laws do not make much of roundings
    bed.job[0].dt = other.job[0].dt = 0.01 * bed.layout.h;
    bed.job[0].flow_channel = RP_CH_OWN;
    const rp_page_report one = test_bed_g2p(&bed, 0), two = test_bed_g2p(&other, 0);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (rp_set_has(&bed.set[0], (rp_column_id)c)) {
            check_context("column %d", c);
            CHECK(c == RP_COL_STRAIN ? near_column(&bed, &other, RP_COL_STRAIN)
                                     : same_column(&bed, &other, (rp_column_id)c));
        }
    }
    CHECK_NEAR(one.gradient2, two.gradient2, 1e-4 * two.gradient2);
    CHECK(one.speed2 == two.speed2 && !one.bad);
    test_bed_free(&other);
    test_bed_free(&bed);

    wide = 1;
    CHECK_HELPER(make_bed(&bed, k, true, false));
    CHECK_HELPER(slow_init(&g, &bed));
    set_nodes(&bed, &g, RP_CH_OWN);
    const rp_carry value = {.channel = RP_CH_OWN, .lanes = {lanes, 1}, .scale = 1.0};
    loop numbers = {.bed = &bed};
    for (int any = 0; any < 2; any++) {
        number_any = any != 0;
        number_found = false;
        rp_parallel_for(1, bed.set[0].pages, 1, number_page, &numbers);
        CHECK(number_found);
        for (rp_local p = 0; p < bed.set[0].pages; p++) {
            const rp_page *page = &rp_set_page(&bed.set[0])[p];
            const rp_local known = any && page->count > RP_LANES ? RP_LANES : page->count;
            for (rp_local i = 0; i < (page->count + RP_LANES - 1) / RP_LANES * RP_LANES; i++) {
                const rp_local slot = page->first + i;
                double want[COMPS] = {0};
                const int id = i < known ? (int)id_of(&bed, slot) : -1;
                if (id >= 0) {
                    slow_gather(&g, &value, id, want);
                }
                CHECK_NEAR(test_bed_get(&bed, lanes, slot), want[0],
                           id >= 0 ? gather_bound(&bed, &value, id) : 0.0);
            }
        }
    }
    wide = 13;
    slow_free(&g);
    test_bed_free(&bed);
}
// Fails when a factor, a channel or its fourth number is not looked at.
static void other_channels_take_the_same_way(void) { test_each_variant(through_others); }

TEST_MAIN(TEST(other_channels_take_the_same_way), TEST(any_quantity_arrives_at_the_nodes),
          TEST(any_quantity_arrives_at_the_particles), TEST(scatter_is_the_transpose_of_gather),
          TEST(quantities_add_up_where_they_are_told_to),
          TEST(the_parts_of_g2p_are_those_of_the_whole),
          TEST(what_is_no_number_is_reported_by_its_part))

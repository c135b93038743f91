// The balance of implicit steps at nodes and its derivative, for every variant: against generic
// scatter and gather where laws are linear, and against differences of itself where they are not.
#include "check.h"
#include "model/material.h"
#include "random.h"
#include "test_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 300, SLOTS = 4096, LINEAR_MOST = 9 + 6 + 8, NODES_MOST = 30000 };

static _Alignas(64) double linear[SLOTS * LINEAR_MOST];
static double found[2][NODES_MOST * 3], change[NODES_MOST * 3];

// ---- the bed ----

typedef enum yielding { INSIDE, APART, SLIDING, MIXED } yielding;

static test_group sand_group(int dim, bool hardens, double cohesion)
{
    test_group g = test_group_of(dim, RP_SAND, 1.0, 0.8, 0.6, 0.5);
    rp_material_def def = rp_default_sand_def();
    def.hardening = hardens;
    rp_material_parameters(&def, dim, g.parameter);
    g.parameter[RP_PARAM_LAMBDA] = 0.6;
    g.parameter[RP_PARAM_MU] = 0.5;
    for (int p = 0; p < RP_PARAM_COUNT && cohesion > 0.0; p++) { // in Pa: tell it by its change
        rp_material_def sticks = def;
        double with[RP_PARAM_COUNT], without[RP_PARAM_COUNT];
        sticks.cohesion = 1.0;
        rp_material_parameters(&sticks, dim, with);
        rp_material_parameters(&def, dim, without);
        g.parameter[p] = with[p] != without[p] ? cohesion : g.parameter[p];
    }
    return g;
}

// Dry sand, sand that hardens, damp sand and something elastic, in pages of one and of several;
// strains far from where one case of the return mapping ends.
static void make_bed(test_bed *bed, const rp_kernels *k, yielding wanted, double large)
{
    uint64_t random = 7;
    test_bed_def def = test_default_bed(k, 0.1);
    static test_particle cloud[COUNT];
    def.own[0] = RP_QUAD;
    def.columns[0] |= TEST_COLUMN(HARDENING) | TEST_COLUMN(VOLUME_GAIN);
    def.dt = 0.5;
    def.groups[0] = 4;
    def.group[0][0] = sand_group(k->dim, false, 0.0);
    def.group[0][1] = sand_group(k->dim, true, 0.0);
    def.group[0][2] = sand_group(k->dim, false, 0.002 * large);
    def.group[0][3] = test_group_of(k->dim, RP_ELASTIC, 0.5, 0.6, 0.7, 0.4);
    for (int i = 0; i < COUNT; i++) {
        test_particle *p = &cloud[i];
        const yielding is = wanted == MIXED ? (yielding)(i % 3) : wanted;
        const double mean = is == APART ? 2.0 : is == INSIDE ? -4.0 : -1.0;
        const double shear[] = {1.0, -1.0, 0.2};
        *p = (test_particle){.group = i % 7 == 0 ? i % 4 : 0};
        for (int a = 0; a < k->dim; a++) {
            p->x[a] = test_between(&random, 0.0, 0.1 * 1.4 * RP_BLOCK_CELLS(k->dim, a));
        }
        for (int c = 0; c < rp_sym_comps(k->dim); c++) {
            const double along = c < k->dim ? mean + (is == SLIDING ? 5.0 * shear[c] : 0.0) : 0.0;
            p->strain[c] = large * (along + 0.3 * test_between(&random, -1.0, 1.0));
        }
        p->hardening = test_between(&random, 0.0, 2.0);
        p->volume_gain = large * test_between(&random, 0.0, 0.1);
    }
    CHECK_HELPER(test_bed_init(bed, &def));
    CHECK_HELPER(test_bed_add(bed, 0, cloud, COUNT));
    CHECK_HELPER(test_bed_sort(bed));
    CHECK(bed->set[0].slots <= SLOTS && bed->grid.pages * bed->layout.nodes <= NODES_MOST);
}

// A field of velocities: a wave, and another one with a share.
typedef struct wave {
    double size, other, uniform;
} wave;

static void wave_at(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const wave *w = ctx;
    for (int a = 0; a < 3; a++) {
        const double s = 1.3 * index[0] + 0.7 * index[1] - 0.9 * index[2] + 2.0 * a;
        const double t = 0.8 * index[0] - 1.9 * index[1] + 0.4 * index[2] + 1.0 * a;
        quad[a] = w->uniform + w->size * sin(s) + w->other * cos(t);
    }
    quad[3] = 1.0;
}

static void read_nodes(const test_bed *bed, double *out)
{
    const int dim = bed->layout.dim, nodes = bed->layout.nodes;
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        bed->def.kernels->sum(&bed->grid, bed->set, 1, 1u << RP_CH_OWN, p);
        for (int n = 0; n < nodes; n++) {
            for (int a = 0; a < dim; a++) {
                out[(p * nodes + n) * dim + a] = test_bed_get(
                    bed, rp_grid_nodes(&bed->grid, RP_CH_OWN, p), (int64_t)n * RP_QUAD + a);
            }
        }
    }
}

// @return the least det A
static double balance(test_bed *bed, const rp_linear_law *const law[RP_MATERIAL_KINDS], wave w,
                      bool derivative, double *out)
{
    double least = INFINITY, of_page;
    rp_balance what = {.channel = RP_CH_OWN,
                       .linear = {linear, rp_linear_reals(bed->layout.dim)},
                       .law = law,
                       .scale = bed->def.dt,
                       .least_det = derivative ? NULL : &of_page};
    test_bed_set_nodes(bed, RP_CH_OWN, wave_at, &w);
    for (rp_local p = 0; p < bed->set[0].pages; p++) {
        bed->def.kernels->balance(&bed->job[0], &what, p);
        least = derivative ? least : fmin(least, of_page);
    }
    read_nodes(bed, out);
    return least;
}

static void find_laws(const rp_kernels *k, const rp_linear_law *law[RP_MATERIAL_KINDS])
{
    for (int kind = 0; kind < RP_MATERIAL_KINDS; kind++) {
        law[kind] = rp_linear_law_find(kind, k->dim, k->real_bits, k->isa);
    }
}

static double largest(const test_bed *bed, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < bed->grid.pages * bed->layout.nodes * bed->layout.dim; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// The largest difference, as a share of the largest number.
static double apart(const test_bed *bed, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < bed->grid.pages * bed->layout.nodes * bed->layout.dim; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most / largest(bed, b);
}

// ---- tests ----

// A product is the derivative of the balance along it: a wrong sign or factor anywhere between the
// nodes shows, also what is the same in gather and scatter.
static void a_product_is_the_derivative(const rp_kernels *k)
{
    static double worst;
    static const double large[] = {0.002, 0.02};
    const rp_linear_law *law[RP_MATERIAL_KINDS];
    if (k->order == 1 || k->real_bits == 32) {
        return;
    }
    find_laws(k, law);
    for (int round = 0; round < 8; round++) {
        test_bed bed;
        const double v = 0.1 * 0.2 * large[round / 4], step = 1e-3 * v;
        CHECK_HELPER(make_bed(&bed, k, (yielding)(round % 4), large[round / 4]));
        for (int way = 0; way < 2; way++) {
            balance(&bed, law, (wave){v, way ? step : -step, 0.1}, false, found[way]);
        }
        CHECK(balance(&bed, law, (wave){v, 0.0, 0.1}, false, change) > 0.5);
        balance(&bed, law, (wave){0.0, 1.0, 0.0}, true, change);
        for (int i = 0; i < bed.grid.pages * bed.layout.nodes * k->dim; i++) {
            found[0][i] = (found[1][i] - found[0][i]) / (2.0 * step);
        }
        check_context("%dD, order %d, case %d, strains of %g", k->dim, k->order, round % 4,
                      large[round / 4]);
        CHECK(largest(&bed, change) > 0.01);
        worst = fmax(worst, apart(&bed, found[0], change));
        CHECK(apart(&bed, found[0], change) <= 1e-6);
        test_bed_free(&bed);
    }
    if (k->isa == RP_ISA_PLAIN) {
        printf("%dD, order %d: largest error so far %.2g\n", k->dim, k->order, worst);
    }
}

// Where nothing moves, what presses is the stress, as generic scatter has it; nor does a velocity
// that is the same everywhere change that, but for its rounding: 0.3 m/s are strains of 1.5 u a
// cell.
static void at_rest_stress_presses(const rp_kernels *k)
{
    const rp_linear_law *law[RP_MATERIAL_KINDS];
    test_bed bed;
    if (k->order == 1) {
        return;
    }
    find_laws(k, law);
    CHECK_HELPER(make_bed(&bed, k, INSIDE, 0.02));
    // volume that was gained is paid back by the law before it presses
    for (rp_local slot = 0; slot < bed.set[0].slots; slot++) {
        test_bed_put(&bed, rp_set_at(&bed.set[0], RP_COL_VOLUME_GAIN, slot, 0), 0, 0.0);
    }
    const rp_carry stress = {.channel = RP_CH_OWN,
                             .form = RP_CARRY_SYMMETRIC,
                             .gradient = bed.def.gradient,
                             .lanes = {NULL, rp_sym_comps(k->dim)},
                             .stress = true,
                             .factor = RP_TIMES_VOLUME,
                             .scale = bed.def.dt};
    for (rp_local p = 0; p < bed.set[0].pages; p++) {
        k->scatter(&bed.job[0], &stress, p);
    }
    read_nodes(&bed, change);
    CHECK_NEAR(balance(&bed, law, (wave){0.0, 0.0, 0.0}, false, found[0]), 1.0, 0.0);
    // sums of up to 300 particles, each of some dozen operations
    CHECK(apart(&bed, found[0], change) <= 500.0 * bed.unit);
    balance(&bed, law, (wave){0.0, 0.0, 0.3}, false, found[1]);
    CHECK(apart(&bed, found[1], change) <= 500.0 * bed.unit);
    test_bed_free(&bed);
}

static void products_are_derivatives(void) { test_each_variant(a_product_is_the_derivative); }
static void what_rests_is_pressed_by_its_stress(void) { test_each_variant(at_rest_stress_presses); }

TEST_MAIN(TEST(products_are_derivatives), TEST(what_rests_is_pressed_by_its_stress))

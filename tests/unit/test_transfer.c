// The fast transfers against the slow ones of reference_mpm.h, for every variant.
//
// Bounds on rounding, with u = 2^-24 or 2^-53. Along one axis, weights, slopes (per cell) and
// weights times distance (cells) are at most 1 and, as test_spline.c derives, wrong by at most
// AXIS u; this holds for the 26 bits of a position in single precision, of which 24 are used.
//
//   P2G  what a node gets of a particle is a sum of products of up to three such numbers and one of
//        the particle: m, m v, m C h, dt V tau / h. Sum the particle's numbers without weights
//        (mpm_sum.reach): the products are wrong by 3 AXIS u of that, their own rounding included
//        60 u. Then n particles are added up, each in at most two steps of a multiplication and an
//        addition, and the arenas after them: 2 (n + 4) u of the sum of the absolute values
//        (mpm_sum.size).
//
//   G2P  nodes of speed up to V: the weights of one axis are wrong by WIDTH AXIS u together, while
//        those of the others sum to one; hence d WIDTH AXIS u V, and the nested sums add
//        4 (WIDTH + 1) u V. A slope sums to 2 in absolute value, which doubles what the other axes
//        and the sums contribute.
#include "check.h"
#include "model/sand.h"
#include "random.h"
#include "test_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS = 15, MOST = 5000 };

static double scatter_bound(const test_bed *bed, const mpm_sum *sum, int particles)
{
    return bed->unit * ((3 * AXIS + 15) * sum->reach + 2.0 * (particles + 4) * sum->size);
}

static double gather_bound(const test_bed *bed)
{
    const int width = bed->layout.order + 1;
    return bed->unit * (AXIS * bed->layout.dim * width + 4.0 * (width + 1));
}

static double slope_bound(const test_bed *bed)
{
    const int width = bed->layout.order + 1, others = bed->layout.dim - 1;
    return bed->unit * (AXIS * width * (1.0 + 2.0 * others) + 8.0 * (width + 1)) / bed->layout.h;
}

static double affine_bound(const test_bed *bed)
{
    const int order = bed->layout.order;
    return order == 1 ? slope_bound(bed)
                      : (order == 2 ? 4.0 : 3.0) * gather_bound(bed) / bed->layout.h;
}

// The rounding of a move [cells]: to units of 2^-26 with dither, or as a double within a page.
static double move_bound(const test_bed *bed, double cells)
{
    return bed->layout.precision == RP_SINGLE ? 0x1p-26 + 0x1p-24 * cells : 0x1p-53 * 32.0;
}

// Clouds
// ----------------------------------------------------------------------------------------------

// Everything but the place. Normal strains are all of one sign, so that no stress is the small
// difference of large numbers.
static void fill_in(uint64_t *random, int dim, test_particle *p)
{
    p->volume_ratio = test_between(random, 0.9, 1.1);
    p->strength = test_between(random, 1.0, 2.0);
    for (int a = 0; a < dim; a++) {
        p->v[a] = test_between(random, -1.0, 1.0);
        p->strain[a] = -test_between(random, 0.1, 1.0);
        for (int b = 0; b < dim; b++) {
            p->C[a][b] = test_between(random, -8.0, 8.0);
        }
    }
    for (int k = dim; k < rp_sym_comps(dim); k++) {
        p->strain[k] = test_between(random, -1.0, 1.0);
    }
}

static void random_cloud(uint64_t *random, int dim, double h, const double lower[3],
                         const double upper[3], test_particle *p, int count)
{
    for (int i = 0; i < count; i++) {
        p[i] = (test_particle){0};
        for (int a = 0; a < dim; a++) {
            p[i].x[a] = h * test_between(random, lower[a], upper[a]);
        }
        fill_in(random, dim, &p[i]);
    }
}

// On the faces of pages, on their edges and corners, and as close to them as numbers can be.
static void cloud_on_faces(uint64_t *random, const rp_kernels *k, double h, test_particle *p,
                           int count)
{
    static const double off[] = {0.0,     0.0,      0x1p-26, -0x1p-26, 0x1p-27,   -0x1p-27,
                                 1e-9,    -1e-9,    1e-15,   -1e-15,   0x1p-1000, -0x1p-1000,
                                 0x1p-20, -0x1p-20, 0.25,    -0.25};
    for (int i = 0; i < count; i++) {
        p[i] = (test_particle){0};
        for (int a = 0; a < k->dim; a++) {
            const int cells = RP_BLOCK_CELLS(k->dim, a);
            const double shift = 0.5 * (k->order - 1), face = cells * (test_below(random, 4) - 2);
            p[i].x[a] =
                h * (test_below(random, 4) == 0 ? face + test_between(random, 0.0, cells)
                                                : face + shift + off[test_below(random, 16)]);
        }
        fill_in(random, k->dim, &p[i]);
    }
}

static void shuffle(uint64_t *random, test_particle *p, int count)
{
    for (int i = count - 1; i > 0; i--) {
        const int j = test_below(random, i + 1);
        const test_particle saved = p[i];
        p[i] = p[j];
        p[j] = saved;
    }
}

static test_particle cloud[MOST];
static mpm_particle slow[MOST];

static void set_up(test_bed *bed, const test_bed_def *def, int count)
{
    CHECK_HELPER(test_bed_init(bed, def));
    CHECK_HELPER(test_bed_add(bed, 0, cloud, count));
    CHECK_HELPER(test_bed_sort(bed));
    CHECK_EQUAL(bed->set[0].count, count);
}

// The default bed with a step that moves particles by up to half a cell, and with stress that
// counts for as much as momentum.
static test_bed_def usual_bed(const rp_kernels *k, double h)
{
    test_bed_def def = test_default_bed(k, h);
    def.dt = 0.4 * h;
    def.group[0][0] = test_group_of(k->dim, RP_ELASTIC, 1.5, 2.0, 0.3, 0.5);
    return def;
}

// P2G
// -------------------------------------------------------------------------------------------------

static void compare_node(const test_bed *bed, const mpm_node *want, const void *momentum,
                         const void *impulse)
{
    const int n = want->particles;
    CHECK_NEAR(test_bed_get(bed, momentum, 3), want->mass.value,
               scatter_bound(bed, &want->mass, n));
    for (int a = 0; a < bed->layout.dim; a++) {
        const double p = want->momentum[a].value, f = want->impulse[a].value;
        const double p_bound = scatter_bound(bed, &want->momentum[a], n);
        const double f_bound = scatter_bound(bed, &want->impulse[a], n);
        if (impulse == NULL) {
            CHECK_NEAR(test_bed_get(bed, momentum, a), p + f, p_bound + f_bound);
        } else {
            CHECK_NEAR(test_bed_get(bed, momentum, a), p, p_bound);
            CHECK_NEAR(test_bed_get(bed, impulse, a), f, f_bound);
        }
    }
    for (int a = bed->layout.dim; a < 3; a++) {
        CHECK(test_bed_get(bed, momentum, a) == 0.0);
    }
}

// Every node of the grid holds what the reference has there, and the grid misses none.
static void compare_grid(const test_bed *bed, mpm_grid *want, int field)
{
    static const mpm_node nothing;
    const int bytes = rp_real_bytes(&bed->layout);
    for (int64_t n = 0; n < want->nodes; n++) {
        want->node[n].seen = false;
    }
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        if (rp_grid_page(&bed->grid)[p].field != field) {
            continue;
        }
        for (int n = 0; n < bed->layout.nodes; n++) {
            int32_t index[3];
            test_bed_index(bed, p, n, index);
            mpm_node *node = mpm_at(want, index);
            const char *momentum = rp_grid_nodes(&bed->grid, RP_CH_MOMENTUM, p), *impulse = NULL;
            if (rp_grid_has(&bed->grid, RP_CH_IMPULSE)) {
                impulse = (char *)rp_grid_nodes(&bed->grid, RP_CH_IMPULSE, p) + n * RP_QUAD * bytes;
            }
            CHECK_HELPER(compare_node(bed, node != NULL ? node : &nothing,
                                      momentum + n * RP_QUAD * bytes, impulse));
            if (node != NULL) {
                CHECK(!node->seen);
                node->seen = true;
            }
        }
    }
    for (int64_t n = 0; n < want->nodes; n++) {
        CHECK(want->node[n].seen || want->node[n].mass.value == 0.0);
    }
}

static void compare_p2g(test_bed *bed, int field)
{
    const int count = bed->set[0].count;
    mpm_grid want;
    test_bed_p2g(bed, 1);
    test_bed_copy(bed, 0, slow);
    CHECK(mpm_grid_init(&want, bed->layout.dim, bed->layout.order, bed->layout.h, bed->def.period,
                        slow, count));
    mpm_p2g(&want, slow, count, field, bed->job[0].dt);
    compare_grid(bed, &want, field);
    mpm_grid_free(&want);
}

static void check_p2g(const test_bed_def *def, int count)
{
    test_bed bed;
    CHECK_HELPER(set_up(&bed, def, count));
    CHECK_HELPER(compare_p2g(&bed, 0));
    test_bed_free(&bed);
}

static void p2g_of_random_clouds(const rp_kernels *k)
{
    uint64_t random = 11;
    for (int channels = 1; channels <= 2; channels++) {
        test_bed_def def = usual_bed(k, 0.1);
        def.channels = channels;
        random_cloud(&random, k->dim, def.h, (double[]){-7, -9, -6}, (double[]){9, 7, 6}, cloud,
                     800);
        CHECK_HELPER(check_p2g(&def, 800));
    }
}

// Mass, affine momentum and the impulse of stress arrive as in the definition, also left and below
// of the origin, in one channel and apart. Catches a flipped sign, a transposed C, swapped axes, a
// wrong neighbour.
static void a_random_cloud_arrives_on_the_grid(void) { test_each_variant(p2g_of_random_clouds); }

static void p2g_on_faces(const rp_kernels *k)
{
    uint64_t random = 12;
    const double h[] = {0.125, 0.1}; // exactly on the faces, and on this or that side by rounding
    for (int i = 0; i < 2; i++) {
        const test_bed_def def = usual_bed(k, h[i]);
        cloud_on_faces(&random, k, def.h, cloud, 500);
        CHECK_HELPER(check_p2g(&def, 500));
    }
}

// Particles on faces, edges and corners of pages, and next to them. Catches a floor that goes the
// wrong way below zero, a page's first or last nodes left out or counted twice.
static void grains_on_page_faces_arrive_on_the_grid(void) { test_each_variant(p2g_on_faces); }

static void p2g_far_away(const rp_kernels *k)
{
    uint64_t random = 13;
    const test_bed_def def = usual_bed(k, 0.1);
    for (int side = -1; side <= 1; side += 2) {
        // 50 m is 500 cells
        const double c = 500.0 * side;
        random_cloud(&random, k->dim, def.h, (double[]){c, -c, c}, (double[]){c + 9, -c + 9, c + 9},
                     cloud, 300);
        CHECK_HELPER(check_p2g(&def, 300));
    }
}

// The bounds are the same 50 m from the origin. Catches positions that lose digits with distance,
// and a block key that folds.
static void fifty_metres_away_is_like_here(void) { test_each_variant(p2g_far_away); }

static void p2g_of_orders(const rp_kernels *k)
{
    uint64_t random = 14;
    const test_bed_def def = usual_bed(k, 0.1);
    // a lattice in order, the same lattice shuffled, all in one cell, all in one place
    const int per_axis = k->dim == 3 ? 9 : 24, count = (int)pow(per_axis, k->dim);
    for (int i = 0; i < count; i++) {
        const int place[3] = {i % per_axis, i / per_axis % per_axis, i / per_axis / per_axis};
        cloud[i] = (test_particle){0};
        for (int a = 0; a < k->dim; a++) {
            cloud[i].x[a] = def.h * (0.5 * place[a] + 0.25 - 3.0);
        }
        fill_in(&random, k->dim, &cloud[i]);
    }
    CHECK_HELPER(check_p2g(&def, count));
    shuffle(&random, cloud, count);
    CHECK_HELPER(check_p2g(&def, count));
    random_cloud(&random, k->dim, def.h, (double[]){6, -1, 3}, (double[]){7, 0, 4}, cloud, 100);
    CHECK_HELPER(check_p2g(&def, 100));
    random_cloud(&random, k->dim, def.h, (double[]){7.3, 0.2, 3.6}, (double[]){7.3, 0.2, 3.6},
                 cloud, 65);
    CHECK_HELPER(check_p2g(&def, 65));
}

// In order, shuffled, a hundred in a cell, 65 in one place. Catches particles of a tile that
// overwrite each other where their stencils meet.
static void crowds_and_lattices_arrive_on_the_grid(void) { test_each_variant(p2g_of_orders); }

static void p2g_of_counts(const rp_kernels *k)
{
    static const int counts[] = {1, 2, 15, 16, 17, 31, 32, 33};
    uint64_t random = 15;
    for (int i = 0; i < 8; i++) {
        test_bed bed;
        const test_bed_def def = usual_bed(k, 0.1);
        // in one page, and others in the page after it
        random_cloud(&random, k->dim, def.h, (double[]){1, 1, 1}, (double[]){8, 8, 4}, cloud,
                     counts[i]);
        random_cloud(&random, k->dim, def.h, (double[]){9, 9, 5}, (double[]){16, 16, 8},
                     cloud + counts[i], i % 3);
        CHECK_HELPER(set_up(&bed, &def, counts[i] + i % 3));
        CHECK_EQUAL(rp_set_page(&bed.set[0])[0].count, counts[i]);
        CHECK_HELPER(compare_p2g(&bed, 0));
        test_bed_free(&bed);
    }
}

// Pages of 1, 15, 16, 17 and more particles. Catches lanes past the end that scatter, and a last
// tile that is left out.
static void pages_of_any_count_arrive_on_the_grid(void) { test_each_variant(p2g_of_counts); }

static void p2g_of_mixed_pages(const rp_kernels *k)
{
    uint64_t random = 16;
    test_bed_def def = usual_bed(k, 0.1);
    def.groups[0] = 3;
    def.group[0][1] = test_group_of(k->dim, RP_SAND, 0.25, 4.0, 0.7, 2.0);
    def.group[0][2] = test_group_of(k->dim, RP_ELASTIC, 10.0, 0.5, 0.1, 0.25);
    random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud, 400);
    for (int i = 0; i < 400; i++) {
        cloud[i].group = test_below(&random, 3);
    }
    CHECK_HELPER(check_p2g(&def, 400));
}

// Three groups and two laws in a page. Catches mass, volume or moduli taken from a neighbour's
// group.
static void mixed_pages_arrive_on_the_grid(void) { test_each_variant(p2g_of_mixed_pages); }

static void p2g_of_fields(const rp_kernels *k)
{
    uint64_t random = 17;
    test_bed_def def = usual_bed(k, 0.1);
    def.groups[0] = 2;
    def.group[0][1] = def.group[0][0];
    def.group[0][1].field = 1;
    random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud, 300);
    for (int i = 0; i < 300; i++) {
        cloud[i].group = test_below(&random, 2);
    }
    test_bed bed;
    CHECK_HELPER(set_up(&bed, &def, 300));
    CHECK_HELPER(compare_p2g(&bed, 0));
    CHECK_HELPER(compare_p2g(&bed, 1));
    test_bed_free(&bed);
}

// Two fields in one place do not feel each other. Catches pages looked up by block alone.
static void fields_have_their_own_nodes(void) { test_each_variant(p2g_of_fields); }

// Periodic axes of one, two and three blocks, and particles that start outside of the period.
static void p2g_of_periods(const rp_kernels *k)
{
    uint64_t random = 18;
    for (int blocks = 1; blocks <= 3; blocks++) {
        for (int axes = 1; axes < 1 << k->dim; axes++) {
            test_bed_def def = usual_bed(k, 0.1);
            for (int a = 0; a < k->dim; a++) {
                def.period[a] = axes >> a & 1 ? blocks * RP_BLOCK_CELLS(k->dim, a) : 0;
            }
            random_cloud(&random, k->dim, def.h, (double[]){-12, -12, -12}, (double[]){12, 12, 12},
                         cloud, 60);
            CHECK_HELPER(check_p2g(&def, 60));
        }
    }
}

// Space that repeats after one, two or three blocks. Catches a neighbour counted once where it is
// met twice, and a block that wraps to the wrong side.
static void periodic_space_closes_on_itself(void) { test_each_variant(p2g_of_periods); }

// G2P
// -------------------------------------------------------------------------------------------------

// Random numbers by node: in [-1, 1), the mass in [0.5, 1.5).
static void random_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const test_bed *bed = ctx;
    uint64_t random = rp_mix64((uint64_t)(index[0] * 1000003 + index[1] * 1009 + index[2]));
    for (int a = 0; a < bed->layout.dim; a++) {
        quad[a] = test_between(&random, -1.0, 1.0);
    }
    quad[3] = test_between(&random, 0.5, 1.5);
}

// The same numbers in the reference, as the variant can hold them.
static void set_reference(const test_bed *bed, mpm_grid *grid,
                          void (*field)(void *ctx, const int32_t index[3], double quad[RP_QUAD]),
                          void *ctx)
{
    for (int64_t n = 0; n < grid->nodes; n++) {
        int32_t index[3];
        double quad[RP_QUAD] = {0};
        mpm_index(grid, n, index);
        field(ctx, index, quad);
        grid->node[n].mass.value = test_bed_rounded(bed, quad[3]);
        for (int a = 0; a < bed->layout.dim; a++) {
            grid->node[n].v[a] = test_bed_rounded(bed, quad[a]);
        }
    }
}

// A law that only writes down what it is told: dt grad v and the density.
static struct {
    const test_bed *bed;
    double increment[2 * MOST][9], density[2 * MOST];
} spy;

static void spy_update(const rp_law_tile *tile)
{
    const test_bed *bed = spy.bed;
    const size_t bytes =
        (size_t)bed->set[0].column[RP_COL_STRAIN].comps * RP_LANES * rp_real_bytes(&bed->layout);
    const size_t offset = (size_t)((const char *)tile->column[RP_COL_STRAIN] -
                                   (const char *)bed->set[0].column[RP_COL_STRAIN].buffer.data) /
                          bytes;
    for (int l = 0; l < RP_LANES; l++) {
        const size_t slot = offset * RP_LANES + (size_t)l;
        for (int c = 0; c < bed->layout.dim * bed->layout.dim; c++) {
            spy.increment[slot][c] = test_bed_get(bed, tile->increment, RP_LANES * c + l);
        }
        spy.density[slot] = test_bed_get(bed, tile->density, l);
    }
}

static void spy_stress(const rp_law_tile *tile, void *out) { (void)tile, (void)out; }

static const rp_law a_spy = {.stress = spy_stress, .update = spy_update};
static const rp_law *const spies[RP_MATERIAL_KINDS] = {[RP_ELASTIC] = &a_spy, [RP_SAND] = &a_spy};

static mpm_particle moved[MOST];

// Particles gathered from `nodes` and moved: velocity, affine matrix and place by the formulas. The
// rest of what a particle gets is in spy.
static void compare_particles(const test_bed *bed, const mpm_grid *nodes,
                              const rp_page_report *report)
{
    const double h = bed->layout.h, dt = bed->job[0].dt, u = bed->unit;
    const int dim = bed->layout.dim;
    double fastest = 0.0, steepest = 0.0, farthest = 0.0, slack = 0.0;
    test_bed_copy(bed, 0, moved);
    for (int i = 0; i < bed->set[0].count; i++) {
        mpm_gathered want;
        mpm_g2p(nodes, &slow[i], &want);
        const rp_local slot = test_bed_slot(bed, 0, (uint64_t)i);
        CHECK(slot >= 0);
        double speed2 = 0.0, gradient2 = 0.0;
        for (int a = 0; a < dim; a++) {
            const double bound = gather_bound(bed) * want.speed;
            const double cells = want.v[a] * dt / h;
            CHECK_NEAR(moved[i].v[a], want.v[a], bound);
            CHECK_NEAR((double)(moved[i].x[a] - slow[i].x[a]), cells,
                       (bound + u * want.speed) * dt / h + move_bound(bed, fabs(cells)));
            for (int b = 0; b < dim; b++) {
                CHECK_NEAR(spy.increment[slot][dim * a + b] / dt, want.grad[a][b],
                           (slope_bound(bed) + 8.0 * u / h) * want.speed);
                CHECK_NEAR(moved[i].C[a][b], bed->job[0].transfer == RP_APIC ? want.C[a][b] : 0.0,
                           (affine_bound(bed) + 16.0 * u / h) * want.speed);
                gradient2 += want.grad[a][b] * want.grad[a][b];
            }
            speed2 += want.v[a] * want.v[a];
            farthest = fmax(farthest, fabs(cells));
            slack = fmax(slack, want.speed);
        }
        CHECK_NEAR(spy.density[slot] * pow(h, dim), want.mass,
                   (gather_bound(bed) + 8.0 * u) * want.heaviest);
        fastest = fmax(fastest, speed2);
        steepest = fmax(steepest, gradient2);
    }
    CHECK(!report->bad);
    CHECK_NEAR(sqrt(report->speed2), sqrt(fastest), 4.0 * gather_bound(bed) * slack);
    CHECK_NEAR(sqrt(report->gradient2), sqrt(steepest),
               4.0 * (slope_bound(bed) + 8.0 * u / h) * slack);
    CHECK_NEAR(report->move, farthest, 2.0 * gather_bound(bed) * slack * dt / h);
}

static void compare_g2p(test_bed *bed)
{
    mpm_grid nodes;
    test_bed_copy(bed, 0, slow);
    CHECK(mpm_grid_init(&nodes, bed->layout.dim, bed->layout.order, bed->layout.h, bed->def.period,
                        slow, bed->set[0].count));
    set_reference(bed, &nodes, random_node, bed);
    test_bed_set_nodes(bed, RP_CH_MOMENTUM, random_node, bed);
    spy.bed = bed;
    bed->job[0].law = spies;
    const rp_page_report report = test_bed_g2p(bed, 0);
    compare_particles(bed, &nodes, &report);
    mpm_grid_free(&nodes);
}

static void check_g2p(const test_bed_def *def, int count)
{
    test_bed bed;
    CHECK_HELPER(set_up(&bed, def, count));
    CHECK_HELPER(compare_g2p(&bed));
    test_bed_free(&bed);
}

static void g2p_of_clouds(const rp_kernels *k)
{
    static const int counts[] = {1, 15, 16, 17};
    uint64_t random = 21;
    test_bed_def def = usual_bed(k, 0.1);
    for (def.transfer = RP_APIC; def.transfer <= RP_PIC; def.transfer++) {
        random_cloud(&random, k->dim, def.h, (double[]){-7, -9, -6}, (double[]){9, 7, 6}, cloud,
                     300);
        CHECK_HELPER(check_g2p(&def, 300));
    }
    def.transfer = RP_APIC;
    for (int i = 0; i < 4; i++) {
        random_cloud(&random, k->dim, def.h, (double[]){1, 1, 1}, (double[]){8, 8, 4}, cloud,
                     counts[i]);
        CHECK_HELPER(check_g2p(&def, counts[i]));
    }
    random_cloud(&random, k->dim, def.h, (double[]){500, -500, 500}, (double[]){509, -491, 509},
                 cloud, 100);
    CHECK_HELPER(check_g2p(&def, 100));
    def.h = 0.125;
    cloud_on_faces(&random, k, def.h, cloud, 300);
    CHECK_HELPER(check_g2p(&def, 300));
}

// Velocity, gradient, affine matrix, density and move are those of the definition. Catches a
// transposed gradient, a missing inverse of D, a wrong neighbour in the local copy of the nodes;
// with PIC an affine matrix that is not zero.
static void grains_gather_what_the_grid_holds(void) { test_each_variant(g2p_of_clouds); }

static void g2p_of_periods(const rp_kernels *k)
{
    uint64_t random = 22;
    for (int blocks = 1; blocks <= 3; blocks++) {
        test_bed_def def = usual_bed(k, 0.1);
        for (int a = 0; a < k->dim; a++) {
            def.period[a] = blocks * RP_BLOCK_CELLS(k->dim, a);
        }
        random_cloud(&random, k->dim, def.h, (double[]){-12, -12, -12}, (double[]){12, 12, 12},
                     cloud, 100);
        CHECK_HELPER(check_g2p(&def, 100));
    }
}

// The same across the ends of a period. Catches a copy of the nodes that takes a page once only.
static void grains_gather_across_the_period(void) { test_each_variant(g2p_of_periods); }

static void steady_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    (void)index;
    memcpy(quad, ctx, 3 * sizeof *quad);
    quad[3] = 1.0;
}

// Moves everybody by this many cells in one step.
static void carry(test_bed *bed, const double cells[3])
{
    double v[3] = {0};
    for (int a = 0; a < bed->layout.dim; a++) {
        v[a] = cells[a] * bed->layout.h / bed->job[0].dt;
    }
    test_bed_set_nodes(bed, RP_CH_MOMENTUM, steady_node, v);
    for (int s = 0; s < bed->def.sets; s++) {
        CHECK(!test_bed_g2p(bed, s).bad);
    }
}

static void transfers_before_a_sort(const rp_kernels *k)
{
    uint64_t random = 23;
    test_bed_def def = usual_bed(k, 0.125);
    for (int round = 0; round < 6; round++) {
        test_bed bed;
        cloud_on_faces(&random, k, def.h, cloud, 200);
        CHECK_HELPER(set_up(&bed, &def, 200));
        // three moves that add up to 63/64 of a cell along each axis
        double total[3];
        for (int a = 0; a < 3; a++) {
            total[a] = (test_below(&random, 2) ? 1.0 : -1.0) * 0x1.f8p-1;
        }
        for (int i = 0; i < 3; i++) {
            const double part[3] = {total[0] / 3, total[1] / 3, total[2] / 3};
            CHECK_HELPER(carry(&bed, part));
        }
        CHECK(!rp_set_wants_sort(&bed.set[0]));
        // their velocity is now the same: give them another
        for (int i = 0; i < bed.set[0].slots * k->dim; i++) {
            test_bed_put(&bed, bed.set[0].column[RP_COL_VELOCITY].buffer.data, i,
                         test_between(&random, -1.0, 1.0));
        }
        CHECK_HELPER(compare_p2g(&bed, 0));
        CHECK_HELPER(compare_g2p(&bed));
        test_bed_free(&bed);
    }
}

// Everybody up to a cell away from home, not sorted yet. Catches arenas that are too small to one
// side and neighbours that are copied in part.
static void transfers_work_until_the_next_sort(void) { test_each_variant(transfers_before_a_sort); }

static void travel_from_a_face(const rp_kernels *k)
{
    static const double h = 0.125;
    // next to the upper faces of block 0, seen from inside: closer than a stored position resolves
    const double off = k->real_bits == 32 ? 0x1p-28 : 0x1p-54;
    for (int up = 0; up < 2; up++) {
        test_bed_def def = usual_bed(k, h);
        uint64_t random = 24;
        for (int i = 0; i < 20; i++) {
            cloud[i] = (test_particle){0};
            for (int a = 0; a < k->dim; a++) {
                const double face = up ? 0.0 : RP_BLOCK_CELLS(k->dim, a);
                cloud[i].x[a] = h * (face + 0.5 * (k->order - 1) - off);
            }
            fill_in(&random, k->dim, &cloud[i]);
        }
        test_bed bed;
        CHECK_HELPER(set_up(&bed, &def, 20));
        for (int i = 0; i < 12; i++) {
            CHECK_HELPER(test_bed_sort_if_wanted(&bed));
            CHECK_HELPER(compare_p2g(&bed, 0));
            CHECK_HELPER(carry(&bed, (double[]){0.25, 0.25, 0.25}));
        }
        test_bed_free(&bed);
    }
}

// A particle that rounding put on the far face of its page moves on by whole quarters of a cell;
// sorted when the set asks for it, it never leaves its arena. Catches a tolerance without a margin.
static void a_grain_on_the_far_face_stays_in_its_arena(void)
{
    test_each_variant(travel_from_a_face);
}

// Sorting
// -----------------------------------------------------------------------------------------------

static test_particle before[MOST], after[MOST];

static void sort_and_compare(const rp_kernels *k)
{
    uint64_t random = 31;
    test_bed_def def = usual_bed(k, 0.125);
    def.columns[0] |= TEST_COLUMN(VOLUME_RATIO) | TEST_COLUMN(STRENGTH);
    for (int round = 0; round < 4; round++) {
        test_bed bed;
        cloud_on_faces(&random, k, def.h, cloud, 300);
        CHECK_HELPER(set_up(&bed, &def, 300));
        // what was added is there
        test_bed_read(&bed, 0, after);
        for (int i = 0; i < 300; i++) {
            for (int a = 0; a < k->dim; a++) {
                CHECK_NEAR(after[i].x[a] / def.h, cloud[i].x[a] / def.h,
                           k->real_bits == 32 ? 0x1p-27 : 0x1p-48);
                CHECK(after[i].v[a] == test_bed_rounded(&bed, cloud[i].v[a]));
            }
            CHECK(after[i].strength == test_bed_rounded(&bed, cloud[i].strength));
        }
        // several cells to any side, then home to new pages
        double far[3];
        for (int a = 0; a < 3; a++) {
            far[a] = test_between(&random, -3.9, 3.9);
        }
        CHECK_HELPER(carry(&bed, far));
        CHECK(rp_set_wants_sort(&bed.set[0]));
        test_bed_read(&bed, 0, before);
        CHECK_HELPER(test_bed_sort(&bed));
        CHECK(!rp_set_wants_sort(&bed.set[0]));
        test_bed_read(&bed, 0, after);
        for (int i = 0; i < 300; i++) {
            for (int a = 0; a < k->dim; a++) {
                CHECK_NEAR(after[i].x[a] / def.h, before[i].x[a] / def.h,
                           k->real_bits == 32 ? 0.0 : 0x1p-47);
            }
            before[i].x[0] = after[i].x[0];
            before[i].x[1] = after[i].x[1];
            before[i].x[2] = after[i].x[2];
            CHECK(memcmp(&before[i], &after[i], sizeof after[i]) == 0);
        }
        // every page holds what belongs to it
        for (rp_local p = 0; p < bed.set[0].pages; p++) {
            const rp_page *page = &rp_set_page(&bed.set[0])[p];
            CHECK(page->count > 0);
            for (rp_local s = page->first; s < page->first + page->count; s++) {
                for (int a = 0; a < k->dim; a++) {
                    const double local =
                        rp_set_value(&bed.set[0], RP_COL_POSITION, s, a, page) / def.h -
                        bed.layout.shift - page->block[a] * bed.layout.cells[a];
                    CHECK(local >= 0.0 && local <= bed.layout.cells[a]);
                }
            }
        }
        CHECK_HELPER(compare_p2g(&bed, 0));
        CHECK_HELPER(compare_g2p(&bed));
        test_bed_free(&bed);
    }
}

// Particles that moved up to four cells are sorted: nobody moves, nobody changes, and transfers are
// right afterwards. Catches a position that is not counted from the new page, and columns that come
// apart.
static void sorting_moves_nobody(void) { test_each_variant(sort_and_compare); }

// Other sets
// ----------------------------------------------------------------------------------------------

static test_particle wet[MOST];

static void water_beside_sand(const rp_kernels *k)
{
    uint64_t random = 41;
    test_bed_def def = usual_bed(k, 0.1);
    def.sets = 2;
    def.columns[1] = TEST_COLUMN(VELOCITY) | TEST_COLUMN(AFFINE) | TEST_COLUMN(VOLUME_RATIO);
    def.groups[1] = 1;
    def.group[1][0] = test_group_of(k->dim, RP_ELASTIC, 0.7, 1.0, 0.0, 0.0);
    def.lawless[1] = true;
    random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud, 200);
    random_cloud(&random, k->dim, def.h, (double[]){2, 2, 2}, (double[]){12, 9, 9}, wet, 300);
    test_bed bed;
    CHECK_HELPER(test_bed_init(&bed, &def));
    CHECK_HELPER(test_bed_add(&bed, 0, cloud, 200));
    CHECK_HELPER(test_bed_add(&bed, 1, wet, 300));
    CHECK_HELPER(test_bed_sort(&bed));
    test_bed_p2g(&bed, 2);

    // the grid has both, water without stress
    mpm_grid want;
    test_bed_copy(&bed, 0, slow);
    test_bed_copy(&bed, 1, slow + 200);
    CHECK(mpm_grid_init(&want, k->dim, k->order, def.h, NULL, slow, 500));
    mpm_p2g(&want, slow, 500, 0, def.dt);
    CHECK_HELPER(compare_grid(&bed, &want, 0));

    // and water follows it
    set_reference(&bed, &want, random_node, &bed);
    test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
    CHECK(!test_bed_g2p(&bed, 1).bad);
    test_bed_copy(&bed, 1, moved);
    test_bed_read(&bed, 1, after);
    for (int i = 0; i < 300; i++) {
        mpm_gathered g;
        mpm_g2p(&want, &slow[200 + i], &g);
        for (int a = 0; a < k->dim; a++) {
            const double cells = g.v[a] * def.dt / def.h;
            CHECK_NEAR(moved[i].v[a], g.v[a], gather_bound(&bed) * g.speed);
            CHECK_NEAR((double)(moved[i].x[a] - slow[200 + i].x[a]), cells,
                       2.0 * gather_bound(&bed) * g.speed * def.dt / def.h +
                           move_bound(&bed, fabs(cells)));
            for (int b = 0; b < k->dim; b++) {
                CHECK_NEAR(moved[i].C[a][b], g.C[a][b], 2.0 * affine_bound(&bed) * g.speed);
            }
        }
        CHECK(after[i].volume_ratio == test_bed_rounded(&bed, wet[i].volume_ratio));
    }
    mpm_grid_free(&want);
    test_bed_free(&bed);
}

// Two sets on one grid, the second without strain and law. Catches a stress that appears from
// nowhere, arenas of one set added for the other, a column that the kernel writes without having
// it.
static void water_shares_the_grid_with_sand(void) { test_each_variant(water_beside_sand); }

static void glue_beside_sand(const rp_kernels *k)
{
    uint64_t random = 42;
    test_bed_def def = usual_bed(k, 0.1);
    def.sets = 2;
    def.columns[1] = TEST_COLUMN(STRENGTH);
    def.lawless[1] = true;
    random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud, 100);
    random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){15, 9, 9}, wet, 150);
    test_bed bed;
    CHECK_HELPER(test_bed_init(&bed, &def));
    CHECK_HELPER(test_bed_add(&bed, 0, cloud, 100));
    CHECK_HELPER(test_bed_add(&bed, 1, wet, 150));
    CHECK_HELPER(test_bed_sort(&bed));
    for (int step = 0; step < 2; step++) {
        mpm_grid nodes;
        test_bed_copy(&bed, 1, slow);
        CHECK(mpm_grid_init(&nodes, k->dim, k->order, def.h, NULL, slow, 150));
        set_reference(&bed, &nodes, random_node, &bed);
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
        const rp_page_report report = test_bed_g2p(&bed, 1);
        CHECK(!report.bad);
        CHECK(report.speed2 > 0.0 && report.move > 0.0);
        test_bed_copy(&bed, 1, moved);
        for (int i = 0; i < 150; i++) {
            mpm_gathered g;
            mpm_g2p(&nodes, &slow[i], &g);
            for (int a = 0; a < k->dim; a++) {
                const double cells = g.v[a] * def.dt / def.h;
                CHECK_NEAR((double)(moved[i].x[a] - slow[i].x[a]), cells,
                           2.0 * gather_bound(&bed) * g.speed * def.dt / def.h +
                               move_bound(&bed, fabs(cells)));
            }
        }
        mpm_grid_free(&nodes);
        // sort, and go on
        CHECK_HELPER(test_bed_sort(&bed));
        test_bed_read(&bed, 1, after);
        for (int i = 0; i < 150; i++) {
            CHECK(after[i].strength == test_bed_rounded(&bed, wet[i].strength));
        }
    }
    test_bed_free(&bed);
}

// Particles without mass and velocity are carried along, and their strength with them. Catches a
// kernel that needs a column or a group that is not there.
static void glue_goes_with_the_flow(void) { test_each_variant(glue_beside_sand); }

static void lanes_past_the_end(const rp_kernels *k)
{
    uint64_t random = 43;
    test_bed_def def = usual_bed(k, 0.1);
    def.transfer = RP_FLIP;
    def.kept = 0.9;
    def.channels = 2;
    def.columns[0] |= TEST_COLUMN(HARDENING) | TEST_COLUMN(VOLUME_GAIN);
    def.group[0][0] = test_group_of(k->dim, RP_SAND, 1.0, 1.0, 0.3, 0.5);
    random_cloud(&random, k->dim, def.h, (double[]){-9, -9, -9}, (double[]){9, 9, 9}, cloud, 70);
    test_bed bed;
    CHECK_HELPER(set_up(&bed, &def, 70));
    for (int step = 0; step < 3; step++) {
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
        test_bed_set_nodes(&bed, RP_CH_IMPULSE, random_node, &bed);
        bed.job[0].step++;
        CHECK(!test_bed_g2p(&bed, 0).bad);
    }
    const rp_set *set = &bed.set[0];
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        const rp_local end = (page->count + RP_LANES - 1) / RP_LANES * RP_LANES;
        for (rp_local s = page->first + page->count; s < page->first + end; s++) {
            for (int c = 0; c < RP_COL_COUNT; c++) {
                for (int comp = 0; comp < set->column[c].comps; comp++) {
                    static const char zero[8];
                    const void *at = rp_set_at(set, c, s, comp);
                    CHECK(memcmp(at, zero, set->column[c].bytes) == 0 ||
                          (rp_column_table[c].kind == RP_KIND_REAL &&
                           test_bed_get(&bed, at, 0) == 0.0));
                }
            }
        }
    }
    test_bed_free(&bed);
}

// Slots without a particle hold zeros, step after step. Catches lanes past the end that move or
// strain: the next birth or a sum over tiles would find them.
static void empty_slots_stay_empty(void) { test_each_variant(lanes_past_the_end); }

// What the step reports
// --------------------------------------------------------------------------------

static void bad_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    quad[0] = index[0] == 2 && index[1] == 2 ? *(double *)ctx : 0.0;
    quad[3] = 1.0;
}

static void check_reports(const rp_kernels *k)
{
    uint64_t random = 44;
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e6};
    for (int i = 0; i < 5; i++) {
        test_bed bed;
        const test_bed_def def = usual_bed(k, 0.1);
        random_cloud(&random, k->dim, def.h, (double[]){1.6, 1.6, 1.6}, (double[]){2.4, 2.4, 2.4},
                     cloud, 18);
        CHECK_HELPER(set_up(&bed, &def, 18));
        double v = i < 4 ? bad[i] : 0.0;
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, bad_node, &v);
        if (i == 4) {
            // nobody moves, but a strain is broken
            test_bed_put(&bed, rp_set_at(&bed.set[0], RP_COL_STRAIN, 17, 0), 0, NAN);
        }
        CHECK(test_bed_g2p(&bed, 0).bad);
        test_bed_free(&bed);
    }
}

// NaN, infinity and a runaway are reported, also when only the second tile has them. Catches a
// comparison that a NaN passes.
static void what_is_not_physical_is_reported(void) { test_each_variant(check_reports); }

// The grid between the transfers
// ------------------------------------------------------------------------

typedef struct grid_case {
    const test_bed *bed;
    double least;
} grid_case;

static const double mass_of_least[] = {0.0, 0.5, 0.999, 1.0, 1.001, 2.0, 1e6};

static void momentum_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const grid_case *c = ctx;
    random_node((void *)c->bed, index, quad);
    quad[3] = c->least * mass_of_least[(uint32_t)(index[0] + 100 + 3 * index[1]) % 7];
}

static void impulse_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const grid_case *c = ctx;
    const int32_t other[3] = {index[0] + 77, index[1], index[2]};
    random_node((void *)c->bed, other, quad);
    quad[3] = 0.0;
}

static void check_velocity(const rp_kernels *k)
{
    const double push[3] = {0.1, -0.2, 0.3};
    for (int channels = 1; channels <= 2; channels++) {
        test_bed bed;
        test_bed_def def = usual_bed(k, 0.1);
        def.channels = channels;
        cloud[0] = (test_particle){.x = {0.45, 0.45, 0.25}};
        CHECK_HELPER(set_up(&bed, &def, 1));
        grid_case c = {&bed, test_bed_rounded(&bed, 1e-3)};
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, momentum_node, &c);
        if (channels == 2) {
            test_bed_set_nodes(&bed, RP_CH_IMPULSE, impulse_node, &c);
        }
        const double dropped = test_bed_velocity(&bed, push, c.least);
        double want_dropped = 0.0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            for (int n = 0; n < bed.layout.nodes; n++) {
                int32_t index[3];
                double q[RP_QUAD] = {0}, f[RP_QUAD] = {0};
                test_bed_index(&bed, p, n, index);
                momentum_node(&c, index, q);
                if (!test_bed_reaches(&bed, p, n)) {
                    continue;
                }
                if (channels == 2) {
                    impulse_node(&c, index, f);
                }
                const double m = test_bed_rounded(&bed, q[3]);
                CHECK(test_bed_node_value(&bed, 0, RP_CH_MOMENTUM, index, 3) == m);
                for (int a = 0; a < k->dim; a++) {
                    const double v = test_bed_node_value(&bed, 0, RP_CH_MOMENTUM, index, a);
                    const double pa = test_bed_rounded(&bed, q[a]),
                                 fa = test_bed_rounded(&bed, f[a]);
                    if (m > c.least) {
                        CHECK_NEAR(v, (pa + fa) / m + push[a],
                                   6.0 * bed.unit * ((fabs(pa) + fabs(fa)) / m + fabs(push[a])));
                    } else {
                        CHECK(v == 0.0);
                        want_dropped += fabs(test_bed_rounded(&bed, pa + fa));
                    }
                    if (channels == 2) {
                        const double was = test_bed_node_value(&bed, 0, RP_CH_IMPULSE, index, a);
                        CHECK_NEAR(was, m > c.least ? pa / m : 0.0,
                                   m > c.least ? 4.0 * bed.unit * fabs(pa) / m : 0.0);
                    }
                }
            }
        }
        CHECK(want_dropped > 0.0);
        CHECK_NEAR(dropped, want_dropped, 1e-12 * want_dropped);
        test_bed_free(&bed);
    }
}

// Momentum over mass plus impulse over mass plus push; nodes at or below the least mass stand still
// and what they had is reported. Catches a missing threshold (0 / 0 is on the grid), a push that is
// divided by mass, the impulse forgotten.
static void nodes_turn_momentum_into_velocity(void) { test_each_variant(check_velocity); }

static void check_keep(const rp_kernels *k)
{
    test_bed bed;
    test_bed_def def = usual_bed(k, 0.1);
    def.channels = 2;
    cloud[0] = (test_particle){.x = {0.45, 0.45, 0.25}};
    CHECK_HELPER(set_up(&bed, &def, 1));
    grid_case c = {&bed, 1.0};
    test_bed_set_nodes(&bed, RP_CH_MOMENTUM, momentum_node, &c);
    test_bed_set_nodes(&bed, RP_CH_IMPULSE, impulse_node, &c);
    test_bed_keep(&bed, 0.75);
    for (rp_local p = 0; p < bed.grid.pages; p++) {
        for (int n = 0; n < bed.layout.nodes; n++) {
            int32_t index[3];
            double now[RP_QUAD] = {0}, was[RP_QUAD] = {0};
            test_bed_index(&bed, p, n, index);
            momentum_node(&c, index, now);
            impulse_node(&c, index, was);
            if (!test_bed_reaches(&bed, p, n)) {
                continue;
            }
            for (int a = 0; a < k->dim; a++) {
                CHECK_NEAR(test_bed_node_value(&bed, 0, RP_CH_IMPULSE, index, a),
                           now[a] - 0.75 * was[a], 4.0 * bed.unit);
                CHECK(test_bed_node_value(&bed, 0, RP_CH_MOMENTUM, index, a) ==
                      test_bed_rounded(&bed, now[a]));
            }
        }
    }
    test_bed_free(&bed);
}

// What particles keep, nodes do not give them again. Catches old minus new, and the share of the
// wrong one.
static void nodes_give_what_is_not_kept(void) { test_each_variant(check_keep); }

// PIC, FLIP
// -------------------------------------------------------------------------------------------------

static double total_mass(const test_bed *bed, double momentum[3], double size[3])
{
    double mass = 0.0;
    for (int a = 0; a < 3; a++) {
        momentum[a] = size[a] = 0.0;
    }
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        const void *node = rp_grid_nodes(&bed->grid, RP_CH_MOMENTUM, p);
        for (int n = 0; n < bed->layout.nodes; n++) {
            mass += test_bed_get(bed, node, RP_QUAD * n + 3);
            for (int a = 0; a < bed->layout.dim; a++) {
                momentum[a] += test_bed_get(bed, node, RP_QUAD * n + a);
                size[a] += fabs(test_bed_get(bed, node, RP_QUAD * n + a));
            }
        }
    }
    return mass;
}

static test_bed_def flip_bed(const rp_kernels *k, double flip)
{
    test_bed_def def = usual_bed(k, 0.1);
    def.columns[0] = TEST_COLUMN(VELOCITY) | TEST_COLUMN(STRAIN);
    def.transfer = RP_FLIP;
    def.kept = flip;
    def.channels = 2;
    return def;
}

static void flip_alone(const rp_kernels *k)
{
    uint64_t random = 51;
    const double gravity[3] = {0.25, -0.5, 0.125};
    for (int fall = 0; fall < 2; fall++) {
        test_bed bed;
        test_bed_def def = flip_bed(k, 1.0);
        def.lawless[0] = true;
        random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud,
                     200);
        CHECK_HELPER(set_up(&bed, &def, 200));
        const double push[3] = {fall * gravity[0], fall * gravity[1], fall * gravity[2]};
        for (int step = 0; step < 3; step++) {
            test_bed_p2g(&bed, 1);
            test_bed_velocity(&bed, push, 0.0);
            test_bed_keep(&bed, 1.0);
            CHECK(!test_bed_g2p(&bed, 0).bad);
            CHECK_HELPER(test_bed_sort_if_wanted(&bed));
        }
        test_bed_read(&bed, 0, after);
        for (int i = 0; i < 200; i++) {
            for (int a = 0; a < k->dim; a++) {
                // a step rounds the change on the nodes and the sum with it, all below 3 m/s
                CHECK_NEAR(after[i].v[a], cloud[i].v[a] + 3.0 * push[a],
                           3.0 * bed.unit * 3.0 * (8.0 + 16.0 * fall));
            }
        }
        test_bed_free(&bed);
    }
}

// Full FLIP without forces keeps every particle's own velocity, and adds gravity to it once.
// Catches a change that contains the velocity itself, and PIC under FLIP's name.
static void full_flip_keeps_what_nothing_changes(void) { test_each_variant(flip_alone); }

static void other_random_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const int32_t other[3] = {index[0] - 55, index[1] + 3, index[2]};
    random_node(ctx, other, quad);
}

static void flip_blend(const rp_kernels *k)
{
    static const double share[] = {0.0, 0.5, 0.97, 1.0};
    uint64_t random = 52;
    for (int i = 0; i < 4; i++) {
        test_bed bed;
        const test_bed_def def = flip_bed(k, share[i]);
        random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud,
                     150);
        CHECK_HELPER(set_up(&bed, &def, 150));
        mpm_grid now, was;
        test_bed_copy(&bed, 0, slow);
        CHECK(mpm_grid_init(&now, k->dim, k->order, def.h, NULL, slow, 150));
        CHECK(mpm_grid_init(&was, k->dim, k->order, def.h, NULL, slow, 150));
        set_reference(&bed, &now, random_node, &bed);
        set_reference(&bed, &was, other_random_node, &bed);
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
        test_bed_set_nodes(&bed, RP_CH_IMPULSE, other_random_node, &bed);
        test_bed_keep(&bed, share[i]);
        CHECK(!test_bed_g2p(&bed, 0).bad);
        test_bed_copy(&bed, 0, moved);
        for (int p = 0; p < 150; p++) {
            mpm_gathered g, d;
            mpm_g2p(&now, &slow[p], &g);
            mpm_g2p(&was, &slow[p], &d);
            for (int a = 0; a < k->dim; a++) {
                const double old = d.v[a], cells = g.v[a] * def.dt / def.h; // theory (14)
                const double bound = gather_bound(&bed) * (g.speed + d.speed) +
                                     6.0 * bed.unit * (g.speed + d.speed + fabs(slow[p].v[a]));
                CHECK_NEAR(moved[p].v[a], g.v[a] + share[i] * (slow[p].v[a] - old), bound);
                // but it moves with the interpolated velocity
                CHECK_NEAR((double)(moved[p].x[a] - slow[p].x[a]), cells,
                           bound * def.dt / def.h + move_bound(&bed, fabs(cells)));
            }
        }
        mpm_grid_free(&now);
        mpm_grid_free(&was);
        test_bed_free(&bed);
    }
}

// FLIP of any share is theory (14), and particles move with the field. Catches the share taken the
// other way round, and positions moved with FLIP's velocity.
static void flip_blends_as_written(void) { test_each_variant(flip_blend); }

static void steady_blend(const rp_kernels *k)
{
    static const double share[] = {0.0, 0.5, 0.97, 1.0};
    uint64_t random = 53;
    for (int i = 0; i < 4; i++) {
        test_bed bed;
        test_bed_def def = flip_bed(k, share[i]);
        def.columns[0] |= TEST_COLUMN(AFFINE);
        def.transfer = RP_STEADY;
        random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud,
                     150);
        CHECK_HELPER(set_up(&bed, &def, 150));
        mpm_grid now, was;
        test_bed_copy(&bed, 0, slow);
        CHECK(mpm_grid_init(&now, k->dim, k->order, def.h, NULL, slow, 150));
        CHECK(mpm_grid_init(&was, k->dim, k->order, def.h, NULL, slow, 150));
        set_reference(&bed, &now, random_node, &bed);
        set_reference(&bed, &was, other_random_node, &bed);
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
        test_bed_set_nodes(&bed, RP_CH_IMPULSE, other_random_node, &bed);
        test_bed_keep(&bed, share[i]);
        CHECK(!test_bed_g2p(&bed, 0).bad);
        test_bed_copy(&bed, 0, moved);
        for (int p = 0; p < 150; p++) {
            mpm_gathered g, d;
            mpm_g2p(&now, &slow[p], &g);
            mpm_g2p(&was, &slow[p], &d);
            const double speed = g.speed + d.speed, s = share[i];
            const double(*L)[3] = (const double(*)[3])g.grad;
            double together = 0.0;
            for (int a = 0; a < k->dim; a++) {
                together -= L[a][a];
            }
            together = fmax(together, 0.0);
            for (int a = 0; a < k->dim; a++) {
                const double cells = g.v[a] * def.dt / def.h;
                const double bound =
                    gather_bound(&bed) * speed + 6.0 * bed.unit * (speed + fabs(slow[p].v[a]));
                CHECK_NEAR(moved[p].v[a], g.v[a] + s * (slow[p].v[a] - d.v[a]), bound);
                CHECK_NEAR((double)(moved[p].x[a] - slow[p].x[a]), cells,
                           bound * def.dt / def.h + move_bound(&bed, fabs(cells)));
                for (int b = 0; b < k->dim; b++) {
                    double square = 0.5 * def.dt * together * (L[a][b] + L[b][a]);
                    double size = fabs(slow[p].C[a][b]) +
                                  2.0 * def.dt * together * (fabs(L[a][b]) + fabs(L[b][a]));
                    for (int c = 0; c < k->dim; c++) {
                        square += 0.5 * def.dt * (L[a][c] * L[c][b] + L[b][c] * L[c][a]);
                        size += def.dt * (fabs(L[a][c]) + fabs(L[b][c])) *
                                (fabs(L[c][a]) + fabs(L[c][b]));
                    }
                    const double one =
                        (affine_bound(&bed) + slope_bound(&bed) + 24.0 * bed.unit / def.h) * speed;
                    CHECK_NEAR(moved[p].C[a][b],
                               g.C[a][b] + s * (slow[p].C[a][b] - d.C[a][b]) - square,
                               one * (1.0 + 8.0 * def.dt * speed / def.h) + 16.0 * bed.unit * size);
                }
            }
        }
        mpm_grid_free(&now);
        mpm_grid_free(&was);
        test_bed_free(&bed);
    }
}

// The steady transfer is theory (14a). Catches an affine matrix that is not kept, or kept
// by another share, or that does not go along with the motion.
static void steady_keeps_velocity_and_affine_matrix(void) { test_each_variant(steady_blend); }

static void channels_apart(const rp_kernels *k)
{
    uint64_t random = 53;
    random_cloud(&random, k->dim, 0.1, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud, 200);
    test_bed one, two;
    test_bed_def def = usual_bed(k, 0.1);
    CHECK_HELPER(set_up(&one, &def, 200));
    def.channels = 2;
    CHECK_HELPER(set_up(&two, &def, 200));
    test_bed_p2g(&one, 1);
    test_bed_p2g(&two, 1);
    mpm_grid want;
    test_bed_copy(&one, 0, slow);
    CHECK(mpm_grid_init(&want, k->dim, k->order, def.h, NULL, slow, 200));
    mpm_p2g(&want, slow, 200, 0, def.dt);
    for (int64_t n = 0; n < want.nodes; n++) {
        int32_t index[3];
        mpm_index(&want, n, index);
        const mpm_node *node = &want.node[n];
        CHECK_NEAR(test_bed_node_value(&two, 0, RP_CH_MOMENTUM, index, 3),
                   test_bed_node_value(&one, 0, RP_CH_MOMENTUM, index, 3),
                   2.0 * one.unit * (node->particles + 3) * node->mass.size);
        CHECK(test_bed_node_value(&two, 0, RP_CH_IMPULSE, index, 3) == 0.0);
        for (int a = 0; a < k->dim; a++) {
            CHECK_NEAR(test_bed_node_value(&two, 0, RP_CH_MOMENTUM, index, a) +
                           test_bed_node_value(&two, 0, RP_CH_IMPULSE, index, a),
                       test_bed_node_value(&one, 0, RP_CH_MOMENTUM, index, a),
                       4.0 * one.unit * (node->particles + 4) *
                           (node->momentum[a].size + node->impulse[a].size));
        }
    }
    mpm_grid_free(&want);
    test_bed_free(&one);
    test_bed_free(&two);
}

// Momentum and impulse apart add up to the two as one, within the rounding of the sums and of the
// weights' products, which are taken in another order.
// Catches mass in the second channel and a part that is scattered twice.
static void two_channels_add_up_to_one(void) { test_each_variant(channels_apart); }

// Whole steps
// -----------------------------------------------------------------------------------------

typedef struct chained {
    const test_bed *bed;
    double bound[3];
} chained;

// What wrong momenta and masses of the nodes do to a particle's velocity: w (dp + |v| dm) / m.
static void add_bound(void *ctx, mpm_node *node, double w, const double dw[3], const double r[3])
{
    (void)dw, (void)r;
    chained *c = ctx;
    const int n = node->particles;
    const double m = node->mass.value;
    for (int a = 0; a < c->bed->layout.dim && m > 0.0; a++) {
        const double dp = scatter_bound(c->bed, &node->momentum[a], n) +
                          scatter_bound(c->bed, &node->impulse[a], n);
        const double dm = scatter_bound(c->bed, &node->mass, n);
        c->bound[a] +=
            w * (dp + fabs(node->v[a]) * dm) / m + 4.0 * c->bed->unit * w * fabs(node->v[a]);
    }
}

static void whole_step(const rp_kernels *k)
{
    uint64_t random = 61;
    const double push[3] = {0.1, -0.3, 0.2};
    test_bed bed;
    const test_bed_def def = usual_bed(k, 0.1);
    const int count = k->dim == 3 ? 1000 : 400;
    random_cloud(&random, k->dim, def.h, (double[]){-2, -2, -2}, (double[]){4, 4, 4}, cloud, count);
    CHECK_HELPER(set_up(&bed, &def, count));
    mpm_grid want;
    test_bed_copy(&bed, 0, slow);
    CHECK(mpm_grid_init(&want, k->dim, k->order, def.h, NULL, slow, count));
    mpm_p2g(&want, slow, count, 0, def.dt);
    // light nodes are left alone here: f / m has no bound there, and so has its rounding
    const double least = 1e-3 * def.group[0][0].mass;
    mpm_velocity(&want, push, least);
    test_bed_p2g(&bed, 1);
    test_bed_velocity(&bed, push, least);
    CHECK(!test_bed_g2p(&bed, 0).bad);
    test_bed_copy(&bed, 0, moved);
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        mpm_gathered g;
        chained c = {.bed = &bed};
        mpm_g2p(&want, &slow[i], &g);
        mpm_visit(&want, &slow[i], add_bound, &c);
        for (int a = 0; a < k->dim; a++) {
            const double bound = c.bound[a] + gather_bound(&bed) * g.speed;
            CHECK_NEAR(moved[i].v[a], g.v[a], bound);
            largest = fmax(largest, bound / g.speed);
        }
    }
    // the bounds say something
    CHECK(largest < (k->real_bits == 32 ? 1e-2 : 1e-11));
    mpm_grid_free(&want);
    test_bed_free(&bed);
}

// P2G, grid and G2P in a row, with stress and gravity. Catches stages that are right alone and do
// not fit together.
static void a_whole_step_is_that_of_the_reference(void) { test_each_variant(whole_step); }

// V-A3. In double the tolerances are those of the page. In single: a particle's weights sum to 1
// within 8u, the sums on the nodes are wrong by 2 (n + 4) u, n being the most particles that any
// node has; on the way back, velocity, product and sum again take 16u.
static void check_conservation(const rp_kernels *k)
{
    uint64_t random = 71;
    test_bed_def def = usual_bed(k, 0.1);
    def.transfer = RP_APIC;
    const int count = k->dim == 3 ? 2000 : 800;
    random_cloud(&random, k->dim, def.h, (double[]){-5, -5, -5}, (double[]){5, 5, 5}, cloud, count);
    for (int channels = 1; channels <= 2; channels++) {
        test_bed bed;
        def.channels = channels;
        CHECK_HELPER(set_up(&bed, &def, count));
        test_bed_copy(&bed, 0, slow);
        mpm_grid want;
        CHECK(mpm_grid_init(&want, k->dim, k->order, def.h, NULL, slow, count));
        mpm_p2g(&want, slow, count, 0, def.dt);
        int most = 0;
        double f_size[3] = {0}, p_size[3] = {0}, f_reach = 0.0;
        for (int64_t n = 0; n < want.nodes; n++) {
            most = want.node[n].particles > most ? want.node[n].particles : most;
            for (int a = 0; a < k->dim; a++) {
                f_size[a] += fabs(want.node[n].impulse[a].value);
                p_size[a] += want.node[n].momentum[a].size + want.node[n].impulse[a].size;
                f_reach = fmax(f_reach, want.node[n].impulse[a].size);
            }
        }
        const double u = bed.unit, sums = (8.0 + 2.0 * (most + 4)) * u;
        const bool single = k->real_bits == 32;
        double mass = 0.0, momentum[3] = {0}, size[3], got[3];
        for (int i = 0; i < count; i++) {
            mass += slow[i].mass;
            for (int a = 0; a < k->dim; a++) {
                momentum[a] += slow[i].mass * slow[i].v[a];
            }
        }
        test_bed_p2g(&bed, 1);
        CHECK_NEAR(total_mass(&bed, got, size), mass, (single ? sums : 1e-14) * mass);
        for (int a = 0; a < k->dim; a++) {
            // all forces are internal, so the impulse in it sums to nothing
            CHECK_NEAR(got[a], momentum[a], (single ? sums : 1e-13) * p_size[a]);
        }
        if (channels == 2) {
            for (int a = 0; a < k->dim; a++) {
                double f = 0.0;
                for (rp_local p = 0; p < bed.grid.pages; p++) {
                    for (int n = 0; n < bed.layout.nodes; n++) {
                        f += test_bed_get(&bed, rp_grid_nodes(&bed.grid, RP_CH_IMPULSE, p),
                                          RP_QUAD * n + a);
                    }
                }
                CHECK_NEAR(f, 0.0, single ? sums * p_size[a] : 1e-12 * f_size[a]);
            }
        }
        test_bed_velocity(&bed, (double[3]){0}, 0.0);
        CHECK(!test_bed_g2p(&bed, 0).bad);
        test_bed_copy(&bed, 0, moved);
        for (int a = 0; a < k->dim; a++) {
            double now = 0.0;
            for (int i = 0; i < count; i++) {
                now += moved[i].mass * moved[i].v[a];
            }
            CHECK_NEAR(now, momentum[a], (single ? sums + 16.0 * u : 1e-13) * p_size[a]);
        }
        mpm_grid_free(&want);
        test_bed_free(&bed);
    }
}

// V-A3: mass and momentum of the grid are those of the particles, forces sum to zero, and the
// particles have the same momentum after a step. Catches weights or slopes that do not close, an
// arena row that is added twice or lost.
static void a_step_keeps_mass_and_momentum(void) { test_each_variant(check_conservation); }

// V-A9
// ----------------------------------------------------------------------------------------------------

typedef struct linear_field {
    const test_bed *bed;
    double A[3][3], b[3];
} linear_field;

static void linear_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const linear_field *f = ctx;
    for (int i = 0; i < f->bed->layout.dim; i++) {
        quad[i] = f->b[i];
        for (int j = 0; j < f->bed->layout.dim; j++) {
            quad[i] += f->A[i][j] * index[j] * f->bed->layout.h;
        }
    }
    quad[3] = 1.0;
}

static void patch_of_velocity(const rp_kernels *k)
{
    uint64_t random = 81;
    test_bed bed;
    test_bed_def def = usual_bed(k, 0.1);
    def.dt = 1e-3;
    random_cloud(&random, k->dim, def.h, (double[]){-5, -5, -5}, (double[]){5, 5, 5}, cloud, 300);
    CHECK_HELPER(set_up(&bed, &def, 300));
    linear_field f = {.bed = &bed};
    double speed = 0.0;
    for (int i = 0; i < k->dim; i++) {
        f.b[i] = test_between(&random, -1.0, 1.0);
        double row = fabs(f.b[i]);
        for (int j = 0; j < k->dim; j++) {
            f.A[i][j] = test_between(&random, -1.0, 1.0);
            row += 8.0 * def.h * fabs(f.A[i][j]);
        }
        speed = fmax(speed, row);
    }
    test_bed_set_nodes(&bed, RP_CH_MOMENTUM, linear_node, &f);
    test_bed_copy(&bed, 0, slow);
    spy.bed = &bed;
    bed.job[0].law = spies;
    CHECK(!test_bed_g2p(&bed, 0).bad);
    test_bed_copy(&bed, 0, moved);
    // the nodes' own rounding counts once more
    const double bound = slope_bound(&bed) + affine_bound(&bed) + 16.0 * bed.unit / def.h;
    for (int p = 0; p < 300; p++) {
        const rp_local slot = test_bed_slot(&bed, 0, (uint64_t)p);
        for (int i = 0; i < k->dim; i++) {
            double v = f.b[i];
            for (int j = 0; j < k->dim; j++) {
                v += f.A[i][j] * (double)slow[p].x[j] * def.h;
                CHECK_NEAR(spy.increment[slot][k->dim * i + j] / def.dt, f.A[i][j],
                           k->real_bits == 32 ? bound * speed : 1e-12);
                CHECK_NEAR(moved[p].C[i][j], f.A[i][j], k->real_bits == 32 ? bound * speed : 1e-12);
            }
            CHECK_NEAR(moved[p].v[i], v, 2.0 * gather_bound(&bed) * speed);
        }
    }
    test_bed_free(&bed);
}

// V-A9: a linear velocity field is seen exactly, in value, gradient and affine matrix. Catches a
// gradient that is right on average only, and a wrong D.
static void a_linear_field_is_seen_as_it_is(void) { test_each_variant(patch_of_velocity); }

// A block of per_axis particles per cell axis, of uniform stress; the volume is shared exactly.
static int lattice(int dim, double h, const int lower[3], const int upper[3], int per_axis,
                   const double strain[6])
{
    int count = 0, size[3] = {1, 1, 1};
    for (int a = 0; a < dim; a++) {
        size[a] = (upper[a] - lower[a]) * per_axis;
    }
    for (int i = 0; i < size[0]; i++) {
        for (int j = 0; j < size[1]; j++) {
            for (int l = 0; l < size[2] && count < MOST; l++) {
                const int place[3] = {i, j, l};
                test_particle *p = &cloud[count++];
                *p = (test_particle){0};
                for (int a = 0; a < dim; a++) {
                    p->x[a] = h * (lower[a] + (place[a] + 0.5) / per_axis);
                }
                memcpy(p->strain, strain, 6 * sizeof *strain);
            }
        }
    }
    return count;
}

// A symmetric stress as strain with 2 mu = 1, largest component 1.
static const double uniform2[6] = {-1.0, -0.6, 0.4},
                    uniform3[6] = {-1.0, -0.6, 0.8, 0.4, -0.3, 0.7};

static void patch_of_stress(const rp_kernels *k)
{
    static const double h = 0.125;
    // per_axis of 2 and 4 are 2^n and 4^n per cell
    for (int per_axis = 2; per_axis <= 4; per_axis *= 2) {
        test_bed bed;
        test_bed_def def = test_default_bed(k, h);
        const int half = k->dim == 3 ? (per_axis == 2 ? 4 : 2) : 6;
        // off the origin by a cell, to lie across pages unevenly
        const int lower[3] = {1 - half, 1 - half, 1 - half},
                  upper[3] = {1 + half, 1 + half, 1 + half};
        const int count =
            lattice(k->dim, h, lower, upper, per_axis, k->dim == 2 ? uniform2 : uniform3);
        CHECK(count < MOST);
        def.channels = 2;
        def.group[0][0] =
            test_group_of(k->dim, RP_ELASTIC, 1.0, pow(h / per_axis, k->dim), 0.0, 0.5);
        CHECK_HELPER(set_up(&bed, &def, count));
        test_bed_p2g(&bed, 1);
        const double scale = pow(h, k->dim - 1);
        const int reach = 2; // cells from the rim that a node inside must have
        int inside = 0;
        double rim = 0.0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            for (int n = 0; n < bed.layout.nodes; n++) {
                int32_t index[3];
                bool in = true;
                test_bed_index(&bed, p, n, index);
                for (int a = 0; a < k->dim; a++) {
                    in = in && index[a] >= lower[a] + reach && index[a] <= upper[a] - reach;
                }
                inside += in;
                for (int a = 0; a < k->dim; a++) {
                    const double f = test_bed_node_value(&bed, 0, RP_CH_IMPULSE, index, a) / scale;
                    rim = fmax(rim, in ? 0.0 : fabs(f));
                    // single: up to (4 per_axis)^d particles, each 60u of its share of d stresses
                    // of 1, and their sum
                    const double n_most = pow((k->order + 1) * per_axis, k->dim);
                    const double share = 60.0 * bed.unit * k->dim / pow(per_axis, k->dim) * n_most;
                    CHECK_NEAR(f, 0.0, !in ? INFINITY : k->real_bits == 32 ? share : 1e-12);
                }
            }
        }
        CHECK(inside > 0 && rim > 0.3);
        test_bed_free(&bed);
    }
}

// V-A9: uniform stress in a lattice of 2^n particles per cell leaves the nodes inside in peace and
// pulls at those of the rim. Catches a slope of the wrong sign on one side.
static void uniform_stress_does_not_push_inside(void) { test_each_variant(patch_of_stress); }

// Places [cells] no closer to each other than `apart` in a periodic box, as many as darts find.
static int poisson_disk(int dim, int period, double apart, double x[MOST][3])
{
    uint64_t random = 82;
    int count = 0;
    for (int tries = 0; tries < 40000 && count < MOST; tries++) {
        double at[3] = {0};
        bool free_place = true;
        for (int a = 0; a < dim; a++) {
            at[a] = test_between(&random, 0.0, period);
        }
        for (int i = 0; i < count && free_place; i++) {
            double d2 = 0.0;
            for (int a = 0; a < dim; a++) {
                const double d = fabs(at[a] - x[i][a]), r = fmin(d, period - d);
                d2 += r * r;
            }
            free_place = d2 >= apart * apart;
        }
        if (free_place) {
            memcpy(x[count++], at, sizeof at);
        }
    }
    return count;
}

static void patch_of_samples(const rp_kernels *k)
{
    if (k->order == 1) {
        return; // the page's number is for smooth splines
    }
    test_bed bed;
    test_bed_def def = test_default_bed(k, 0.125);
    const int period = k->dim == 3 ? 8 : 16;
    // about 4 per cell in 2D, 8 in 3D; the same for all variants, since they take a while to find
    static double places[2][MOST][3];
    static int counts[2];
    const int set = k->dim == 3;
    if (counts[set] == 0) {
        counts[set] = poisson_disk(k->dim, period, k->dim == 3 ? 0.43 : 0.41, places[set]);
    }
    const int count = counts[set];
    double box = 1.0;
    for (int a = 0; a < k->dim; a++) {
        def.period[a] = period;
        box *= period * def.h;
    }
    for (int i = 0; i < count; i++) {
        const double *at = places[set][i];
        cloud[i] = (test_particle){.x = {def.h * at[0], def.h * at[1], def.h * at[2]}};
        memcpy(cloud[i].strain, k->dim == 2 ? uniform2 : uniform3, sizeof uniform2);
    }
    def.channels = 2;
    def.group[0][0] = test_group_of(k->dim, RP_ELASTIC, 1.0, box / count, 0.0, 0.5);
    CHECK_HELPER(set_up(&bed, &def, count));
    test_bed_p2g(&bed, 1);
    double sum2 = 0.0;
    int nodes = 0;
    for (rp_local p = 0; p < bed.grid.pages; p++) {
        for (int n = 0; n < bed.layout.nodes; n++) {
            for (int a = 0; a < k->dim; a++) {
                const double f = test_bed_get(&bed, rp_grid_nodes(&bed.grid, RP_CH_IMPULSE, p),
                                              RP_QUAD * n + a) /
                                 pow(def.h, k->dim - 1);
                sum2 += f * f;
                nodes++;
            }
        }
    }
    const double rms = sqrt(sum2 / nodes), per_cell = count / (box / pow(def.h, k->dim));
    if (k->isa == RP_ISA_PLAIN && k->real_bits == 64) {
        printf("     V-A9 %dD q%d, %.1f Poisson-disk samples per cell: rms %.3f of sigma h^(d-1)\n",
               k->dim, k->order, per_cell, rms);
    }
    CHECK(rms > 0.0);
    CHECK_NEAR(rms, 0.0, mpm_affine ? 0.12 : 0.10);
    test_bed_free(&bed);
}

// V-A9: with Poisson-disk samples the forces inside are noise of at most a tenth; of affine
// gradients, which weigh samples near the node's edges more, 0.105 in 2D. Catches a volume
// or a stress that is scattered with the wrong factor.
static void random_samples_push_little_inside(void) { test_each_variant(patch_of_samples); }

// V-A10
// ---------------------------------------------------------------------------------------------------

// Half-space x < face (cells) of uniform stress, per_axis particles per cell; gives f . n of the
// node at the origin in units of h^(d-1).
static void half_space_force(const rp_kernels *k, int per_axis, double face, double stress,
                             double *force)
{
    static const double h = 0.125;
    test_bed bed;
    test_bed_def def = test_default_bed(k, h);
    double strain[6] = {stress};
    // deep and wide enough for the node to see nothing of the other faces
    const int lower[3] = {-4, -2, -2}, upper[3] = {0, 2, 2};
    const int count = lattice(k->dim, h, lower, upper, per_axis, strain);
    CHECK(count < MOST);
    for (int i = 0; i < count; i++) {
        cloud[i].x[0] += face * h;
    }
    def.channels = 2;
    def.group[0][0] = test_group_of(k->dim, RP_ELASTIC, 1.0, pow(h / per_axis, k->dim), 0.0, 0.5);
    CHECK_HELPER(set_up(&bed, &def, count));
    test_bed_p2g(&bed, 1);
    *force =
        test_bed_node_value(&bed, 0, RP_CH_IMPULSE, (int32_t[]){0, 0, 0}, 0) / pow(h, k->dim - 1);
    test_bed_free(&bed);
}

static void boundary_force(const rp_kernels *k)
{
    // affine: D^-1 sum w r over the particles on one side, at odd multiples of a quarter cell
    static const double printed[2][4] = {{[2] = 0.75, [3] = 0.6875},
                                         {[2] = 0.84375, [3] = 0.72265625}};
    const double tight = k->real_bits == 32 ? 60.0 * 0x1p-24 * (k->order + 1) * 8.0 : 1e-12;
    double f = 0.0;
    if (k->order > 1) {
        CHECK_HELPER(half_space_force(k, 2, 0.0, 3.0, &f));
        CHECK_NEAR(f, -3.0 * printed[mpm_affine][k->order], 3.0 * tight);
    }
    if (mpm_affine) {
        return;
    }
    // in the limit N(xi): the midpoint rule is off by at most step^2 / 8 times the variation of the
    // second derivative, 8 for a quadratic spline and 6 for a cubic one; a linear spline's slope
    // jumps by up to 2, which is off by at most a step's worth
    const int most = k->dim == 3 ? 4 : 16;
    for (int per_axis = 2; per_axis <= most; per_axis *= 2) {
        for (double face = -1.75; face <= 1.75; face += 0.4375) {
            const double step = 1.0 / per_axis;
            const double off =
                k->order == 1 ? step : step * step / 8.0 * (k->order == 2 ? 8.0 : 6.0);
            CHECK_HELPER(half_space_force(k, per_axis, face, 2.0, &f));
            CHECK_NEAR(f, -2.0 * mpm_spline(k->order, face), 2.0 * off + tight);
        }
    }
}

// V-A10: a half-space of stress sigma pulls a node at the distance xi h with -sigma h^(d-1) N(xi);
// with two particles per cell axis and the node on the face, 0.75 and 0.6875. Catches the sign of
// the internal force: tension pulls a node into its own body.
static void a_free_face_pulls_as_far_as_the_spline_reaches(void)
{
    test_each_variant(boundary_force);
}

// V-A11
// ---------------------------------------------------------------------------------------------------

static void rotate(const rp_kernels *k, double w_dt, int steps, double *trace)
{
    uint64_t random = 91;
    test_bed bed;
    test_bed_def def = usual_bed(k, 0.125);
    def.dt = 1e-3;
    random_cloud(&random, k->dim, def.h, (double[]){-1, -1, -1}, (double[]){1, 1, 1}, cloud, 20);
    for (int i = 0; i < 20; i++) {
        for (int c = 0; c < 6; c++) {
            cloud[i].strain[c] *= 0.01;
        }
    }
    CHECK_HELPER(set_up(&bed, &def, 20));
    linear_field f = {.bed = &bed};
    f.A[0][1] = -w_dt / def.dt;
    f.A[1][0] = w_dt / def.dt;
    test_bed_read(&bed, 0, before);
    for (int i = 0; i < steps; i++) {
        CHECK_HELPER(test_bed_sort_if_wanted(&bed));
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, linear_node, &f);
        CHECK(!test_bed_g2p(&bed, 0).bad);
        bed.job[0].step++;
    }
    test_bed_read(&bed, 0, after);
    // a step is wrong by what the gradient is, at speeds up to 4 cells times w, and by the law's
    // own 16u (|h| + w dt)
    const double gradient = slope_bound(&bed) * 4.0 * def.h * w_dt;
    const double bound = steps * (2.0 * gradient + 16.0 * bed.unit * (0.02 + w_dt));
    for (int i = 0; i < 20; i++) {
        double was = 0.0, now = 0.0;
        for (int a = 0; a < k->dim; a++) {
            was += before[i].strain[a];
            now += after[i].strain[a];
        }
        *trace = now - was;
        CHECK_NEAR(*trace, steps * log1p(w_dt * w_dt), bound);
    }
    test_bed_free(&bed);
}

static void rotation_rate(const rp_kernels *k)
{
    // in single the growth must stand out from rounding
    const double w_dt = k->real_bits == 32 ? 0.04 : 1e-3;
    double trace = 0.0, half = 0.0;
    CHECK_HELPER(rotate(k, w_dt, 10, &trace));
    CHECK_HELPER(rotate(k, 0.5 * w_dt, 20, &half));
    CHECK_NEAR(half / trace, 0.5, 0.01);
}

// V-A11: under a pure rate of rotation tr h, the logarithm of det F, grows by ln(1 + w^2 dt^2) a
// step, and half as fast for half the step. Catches a symmetrised gradient (no growth), a
// transposed one together with a swapped push-forward, a rotation counted as strain.
static void spinning_swells_by_the_known_amount(void) { test_each_variant(rotation_rate); }

// Strain in mixed pages
// -----------------------------------------------------------------------------------

static void strain_of_mixed_pages(const rp_kernels *k)
{
    uint64_t random = 92;
    test_bed_def def = usual_bed(k, 0.1);
    def.dt = 0.05 * def.h;
    def.columns[0] |= TEST_COLUMN(HARDENING) | TEST_COLUMN(VOLUME_GAIN);
    def.groups[0] = 3;
    def.group[0][1] = test_group_of(k->dim, RP_SAND, 0.25, 4.0, 2e5, 1e5);
    def.group[0][2] = test_group_of(k->dim, RP_SAND, 0.5, 1.0, 1e5, 2e5);
    def.group[0][1].parameter[RP_PARAM_HARDENS] = 1.0;
    random_cloud(&random, k->dim, def.h, (double[]){-3, -3, -3}, (double[]){5, 5, 5}, cloud, 120);
    for (int i = 0; i < 120; i++) {
        cloud[i].group = test_below(&random, 3);
        for (int c = 0; c < 6; c++) {
            cloud[i].strain[c] *= 0.01;
        }
    }
    test_bed bed;
    CHECK_HELPER(set_up(&bed, &def, 120));
    test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
    CHECK(!test_bed_g2p(&bed, 0).bad);
    test_bed_read(&bed, 0, before);
    test_bed_free(&bed);

    // each group among its own kind
    for (int g = 0; g < 3; g++) {
        CHECK_HELPER(test_bed_init(&bed, &def));
        for (int i = 0; i < 120; i++) {
            wet[i] = cloud[i];
            wet[i].group = g;
        }
        CHECK_HELPER(test_bed_add(&bed, 0, wet, 120));
        CHECK_HELPER(test_bed_sort(&bed));
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
        CHECK(!test_bed_g2p(&bed, 0).bad);
        test_bed_read(&bed, 0, after);
        int changed = 0;
        for (int i = 0; i < 120; i++) {
            if (cloud[i].group == g) {
                CHECK(memcmp(&before[i], &after[i], sizeof after[i]) == 0);
            } else {
                changed += memcmp(before[i].strain, after[i].strain, sizeof after[i].strain) != 0;
            }
        }
        CHECK(changed > 0); // so the groups do differ
        test_bed_free(&bed);
    }
}

// A particle strains the same, bit for bit, whoever shares its tile. Catches a law applied to lanes
// of another, twice, or with a neighbour's parameters.
static void grains_of_several_laws_share_a_tile(void) { test_each_variant(strain_of_mixed_pages); }

// Dither
// ------------------------------------------------------------------------------------------------

static void creep(const rp_kernels *k)
{
    enum { GRAINS = 1000, STEPS = 60 };
    static const double unit = 0x1p-26; // cells
    // along the axes 0.3, -0.3 and 0.01 units a step
    static const double step[3] = {0.3 * unit, -0.3 * unit, 0.01 * unit};
    uint64_t random = 101;
    test_bed bed;
    test_bed_def def = usual_bed(k, 0.125);
    random_cloud(&random, k->dim, def.h, (double[]){-7, -7, -7}, (double[]){7, 7, 7}, cloud,
                 GRAINS);
    CHECK_HELPER(set_up(&bed, &def, GRAINS));
    test_bed_copy(&bed, 0, slow);
    for (int i = 0; i < STEPS; i++) {
        bed.job[0].step = (uint64_t)i;
        CHECK_HELPER(carry(&bed, step));
    }
    test_bed_copy(&bed, 0, moved);
    for (int a = 0; a < k->dim; a++) {
        const double n = STEPS, p = fabs(step[a]) / unit;
        double mean = 0.0, square = 0.0, with_first = 0.0;
        for (int i = 0; i < GRAINS; i++) {
            const double way = (double)(moved[i].x[a] - slow[i].x[a]) / unit - n * step[a] / unit;
            const double first = (double)(moved[i].x[0] - slow[i].x[0]) / unit - n * step[0] / unit;
            mean += way / GRAINS;
            square += way * way / GRAINS;
            with_first += way * first / GRAINS;
        }
        if (k->real_bits == 64) {
            // no dither: each move rounds in a page, below 2^-24 of a unit
            CHECK_NEAR(square, 0.0, 1e-8);
            continue;
        }
        // steps are independent draws: n p (1 - p) is the variance of a way, and five deviations of
        // its mean and of its own estimate are allowed
        const double variance = n * p * (1.0 - p);
        CHECK_NEAR(mean, 0.0, 5.0 * sqrt(variance / GRAINS));
        CHECK_NEAR(square, variance, 5.0 * variance * sqrt(3.0 / GRAINS));
        if (a > 0) {
            const double first_variance = n * 0.3 * 0.7;
            CHECK_NEAR(with_first, 0.0, 5.0 * sqrt(variance * first_variance / GRAINS));
        }
    }
    test_bed_free(&bed);
}

// Moves of a fraction of the unit of positions add up in the mean, draws of steps, axes and
// particles are independent. Catches rounding that freezes creep, a bias, a hash that forgets the
// step (the variance grows with its square) or the axis (they correlate).
static void creep_below_the_unit_of_position_adds_up(void) { test_each_variant(creep); }

TEST_MAIN(TEST(a_random_cloud_arrives_on_the_grid), TEST(grains_on_page_faces_arrive_on_the_grid),
          TEST(fifty_metres_away_is_like_here), TEST(crowds_and_lattices_arrive_on_the_grid),
          TEST(pages_of_any_count_arrive_on_the_grid), TEST(mixed_pages_arrive_on_the_grid),
          TEST(fields_have_their_own_nodes), TEST(periodic_space_closes_on_itself),
          TEST(grains_gather_what_the_grid_holds), TEST(grains_gather_across_the_period),
          TEST(transfers_work_until_the_next_sort),
          TEST(a_grain_on_the_far_face_stays_in_its_arena), TEST(sorting_moves_nobody),
          TEST(water_shares_the_grid_with_sand), TEST(glue_goes_with_the_flow),
          TEST(empty_slots_stay_empty), TEST(what_is_not_physical_is_reported),
          TEST(nodes_turn_momentum_into_velocity), TEST(nodes_give_what_is_not_kept),
          TEST(full_flip_keeps_what_nothing_changes), TEST(flip_blends_as_written),
          TEST(steady_keeps_velocity_and_affine_matrix), TEST(two_channels_add_up_to_one),
          TEST(a_whole_step_is_that_of_the_reference), TEST(a_step_keeps_mass_and_momentum),
          TEST(a_linear_field_is_seen_as_it_is), TEST(uniform_stress_does_not_push_inside),
          TEST(random_samples_push_little_inside),
          TEST(a_free_face_pulls_as_far_as_the_spline_reaches),
          TEST(spinning_swells_by_the_known_amount), TEST(grains_of_several_laws_share_a_tile),
          TEST(creep_below_the_unit_of_position_adds_up))

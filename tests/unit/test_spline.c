// The splines as P2G hands them out. A particle of unit mass puts its weights on the nodes; at
// rest, with a stress of -1 Pa in every direction, unit volume and unit step, it puts the gradients
// of its weights there as momentum.
//
// Tolerances. In double they are those of V-A1. In single, with u = 2^-24: the distance to the base
// node is read from 26 bits with an error of u cells at most. A weight formed from it by the
// polynomials of theory (5) is wrong by 2u at the ends of the stencil and, where it is one minus
// the others, by 6u (order 2) or 10u (order 3); a slope by at most 14u. The three products on the
// way to a node add 3u. From these, the bounds below, for the worst order:
//
//   sum w           one axis sums to 1 within 1.5u, three axes and the products: 8u
//   sum w'          the last slope is minus the others: 2u, and 3u times sum |w'| <= 2: 8u
//   sum w r         sum |dw| |r| <= 2u 2 + 4u + 10u + 2u 2, and products: 24u
//   sum w r r       sum |dw| r^2 <= 2u 4 + 4u + 10u + 2u 4, and products: 32u
//   sum r w'        sum |dw'| |r| <= 3u 2 + 7u + 14u + 2u 2, products, and for mixed axes twice
//                   sum |dw| |r|: 50u
//   w, w'           15u, 20u
#include "check.h"
#include "random.h"
#include "test_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AROUND = 4, // nodes from the cell's lower one less one: all that a cubic spline can reach
    APART = 6,  // cells between particles, so that no two share a node
};

typedef struct bounds {
    double sum, slope_sum, first, second, mixed, value, slope; // in units of cells
} bounds;

static bounds bounds_of(const rp_kernels *k)
{
    static const double u = 0x1p-24;
    return k->real_bits == 32 ? (bounds){8 * u, 8 * u, 24 * u, 32 * u, 50 * u, 15 * u, 20 * u}
                              : (bounds){1e-14, 1e-13, 1e-14, 1e-14, 1e-13, 1e-14, 1e-14};
}

// What one particle left on the grid.
typedef struct footprint {
    double t[3][AROUND]; // particle minus node [cells]
    double w[AROUND][AROUND][AROUND];
    double d[AROUND][AROUND][AROUND][3]; // per cell
} footprint;

static void read_footprint(const test_bed *bed, const mpm_particle *p, footprint *out)
{
    const int dim = bed->layout.dim;
    int32_t first[3] = {0};
    memset(out, 0, sizeof *out);
    for (int a = 0; a < dim; a++) {
        first[a] = (int32_t)floorl(p->x[a]) - 1;
        for (int n = 0; n < AROUND; n++) {
            out->t[a][n] = (double)(p->x[a] - (first[a] + n));
        }
    }
    for (int i = 0; i < AROUND; i++) {
        for (int j = 0; j < AROUND; j++) {
            for (int k = 0; k < (dim == 3 ? AROUND : 1); k++) {
                const int32_t index[3] = {first[0] + i, first[1] + j, first[2] + k};
                const void *node = test_bed_node(bed, 0, RP_CH_MOMENTUM, index);
                for (int a = 0; a < dim && node != NULL; a++) {
                    out->d[i][j][k][a] = test_bed_get(bed, node, a) * bed->layout.h;
                }
                out->w[i][j][k] = node != NULL ? test_bed_get(bed, node, 3) : 0.0;
            }
        }
    }
}

// Sums over all axes but one: the spline along that axis.
static void along(const footprint *f, int axis, double w[AROUND], double d[AROUND])
{
    memset(w, 0, AROUND * sizeof *w);
    memset(d, 0, AROUND * sizeof *d);
    for (int i = 0; i < AROUND; i++) {
        for (int j = 0; j < AROUND; j++) {
            for (int k = 0; k < AROUND; k++) {
                const int n = axis == 0 ? i : axis == 1 ? j : k;
                w[n] += f->w[i][j][k];
                d[n] += f->d[i][j][k][axis];
            }
        }
    }
}

// Scatters particles that share no node and hands each one's footprint to look().
static void look_at(const rp_kernels *k, double h, const double (*cells)[3], int count,
                    void (*look)(const rp_kernels *k, const mpm_particle *p, const footprint *f))
{
    if (mpm_affine) {
        return; // slopes are seen through forces, and here they are those of the spline
    }
    test_particle *particle = calloc((size_t)count, sizeof *particle);
    mpm_particle *there = calloc((size_t)count, sizeof *there);
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < k->dim; a++) {
            particle[i].x[a] = cells[i][a] * h;
            particle[i].strain[a] = -1.0; // 2 mu = 1: the stress too
        }
    }
    test_bed_def def = test_default_bed(k, h);
    test_bed bed;
    CHECK_HELPER(test_bed_init(&bed, &def));
    CHECK_HELPER(test_bed_add(&bed, 0, particle, count));
    CHECK_HELPER(test_bed_sort(&bed));
    test_bed_p2g(&bed, 1);
    test_bed_copy(&bed, 0, there);

    double found = 0.0, all = 0.0;
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < k->dim; a++) {
            // where it was put, within half a unit of fixed point and the rounding of metres and
            // of the place in its page
            CHECK_NEAR((double)there[i].x[a], cells[i][a],
                       (k->real_bits == 32 ? 0x1p-27 : 0.0) + 0x1p-51 * (fabs(cells[i][a]) + 8.0));
        }
        footprint f;
        read_footprint(&bed, &there[i], &f);
        for (int n = 0; n < AROUND * AROUND * AROUND; n++) {
            found += fabs((&f.w[0][0][0])[n]);
        }
        CHECK_HELPER(look(k, &there[i], &f));
    }
    // nothing lies anywhere else
    for (rp_local p = 0; p < bed.grid.pages; p++) {
        for (int n = 0; n < bed.layout.nodes; n++) {
            all += fabs(
                test_bed_get(&bed, rp_grid_nodes(&bed.grid, RP_CH_MOMENTUM, p), RP_QUAD * n + 3));
        }
    }
    CHECK_NEAR(all, found, 1e-13 * count);
    test_bed_free(&bed);
    free(particle);
    free(there);
}

// A lattice of places APART cells from each other, off the grid lines by what `offset` gives.
static void spread_out(int dim, int per_axis, int32_t from, double (*offset)(uint64_t *random),
                       uint64_t *random, double (*cells)[3])
{
    const int count = dim == 3 ? per_axis * per_axis * per_axis : per_axis * per_axis;
    for (int i = 0; i < count; i++) {
        const int place[3] = {i % per_axis, i / per_axis % per_axis, i / per_axis / per_axis};
        for (int a = 0; a < 3; a++) {
            cells[i][a] = a < dim ? from + APART * place[a] + 2 + offset(random) : 0.0;
        }
    }
}

static void check_sums(const rp_kernels *k, const mpm_particle *p, const footprint *f)
{
    (void)p;
    const bounds b = bounds_of(k);
    double sum = 0.0, slope[3] = {0}, first[3] = {0}, second[3][3] = {{0}}, mixed[3][3] = {{0}};
    for (int i = 0; i < AROUND; i++) {
        for (int j = 0; j < AROUND; j++) {
            for (int l = 0; l < (k->dim == 3 ? AROUND : 1); l++) {
                const double w = f->w[i][j][l], *d = f->d[i][j][l];
                const double r[3] = {-f->t[0][i], -f->t[1][j], -f->t[2][l]};
                sum += w;
                for (int a = 0; a < k->dim; a++) {
                    slope[a] += d[a];
                    first[a] += w * r[a];
                    for (int c = 0; c < k->dim; c++) {
                        second[a][c] += w * r[a] * r[c];
                        mixed[a][c] += r[a] * d[c];
                    }
                }
            }
        }
    }
    CHECK_NEAR(sum, 1.0, b.sum);
    for (int a = 0; a < k->dim; a++) {
        CHECK_NEAR(slope[a], 0.0, b.slope_sum);
        CHECK_NEAR(first[a], 0.0, b.first);
        for (int c = 0; c < k->dim; c++) {
            const double t = f->t[a][1]; // from the node below
            const double D = k->order == 1 ? t * (1.0 - t) : k->order == 2 ? 0.25 : 1.0 / 3.0;
            CHECK_NEAR(second[a][c], a == c ? D : 0.0, b.second);
            CHECK_NEAR(mixed[a][c], a == c ? 1.0 : 0.0, b.mixed);
        }
    }
    // and each axis is the piecewise polynomial of the distance
    for (int a = 0; a < k->dim; a++) {
        double w[AROUND], d[AROUND];
        along(f, a, w, d);
        for (int n = 0; n < AROUND; n++) {
            CHECK_NEAR(w[n], mpm_spline(k->order, f->t[a][n]), b.value);
            CHECK_NEAR(d[n], mpm_slope(k->order, f->t[a][n]), b.slope);
        }
    }
}

static double anywhere(uint64_t *random) { return test_uniform(random); }

static void check_random_places(const rp_kernels *k)
{
    enum { MOST = 100 * 100 };
    static double cells[MOST][3];
    uint64_t random = 1;
    const int rounds = k->dim == 3 ? 10 : 1, per_axis = k->dim == 3 ? 10 : 100;
    for (int round = 0; round < rounds; round++) {
        // both sides of the origin
        spread_out(k->dim, per_axis, -APART * per_axis / 2 + round, anywhere, &random, cells);
        CHECK_HELPER(
            look_at(k, 0.1, (const double(*)[3])cells, k->dim == 3 ? 1000 : MOST, check_sums));
    }
}

// V-A1, ten thousand random places: the weights sum to one, their gradients to zero; they meet in
// the particle's place; their second moment is h^2/4 (order 2) and h^2/3 (order 3); each is the
// spline of its distance. Catches a wrong coefficient, a weight or slope given to the wrong node, a
// stencil that starts at the wrong node.
static void weights_sum_to_one_and_meet_where_the_grain_is(void)
{
    test_each_variant(check_random_places);
}

// The value that V-A2 prints for a distance of 0, 1/2 and 1 cell.
static double printed(int order, double t)
{
    static const double value[4][3] = {
        [1] = {1.0, 0.5, 0.0},
        [2] = {3.0 / 4.0, 1.0 / 2.0, 1.0 / 8.0},
        [3] = {2.0 / 3.0, 23.0 / 48.0, 1.0 / 6.0},
    };
    return fabs(t) > 1.0 ? -1.0 : value[order][(int)(2.0 * fabs(t))];
}

static void check_printed(const rp_kernels *k, const mpm_particle *p, const footprint *f)
{
    (void)p;
    for (int a = 0; a < k->dim; a++) {
        double w[AROUND], d[AROUND];
        int checked = 0;
        along(f, a, w, d);
        for (int n = 0; n < AROUND; n++) {
            const double want = printed(k->order, f->t[a][n]);
            if (want >= 0.0) {
                CHECK_NEAR(w[n], want, bounds_of(k).value);
                checked++;
            }
        }
        CHECK(checked >= 2);
    }
}

static double on_a_line_or_between(uint64_t *random) { return 0.5 * test_below(random, 2); }

static void check_printed_values(const rp_kernels *k)
{
    double cells[64][3];
    uint64_t random = 2;
    spread_out(k->dim, k->dim == 3 ? 4 : 8, -16, on_a_line_or_between, &random, cells);
    // a spacing that is a power of two puts them exactly there
    CHECK_HELPER(look_at(k, 0.125, (const double(*)[3])cells, 64, check_printed));
}

// V-A2: N(0), N(1/2), N(1) are 3/4, 1/2, 1/8 and 2/3, 23/48, 1/6. Catches polynomials that are
// partitions of unity and yet not these splines.
static void the_spline_has_its_printed_values(void) { test_each_variant(check_printed_values); }

// Sums of N over Gauss points, one per piece of the spline.
static double piece[AROUND];

static void add_pieces(const rp_kernels *k, const mpm_particle *p, const footprint *f)
{
    (void)p;
    double w[AROUND], d[AROUND];
    along(f, k->dim - 1, w, d);
    // order 2 changes its base node in the middle of a cell, so look for the first weight
    int first = 0;
    while (f->t[k->dim - 1][first] >= 0.5 * (k->order + 1)) {
        first++;
    }
    for (int n = 0; n <= k->order; n++) {
        piece[n] += 0.5 * w[first + n];
    }
}

static void check_integral(const rp_kernels *k)
{
    if (mpm_affine) {
        return;
    }
    // exact integrals of the pieces, last one first
    static const double want[4][AROUND] = {
        [1] = {1.0 / 2, 1.0 / 2},
        [2] = {1.0 / 6, 2.0 / 3, 1.0 / 6},
        [3] = {1.0 / 24, 11.0 / 24, 11.0 / 24, 1.0 / 24},
    };
    const double shift = 0.5 * (k->order - 1), gauss = 0.5 / sqrt(3.0);
    double cells[2][3] = {{0}};
    for (int a = 0; a < k->dim; a++) {
        cells[0][a] = 3.0 + shift + 0.5 - gauss;
        cells[1][a] = 3.0 + APART + shift + 0.5 + gauss;
    }
    memset(piece, 0, sizeof piece);
    CHECK_HELPER(look_at(k, 0.125, (const double(*)[3])cells, 2, add_pieces));
    double all = 0.0;
    for (int n = 0; n <= k->order; n++) {
        CHECK_NEAR(piece[n], want[k->order][n], bounds_of(k).value);
        all += piece[n];
    }
    CHECK_NEAR(all, 1.0, bounds_of(k).sum);
}

// V-A2: the integral of N is one, and each of its pieces holds its share. Two Gauss points are
// exact for a cubic. Catches pieces that fit at their ends only.
static void the_spline_has_a_unit_integral(void) { test_each_variant(check_integral); }

TEST_MAIN(TEST(weights_sum_to_one_and_meet_where_the_grain_is),
          TEST(the_spline_has_its_printed_values), TEST(the_spline_has_a_unit_integral))

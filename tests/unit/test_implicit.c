// What implicit steps linearise with, against differences of what they solve.
#include "check.h"
#include "law_lanes.h"
#include "model/linear_law.h"
#include "model/material.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PRESS = 9, LINEAR_MOST = 9 + 6 + 8 };

// One tile: its parameters, its state, the increment of the step.
typedef struct tile_data {
    _Alignas(64) double parameter[RP_PARAM_COUNT][RP_LANES], strain[6][RP_LANES];
    _Alignas(64) double increment[9][RP_LANES], density[RP_LANES], hardening[RP_LANES];
    _Alignas(64) double gain[RP_LANES], swollen[RP_LANES];
} tile_data;

static rp_law_tile tile_of(tile_data *d)
{
    return (rp_law_tile){.parameter = d->parameter,
                         .increment = d->increment,
                         .density = d->density,
                         .dt = 1.0,
                         .column = {[RP_COL_STRAIN] = d->strain,
                                    [RP_COL_HARDENING] = d->hardening,
                                    [RP_COL_VOLUME_GAIN] = d->gain,
                                    [RP_COL_PLASTIC_VOLUME] = d->swollen}};
}

typedef enum yielding { INSIDE, APART, SLIDING, CASES } yielding;

// Lanes that are far from the edges between cases, where the derivative jumps. `large` is the size
// of strains and increments.
static void make_tile(const rp_material_def *def, int dim, yielding wanted, double large,
                      uint64_t *random, tile_data *d)
{
    double of[RP_PARAM_COUNT];
    *d = (tile_data){0};
    rp_material_parameters(def, dim, of);
    for (int l = 0; l < RP_LANES; l++) {
        for (int k = 0; k < RP_PARAM_COUNT; k++) {
            d->parameter[k][l] = of[k];
        }
        for (int k = 0; k < dim * dim; k++) {
            d->increment[k][l] = large * test_between(random, -0.3, 0.3);
        }
        const double mean = wanted == APART ? 2.0 : wanted == INSIDE ? -4.0 : -1.0;
        const double shear = wanted == SLIDING ? 5.0 : 0.4;
        for (int k = 0; k < dim * (dim + 1) / 2; k++) {
            d->strain[k][l] =
                large * ((k < dim ? mean : 0.0) + shear * (k < dim && wanted == SLIDING
                                                               ? (k == 0   ? 1.0
                                                                  : k == 1 ? -1.0
                                                                           : 0.2)
                                                               : test_between(random, -1.0, 1.0)));
        }
        d->density[l] = def->density;
        d->hardening[l] = test_between(random, 0.0, 2.0);
        d->gain[l] = large * test_between(random, 0.0, 0.2);
        d->swollen[l] = test_between(random, 0.0, 0.1);
    }
}

// Central differences of tau A^-T along a direction against `respond`; the largest error as a share
// of the largest change.
static double compare(const rp_linear_law *law, int dim, tile_data *d, uint64_t *random)
{
    enum { MOST = LINEAR_MOST };
    _Alignas(64) double press[2][PRESS][RP_LANES], det[RP_LANES], linear[MOST][RP_LANES];
    _Alignas(64) double change[PRESS][RP_LANES], direction[PRESS][RP_LANES];
    tile_data before = *d;
    const rp_law_tile tile = tile_of(d);
    const double step = 2e-6;
    law->linearise(&tile, press[0], det, linear);
    if (memcmp(&before, d, sizeof before) != 0) {
        return INFINITY; // it changed what it must not
    }
    for (int k = 0; k < dim * dim; k++) {
        for (int l = 0; l < RP_LANES; l++) {
            change[k][l] = direction[k][l] = test_between(random, -1.0, 1.0);
        }
    }
    law->respond(linear, change);
    for (int way = 0; way < 2; way++) {
        for (int k = 0; k < dim * dim; k++) {
            for (int l = 0; l < RP_LANES; l++) {
                d->increment[k][l] =
                    before.increment[k][l] + (way ? step : -step) * direction[k][l];
            }
        }
        law->linearise(&tile, press[way], det, NULL);
    }
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < dim * dim; k++) {
        for (int l = 0; l < RP_LANES; l++) {
            const double slope = (press[1][k][l] - press[0][k][l]) / (2.0 * step);
            worst = fmax(worst, fabs(change[k][l] - slope));
            size = fmax(size, fabs(slope));
        }
    }
    *d = before;
    return worst / fmax(size, d->parameter[RP_PARAM_MU][0]);
}

// Which case of the return mapping lanes are in, by what `update` does to their strain.
static bool is_case(int dim, const tile_data *d, yielding wanted)
{
    tile_data after = *d, elastic = *d;
    const rp_law_tile tile = tile_of(&after), trial = tile_of(&elastic);
    rp_laws_find(dim, 64, RP_ISA_PLAIN)[RP_SAND]->update(&tile);
    rp_laws_find(dim, 64, RP_ISA_PLAIN)[RP_ELASTIC]->update(&trial);
    for (int l = 0; l < RP_LANES; l++) {
        double length = 0.0, moved = 0.0;
        for (int k = 0; k < dim * (dim + 1) / 2; k++) {
            const double mean = k < dim ? (after.strain[0][l] + after.strain[1][l] +
                                           (dim == 3 ? after.strain[2][l] : 0.0)) /
                                              dim
                                        : 0.0;
            length = fmax(length, fabs(after.strain[k][l] - mean));
            moved = fmax(moved, k >= dim ? fabs(after.strain[k][l] - elastic.strain[k][l]) : 0.0);
        }
        const yielding is = length < 1e-14 ? APART : moved < 1e-14 ? INSIDE : SLIDING;
        if (is != wanted) {
            return false;
        }
    }
    return true;
}

static rp_material_def sand_of(int kind)
{
    rp_material_def def = rp_default_sand_def();
    def.hardening = kind & 1;
    def.cohesion = kind & 2 ? 500.0 : 0.0;
    def.dilation_angle = kind & 4 ? 0.1 : 0.0;
    return def;
}

static void sand_responds_as_it_changes(void)
{
    uint64_t random = 3;
    double worst = 0.0;
    for (int dim = 2; dim <= 3; dim++) {
        const rp_linear_law *law = rp_linear_law_find(RP_SAND, dim, 64, RP_ISA_PLAIN);
        for (int round = 0; round < 8 * CASES * 3; round++) {
            static const double sizes[] = {0.002, 0.02, 0.1};
            const yielding wanted = round % CASES;
            const double large = sizes[round / CASES % 3];
            const rp_material_def def = sand_of(round / CASES / 3);
            tile_data d;
            make_tile(&def, dim, wanted, large, &random, &d);
            check_context("%dD, case %d, sand %d, strains of %g", dim, wanted, round / CASES / 3,
                          large);
            CHECK(is_case(dim, &d, wanted));
            const double error = compare(law, dim, &d, &random);
            worst = fmax(worst, error);
            CHECK(error <= 1e-6);
        }
    }
    printf("largest error of a response: %.2g\n", worst);
}

static void elastic_bodies_respond_as_they_change(void)
{
    uint64_t random = 4;
    for (int dim = 2; dim <= 3; dim++) {
        const rp_linear_law *law = rp_linear_law_find(RP_ELASTIC, dim, 64, RP_ISA_PLAIN);
        const rp_material_def def = rp_default_elastic_def();
        for (int round = 0; round < 12; round++) {
            tile_data d;
            make_tile(&def, dim, SLIDING, 0.03 * (round % 4), &random, &d);
            check_context("%dD, round %d", dim, round);
            CHECK(compare(law, dim, &d, &random) <= 1e-6);
        }
    }
}

// x : J y - y : J x of a lane, as a share of its terms.
static double asymmetry(const rp_linear_law *law, int dim, const void *linear, uint64_t *random)
{
    _Alignas(64) double x[PRESS][RP_LANES], y[PRESS][RP_LANES];
    _Alignas(64) double Jx[PRESS][RP_LANES], Jy[PRESS][RP_LANES];
    for (int k = 0; k < dim * dim; k++) {
        for (int l = 0; l < RP_LANES; l++) {
            Jx[k][l] = x[k][l] = test_between(random, -1.0, 1.0);
            Jy[k][l] = y[k][l] = test_between(random, -1.0, 1.0);
        }
    }
    law->respond(linear, Jx);
    law->respond(linear, Jy);
    double worst = 0.0;
    for (int l = 0; l < RP_LANES; l++) {
        double difference = 0.0, size = 0.0;
        for (int k = 0; k < dim * dim; k++) {
            difference += x[k][l] * Jy[k][l] - y[k][l] * Jx[k][l];
            size += fabs(x[k][l] * Jy[k][l]) + fabs(y[k][l] * Jx[k][l]);
        }
        worst = fmax(worst, fabs(difference) / fmax(size, 1e-300));
    }
    return worst;
}

// Sand that does not swell as it slides: the change of its shear with its pressure has no
// counterpart, and there is nothing else.
static void one_term_alone_is_not_symmetric(void)
{
    uint64_t random = 5;
    for (int dim = 2; dim <= 3; dim++) {
        const rp_linear_law *law = rp_linear_law_find(RP_SAND, dim, 64, RP_ISA_PLAIN);
        for (int round = 0; round < 4 * CASES; round++) {
            const yielding wanted = round % CASES;
            const rp_material_def def = sand_of(round / CASES);
            tile_data d;
            _Alignas(64) double press[PRESS][RP_LANES], det[RP_LANES];
            _Alignas(64) double linear[LINEAR_MOST][RP_LANES];
            make_tile(&def, dim, wanted, 0.05, &random, &d);
            const rp_law_tile tile = tile_of(&d);
            law->linearise(&tile, press, det, linear);
            check_context("%dD, case %d, sand %d", dim, wanted, round / CASES);
            CHECK((asymmetry(law, dim, linear, &random) > 1e-3) == (wanted == SLIDING));
            memset(linear[rp_linear_reals(dim) - 2], 0, sizeof linear[0]);
            CHECK(asymmetry(law, dim, linear, &random) <= 1e-12);
        }
    }
}

TEST_MAIN(TEST(sand_responds_as_it_changes), TEST(elastic_bodies_respond_as_they_change),
          TEST(one_term_alone_is_not_symmetric))

// Tests src/model/cam_clay.c: the ellipse, its growth, and the paths that are known in closed form.
#include "check.h"
#include "law_lanes.h"
#include "model/material.h"

#include <math.h>
#include <string.h>

typedef struct clay {
    double bulk, mu, slope, start, compression; // B, mu, M, p_c0, lambda* - kappa*
    law_lane lane;
} clay;

static clay make_clay(int dim, double preconsolidation, double compression)
{
    rp_material_def def = rp_default_material_def(RP_CAM_CLAY);
    def.young = 5e6;
    def.poisson = 0.25;
    def.friction_angle = 0.45;
    def.preconsolidation = preconsolidation;
    def.compression = compression;
    clay c = {.mu = 2e6,
              .bulk = 2e6 + 2.0 * 2e6 / dim,
              .slope = sqrt(2.0) * rp_material_friction(&def, dim),
              .start = preconsolidation,
              .compression = compression};
    rp_material_parameters(&def, dim, c.lane.parameter);
    return c;
}

// Pressed alike from all sides to p.
static void press(clay *c, int dim, double p)
{
    for (int k = 0; k < dim; k++) {
        c->lane.strain[k] = -p / c->bulk / dim;
    }
}

typedef struct stress {
    double p, s; // mean pressure, length of the deviator [Pa]
} stress;

static stress stress_of(const law_variant *v, const law_lane *lane)
{
    double tau[6], mean = 0.0, square = 0.0;
    law_stress_one(v, RP_CAM_CLAY, lane, tau);
    for (int k = 0; k < v->dim; k++) {
        mean += tau[k] / v->dim;
    }
    for (int k = 0; k < (v->dim == 2 ? 3 : 6); k++) {
        const double value = k < v->dim ? tau[k] - mean : tau[k];
        square += (k < v->dim ? 1.0 : 2.0) * value * value;
    }
    return (stress){-mean, sqrt(square)};
}

static double limit_of(const clay *c) { return c->start * exp(c->lane.consolidation); }

// A step of constant volume: pulled along x, pressed across it. Of I + L the determinant is 1.
static void shear_step(clay *c, int dim, double much)
{
    memset(c->lane.increment, 0, sizeof c->lane.increment);
    for (int k = 0; k < dim; k++) {
        const double log_strain = k == 0 ? -much : much / (dim - 1);
        c->lane.increment[k * dim + k] = expm1(log_strain);
    }
}

// Inside the ellipse clay is elastic, to the bit; outside it ends on the ellipse it started with.
static void trial_states_end_on_the_ellipse(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        for (double p = -3.0; p < 40.0; p = p < 2.0 ? p + 0.21 : 1.7 * p) {
            for (double s = 0.0; s < 30.0; s = 1.9 * s + 0.13) {
                clay c = make_clay(v->dim, 2e4, 0.1);
                check_context("%dD, %d bits, %s, p %g, s %g of p_c", v->dim, v->bits,
                              rp_isa_name(v->isa), p, s);
                press(&c, v->dim, p * c.start);
                c.lane.strain[v->dim == 2 ? 2 : 3] =
                    s * c.start * c.slope / (2.0 * c.mu) / sqrt(2.0);
                law_round_lane(v, &c.lane);
                clay rubber = c;
                law_update_one(v, RP_CAM_CLAY, &c.lane, LAW_STRAIN_ONLY);
                law_update_one(v, RP_ELASTIC, &rubber.lane, LAW_STRAIN_ONLY);
                const stress now = stress_of(v, &c.lane);
                const double x = now.p / c.start, y = now.s / (c.slope * c.start);
                if (s * s + p * (p - 1.0) < -1e-3) {
                    CHECK(memcmp(c.lane.strain, rubber.lane.strain, sizeof c.lane.strain) == 0);
                    CHECK(c.lane.consolidation == 0.0);
                } else if (s * s + p * (p - 1.0) > 1e-3) {
                    // to the tolerance of the iteration, and round-off of a trial far outside
                    const double far = 1.0 + fabs(p) + s;
                    CHECK_NEAR(y * y + x * (x - 1.0), 0.0,
                               (v->bits == 32 ? 3e-6 : 3e-13) + 60.0 * v->unit * far);
                    // compacted where it is pressed, weaker where it dilates, by the plastic volume
                    CHECK(p > 0.5 ? c.lane.consolidation >= 0.0 : c.lane.consolidation <= 0.0);
                    const double plastic = (p - x) * c.start / c.bulk;
                    const double want = fmax(plastic / c.compression, log(0.01));
                    CHECK_NEAR(c.lane.consolidation, want, 1e-9 + 200.0 * v->unit * far);
                }
            }
        }
    }
}

// Pressed from all sides beyond p_c: e-folds of pressure cost `compression` of log volume each, and
// elastic volume besides, t = -p / B - lambda ln(p / p_c0).
static void isotropic_compression_follows_the_virgin_line(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        double miss[2];
        for (int fine = 0; fine < 2; fine++) {
            clay c = make_clay(v->dim, 2e4, 0.05);
            const int steps = fine ? 4000 : 2000;
            const double all = 0.08;
            press(&c, v->dim, c.start);
            for (int n = 0; n < steps; n++) {
                memset(c.lane.increment, 0, sizeof c.lane.increment);
                for (int k = 0; k < v->dim; k++) {
                    c.lane.increment[k * v->dim + k] = expm1(-all / steps / v->dim);
                }
                law_update_one(v, RP_CAM_CLAY, &c.lane, LAW_STRAIN_ONLY);
            }
            check_context("%dD, %d bits, %s, %d steps", v->dim, v->bits, rp_isa_name(v->isa),
                          steps);
            const stress now = stress_of(v, &c.lane);
            // p of the line by Newton's method
            double p = c.start;
            for (int n = 0; n < 50; n++) {
                const double f = (p - c.start) / c.bulk + c.compression * log(p / c.start) - all;
                p -= f / (1.0 / c.bulk + c.compression / p);
            }
            miss[fine] = now.p / p - 1.0;
            CHECK_NEAR(now.p, p, (2e-3 + (v->bits == 32 ? 2e-3 : 0.0)) * p);
            CHECK(now.s < 1e-3 * p);
        }
        // the ellipse of the start of a step is a first-order choice
        CHECK(v->bits == 32 || fabs(miss[1]) < 0.6 * fabs(miss[0]));
    }
}

// Sheared at constant volume the path of stress is known in closed form, whatever the step: elastic
// and plastic volume cancel, so that p_c = p_c0 exp((p_0 - p) / (B lambda)), and on the ellipse
// (s / M)^2 = p (p_c - p). It ends at the critical state s = M p. Clay that was pressed harder
// before meets the ellipse on its dry side and softens to the same line.
static void undrained_shear_follows_the_closed_form(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        for (int dry = 0; dry < 2; dry++) {
            double miss[2] = {0};
            for (int fine = 0; fine < 2; fine++) {
                clay c = make_clay(v->dim, 1e5, 0.08);
                const double start = dry ? 0.2e5 : 1e5;
                press(&c, v->dim, start);
                const int steps = fine ? 8000 : 4000;
                stress now = {0};
                for (int n = 0; n < steps; n++) {
                    shear_step(&c, v->dim, 0.4 / steps);
                    law_update_one(v, RP_CAM_CLAY, &c.lane, LAW_STRAIN_ONLY);
                    now = stress_of(v, &c.lane);
                    const double known = c.start * exp((start - now.p) / (c.bulk * c.compression));
                    const double want2 = now.p * (known - now.p);
                    if (c.lane.consolidation != 0.0 && n > steps / 40) {
                        const double want = c.slope * sqrt(fmax(want2, 0.0));
                        miss[fine] = fmax(miss[fine], fabs(now.s - want) / (c.slope * start));
                    }
                }
                check_context("%dD, %d bits, %s, dry %d, %d steps: off by %g", v->dim, v->bits,
                              rp_isa_name(v->isa), dry, steps, miss[fine]);
                CHECK(miss[fine] < (v->bits == 32 ? 1.5e-2 : 6e-3));
                CHECK_NEAR(now.s, c.slope * now.p, 0.01 * c.slope * now.p);
                CHECK_NEAR(now.p, 0.5 * limit_of(&c), 0.01 * limit_of(&c));
                CHECK(dry ? c.lane.consolidation < 0.0 : c.lane.consolidation > 0.0);
            }
            CHECK(v->bits == 32 || miss[1] < 0.6 * miss[0]);
        }
    }
}

// Sixteen different lumps give what each gives alone, a NaN stays in its lane, zeros stay zeros.
static void lanes_do_not_see_each_other(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        check_context("%dD, %d bits, %s", v->dim, v->bits, rp_isa_name(v->isa));
        law_lane lane[RP_LANES], alone[RP_LANES];
        for (int l = 0; l < RP_LANES; l++) {
            clay c = make_clay(v->dim, 1e3 * pow(1.9, l), 0.02 * (l + 1));
            press(&c, v->dim, 1e4);
            shear_step(&c, v->dim, 1e-3 * l);
            lane[l] = c.lane;
            if (l == 5) {
                memset(&lane[l], 0, sizeof lane[l]);
            }
            alone[l] = lane[l];
            law_update_one(v, RP_CAM_CLAY, &alone[l], LAW_STRAIN_ONLY);
        }
        law_update(v, RP_CAM_CLAY, lane, LAW_STRAIN_ONLY);
        for (int l = 0; l < RP_LANES; l++) {
            CHECK(memcmp(lane[l].strain, alone[l].strain, sizeof lane[l].strain) == 0);
            CHECK(lane[l].consolidation == alone[l].consolidation);
        }
        for (int k = 0; k < 6; k++) {
            CHECK(lane[5].strain[k] == 0.0);
        }
        lane[3].increment[0] = NAN;
        law_update(v, RP_CAM_CLAY, lane, LAW_STRAIN_ONLY);
        for (int l = 0; l < RP_LANES; l++) {
            CHECK(isnan(lane[l].strain[0]) == (l == 3));
        }
    }
}

static void clay_without_friction_is_refused(void)
{
    rp_material_def def = rp_default_material_def(RP_CAM_CLAY);
    CHECK_OK(rp_material_check(&def, 3));
    def.friction_angle = 0.0;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, "cam_clay: want some friction");
    def = rp_default_material_def(RP_CAM_CLAY);
    def.compression = 0.0;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, "cam_clay.compression: want > 0");
}

TEST_MAIN(TEST(trial_states_end_on_the_ellipse),
          TEST(isotropic_compression_follows_the_virgin_line),
          TEST(undrained_shear_follows_the_closed_form), TEST(lanes_do_not_see_each_other),
          TEST(clay_without_friction_is_refused))

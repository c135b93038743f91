// Tests src/model/water.c: pressure, viscosity, energy and what becomes of water that is torn.
#include "check.h"
#include "law_lanes.h"
#include "model/material.h"

#include <math.h>
#include <string.h>

static rp_material_def water(double bulk, double viscosity, bool tension)
{
    rp_material_def def = rp_default_material_def(RP_WATER);
    def.bulk_modulus = bulk;
    def.viscosity = viscosity;
    def.tension = tension;
    return def;
}

static law_lane lane_of(const rp_material_def *def, int dim, double J)
{
    law_lane lane = {.density = def->density, .volume_ratio = J};
    rp_material_parameters(def, dim, lane.parameter);
    return lane;
}

// Catches a wrong exponent, k taken for K, and tau taken for sigma.
static void pressure_follows_the_law(void)
{
    static const double ratio[] = {0.5, 0.9, 0.99, 0.9999, 1.0, 1.0001, 1.01, 1.3};
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        for (int tension = 0; tension < 2; tension++) {
            for (size_t k = 0; k < sizeof ratio / sizeof ratio[0]; k++) {
                check_context("%dD, %d bits, %s, tension %d, J %g", v->dim, v->bits,
                              rp_isa_name(v->isa), tension, ratio[k]);
                const rp_material_def def = water(1.4e6, 0.0, tension);
                law_lane lane = lane_of(&def, v->dim, ratio[k]);
                law_round_lane(v, &lane);
                const double J = lane.volume_ratio;
                double p = 2e5 * expm1(-7.0 * log(J)), tau[6];
                p = p < 0.0 && !tension ? 0.0 : p;
                law_stress_one(v, RP_WATER, &lane, tau);
                for (int c = 0; c < (v->dim == 2 ? 3 : 6); c++) {
                    const double want = c < v->dim ? -J * p : 0.0;
                    // log of a number near 1 and its exponential: a few roundings of k
                    CHECK_NEAR(tau[c], want, 40.0 * v->unit * (2e5 + fabs(p)));
                }
            }
        }
    }
}

// The volume follows the divergence; water that cannot be pulled is not larger than what the grid
// sees, and what is turned inside out is no number.
static void the_volume_follows_the_flow(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        check_context("%dD, %d bits, %s", v->dim, v->bits, rp_isa_name(v->isa));
        const rp_material_def def = water(1e6, 0.0, false), held = water(1e6, 0.0, true);
        law_lane lane = lane_of(&def, v->dim, 0.97);
        for (int a = 0; a < v->dim; a++) {
            lane.increment[a * v->dim + a] = 0.001 * (a + 1);
            lane.increment[a * v->dim + (a + 1) % v->dim] = 0.2; // shear changes nothing
        }
        const double growth = v->dim == 2 ? 0.003 : 0.006;
        law_update_one(v, RP_WATER, &lane, LAW_STRAIN_ONLY);
        CHECK_NEAR(lane.volume_ratio, 0.97 * (1.0 + growth), 4.0 * v->unit);

        // spray: the grid sees four fifths of what it sees at a flat surface
        lane = lane_of(&def, v->dim, 1.2);
        lane.density = 400.0;
        lane.increment[0] = 0.5;
        law_update_one(v, RP_WATER, &lane, LAW_STRAIN_ONLY);
        CHECK_NEAR(lane.volume_ratio, 1.25, 4.0 * v->unit);
        lane.density = 600.0; // as at a surface: no more than at rest
        law_update_one(v, RP_WATER, &lane, LAW_STRAIN_ONLY);
        CHECK(lane.volume_ratio == 1.0);
        lane = lane_of(&held, v->dim, 1.2);
        lane.density = 2000.0;
        lane.increment[0] = 0.5;
        law_update_one(v, RP_WATER, &lane, LAW_STRAIN_ONLY);
        CHECK_NEAR(lane.volume_ratio, 1.8, 4.0 * v->unit);

        lane = lane_of(&def, v->dim, 0.9);
        lane.increment[0] = -1.5;
        law_update_one(v, RP_WATER, &lane, LAW_STRAIN_ONLY);
        CHECK(isnan(lane.volume_ratio));
    }
}

// Shear meets viscosity, expansion does not. Catches a missing half and a rate taken for a step.
static void shear_meets_viscosity(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        check_context("%dD, %d bits, %s", v->dim, v->bits, rp_isa_name(v->isa));
        const rp_material_def def = water(1e6, 3.0, false);
        law_lane lane = lane_of(&def, v->dim, 1.0);
        const int xy = v->dim == 2 ? 2 : 3;
        double tau[6];
        lane.increment[1] = 0.25; // dv_x/dy in a step of 1 s
        law_update_one(v, RP_WATER, &lane, LAW_WITH_RATE);
        CHECK_NEAR(lane.rate[xy], 0.125, 4.0 * v->unit);
        law_stress_one(v, RP_WATER, &lane, tau);
        CHECK_NEAR(tau[xy], 3.0 * 0.25, 8.0 * v->unit);
        CHECK_NEAR(tau[0], 0.0, 8.0 * v->unit);

        lane = lane_of(&def, v->dim, 1.0);
        for (int a = 0; a < v->dim; a++) {
            lane.rate[a] = 0.7;
        }
        law_stress_one(v, RP_WATER, &lane, tau);
        // in 2D the third direction stands still, and what grows is sheared against it
        const double want = v->dim == 3 ? 0.0 : 2.0 * 3.0 * (0.7 - 1.4 / 3.0);
        CHECK_NEAR(tau[0], want, 40.0 * v->unit);
    }
}

// Catches an energy that is not what the pressure does work on.
static void the_pressure_is_the_derivative_of_the_energy(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        if (v->bits == 32) {
            continue; // too coarse for differences
        }
        const rp_material_def def = water(1e6, 0.0, true);
        for (double J = 0.7; J < 1.3; J += 0.07) {
            check_context("%dD, %s, J %g", v->dim, rp_isa_name(v->isa), J);
            const double step = 1e-5;
            law_lane lane[RP_LANES];
            double energy[RP_LANES], tau[6];
            for (int l = 0; l < RP_LANES; l++) {
                lane[l] = lane_of(&def, v->dim, l == 0 ? J - step : l == 1 ? J + step : J);
            }
            law_energy(v, RP_WATER, lane, energy);
            law_stress_one(v, RP_WATER, &lane[2], tau);
            CHECK_NEAR((energy[1] - energy[0]) / (2.0 * step), tau[0] / J, 1e-3 * 1e6 * step);
            CHECK(energy[2] >= 0.0);
        }
    }
}

// Sixteen different drops give what each gives alone; a NaN stays in its lane, and lanes that hold
// nothing stay zero and calm.
static void lanes_do_not_see_each_other(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        check_context("%dD, %d bits, %s", v->dim, v->bits, rp_isa_name(v->isa));
        law_lane lane[RP_LANES], alone[RP_LANES];
        for (int l = 0; l < RP_LANES; l++) {
            const rp_material_def def = water(1e5 * (l + 1), 0.1 * l, l % 2);
            lane[l] = lane_of(&def, v->dim, l == 5 ? 0.0 : 0.9 + 0.02 * l);
            lane[l].increment[0] = l == 5 ? 0.0 : 0.01 * l;
            lane[l].density = l == 5 ? 0.0 : 900.0 + 10.0 * l;
            if (l == 5) {
                memset(lane[l].parameter, 0, sizeof lane[l].parameter);
            }
            alone[l] = lane[l];
            law_update_one(v, RP_WATER, &alone[l], LAW_WITH_RATE);
        }
        law_update(v, RP_WATER, lane, LAW_WITH_RATE);
        double tau[RP_LANES][6];
        law_stress(v, RP_WATER, lane, tau);
        for (int l = 0; l < RP_LANES; l++) {
            CHECK(lane[l].volume_ratio == alone[l].volume_ratio);
            CHECK(lane[l].rate[0] == alone[l].rate[0]);
            CHECK(isfinite(tau[l][0]));
        }
        CHECK(lane[5].volume_ratio == 0.0 && tau[5][0] == 0.0);
        lane[3].increment[0] = NAN;
        law_update(v, RP_WATER, lane, LAW_WITH_RATE);
        for (int l = 0; l < RP_LANES; l++) {
            CHECK(isnan(lane[l].volume_ratio) == (l == 3));
        }
    }
}

// What users say, and what they must not.
static void sound_or_stiffness_say_the_same(void)
{
    rp_material_def def = rp_default_material_def(RP_WATER);
    double one[RP_PARAM_COUNT], other[RP_PARAM_COUNT];
    def.bulk_modulus = 9e5;
    rp_material_parameters(&def, 3, one);
    def.sound_speed = 30.0;
    def.bulk_modulus = 1.0;
    rp_material_parameters(&def, 3, other);
    for (int k = 0; k < RP_PARAM_COUNT; k++) {
        CHECK_NEAR(other[k], one[k], 1e-9 * fabs(one[k]));
    }
    CHECK_OK(rp_material_check(&def, 3));
    def.bulk_modulus = -1.0; // not looked at
    CHECK_OK(rp_material_check(&def, 3));
    def.sound_speed = -1.0;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT,
                "water.bulk_modulus: want > 0 Pa, got -1");
    def = rp_default_material_def(RP_WATER);
    def.gamma = 1.0;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT,
                "water.gamma: want > 1 and <= 20, got 1");
    def = rp_default_material_def(RP_WATER);
    def.viscosity = NAN;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, "water.viscosity");
    CHECK(rp_material_friction(&def, 3) == 0.0 && rp_material_slope(&def, 3) == 0.0);
}

TEST_MAIN(TEST(pressure_follows_the_law), TEST(the_volume_follows_the_flow),
          TEST(shear_meets_viscosity), TEST(the_pressure_is_the_derivative_of_the_energy),
          TEST(lanes_do_not_see_each_other), TEST(sound_or_stiffness_say_the_same))

#include "base/result.h"
#include "model/material.h"
#include "model/sand.h"

#include "check.h"

#include <math.h>
#include <string.h>

#define DEGREE 0.017453292519943295

static double sand_slope(rp_yield_fit fit, double degrees, int dim)
{
    return rp_yield_slope(fit, degrees * DEGREE, dim);
}

static double coefficient(rp_yield_fit fit, double degrees, int dim)
{
    return rp_friction_coefficient(sand_slope(fit, degrees, dim), dim);
}

// E and nu of the usual sand, to the digits in print.
static void moduli_follow_from_young_and_poisson(void)
{
    const rp_lame lame = rp_lame_parameters(3.537e5, 0.3);
    CHECK_NEAR(lame.lambda, 204057.7, 0.05);
    CHECK_NEAR(lame.mu, 136038.5, 0.05);
    CHECK_NEAR(lame.lambda + 2.0 * lame.mu / 3.0, 294750.0, 1e-6);
    CHECK_NEAR(lame.lambda + lame.mu, 340096.0, 0.5);
}

// What an angle means, to the digits of the table that users compare with (V-0.2): slopes, friction
// coefficients, and the angles at which a slope flows and stands. Catches a fit of the other
// dimension.
static void angles_mean_what_the_table_says(void)
{
    static const struct {
        double degrees, klar, hat, flow, still, still_2d, flow_2d, exact, exact_flow, exact_3d;
    } row[] = {
        {15, 0.154185, 0.3271, 18.1, 19.1, 12.6, 12.3, 0.183013, 14.5, 0.122008},
        {20, 0.210128, 0.4458, 24.0, 26.5, 17.3, 16.6, 0.241845, 18.9, 0.161230},
        {25, 0.267765, 0.5680, 29.6, 34.6, 22.3, 20.7, 0.298836, 22.9, 0.199224},
        {30, 0.326599, 0.6928, 34.7, 43.9, 27.5, 24.8, 0.353553, 26.6, 0.235702},
        {35, 0.386019, 0.8189, 39.3, 55.0, 33.1, 28.6, 0.405580, 29.8, 0.270387},
        {40, 0.445300, 0.9446, 43.4, 70.8, 39.0, 32.2, 0.454519, 32.7, 0.303013},
        {45, 0.503600, 1.0683, 46.9, NAN, 45.4, 35.5, 0.500000, 35.3, 0.333333},
    };
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        check_context("%g degrees", row[r].degrees);
        const double phi = row[r].degrees;
        CHECK_NEAR(sand_slope(RP_FIT_COMPRESSION, phi, 3), row[r].klar, 5.1e-7);
        CHECK_NEAR(sand_slope(RP_FIT_COMPRESSION, phi, 2), row[r].klar, 5.1e-7);
        CHECK(sand_slope(RP_FIT_DEFAULT, phi, 3) == sand_slope(RP_FIT_COMPRESSION, phi, 3));
        const double hat = coefficient(RP_FIT_COMPRESSION, phi, 3);
        CHECK_NEAR(hat, row[r].hat, 5.1e-5);
        CHECK_NEAR(atan(hat) / DEGREE, row[r].flow, 0.051);
        if (hat < 1.0) {
            CHECK_NEAR(asin(hat) / DEGREE, row[r].still, 0.051);
        }
        const double hat2 = coefficient(RP_FIT_COMPRESSION, phi, 2);
        CHECK_NEAR(asin(hat2) / DEGREE, row[r].still_2d, 0.051);
        CHECK_NEAR(atan(hat2) / DEGREE, row[r].flow_2d, 0.051);

        CHECK_NEAR(sand_slope(RP_FIT_PLANE_STRAIN, phi, 2), row[r].exact, 5.1e-7);
        CHECK(sand_slope(RP_FIT_DEFAULT, phi, 2) == sand_slope(RP_FIT_PLANE_STRAIN, phi, 2));
        CHECK_NEAR(atan(coefficient(RP_FIT_PLANE_STRAIN, phi, 2)) / DEGREE, row[r].exact_flow,
                   0.051);
        CHECK_NEAR(sand_slope(RP_FIT_PLANE_STRAIN, phi, 3), row[r].exact_3d, 5.1e-7);

        // by definition, in either dimension
        for (int dim = 2; dim <= 3; dim++) {
            const double s = sin(phi * DEGREE);
            CHECK_NEAR(coefficient(RP_FIT_PLANE_STRAIN, phi, dim), s, 1e-15);
            CHECK_NEAR(coefficient(RP_FIT_SLOPE, phi, dim), tan(phi * DEGREE), 1e-14);
            CHECK_NEAR(coefficient(RP_FIT_INSCRIBED, phi, dim), s / sqrt(1.0 + s * s / 3.0), 1e-15);
            CHECK_NEAR(coefficient(RP_FIT_MIDDLE, phi, dim), 2.0 * sqrt(3.0) * s / (3.0 + s),
                       1e-15);
        }
    }
    // Daviet's alternatives at 30 degrees
    CHECK_NEAR(coefficient(RP_FIT_INSCRIBED, 30.0, 3), 0.4804, 5.1e-5);
    CHECK_NEAR(coefficient(RP_FIT_MIDDLE, 30.0, 3), 0.4949, 5.1e-5);
    // where the compression fit passes 1
    CHECK(coefficient(RP_FIT_COMPRESSION, 42.1, 3) < 1.0);
    CHECK(coefficient(RP_FIT_COMPRESSION, 42.3, 3) > 1.0);
}

// V-B7 and V-B8: the hardening curve with and without its bump.
static void the_hardening_curve_has_the_known_values(void)
{
    static const struct {
        double q, bump, monotone;
    } row[] = {
        {0.0, 25.000, 25.000}, {0.5, 30.023, NAN},     {1.0, 34.181, 26.813},
        {2.0, 40.363, NAN},    {5.0, 47.876, 31.321},  {1.0 / 0.2 + 10.0 / 9.0, 48.256, NAN},
        {10.0, 45.827, NAN},   {20.0, 38.114, 34.817}, {1e4, 35.0, 35.0},
    };
    double h[4] = {35.0 * DEGREE, 9.0 * DEGREE, 0.2, 10.0 * DEGREE};
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        check_context("q %g", row[r].q);
        h[1] = 9.0 * DEGREE;
        CHECK_NEAR(rp_hardened_angle(h, row[r].q) / DEGREE, row[r].bump, 5.1e-4);
        h[1] = 0.0;
        if (!isnan(row[r].monotone)) {
            CHECK_NEAR(rp_hardened_angle(h, row[r].q) / DEGREE, row[r].monotone, 5.1e-4);
        }
    }
    h[1] = 0.0;
    for (double q = 0.0; q < 40.0; q += 0.1) {
        CHECK(rp_hardened_angle(h, q + 0.1) > rp_hardened_angle(h, q));
    }
    CHECK_NEAR(rp_yield_slope(RP_FIT_COMPRESSION, rp_hardened_angle(h, 0.0), 3), 0.267765, 5.1e-7);
}

// The three numbers that a law gets for any fit give the same slope as the fit itself.
static void laws_are_told_the_same_cone(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int fit = RP_FIT_DEFAULT; fit <= RP_FIT_MIDDLE; fit++) {
            for (double degrees = 0.0; degrees < 89.0; degrees += 7.0) {
                check_context("%dD, fit %d, %g degrees", dim, fit, degrees);
                rp_material_def def = rp_default_sand_def();
                def.yield_fit = (rp_yield_fit)fit;
                def.friction_angle = degrees * DEGREE;
                double p[RP_PARAM_COUNT];
                rp_material_parameters(&def, dim, p);
                const double s = sin(def.friction_angle);
                const double slope =
                    p[RP_PARAM_FIT_SCALE] * s /
                    ((1.0 + p[RP_PARAM_FIT_TILT] * s) * sqrt(1.0 + p[RP_PARAM_FIT_BEND] * s * s));
                CHECK_NEAR(p[RP_PARAM_SLOPE], slope, 1e-12 * slope);
                CHECK_NEAR(p[RP_PARAM_SLOPE], sand_slope((rp_yield_fit)fit, degrees, dim), 0.0);
            }
        }
    }
}

// Every parameter reaches its place, and a friction coefficient overrides the angle.
static void laws_are_told_everything(void)
{
    rp_material_def def = rp_default_sand_def();
    def.density = 1500.0;
    def.cohesion = 42.0;
    def.hardening = true;
    double p[RP_PARAM_COUNT];
    rp_material_parameters(&def, 3, p);
    CHECK_NEAR(p[RP_PARAM_LAMBDA], 204057.7, 0.05);
    CHECK_NEAR(p[RP_PARAM_MU], 136038.5, 0.05);
    CHECK(p[RP_PARAM_DENSITY] == 1500.0 && p[RP_PARAM_COHESION] == 42.0);
    CHECK(p[RP_PARAM_CORRECTS] == 1.0 && p[RP_PARAM_HARDENS] == 1.0);
    for (int k = 0; k < 4; k++) {
        CHECK(p[RP_PARAM_H0 + k] == def.hardening_h[k]);
    }
    CHECK_NEAR(p[RP_PARAM_SLOPE], 0.267765, 5.1e-7); // where the curve starts

    def.hardening = false;
    def.friction_coefficient = 0.5;
    rp_material_parameters(&def, 3, p);
    CHECK_NEAR(p[RP_PARAM_SLOPE], sqrt(2.0) * 0.5 / 3.0, 1e-16);
    CHECK(p[RP_PARAM_HARDENS] == 0.0);
    rp_material_parameters(&def, 2, p);
    CHECK_NEAR(p[RP_PARAM_SLOPE], 0.5 / sqrt(2.0), 1e-16);
    CHECK_NEAR(rp_friction_coefficient(p[RP_PARAM_SLOPE], 2), 0.5, 1e-16);

    const rp_material_def ball = rp_default_elastic_def();
    rp_material_parameters(&ball, 2, p);
    CHECK_NEAR(p[RP_PARAM_MU], 136038.5, 0.05);
    CHECK(p[RP_PARAM_DENSITY] == 2200.0);
}

// The defaults are what their comments say, and pass.
static void the_defaults_are_dry_sand(void)
{
    const rp_material_def sand = rp_default_sand_def();
    CHECK(sand.kind == RP_SAND && sand.density == 2200.0 && sand.young == 3.537e5);
    CHECK(sand.poisson == 0.3 && sand.volume_correction && !sand.hardening);
    CHECK(sand.cohesion == 0.0 && sand.friction_coefficient < 0.0);
    CHECK_NEAR(sand.friction_angle, 35.0 * DEGREE, 1e-15);
    const rp_material_def solid = rp_default_elastic_def();
    CHECK(solid.kind == RP_ELASTIC && solid.density == sand.density);
    for (int dim = 2; dim <= 3; dim++) {
        CHECK_OK(rp_material_check(&sand, dim));
        CHECK_OK(rp_material_check(&solid, dim));
    }
    // on the edge of what is allowed
    rp_material_def edge = sand;
    edge.friction_angle = 0.0;
    edge.poisson = 0.499;
    edge.cohesion = 1e6;
    CHECK_OK(rp_material_check(&edge, 3));
    edge = sand;
    edge.friction_coefficient = 0.0;
    edge.friction_angle = 4.0; // not used
    edge.poisson = -0.99;
    CHECK_OK(rp_material_check(&edge, 3));
}

// Every value that laws cannot work with is refused, and the sentence says which, what was wanted
// and what came. NaN compares false with everything, so each field is tried with it, too.
static void bad_values_are_named(void)
{
    rp_material_def def;
#define REFUSED(field, value, text)                                                                \
    def = rp_default_sand_def();                                                                   \
    def.field = (value);                                                                           \
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, text)

    REFUSED(density, 0.0, "sand.density: want > 0 kg/m^3, got 0");
    REFUSED(density, -1.0, "sand.density: want > 0 kg/m^3, got -1");
    REFUSED(density, INFINITY, "sand.density");
    REFUSED(density, NAN, "sand.density");
    REFUSED(young, 0.0, "sand.young: want > 0 Pa, got 0");
    REFUSED(young, INFINITY, "sand.young");
    REFUSED(young, NAN, "sand.young");
    REFUSED(poisson, 0.5, "sand.poisson: want > -1 and < 0.5, got 0.5");
    REFUSED(poisson, -1.0, "sand.poisson: want > -1 and < 0.5, got -1");
    REFUSED(poisson, NAN, "sand.poisson");
    REFUSED(friction_angle, 35.0,
            "sand.friction_angle: want >= 0 and < 90 degrees, got 2005.35 (35 rad)");
    REFUSED(friction_angle, -0.1, "sand.friction_angle");
    REFUSED(friction_angle, NAN, "sand.friction_angle");
    REFUSED(friction_coefficient, NAN, "sand.friction_coefficient");
    REFUSED(friction_coefficient, INFINITY, "sand.friction_coefficient");
    REFUSED(cohesion, -1.0, "sand.cohesion: want >= 0 Pa, got -1");
    REFUSED(cohesion, INFINITY, "sand.cohesion");
    REFUSED(cohesion, NAN, "sand.cohesion");
    REFUSED(yield_fit, (rp_yield_fit)17, "sand.yield_fit: want 0 to 5, got 17");
    REFUSED(kind, (rp_material_kind)99, "material.kind: want 0 to");
    REFUSED(cookie, 0, "rp_default_material_def()");

#define HARDENING_REFUSED(index, value, text)                                                      \
    def = rp_default_sand_def();                                                                   \
    def.hardening = true;                                                                          \
    def.hardening_h[index] = (value);                                                              \
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, text)

    HARDENING_REFUSED(0, NAN, "sand.hardening.h0");
    HARDENING_REFUSED(1, INFINITY, "sand.hardening.h1");
    HARDENING_REFUSED(3, NAN, "sand.hardening.h3");
    HARDENING_REFUSED(2, 0.0, "sand.hardening.h2: want > 0, got 0");
    HARDENING_REFUSED(2, -0.2, "sand.hardening.h2: want > 0, got -0.2");
    HARDENING_REFUSED(0, 0.1, "sand.hardening: want a curve within >= 0 and < pi/2 rad");
    HARDENING_REFUSED(1, 35.0 * DEGREE, "sand.hardening: want a curve");  // its peak
    HARDENING_REFUSED(1, -35.0 * DEGREE, "sand.hardening: want a curve"); // its trough

    def = rp_default_sand_def();
    def.hardening = true;
    def.friction_coefficient = 0.5;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT,
                "sand.friction_coefficient: want none with hardening");

    // an elastic body speaks of itself, and does not care about friction
    def = rp_default_elastic_def();
    def.friction_angle = 35.0;
    CHECK_OK(rp_material_check(&def, 2));
    def.young = -5.0;
    CHECK_ERROR(rp_material_check(&def, 2), RP_ERR_ARGUMENT, "elastic.young: want > 0 Pa, got -5");
}

// Friction beyond 1 is allowed and said aloud: slopes of any angle can then stand.
static void friction_beyond_one_is_worth_a_warning(void)
{
    check_expect_warning();
    rp_material_def def = rp_default_sand_def();
    def.friction_angle = 45.0 * DEGREE;
    CHECK_OK(rp_material_check(&def, 3));
    CHECK(strstr(check_last_warning(), "friction coefficient 1.07") != NULL);
}

// The usual hardening peaks at 48 degrees: beyond 1 by the compression fit, within by plane strain.
static void hardening_is_judged_by_its_peak(void)
{
    rp_material_def def = rp_default_sand_def();
    def.hardening = true;
    CHECK_OK(rp_material_check(&def, 2));
    check_expect_warning();
    CHECK_OK(rp_material_check(&def, 3));
    CHECK(strstr(check_last_warning(), "friction coefficient") != NULL);
}

TEST_MAIN(TEST(moduli_follow_from_young_and_poisson), TEST(angles_mean_what_the_table_says),
          TEST(the_hardening_curve_has_the_known_values), TEST(laws_are_told_the_same_cone),
          TEST(laws_are_told_everything), TEST(the_defaults_are_dry_sand),
          TEST(bad_values_are_named), TEST(friction_beyond_one_is_worth_a_warning),
          TEST(hardening_is_judged_by_its_peak))

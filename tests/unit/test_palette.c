// Tests what data looks like: src/render/palette.c, canvas.c and stress.c.
#include "render/canvas.h"
#include "render/palette.h"
#include "render/stress.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Lightness as the eye sees it, of sRGB: CIE L*.
static double lightness(const unsigned char c[3])
{
    double y = 0.0;
    static const double share[3] = {0.2126, 0.7152, 0.0722};
    for (int k = 0; k < 3; k++) {
        const double v = c[k] / 255.0;
        y += share[k] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return y > 0.008856 ? 116.0 * cbrt(y) - 16.0 : 903.3 * y;
}

// A ramp whose lightness turns back would show edges that are not in the data.
static void the_ramp_becomes_lighter_in_even_steps(void)
{
    double before = 0.0, least = 100.0, most = 0.0;
    for (int i = 0; i <= 20; i++) {
        unsigned char c[3];
        rp_palette_ramp(i / 20.0, c);
        const double L = lightness(c);
        if (i > 0) {
            least = fmin(least, L - before);
            most = fmax(most, L - before);
        }
        before = L;
    }
    CHECK(least > 2.0);
    CHECK(most < 2.0 * least);
    unsigned char low[3], under[3], high[3], over[3];
    rp_palette_ramp(0.0, low);
    rp_palette_ramp(-5.0, under);
    rp_palette_ramp(1.0, high);
    rp_palette_ramp(NAN > 1.0 ? 0.0 : 7.0, over);
    CHECK(memcmp(low, under, 3) == 0 && memcmp(high, over, 3) == 0);
}

static void classes_differ(void)
{
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++) {
            unsigned char a[3], b[3];
            rp_palette_class(i, a);
            rp_palette_class(j, b);
            const int gap = abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
            check_context("classes %d and %d", i, j);
            CHECK(gap > 60);
        }
    }
}

static void steps_of_an_axis_are_round_numbers(void)
{
    char text[24];
    CHECK_NEAR(rp_canvas_step(1.0, 5), 0.2, 1e-12);
    CHECK_NEAR(rp_canvas_step(37.0, 5), 5.0, 1e-9);
    CHECK_NEAR(rp_canvas_step(6e-4, 5), 1e-4, 1e-15);
    rp_canvas_number(0.30000000000000004, 0.1, text);
    CHECK(strcmp(text, "0.3") == 0);
    rp_canvas_number(-1e-17, 0.1, text);
    CHECK(strcmp(text, "0.0") == 0);
    rp_canvas_number(250000.0, 50000.0, text);
    CHECK(strcmp(text, "2.5e+05") == 0);
}

static void words_stay_in_the_picture_and_leave_ink(void)
{
    enum { W = 60, H = 40 };
    unsigned char rgb[W * H * 3];
    rp_canvas c = {W, H, rgb};
    memset(rgb, 255, sizeof rgb);
    rp_canvas_text(&c, 30.0f, 30.0f, 12.0f, (rp_ink){0, 0, 0, 1.0f},
                   "m/s^2 and far beyond the edge");
    rp_canvas_text(&c, -500.0f, -500.0f, 12.0f, (rp_ink){0, 0, 0, 1.0f}, "nowhere");
    int dark = 0;
    for (int i = 0; i < W * H; i++) {
        dark += rgb[3 * i] < 128;
    }
    CHECK(dark > 30 && dark < W * H / 2);
    CHECK(rp_canvas_text_width(12.0f, "mm") > rp_canvas_text_width(12.0f, "ii"));
    CHECK(rp_canvas_text_width(12.0f, "m^2") < rp_canvas_text_width(12.0f, "m2"));
}

// The eigenvalues of a strain that was turned by known angles.
static void principal_stresses_are_eigenvalues(void)
{
    const rp_material_def sand = rp_default_sand_def();
    const rp_yield y = rp_yield_of(&sand, 3);
    const double e[3] = {2e-3, -1e-3, -4e-3}, a = 0.7, b = 0.4;
    const double R[3][3] = {{cos(a) * cos(b), -sin(a), cos(a) * sin(b)},
                            {sin(a) * cos(b), cos(a), sin(a) * sin(b)},
                            {-sin(b), 0.0, cos(b)}};
    double H[3][3] = {{0}}, got[3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                H[i][j] += R[i][k] * e[k] * R[j][k];
            }
        }
    }
    const double strain[6] = {H[0][0], H[1][1], H[2][2], H[0][1], H[0][2], H[1][2]};
    rp_stress_principal(&y, strain, got);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(got[k], 2.0 * y.mu * e[k] + y.lambda * (e[0] + e[1] + e[2]), 1e-6 * y.mu);
    }
    const rp_yield flat = rp_yield_of(&sand, 2);
    rp_stress_principal(&flat, (double[6]){-1e-3, 2e-3, 0.0, 2e-3}, got);
    CHECK_NEAR(got[0], 2.0 * flat.mu * 3e-3 + flat.lambda * 1e-3, 1e-9 * flat.mu);
    CHECK_NEAR(got[1], 2.0 * flat.mu * -2e-3 + flat.lambda * 1e-3, 1e-9 * flat.mu);
}

// On the cone, within, and nothing left; cohesion moves the tip, elastic solids never yield.
static void the_case_can_be_told_from_the_strain(void)
{
    rp_material_def sand = rp_default_sand_def();
    for (int d = 2; d <= 3; d++) {
        const rp_yield y = rp_yield_of(&sand, d);
        const double t = -3e-3, radius = -(2.0 * y.mu + d * y.lambda) * y.slope * t / (2.0 * y.mu);
        check_context("%dD", d);
        for (int k = 0; k < 3; k++) {
            const double part = k == 0   ? 1.0
                                : k == 1 ? 0.9995
                                         : 0.99,
                         xy = part * radius / sqrt(2.0);
            double h[6] = {0};
            for (int a = 0; a < d; a++) {
                h[a] = t / d;
            }
            h[3] = xy;
            CHECK_EQUAL(rp_stress_case(&y, h, 0.0, 0.0), k == 2 ? RP_CASE_INSIDE : RP_CASE_SLIDING);
        }
        CHECK_EQUAL(rp_stress_case(&y, (double[6]){0}, 0.01, 0.0), RP_CASE_APART);
    }
    sand.cohesion = 500.0;
    const rp_yield wet = rp_yield_of(&sand, 3);
    CHECK_EQUAL(rp_stress_case(&wet, (double[6]){0}, 0.0, 0.0), RP_CASE_INSIDE);
    CHECK_EQUAL(rp_stress_case(&wet, (double[6]){0}, 0.05, 0.0), RP_CASE_APART);
    const rp_material_def soft = rp_default_elastic_def();
    const rp_yield elastic = rp_yield_of(&soft, 3);
    CHECK_EQUAL(rp_stress_case(&elastic, (double[6]){0, 0, 0, 1}, 0.0, 0.0), RP_CASE_NONE);
}

// An axis whose steps are chosen by their number alone writes 8000100001200014000.
static void numbers_along_an_axis_stand_apart(void)
{
    static const double lowest[] = {0.0, -0.04, -0.3};
    for (double high = 1e-6; high < 1e9; high *= 1.37) {
        for (int k = 0; k < 3; k++) {
            for (float pixels = 60.0f; pixels < 900.0f; pixels += 60.0f) {
                const double low = lowest[k] * high;
                const float size = 12.0f;
                const double step = rp_canvas_apart(low, high, pixels, size);
                float end = -1e9f;
                for (double v = step * ceil(low / step - 1e-9); v <= high; v += step) {
                    char text[24];
                    rp_canvas_number(v, step, text);
                    const float x = (float)((v - low) / (high - low)) * pixels;
                    const float half = 0.5f * rp_canvas_text_width(size, text);
                    check_context("%s of %g to %g on %g pixels", text, low, high, (double)pixels);
                    CHECK(x - half > end + 0.9f * size);
                    end = x + half;
                }
            }
        }
    }
    // where there is room there are several
    CHECK_NEAR(rp_canvas_apart(0.0, 14.5, 480.0f, 12.0f), 2.0, 1e-12);
}

TEST_MAIN(TEST(the_ramp_becomes_lighter_in_even_steps), TEST(classes_differ),
          TEST(steps_of_an_axis_are_round_numbers), TEST(words_stay_in_the_picture_and_leave_ink),
          TEST(principal_stresses_are_eigenvalues), TEST(the_case_can_be_told_from_the_strain),
          TEST(numbers_along_an_axis_stand_apart))

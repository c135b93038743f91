// Tests src/model/snow.c: the limits of its strain, what is lost for good, and how it hardens.
#include "check.h"
#include "law_lanes.h"
#include "model/material.h"

#include <math.h>
#include <string.h>

enum { SETTINGS = 3 };
static const struct {
    double compression, stretch, hardening;
} setting[SETTINGS] = {{0.025, 0.0075, 10.0}, {0.1, 0.3, 3.0}, {0.01, 0.002, 0.0}};

static rp_material_def make_def(int s)
{
    rp_material_def def = rp_default_material_def(RP_SNOW);
    def.critical_compression = setting[s].compression;
    def.critical_stretch = setting[s].stretch;
    def.snow_hardening = setting[s].hardening;
    return def;
}

static law_lane make_snow(int dim, int s)
{
    const rp_material_def def = make_def(s);
    law_lane lane = {.density = 0.0};
    rp_material_parameters(&def, dim, lane.parameter);
    return lane;
}

static int sym_comps(int dim) { return dim == 2 ? 3 : 6; }

// Rows and columns of the components of a symmetric tensor.
static void place_of(int dim, int k, int *i, int *j)
{
    static const int row[2][6] = {{0, 1, 0}, {0, 1, 2, 0, 0, 1}};
    static const int column[2][6] = {{0, 1, 1}, {0, 1, 2, 1, 2, 2}};
    *i = row[dim - 2][k];
    *j = column[dim - 2][k];
}

// A rotation that has nothing to do with the axes.
static void make_rotation(int dim, double turn, double Q[3][3])
{
    const double a = turn, b = dim == 3 ? 1.7 * turn + 0.3 : 0.0, c = dim == 3 ? 0.6 - turn : 0.0;
    const double z[3][3] = {{cos(a), -sin(a), 0}, {sin(a), cos(a), 0}, {0, 0, 1}};
    const double y[3][3] = {{cos(b), 0, sin(b)}, {0, 1, 0}, {-sin(b), 0, cos(b)}};
    const double x[3][3] = {{1, 0, 0}, {0, cos(c), -sin(c)}, {0, sin(c), cos(c)}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            Q[i][j] = 0.0;
            for (int m = 0; m < 3; m++) {
                for (int n = 0; n < 3; n++) {
                    Q[i][j] += z[i][m] * y[m][n] * x[n][j];
                }
            }
        }
    }
}

// Q diag(value) Q^T
static void put_strain(int dim, double Q[3][3], const double value[3], double strain[6])
{
    for (int k = 0; k < sym_comps(dim); k++) {
        int i, j;
        place_of(dim, k, &i, &j);
        strain[k] = 0.0;
        for (int m = 0; m < dim; m++) {
            strain[k] += Q[i][m] * value[m] * Q[j][m];
        }
    }
}

static double energy_one(const law_variant *v, const law_lane *one)
{
    law_lane lane[RP_LANES];
    double out[RP_LANES];
    for (int l = 0; l < RP_LANES; l++) {
        lane[l] = *one;
    }
    law_energy(v, RP_SNOW, lane, out);
    return out[0];
}

// Strains from far below one limit to far beyond the other, in multiples of the limits.
static const double far[] = {-30.0, -1.5, -0.9, 0.0, 0.8, 1.4, 9.0};
enum { FAR = sizeof far / sizeof far[0] };

// The n-th choice of eigenvalues, one of FAR^dim. @return false: there is none
static bool choose_values(int dim, int s, int n, double value[3])
{
    for (int k = 0; k < dim; k++, n /= FAR) {
        const double x = far[n % FAR];
        value[k] = x < 0.0 ? x * setting[s].compression : x * setting[s].stretch;
    }
    return n == 0;
}

// Each direction on its own ends within its limits, whichever way it points, and the column has the
// sum of what was cut off. Where nothing is, snow is elastic to the bit.
static void every_direction_is_kept_within_its_limits(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants * SETTINGS; i++) {
        const law_variant *v = &variant[i / SETTINGS];
        const int s = i % SETTINGS;
        double value[3];
        for (int n = 0; choose_values(v->dim, s, n, value); n++) {
            check_context("%dD, %d bits, %s, setting %d, strains %g %g %g", v->dim, v->bits,
                          rp_isa_name(v->isa), s, value[0], value[1], v->dim == 3 ? value[2] : 0.0);
            double Q[3][3], kept[3], want[6], cut = 0.0, size = 0.0;
            bool inside = true;
            for (int k = 0; k < v->dim; k++) {
                kept[k] = fmin(fmax(value[k], -setting[s].compression), setting[s].stretch);
                cut += value[k] - kept[k];
                size += fabs(value[k]);
                inside = inside && kept[k] == value[k];
            }
            law_lane snow = make_snow(v->dim, s);
            make_rotation(v->dim, 0.37 * n, Q);
            put_strain(v->dim, Q, value, snow.strain);
            put_strain(v->dim, Q, kept, want);
            snow.plastic_volume = 0.125;
            law_round_lane(v, &snow);
            law_lane rubber = snow;
            law_update_one(v, RP_SNOW, &snow, LAW_STRAIN_ONLY);
            law_update_one(v, RP_ELASTIC, &rubber, LAW_STRAIN_ONLY);
            if (inside) {
                CHECK(memcmp(snow.strain, rubber.strain, sizeof snow.strain) == 0);
                CHECK(snow.plastic_volume == 0.125);
                continue;
            }
            // exp(2 h) - 1 and back multiply round-off by its size over that of the result, which
            // eigenvalues of both signs make exp(the difference) at most
            const double slack = 30.0 * v->unit * size * exp(2.0 * size);
            for (int k = 0; k < sym_comps(v->dim); k++) {
                CHECK_NEAR(snow.strain[k], want[k], slack);
            }
            CHECK_NEAR(snow.plastic_volume, 0.125 + cut, slack + v->unit * (1.0 + fabs(cut)));
        }
    }
}

// A velocity gradient, not a state: pressed from all sides by t of log volume in any number of
// steps, strain stays at its limit, the rest is lost, and the pressure is
//   B d c exp(-hardening v),   v = d c - t
static void pressing_from_all_sides_follows_the_closed_form(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        for (int steps = 1; steps <= 1000; steps *= 10) {
            const double c = setting[0].compression, all = 0.25;
            law_lane snow = make_snow(v->dim, 0);
            check_context("%dD, %d bits, %s, %d steps", v->dim, v->bits, rp_isa_name(v->isa),
                          steps);
            for (int k = 0; k < v->dim; k++) {
                snow.increment[k * v->dim + k] = expm1(-all / steps / v->dim);
            }
            for (int n = 0; n < steps; n++) {
                law_update_one(v, RP_SNOW, &snow, LAW_STRAIN_ONLY);
            }
            double tau[6];
            const double lost = v->dim * c - all;
            const double bulk =
                snow.parameter[RP_PARAM_LAMBDA] + 2.0 * snow.parameter[RP_PARAM_MU] / v->dim;
            const double want = -bulk * v->dim * c * exp(-setting[0].hardening * lost);
            const double slack = v->unit * (40.0 + 2.0 * steps);
            law_stress_one(v, RP_SNOW, &snow, tau);
            CHECK_NEAR(snow.plastic_volume, lost, slack);
            for (int k = 0; k < sym_comps(v->dim); k++) {
                CHECK_NEAR(tau[k], k < v->dim ? want : 0.0, 12.0 * slack * fabs(want));
            }
        }
    }
}

// Stress and energy are those of an elastic body times one factor, between its bounds.
static void compacted_snow_is_stiffer(void)
{
    static const double gained[] = {-5.0, -0.31, -0.29, -0.1, 0.0, 0.1, 0.15, 0.17, 40.0};
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        for (size_t n = 0; n < sizeof gained / sizeof gained[0]; n++) {
            check_context("%dD, %d bits, %s, gained %g", v->dim, v->bits, rp_isa_name(v->isa),
                          gained[n]);
            law_lane snow = make_snow(v->dim, 0);
            for (int k = 0; k < sym_comps(v->dim); k++) {
                snow.strain[k] = 0.003 * (k - 1.7);
            }
            snow.plastic_volume = gained[n];
            law_round_lane(v, &snow);
            const double lambda = snow.parameter[RP_PARAM_LAMBDA], mu = snow.parameter[RP_PARAM_MU];
            const double want =
                fmin(fmax(exp(-setting[0].hardening * snow.plastic_volume), 0.2), 20.0);
            double tau[6], trace = 0.0, square = 0.0;
            for (int k = 0; k < sym_comps(v->dim); k++) {
                trace += k < v->dim ? snow.strain[k] : 0.0;
                square += (k < v->dim ? 1.0 : 2.0) * snow.strain[k] * snow.strain[k];
            }
            law_stress_one(v, RP_SNOW, &snow, tau);
            const double size = want * (lambda * fabs(trace) + 2.0 * mu * sqrt(square));
            for (int k = 0; k < sym_comps(v->dim); k++) {
                const double plain =
                    2.0 * mu * snow.strain[k] + (k < v->dim ? lambda * trace : 0.0);
                CHECK_NEAR(tau[k], want * plain, 16.0 * v->unit * size);
            }
            const double stored = want * (mu * square + 0.5 * lambda * trace * trace);
            CHECK_NEAR(energy_one(v, &snow), stored, 16.0 * v->unit * stored);
        }
    }
}

// tau = dW/dh, hardened or not: W is quadratic, so that central differences are exact.
static void stress_is_the_derivative_of_energy(void)
{
    static const double gained[] = {-1.0, -0.2, 0.0, 0.07, 1.0};
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        for (size_t n = 0; n < sizeof gained / sizeof gained[0]; n++) {
            law_lane snow = make_snow(v->dim, 0);
            snow.plastic_volume = gained[n];
            for (int k = 0; k < sym_comps(v->dim); k++) {
                snow.strain[k] = 0.004 * (1.3 - k);
            }
            law_round_lane(v, &snow);
            const double step = 0x1p-9; // no rounding of its own
            double tau[6];
            law_stress_one(v, RP_SNOW, &snow, tau);
            for (int k = 0; k < sym_comps(v->dim); k++) {
                check_context("%dD, %d bits, %s, gained %g, component %d", v->dim, v->bits,
                              rp_isa_name(v->isa), gained[n], k);
                law_lane more = snow, less = snow;
                more.strain[k] = law_rounded(v, more.strain[k] + step);
                less.strain[k] = law_rounded(v, less.strain[k] - step);
                const double high = energy_one(v, &more), low = energy_one(v, &less);
                const double slope = (high - low) / (more.strain[k] - less.strain[k]);
                // what stands off the diagonal stands there twice
                CHECK_NEAR(slope, (k < v->dim ? 1.0 : 2.0) * tau[k],
                           32.0 * v->unit * (high + low) / step);
            }
        }
    }
}

// What was cut off once stays cut off: nothing creeps, however long it lies.
static void a_state_at_its_limits_stays_there(void)
{
    enum { LONG = 500 };
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants * SETTINGS; i++) {
        const law_variant *v = &variant[i / SETTINGS];
        const int s = i % SETTINGS;
        double value[3], Q[3][3];
        for (int n = 0; choose_values(v->dim, s, n, value); n += 11) {
            check_context("%dD, %d bits, %s, setting %d, strains %g %g %g", v->dim, v->bits,
                          rp_isa_name(v->isa), s, value[0], value[1], v->dim == 3 ? value[2] : 0.0);
            law_lane snow = make_snow(v->dim, s);
            make_rotation(v->dim, 0.21 * n, Q);
            put_strain(v->dim, Q, value, snow.strain);
            law_update_one(v, RP_SNOW, &snow, LAW_STRAIN_ONLY);
            law_lane later = snow;
            for (int k = 0; k < LONG; k++) {
                law_update_one(v, RP_SNOW, &later, LAW_STRAIN_ONLY);
            }
            // a strain as large as in setting 1 moves by a few roundings a step, as it does in an
            // elastic body, and is cut off anew
            const double size = setting[s].compression + setting[s].stretch;
            const double slack = (s == 1 ? 16.0 * LONG : 64.0) * v->unit;
            for (int k = 0; k < sym_comps(v->dim); k++) {
                CHECK_NEAR(later.strain[k], snow.strain[k], slack * size);
            }
            CHECK_NEAR(later.plastic_volume, snow.plastic_volume,
                       slack * (size + fabs(snow.plastic_volume)));
        }
    }
}

// The mapping takes energy, though what is left is stiffer.
static void cutting_off_strain_adds_no_energy(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        double value[3], Q[3][3];
        for (int n = 0; choose_values(v->dim, 0, n, value); n++) {
            check_context("%dD, %d bits, %s, strains %g %g %g", v->dim, v->bits,
                          rp_isa_name(v->isa), value[0], value[1], v->dim == 3 ? value[2] : 0.0);
            law_lane snow = make_snow(v->dim, 0);
            make_rotation(v->dim, 0.11 * n, Q);
            put_strain(v->dim, Q, value, snow.strain);
            const double before = energy_one(v, &snow);
            law_update_one(v, RP_SNOW, &snow, LAW_STRAIN_ONLY);
            CHECK(energy_one(v, &snow) <= before * (1.0 + 1000.0 * v->unit));
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
        double tau[RP_LANES][6], one[6];
        for (int l = 0; l < RP_LANES; l++) {
            double Q[3][3];
            const double size = pow(2.0, l - 12);
            const double value[3] = {-size, size * (l % 3 - 1), 0.3 * size};
            lane[l] = make_snow(v->dim, l % SETTINGS);
            make_rotation(v->dim, 0.5 * l, Q);
            put_strain(v->dim, Q, value, lane[l].strain);
            lane[l].plastic_volume = 0.02 * (l - 8);
            lane[l].increment[1] = 1e-3 * l;
            if (l == 5) {
                memset(&lane[l], 0, sizeof lane[l]);
            }
            law_round_lane(v, &lane[l]);
            alone[l] = lane[l];
            law_update_one(v, RP_SNOW, &alone[l], LAW_STRAIN_ONLY);
        }
        law_update(v, RP_SNOW, lane, LAW_STRAIN_ONLY);
        law_stress(v, RP_SNOW, lane, tau);
        for (int l = 0; l < RP_LANES; l++) {
            CHECK(memcmp(&lane[l], &alone[l], sizeof lane[l]) == 0);
            law_stress_one(v, RP_SNOW, &lane[l], one);
            CHECK(memcmp(tau[l], one, sizeof(double) * (size_t)sym_comps(v->dim)) == 0);
        }
        static const law_lane nothing;
        CHECK(memcmp(&lane[5], &nothing, sizeof nothing) == 0);
        for (int k = 0; k < sym_comps(v->dim); k++) {
            CHECK(tau[5][k] == 0.0);
        }
    }
}

// Whichever number is none, so is what follows from it, in this lane and in no other.
static void a_nan_stays_in_its_lane(void)
{
    enum { BAD = 3 };
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants; i++) {
        const law_variant *v = &variant[i];
        const int comps = sym_comps(v->dim), gradients = v->dim * v->dim;
        for (int which = 0; which < comps + gradients + 1; which++) {
            check_context("%dD, %d bits, %s, number %d", v->dim, v->bits, rp_isa_name(v->isa),
                          which);
            law_lane lane[RP_LANES];
            double tau[RP_LANES][6], energy[RP_LANES];
            for (int l = 0; l < RP_LANES; l++) {
                lane[l] = make_snow(v->dim, 0);
                lane[l].strain[0] = 0.01 * (l - 4);
                lane[l].strain[v->dim] = 0.004 * l;
            }
            *(which < comps               ? &lane[BAD].strain[which]
              : which < comps + gradients ? &lane[BAD].increment[which - comps]
                                          : &lane[BAD].plastic_volume) = NAN;
            law_update(v, RP_SNOW, lane, LAW_STRAIN_ONLY);
            law_stress(v, RP_SNOW, lane, tau);
            law_energy(v, RP_SNOW, lane, energy);
            for (int l = 0; l < RP_LANES; l++) {
                for (int k = 0; k < comps; k++) {
                    CHECK(isnan(tau[l][k]) == (l == BAD));
                    CHECK(isnan(lane[l].strain[k]) == (l == BAD && which < comps + gradients));
                }
                CHECK(isnan(lane[l].plastic_volume) == (l == BAD));
                CHECK(isnan(energy[l]) == (l == BAD));
            }
        }
    }
}

// The modulus that bounds time steps is that of the stiffest snow there can be.
static void time_steps_are_those_of_hardened_snow(void)
{
    law_variant variant[LAW_VARIANTS];
    const int variants = law_variants(variant);
    for (int i = 0; i < variants * SETTINGS; i++) {
        const law_variant *v = &variant[i / SETTINGS];
        const int s = i % SETTINGS;
        check_context("%dD, %d bits, %s, setting %d", v->dim, v->bits, rp_isa_name(v->isa), s);
        const rp_material_def def = make_def(s);
        law_lane snow = make_snow(v->dim, s);
        double tau[6];
        for (int k = 0; k < v->dim; k++) {
            snow.strain[k] = -0x1p-10; // the same from all sides is its stiffest direction
        }
        snow.plastic_volume = -100.0;
        law_stress_one(v, RP_SNOW, &snow, tau);
        CHECK_NEAR(rp_material_class_of(RP_SNOW)->modulus(&def, v->dim), -tau[0] * 0x1p10,
                   16.0 * v->unit * -tau[0] * 0x1p10);
    }
}

// Pictures and measurements divide by the volume that snow has now: strain and what it lost.
static void volume_counts_what_was_lost(void)
{
    const rp_material_def def = rp_default_material_def(RP_SNOW);
    for (int dim = 2; dim <= 3; dim++) {
        const double strain[6] = {0.01, -0.02, 0.003, 0.004, 0.005, 0.006}, gained[1] = {-0.3};
        const double trace = dim == 2 ? -0.01 : -0.007;
        rp_material_state state = {
            .column = {[RP_COL_STRAIN] = strain, [RP_COL_PLASTIC_VOLUME] = gained}};
        double volume;
        CHECK_OK(rp_material_volume(&def, dim, &state, 1, &volume));
        CHECK_NEAR(volume, exp(trace - 0.3), 1e-15);
        state.column[RP_COL_PLASTIC_VOLUME] = NULL;
        CHECK_OK(rp_material_volume(&def, dim, &state, 1, &volume));
        CHECK_NEAR(volume, exp(trace), 1e-15);
    }
}

static void snow_without_limits_is_refused(void)
{
    rp_material_def def = rp_default_material_def(RP_SNOW);
    CHECK_OK(rp_material_check(&def, 2));
    CHECK(def.density == 400.0 && def.critical_compression == 0.025);
    CHECK(def.critical_stretch == 0.0075 && def.snow_hardening == 10.0);
    def.critical_stretch = 0.0;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, "snow.critical_stretch: want > 0");
    def = rp_default_material_def(RP_SNOW);
    def.snow_hardening = -1.0;
    CHECK_ERROR(rp_material_check(&def, 3), RP_ERR_ARGUMENT, "snow.hardening: want");
}

TEST_MAIN(TEST(every_direction_is_kept_within_its_limits),
          TEST(pressing_from_all_sides_follows_the_closed_form), TEST(compacted_snow_is_stiffer),
          TEST(stress_is_the_derivative_of_energy), TEST(a_state_at_its_limits_stays_there),
          TEST(cutting_off_strain_adds_no_energy), TEST(lanes_do_not_see_each_other),
          TEST(a_nan_stays_in_its_lane), TEST(time_steps_are_those_of_hardened_snow),
          TEST(volume_counts_what_was_lost), TEST(snow_without_limits_is_refused))

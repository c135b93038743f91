#include "model/differential.h"
#include "model/material.h"

#include "check.h"
#include "law_lanes.h"
#include "random.h"
#include "reference_model.h"

#include <math.h>
#include <string.h>

// Round-off of one trial state, largest component. exp(2h) - I and the push-forward are sums of
// numbers up to |h| + |L|, a handful of roundings each; the logarithm divides an error in b by the
// least eigenvalue of I + b, which is at worst exp(-2|h|).
static double trial_bound(const law_variant *v, double h, double L)
{
    // the second term is what the reference itself may be wrong by: F F^T near 1 in long double
    return 8.0 * v->unit * (h + L) * exp(2.0 * h) + 32.0 * 0x1p-64;
}

static double tensor_norm(int dim, const double *a)
{
    double sum = 0.0;
    for (int k = 0; k < reference_components(dim); k++) {
        sum += (k < dim ? 1.0 : 2.0) * a[k] * a[k];
    }
    return sqrt(sum);
}

static double matrix_norm(int dim, const double *a)
{
    double sum = 0.0;
    for (int k = 0; k < dim * dim; k++) {
        sum += a[k] * a[k];
    }
    return sqrt(sum);
}

// Every direction of tensor, norm as asked.
static void random_tensor(uint64_t *random, int dim, double norm, double *a)
{
    for (int k = 0; k < reference_components(dim); k++) {
        a[k] = test_normal(random);
    }
    const double factor = norm / tensor_norm(dim, a);
    for (int k = 0; k < reference_components(dim); k++) {
        a[k] *= factor;
    }
}

static void multiply(int dim, const double *a, const double *b, double *out)
{
    double c[9] = {0};
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            for (int k = 0; k < dim; k++) {
                c[dim * i + j] += a[dim * i + k] * b[dim * k + j];
            }
        }
    }
    memcpy(out, c, sizeof c);
}

// A rotation by a random angle about a random axis.
static void random_rotation(uint64_t *random, int dim, double *Q)
{
    const double angle = test_between(random, -3.1, 3.1), c = cos(angle), s = sin(angle);
    if (dim == 2) {
        memcpy(Q, (double[]){c, -s, s, c}, 4 * sizeof *Q);
        return;
    }
    double n[3];
    test_direction(random, n);
    const double cross[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            Q[3 * i + j] = (i == j ? c : 0.0) + s * cross[3 * i + j] + (1.0 - c) * n[i] * n[j];
        }
    }
}

// Rotation times stretch times rotation. Every third pair of stretches is nearly or exactly equal.
static void random_F(uint64_t *random, int dim, double *F)
{
    double sigma[3], Q[9], R[9];
    for (int i = 0; i < dim; i++) {
        sigma[i] = exp(test_between(random, -0.4, 0.3));
    }
    const int kind = test_below(random, 6);
    if (kind == 0) {
        sigma[1] = sigma[0];
    } else if (kind == 1) {
        sigma[1] = sigma[0] * (1.0 + pow(10.0, test_between(random, -14.0, -3.0)));
    }
    random_rotation(random, dim, Q);
    random_rotation(random, dim, R);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            Q[dim * i + j] *= sigma[j];
        }
    }
    multiply(dim, Q, R, F);
}

static law_lane elastic_lane(const law_variant *v)
{
    law_lane lane = {.density = 2200.0};
    const rp_material_def def = rp_default_elastic_def();
    rp_material_parameters(&def, v->dim, lane.parameter);
    return lane;
}

// Lets a particle at rest feel F in one step; gives its energy.
static double deform(const law_variant *v, const double *F, double h[6], double tau[6])
{
    law_lane lane = elastic_lane(v);
    for (int k = 0; k < v->dim * v->dim; k++) {
        lane.increment[k] = F[k] - (k % (v->dim + 1) == 0 ? 1.0 : 0.0);
    }
    law_update_one(v, RP_ELASTIC, &lane, LAW_STRAIN_ONLY);
    law_stress_one(v, RP_ELASTIC, &lane, tau);
    memcpy(h, lane.strain, sizeof lane.strain);
    double twice = 0.0;
    for (int k = 0; k < reference_components(v->dim); k++) {
        twice += (k < v->dim ? 1.0 : 2.0) * h[k] * tau[k];
    }
    return 0.5 * twice;
}

static void check_trial(const law_variant *v, uint64_t *random, double h_norm, double L_norm)
{
    const int components = reference_components(v->dim);
    law_lane lane[RP_LANES];
    reference_particle want[RP_LANES];
    double bound[RP_LANES];
    for (int i = 0; i < RP_LANES; i++) {
        lane[i] = elastic_lane(v);
        random_tensor(random, v->dim, h_norm, lane[i].strain);
        for (int k = 0; k < v->dim * v->dim; k++) {
            lane[i].increment[k] = L_norm / v->dim * test_between(random, -1.0, 1.0);
        }
        law_round_lane(v, &lane[i]);
        bound[i] = trial_bound(v, h_norm, L_norm);
        reference_init(&want[i], v->dim);
        reference_set_strain(&want[i], lane[i].strain);
        reference_step(&want[i], REFERENCE_ELASTIC, lane[i].parameter, lane[i].increment, 1.0);
    }
    law_update(v, RP_ELASTIC, lane, LAW_STRAIN_ONLY);
    for (int i = 0; i < RP_LANES; i++) {
        double h[6];
        reference_strain(&want[i], h);
        for (int k = 0; k < components; k++) {
            CHECK_NEAR(lane[i].strain[k], h[k], bound[i]);
        }
    }
}

// The strain after a step is that of (I + L) F. The norms lie well inside, just inside and just
// outside of the radii where one way of computing hands over to the next. Catches a transposed L, a
// dropped factor 2, series with too few terms, a bad hand-over.
static void the_strain_follows_the_deformation_gradient(void)
{
    static const double h_norm[] = {0.0,  1e-6, 1e-3,   0.0199, 0.0201, 0.05, 0.0699, 0.0701,
                                    0.12, 0.2,  0.2499, 0.2501, 0.4,    0.7,  1.5};
    static const double L_norm[] = {0.0, 1e-6, 1e-3, 0.015, 0.03, 0.1, 0.3};
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    CHECK(count >= 4);
    for (int n = 0; n < count; n++) {
        uint64_t random = 11;
        for (size_t a = 0; a < sizeof h_norm / sizeof *h_norm; a++) {
            for (size_t b = 0; b < sizeof L_norm / sizeof *L_norm; b++) {
                check_context("%dD f%d %s, |h| %g, |L| %g", v[n].dim, v[n].bits,
                              rp_isa_name(v[n].isa), h_norm[a], L_norm[b]);
                for (int round = 0; round < 4; round++) {
                    CHECK_HELPER(check_trial(&v[n], &random, h_norm[a], L_norm[b]));
                }
            }
        }
    }
}

// V-B3: tau_1 = (lambda + 2 mu) ln F_1 and P_1 = tau_1 / F_1 under uniaxial strain. Catches a
// factor in the stress and a logarithm of the wrong argument.
static void a_bar_under_uniaxial_strain_has_the_known_stress(void)
{
    static const double stretch[] = {0.5, 0.8, 0.97, 0.999, 1.0001, 1.02, 1.25, 2.0};
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        const int dim = v[n].dim;
        for (size_t a = 0; a < sizeof stretch / sizeof *stretch; a++) {
            check_context("%dD f%d %s, F1 %g", dim, v[n].bits, rp_isa_name(v[n].isa), stretch[a]);
            double F[9] = {0}, h[6], tau[6], P[9];
            for (int i = 0; i < dim; i++) {
                F[(dim + 1) * i] = 1.0;
            }
            F[0] = 1.0 + law_rounded(&v[n], stretch[a] - 1.0);
            deform(&v[n], F, h, tau);

            law_lane lane = elastic_lane(&v[n]);
            law_round_lane(&v[n], &lane);
            const double lambda = lane.parameter[RP_PARAM_LAMBDA], mu = lane.parameter[RP_PARAM_MU];
            const double e = log(F[0]), M = lambda + 2.0 * mu;
            // single: the strain as in trial_bound (the logarithm costs at most a factor 1/F1^2),
            // then a product, a sum and a product
            const double bound =
                v[n].bits == 64 ? 1e-13 * M
                                : M * (8.0 * v[n].unit * fabs(F[0] - 1.0) / fmin(1.0, F[0] * F[0]) +
                                       4.0 * v[n].unit * fabs(e));
            CHECK_NEAR(tau[0], M * e, bound);
            CHECK_NEAR(tau[1], lambda * e, bound);
            CHECK_NEAR(tau[dim], 0.0, bound);

            rp_hencky_piola(dim, lambda, mu, F, P);
            CHECK_NEAR(P[0], M * e / F[0], 1e-13 * M);
            CHECK_NEAR(P[dim + 1], lambda * e, 1e-13 * M);
        }
    }
}

// V-B2: turning the body turns the stress with it and costs nothing; turning it before it is
// deformed changes nothing. Catches a push-forward from the wrong side.
static void the_stress_turns_with_the_body(void)
{
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        check_context("%dD f%d %s", v[n].dim, v[n].bits, rp_isa_name(v[n].isa));
        const int dim = v[n].dim;
        uint64_t random = 21;
        // F enters as a rounded I + L, |L| up to 3: its rounding alone changes h by 3 u, and b - I
        // is a sum of numbers up to |F|^2 = 5 that mostly cancel
        const double strain_bound = v[n].bits == 64 ? 1e-13 : 32.0 * v[n].unit;
        const double modulus = 4e5;
        for (int round = 0; round < 200; round++) {
            double F[9], Q[9], QF[9], FQ[9], h[6], tau[6], h2[6], tau2[6], S[9], ST[9];
            random_F(&random, dim, F);
            random_rotation(&random, dim, Q);
            multiply(dim, Q, F, QF);
            multiply(dim, F, Q, FQ);
            const double energy = deform(&v[n], F, h, tau);
            CHECK_NEAR(deform(&v[n], FQ, h2, tau2), energy, strain_bound * modulus);
            CHECK_NEAR(deform(&v[n], QF, h2, tau2), energy, strain_bound * modulus);

            // Q tau Q^T
            for (int i = 0; i < dim; i++) {
                for (int j = 0; j < dim; j++) {
                    S[dim * i + j] = tau[reference_at(dim, i, j)];
                }
            }
            multiply(dim, Q, S, S);
            for (int i = 0; i < dim; i++) {
                for (int j = 0; j < dim; j++) {
                    ST[dim * i + j] = 0.0;
                    for (int k = 0; k < dim; k++) {
                        ST[dim * i + j] += S[dim * i + k] * Q[dim * j + k];
                    }
                    CHECK_NEAR(tau2[reference_at(dim, i, j)], ST[dim * i + j],
                               strain_bound * modulus);
                }
            }
        }
    }
}

// V-B1, first half: P = dpsi/dF by central differences of the energy, through the law, in double.
// Catches a stress that does not belong to the energy, and a division by equal stretches.
static void the_stress_is_the_derivative_of_the_energy(void)
{
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        if (v[n].bits != 64) {
            continue;
        }
        const int dim = v[n].dim;
        const law_lane lane = elastic_lane(&v[n]);
        uint64_t random = 31;
        for (int round = 0; round < 1000; round++) {
            check_context("%dD f%d %s, round %d", dim, v[n].bits, rp_isa_name(v[n].isa), round);
            double F[9], P[9], h[6], tau[6];
            random_F(&random, dim, F);
            if (round % 10 == 0) {
                random_rotation(&random, dim, F); // no strain at all
            }
            rp_hencky_piola(dim, lane.parameter[RP_PARAM_LAMBDA], lane.parameter[RP_PARAM_MU], F,
                            P);
            // relative, with a floor where P is (near) zero
            const double scale = matrix_norm(dim, P) + 1e-3 * lane.parameter[RP_PARAM_MU];
            for (int k = 0; k < dim * dim; k++) {
                const double delta = 1e-6;
                double plus[9], minus[9];
                memcpy(plus, F, sizeof F);
                memcpy(minus, F, sizeof F);
                plus[k] += delta;
                minus[k] -= delta;
                const double slope =
                    (deform(&v[n], plus, h, tau) - deform(&v[n], minus, h, tau)) / (2.0 * delta);
                CHECK_NEAR(P[k], slope, 1e-7 * scale);
            }
        }
    }
}

// V-B1, second half: dP against central differences of P. Catches a wrong divided difference, its
// limit where stretches meet, and a lost term of F^-T.
static void the_differential_is_the_derivative_of_the_stress(void)
{
    const rp_lame lame = rp_lame_parameters(3.537e5, 0.3);
    for (int dim = 2; dim <= 3; dim++) {
        uint64_t random = 41;
        for (int round = 0; round < 1000; round++) {
            check_context("%dD, round %d", dim, round);
            double F[9], dF[9], dP[9], plus[9], minus[9], P1[9], P2[9];
            random_F(&random, dim, F);
            if (round % 10 == 0) {
                random_rotation(&random, dim, F);
            }
            for (int k = 0; k < dim * dim; k++) {
                dF[k] = test_normal(&random);
                plus[k] = F[k] + 1e-6 * dF[k];
                minus[k] = F[k] - 1e-6 * dF[k];
            }
            rp_hencky_differential(dim, lame.lambda, lame.mu, F, dF, dP);
            rp_hencky_piola(dim, lame.lambda, lame.mu, plus, P1);
            rp_hencky_piola(dim, lame.lambda, lame.mu, minus, P2);
            const double scale = matrix_norm(dim, dP) + 1e-3 * lame.mu * matrix_norm(dim, dF);
            for (int k = 0; k < dim * dim; k++) {
                CHECK_NEAR(dP[k], (P1[k] - P2[k]) / 2e-6, 1e-6 * scale);
            }
        }
    }
}

// Two thousand small steps of the elastic law against the deformation gradient itself. Round-off of
// the steps is independent, so it adds up like a random walk: sqrt(n) times that of a step, four
// deviations. Catches a drift, such as that of a stored F in single precision.
static void two_thousand_steps_do_not_drift(void)
{
    enum { STEPS = 2000 };
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        const int dim = v[n].dim;
        law_lane lane[RP_LANES];
        reference_particle want[RP_LANES];
        uint64_t random = 51;
        double base[RP_LANES][9];
        for (int i = 0; i < RP_LANES; i++) {
            lane[i] = elastic_lane(&v[n]);
            reference_init(&want[i], dim);
            for (int k = 0; k < 9; k++) {
                base[i][k] = test_between(&random, -1.0, 1.0);
            }
        }
        double largest = 0.0;
        for (int step = 0; step < STEPS; step++) {
            for (int i = 0; i < RP_LANES; i++) {
                for (int k = 0; k < dim * dim; k++) {
                    lane[i].increment[k] = 1e-3 * (base[i][k] * cos(0.05 * step + i) +
                                                   0.3 * test_between(&random, -1.0, 1.0));
                }
                law_round_lane(&v[n], &lane[i]);
                reference_step(&want[i], REFERENCE_ELASTIC, lane[i].parameter, lane[i].increment,
                               1.0);
            }
            law_update(&v[n], RP_ELASTIC, lane, LAW_STRAIN_ONLY);
            for (int i = 0; i < RP_LANES; i++) {
                largest = fmax(largest, tensor_norm(dim, lane[i].strain));
            }
        }
        check_context("%dD f%d %s, |h| up to %g", dim, v[n].bits, rp_isa_name(v[n].isa), largest);
        CHECK(largest > 0.02 && largest < 0.2);
        for (int i = 0; i < RP_LANES; i++) {
            double h[6];
            reference_strain(&want[i], h);
            for (int k = 0; k < reference_components(dim); k++) {
                CHECK_NEAR(lane[i].strain[k], h[k], 4.0 * sqrt(STEPS) * v[n].unit * largest);
            }
        }
    }
}

// A particle that nothing moves keeps its strain for ten thousand steps. A step is exact to about
// an ulp, and where the rounding does change a bit, the next steps settle. A component much smaller
// than the others has finer bits than what it is computed from: there the terms of second order,
// which cancel up to their own round-off, may add 2 u |h|^2 a step. Catches a bias of exp and log
// against each other, by which stress at rest would creep.
static void nothing_moves_what_is_at_rest(void)
{
    enum { STEPS = 10000 };
    const double size = 2e-3;
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        check_context("%dD f%d %s", v[n].dim, v[n].bits, rp_isa_name(v[n].isa));
        const int dim = v[n].dim;
        uint64_t random = 61;
        law_lane lane[RP_LANES], start[RP_LANES];
        for (int i = 0; i < RP_LANES; i++) {
            lane[i] = elastic_lane(&v[n]);
            random_tensor(&random, dim, size, lane[i].strain);
            law_round_lane(&v[n], &lane[i]);
            start[i] = lane[i];
        }
        for (int step = 0; step < STEPS; step++) {
            law_update(&v[n], RP_ELASTIC, lane, LAW_STRAIN_ONLY);
        }
        for (int i = 0; i < RP_LANES; i++) {
            for (int k = 0; k < reference_components(dim); k++) {
                CHECK_NEAR(lane[i].strain[k], start[i].strain[k],
                           v[n].unit * (16.0 * size + STEPS * 2.0 * size * size));
            }
        }
    }
}

// V-A11: I + L with a rotation rate is no rotation: det F grows by 1 + w^2 a step in the plane of
// rotation, and nothing else happens. Catches an update that hides or doubles it.
static void a_spinning_body_swells_by_the_known_amount(void)
{
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        check_context("%dD f%d %s", v[n].dim, v[n].bits, rp_isa_name(v[n].isa));
        const int dim = v[n].dim;
        const double w = 0x1p-10;
        const int steps = 6434; // once around
        law_lane lane = elastic_lane(&v[n]);
        lane.increment[1] = -w;
        lane.increment[dim] = w;
        for (int step = 0; step < steps; step++) {
            law_update_one(&v[n], RP_ELASTIC, &lane, LAW_STRAIN_ONLY);
        }
        // the last sum of each step rounds a strain of at most 3.1e-3, and all to the same side at
        // worst
        const double want = 0.5 * steps * log1p(w * w);
        const double bound = steps * v[n].unit * want;
        CHECK_NEAR(lane.strain[0], want, bound);
        CHECK_NEAR(lane.strain[1], want, bound);
        for (int k = 2; k < reference_components(dim); k++) {
            CHECK_NEAR(lane.strain[k], 0.0, bound);
        }
    }
}

// A particle's bits do not depend on its neighbours in the tile nor on its own lane: calm ones,
// wild ones that need the slow path, NaN. Catches a blend by tile instead of by lane.
static void neighbours_in_a_tile_do_not_matter(void)
{
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        const int dim = v[n].dim;
        uint64_t random = 71;
        for (int round = 0; round < 1500; round++) {
            static const double size[] = {1e-3, 0.019, 0.021, 0.069, 0.072, 0.2, 0.26, 0.8};
            check_context("%dD f%d %s, round %d", dim, v[n].bits, rp_isa_name(v[n].isa), round);
            law_lane mine = elastic_lane(&v[n]);
            random_tensor(&random, dim, size[round % 8], mine.strain);
            for (int k = 0; k < dim * dim; k++) {
                mine.increment[k] = 0.01 * test_normal(&random);
            }
            law_lane alone = mine;
            law_update_one(&v[n], RP_ELASTIC, &alone, LAW_STRAIN_ONLY);
            CHECK(isfinite(alone.strain[0]));

            law_lane crowd[RP_LANES];
            const int place = test_below(&random, RP_LANES);
            for (int i = 0; i < RP_LANES; i++) {
                crowd[i] = mine;
                if (i != place) {
                    random_tensor(&random, dim, size[test_below(&random, 8)], crowd[i].strain);
                    crowd[i].increment[0] = test_below(&random, 4) == 0 ? NAN : 0.3;
                }
            }
            law_update(&v[n], RP_ELASTIC, crowd, LAW_STRAIN_ONLY);
            CHECK(memcmp(crowd[place].strain, alone.strain, sizeof alone.strain) == 0);
        }
    }
}

// A NaN anywhere in a particle comes out as a NaN of its strain. Catches a comparison or a clamp
// that turns it into an innocent number.
static void a_nan_stays_a_nan(void)
{
    static const double size[] = {1e-3, 0.05, 0.2, 0.8}; // one for each way to compute
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        const int dim = v[n].dim, components = reference_components(dim);
        for (int spot = 0; spot < components + dim * dim; spot++) {
            for (int s = 0; s < 4; s++) {
                check_context("%dD f%d %s, spot %d, size %g", dim, v[n].bits, rp_isa_name(v[n].isa),
                              spot, size[s]);
                uint64_t random = 81;
                law_lane lane = elastic_lane(&v[n]);
                random_tensor(&random, dim, size[s], lane.strain);
                *(spot < components ? &lane.strain[spot] : &lane.increment[spot - components]) =
                    NAN;
                law_update_one(&v[n], RP_ELASTIC, &lane, LAW_STRAIN_ONLY);
                for (int k = 0; k < components; k++) {
                    CHECK(isnan(lane.strain[k]));
                }
            }
        }
    }
}

// Infinite and absurd strains end as something the step's check can see, or as a finite number.
static void an_absurd_strain_is_not_hidden(void)
{
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int n = 0; n < count; n++) {
        check_context("%dD f%d %s", v[n].dim, v[n].bits, rp_isa_name(v[n].isa));
        law_lane lane = elastic_lane(&v[n]);
        lane.strain[0] = INFINITY;
        law_update_one(&v[n], RP_ELASTIC, &lane, LAW_STRAIN_ONLY);
        CHECK(!isfinite(lane.strain[0]));

        // squeezed flat in one step: I + b is singular, and the strain stops at what can be
        // resolved
        lane = elastic_lane(&v[n]);
        lane.increment[0] = -1.0;
        law_update_one(&v[n], RP_ELASTIC, &lane, LAW_STRAIN_ONLY);
        CHECK(isfinite(lane.strain[0]) && lane.strain[0] < -5.0);
    }
}

// Plain C and vectors compute the same formulas, one with fused multiply-adds and one without: they
// agree within round-off of each. Catches an instruction set's own wrong operation.
static void instruction_sets_agree(void)
{
    law_variant v[LAW_VARIANTS];
    const int count = law_variants(v);
    for (int a = 0; a < count; a++) {
        for (int b = a + 1; b < count; b++) {
            if (v[a].dim != v[b].dim || v[a].bits != v[b].bits) {
                continue;
            }
            check_context("%dD f%d %s and %s", v[a].dim, v[a].bits, rp_isa_name(v[a].isa),
                          rp_isa_name(v[b].isa));
            uint64_t random = 91;
            for (int round = 0; round < 300; round++) {
                static const double size[] = {1e-3, 0.05, 0.2, 0.5};
                const double h = size[round % 4];
                law_lane first = elastic_lane(&v[a]);
                random_tensor(&random, v[a].dim, h, first.strain);
                for (int k = 0; k < v[a].dim * v[a].dim; k++) {
                    first.increment[k] = 0.01 * test_between(&random, -1.0, 1.0);
                }
                law_lane second = first;
                law_update_one(&v[a], RP_ELASTIC, &first, LAW_STRAIN_ONLY);
                law_update_one(&v[b], RP_ELASTIC, &second, LAW_STRAIN_ONLY);
                for (int k = 0; k < reference_components(v[a].dim); k++) {
                    CHECK_NEAR(first.strain[k], second.strain[k],
                               2.0 * trial_bound(&v[a], h, 0.03));
                }
            }
        }
    }
}

// The stress after a step, as the law's tangent changes it, is that of the formulas: tau = P F^T,
// so that d tau = dP F^T + P dF^T with dF = dL F. Catches a tangent about the wrong state, and one
// that changes the tile.
static void the_tangent_is_the_derivative_of_the_stress(void)
{
    uint64_t random = 8;
    for (int dim = 2; dim <= 3; dim++) {
        const rp_law *law = rp_laws_find(dim, 64, RP_ISA_PLAIN)[RP_ELASTIC];
        const int sym = dim == 2 ? 3 : 6;
        const double lambda = 2e5, mu = 1e5;
        _Alignas(64) double parameter[RP_PARAM_COUNT][RP_LANES] = {{0}},
                            strain[6][RP_LANES] = {{0}};
        _Alignas(64) double increment[9][RP_LANES] = {{0}}, direction[9][RP_LANES],
                            out[6][RP_LANES];
        double before[6][RP_LANES];
        for (int l = 0; l < RP_LANES; l++) {
            parameter[RP_PARAM_LAMBDA][l] = lambda;
            parameter[RP_PARAM_MU][l] = mu;
            for (int k = 0; k < dim * dim; k++) {
                increment[k][l] = test_between(&random, -0.1, 0.1);
                direction[k][l] = test_between(&random, -1.0, 1.0);
            }
        }
        const rp_law_tile tile = {.parameter = parameter,
                                  .increment = increment,
                                  .dt = 1.0,
                                  .column = {[RP_COL_STRAIN] = strain}};
        memcpy(before, strain, sizeof before);
        rp_law_tangent(law, dim, &tile, (const double(*)[RP_LANES])direction, out);
        CHECK(memcmp(before, strain, sizeof before) == 0);
        for (int l = 0; l < RP_LANES; l++) {
            // from rest: F = I + L
            double F[9], dF[9], P[9], dP[9];
            for (int k = 0; k < dim * dim; k++) {
                F[k] = increment[k][l] + (k % (dim + 1) == 0);
                dF[k] = direction[k][l];
            }
            rp_hencky_piola(dim, lambda, mu, F, P);
            rp_hencky_differential(dim, lambda, mu, F, dF, dP);
            for (int c = 0; c < sym; c++) {
                static const int row[2][6] = {{0, 1, 0}, {0, 1, 2, 0, 0, 1}};
                static const int column[2][6] = {{0, 1, 1}, {0, 1, 2, 1, 2, 2}};
                const int i = row[dim - 2][c], j = column[dim - 2][c];
                double want = 0.0;
                for (int k = 0; k < dim; k++) {
                    want += dP[i * dim + k] * F[j * dim + k] + P[i * dim + k] * dF[j * dim + k];
                }
                check_context("%dD, lane %d, component %d", dim, l, c);
                // differences of 6e-6 leave 4e-11 of the third derivative, and round-off 1e-10
                CHECK_NEAR(out[c][l], want, 1e-7 * (lambda + 2.0 * mu));
            }
        }
    }
}

// The table knows every law, and says no to what was not built.
static void laws_are_found_by_variant(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int bits = 32; bits <= 64; bits += 32) {
            const rp_law *const *laws = rp_laws_find(dim, bits, RP_ISA_PLAIN);
            CHECK(laws != NULL);
            for (int kind = 0; kind < RP_MATERIAL_KINDS; kind++) {
                CHECK(laws[kind] != NULL);
            }
            CHECK(laws[RP_ELASTIC] != laws[RP_SAND]);
            CHECK(laws[RP_ELASTIC]->update != laws[RP_SAND]->update);
        }
    }
    CHECK(rp_laws_find(1, 32, RP_ISA_PLAIN) == NULL);
    CHECK(rp_laws_find(3, 16, RP_ISA_PLAIN) == NULL);
    CHECK(rp_laws_find(3, 32, RP_ISA_COUNT) == NULL);
}

TEST_MAIN(TEST(the_tangent_is_the_derivative_of_the_stress), TEST(laws_are_found_by_variant),
          TEST(the_strain_follows_the_deformation_gradient),
          TEST(a_bar_under_uniaxial_strain_has_the_known_stress),
          TEST(the_stress_turns_with_the_body), TEST(the_stress_is_the_derivative_of_the_energy),
          TEST(the_differential_is_the_derivative_of_the_stress),
          TEST(two_thousand_steps_do_not_drift), TEST(nothing_moves_what_is_at_rest),
          TEST(a_spinning_body_swells_by_the_known_amount),
          TEST(neighbours_in_a_tile_do_not_matter), TEST(a_nan_stays_a_nan),
          TEST(an_absurd_strain_is_not_hidden), TEST(instruction_sets_agree))

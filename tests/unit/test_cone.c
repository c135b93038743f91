// Tests src/solver/nonsmooth/cone.h and local.c: V-B17, the map between R^n and tensors; V-B16, the
// law of sand at one point.
#define RP_REAL_BITS 64
#define RP_ISA       plain
#define RP_ONE_LANE
#include "solver/nonsmooth/cone.h"
#include "solver/nonsmooth/local.h"

#include "check.h"
#include "random.h"

#include <stdbool.h>

enum { PROBLEMS = 4096 };

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double length(int n, const double *a) { return sqrt(dot(n, a, a)); }

static void random_vector(uint64_t *random, int n, double most, double *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = test_between(random, -most, most);
    }
}

// The full matrix of a tensor.
static void matrix_of(int dim, const double *X, double M[9])
{
    static const int at[2][9] = {{0, 2, 2, 1}, {0, 3, 4, 3, 1, 5, 4, 5, 2}};
    for (int i = 0; i < dim * dim; i++) {
        M[i] = X[at[dim - 2][i]];
    }
}

// A factor of the map that is misprinted (the paper has several) breaks one of the identities. Two
// or four units in the last place are the sums of up to nine products.
static void the_map_keeps_products_pressure_and_shear(void)
{
    uint64_t random = 1;
    for (int trial = 0; trial < 2000; trial++) {
        const int dim = 2 + trial % 2, n = CONE_SIZE(dim);
        double r[6], u[6], X[6], Y[6], M[9], N[9], G[9], g[6], trace = 0.0, shear2 = 0.0;
        random_vector(&random, n, 1.0, r);
        random_vector(&random, n, 1.0, u);
        random_vector(&random, dim * dim, 1.0, G);
        cone_tensor(dim, r, X);
        cone_tensor(dim, u, Y);
        matrix_of(dim, X, M);
        matrix_of(dim, Y, N);
        check_context("%dD, trial %d", dim, trial);
        CHECK_NEAR(0.5 * dot(dim * dim, M, N), dot(n, r, u), 2e-15);
        for (int i = 0; i < dim; i++) {
            trace += M[i * dim + i];
        }
        CHECK_NEAR(trace, sqrt(2.0 * dim) * r[0], 1e-15);
        for (int i = 0; i < dim * dim; i++) {
            const double d = M[i] - (i % (dim + 1) == 0 ? trace / dim : 0.0);
            shear2 += 0.5 * d * d;
        }
        CHECK_NEAR(sqrt(shear2), length(n - 1, r + 1), 1e-15);
        cone_dual(dim, G, g);
        CHECK_NEAR(dot(n, r, g), dot(dim * dim, M, G), 4e-15);
    }
}

// All that the law says of a stress r and a rate u = W r + b, to a share of the sizes of b and r.
static void check_law(int n, const double *r, const double *u, const double *b, double mu,
                      double share)
{
    const double rates = length(n, b), stresses = length(n, r);
    const double shear = length(n - 1, r + 1), slip = length(n - 1, u + 1);
    CHECK(r[0] >= 0.0);
    CHECK(u[0] >= -share * rates);
    CHECK(fabs(r[0] * u[0]) <= share * rates * stresses);
    CHECK(shear <= mu * r[0] * (1.0 + share));
    // what slips is held back with all that friction has
    CHECK_NEAR(dot(n - 1, r + 1, u + 1), -mu * r[0] * slip, share * rates * stresses);
}

// Components of a node's or a cell's stress, in 3D and 2D.
static const int sizes[8] = {6, 3, 6, 5, 6, 3, 18, 5};

typedef enum block { DIAGONAL, COUPLED, STRONGLY_COUPLED } block;

// Diagonal ones as Newton's own test has them; the others are J J^T, so that none is indefinite.
static void random_block(uint64_t *random, block kind, int n, double *W)
{
    double J[CONE_MOST][24];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n + 3; k++) {
            J[i][k] = test_between(random, -1.0, 1.0);
            if (kind == STRONGLY_COUPLED) {
                J[i][k] *= k == 0 ? 30.0 : 1.0;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            W[i * n + j] = kind == DIAGONAL ? 0.0 : dot(n + 3, J[i], J[j]);
        }
        if (kind == DIAGONAL) {
            W[i * n + i] = 100.0 * test_between(random, 1e-4, 1.0);
        }
    }
}

static void rate_of(int n, const double *W, const double *b, const double *l, double *u)
{
    for (int i = 0; i < n; i++) {
        u[i] = b[i] + dot(n, W + i * n, l);
    }
}

// V-B16, and the same for blocks that couple pressure and shear. A solver that stops too soon, or
// takes friction from the old pressure, leaves the law by more than 1e-8.
static void a_point_by_itself_obeys_the_law(void)
{
    uint64_t random = 2;
    for (int kind = DIAGONAL; kind <= STRONGLY_COUPLED; kind++) {
        int apart = 0, sticking = 0, sliding = 0;
        for (int trial = 0; trial < PROBLEMS; trial++) {
            const int n = sizes[trial % 8];
            const double mu = test_uniform(&random);
            double W[CONE_MOST * CONE_MOST], b[CONE_MOST], l[CONE_MOST], u[CONE_MOST] = {0};
            random_block(&random, (block)kind, n, W);
            random_vector(&random, n, 50.0, b);
            rp_cone_solve(n, W, b, mu, l);
            rate_of(n, W, b, l, u);
            check_context("kind %d, trial %d", kind, trial);
            CHECK_HELPER(check_law(n, l, u, b, mu, 1e-8));
            const bool slips = length(n - 1, u + 1) > 1e-8 * length(n, b);
            apart += l[0] == 0.0;
            sticking += l[0] > 0.0 && !slips;
            sliding += l[0] > 0.0 && slips;
        }
        CHECK(apart > PROBLEMS / 4 && sliding > PROBLEMS / 4 && sticking > 0);
    }
}

static void rows_of_zeros_are_left_alone(void)
{
    const double W[36] = {[0] = 2.0, [7] = 1.0}, b[6] = {-4.0, 0.5};
    double l[6];
    rp_cone_solve(6, W, b, 0.5, l);
    CHECK_NEAR(l[0], 2.0, 1e-15);
    CHECK_NEAR(l[1], -0.5, 1e-15);
    for (int a = 2; a < 6; a++) {
        CHECK(l[a] == 0.0);
    }
}

// The residual in the units of the solver: stress times the mean of the block's diagonal.
static double residual_at(int n, const double *W, const double *l, const double *u, double mu)
{
    double x[CONE_MOST] = {0}, scale = 0.0;
    for (int a = 0; a < n; a++) {
        scale += W[a * n + a] / n;
    }
    for (int a = 0; a < n; a++) {
        x[a] = scale * l[a];
    }
    return sqrt(cone_residual2(n, x, u, mu));
}

// A residual that forgot De Saxce's term would be zero at the associated law, not at this one.
static void the_residual_is_zero_where_the_law_holds_and_only_there(void)
{
    uint64_t random = 3;
    for (int trial = 0; trial < PROBLEMS; trial++) {
        const int n = sizes[trial % 8], spoilt = test_below(&random, n);
        const double mu = test_between(&random, 0.05, 1.0);
        double W[CONE_MOST * CONE_MOST], b[CONE_MOST], l[CONE_MOST], u[CONE_MOST] = {0};
        random_block(&random, COUPLED, n, W);
        random_vector(&random, n, 50.0, b);
        rp_cone_solve(n, W, b, mu, l);
        rate_of(n, W, b, l, u);
        check_context("trial %d", trial);
        CHECK(residual_at(n, W, l, u, mu) <= 1e-6);
        l[spoilt] += test_between(&random, 0.05, 0.5);
        rate_of(n, W, b, l, u);
        CHECK(residual_at(n, W, l, u, mu) > 1e-3);
    }
}

// Where the block is isotropic one step is all; where it is not, the law is where steps rest.
static void a_step_ends_at_the_law(void)
{
    uint64_t random = 4;
    for (int trial = 0; trial < PROBLEMS; trial++) {
        const int n = sizes[trial % 8];
        const double mu = test_uniform(&random), w = test_between(&random, 0.1, 10.0);
        double W[CONE_MOST * CONE_MOST] = {0}, b[CONE_MOST], l[CONE_MOST], u[CONE_MOST] = {0},
                             exact[CONE_MOST];
        for (int a = 0; a < n; a++) {
            W[a * n + a] = w;
        }
        random_vector(&random, n, 50.0, b);
        rp_cone_solve(n, W, b, mu, exact);
        random_vector(&random, n, 10.0, l);
        rate_of(n, W, b, l, u);
        cone_step(n, l, u, 1.0 / w, 1.0 / w, mu);
        check_context("trial %d", trial);
        for (int a = 0; a < n; a++) {
            CHECK_NEAR(l[a], exact[a], 1e-12 * (1.0 + 50.0 / w));
        }
        random_block(&random, COUPLED, n, W);
        rp_cone_solve(n, W, b, mu, l);
        rate_of(n, W, b, l, u);
        memcpy(exact, l, sizeof exact);
        cone_step(n, l, u, 1.0 / W[0], 1.0 / W[n + 1], mu);
        for (int a = 0; a < n; a++) {
            CHECK_NEAR(l[a], exact[a], 1e-8 * (1.0 + length(n, exact)));
        }
    }
}

TEST_MAIN(TEST(the_map_keeps_products_pressure_and_shear), TEST(a_point_by_itself_obeys_the_law),
          TEST(rows_of_zeros_are_left_alone),
          TEST(the_residual_is_zero_where_the_law_holds_and_only_there),
          TEST(a_step_ends_at_the_law))

// Sand and water, each with a velocity of its own: drag, Darcy's law, momentum, pore pressure.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };

// Where a value is returned.
static bool went(rp_result result)
{
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "%s", rp_last_error());
    }
    return result == RP_OK;
}

typedef struct bed {
    int dim;
    rp_precision precision;
    double dx, offset;
    double sand_density, water_density, porosity, conductivity, permeability, viscosity, young,
        bulk;
    double gravity;
    int threads;
} bed;

static const bed usual = {.dim = 2,
                          .precision = RP_DOUBLE,
                          .dx = 0.05,
                          .sand_density = 1500.0,
                          .water_density = 1000.0,
                          .porosity = 0.4,
                          .conductivity = 0.01,
                          .permeability = -1.0,
                          .young = 1e6,
                          .bulk = 1e6,
                          .threads = 1};

typedef struct made {
    int dim;
    rp_world *world;
    rp_material sand, water;
} made;

static made make(const bed *b, const double period[3])
{
    rp_world_def def = rp_default_world_def();
    made m = {.dim = b->dim};
    def.method = "mixture";
    def.dimension = b->dim;
    def.precision = b->precision;
    def.dx = b->dx;
    def.fps = 100.0;
    def.threads = b->threads;
    memset(def.gravity, 0, sizeof def.gravity);
    def.gravity[1] = -b->gravity;
    for (int a = 0; a < b->dim && period != NULL; a++) {
        def.period[a] = (int)lround(period[a] / b->dx);
    }
    rp_material_def sand = rp_default_sand_def(), water = rp_default_material_def(RP_WATER);
    sand.density = b->sand_density;
    sand.porosity = b->porosity;
    sand.conductivity = b->conductivity;
    sand.young = b->young;
    sand.permeability = b->permeability;
    water.bulk_modulus = b->bulk;
    water.density = b->water_density;
    water.viscosity = b->viscosity;
    went(rp_world_create(&def, &m.world));
    went(rp_world_add_material(m.world, &sand, &m.sand));
    went(rp_world_add_material(m.world, &water, &m.water));
    return m;
}

static void fill(const made *m, rp_material material, double share, const double lower[3],
                 const double upper[3], const double velocity[3])
{
    rp_particles_def def = rp_default_particles_def();
    rp_shape *shape;
    // what is flat is as thick as it may be
    const bool flat = m->dim == 2;
    CHECK_OK(rp_shape_box((double[]){lower[0], lower[1], flat ? -1.0 : lower[2]},
                          (double[]){upper[0], upper[1], flat ? 1.0 : upper[2]}, &shape));
    def.material = material;
    def.shape = shape;
    def.share = share;
    def.sampling = RP_LATTICE;
    def.jitter = 0.0;
    memcpy(def.velocity, velocity, sizeof def.velocity);
    CHECK_OK(rp_world_add_particles(m->world, &def, NULL));
    rp_shape_release(shape);
}

// Mean of a column's component over a species; 0 is sand.
static double mean(const rp_world *world, rp_column_id column, int comps, int comp, int species)
{
    static double value[MOST * 9];
    static uint8_t kind[MOST];
    rp_stats s;
    rp_world_stats(world, &s);
    went(rp_world_read(world, column, value));
    rp_world_read_species(world, kind);
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < s.particles; i++) {
        sum += kind[i] == species ? value[i * comps + comp] : 0.0;
        count += kind[i] == species;
    }
    return sum / count;
}

static double speed_apart(const rp_world *world, int dim)
{
    return mean(world, RP_COL_VELOCITY, dim, 0, 0) - mean(world, RP_COL_VELOCITY, dim, 0, 1);
}

// Two that fill all of space at different speeds: a step divides what they differ by by 1 + kappa
// dt, kappa = c_E (1 / rho_s + 1 / (n rho_w)), whatever dx. Catches a drag that is explicit, or by
// the product of masses, or that the volume of a node does not scale.
static void drag_divides_by_one_plus_kappa_dt(void)
{
    static const double conductivities[] = {1e-6, 1e-2, 10.0};
    static const struct {
        int dim;
        double dx;
    } grids[] = {{2, 0.05}, {2, 0.025}, {3, 0.05}};
    for (int i = 0; i < 9; i++) {
        bed b = usual;
        b.dim = grids[i / 3].dim;
        b.dx = grids[i / 3].dx;
        b.conductivity = conductivities[i % 3];
        const double size = b.dim == 3 ? 0.4 : 0.8, still[3] = {0}, moving[3] = {0.1, 0, 0};
        const double period[3] = {size, size, size}, zero[3] = {0};
        const made m = make(&b, period);
        fill(&m, m.sand, 1.0, zero, period, moving);
        fill(&m, m.water, b.porosity, zero, period, still);
        const double drag = 0.16 * 1000.0 * 9.81 / b.conductivity;
        const double kappa = drag * (1.0 / b.sand_density + 1.0 / (b.porosity * 1000.0));
        const double before = 0.1;
        CHECK_OK(rp_world_step(m.world));
        rp_stats s;
        rp_world_stats(m.world, &s);
        check_context("%dD, dx %g, conductivity %g, dt %g", b.dim, b.dx, b.conductivity, s.dt);
        CHECK_NEAR(speed_apart(m.world, b.dim) * (1.0 + kappa * s.dt) / before, 1.0,
                   1e-12 * (1.0 + kappa * s.dt));
        // and together they go on as before
        const double total = b.sand_density * mean(m.world, RP_COL_VELOCITY, b.dim, 0, 0) +
                             b.porosity * 1000.0 * mean(m.world, RP_COL_VELOCITY, b.dim, 0, 1);
        CHECK_NEAR(total, 0.1 * b.sand_density, 1e-12 * b.sand_density);
        rp_world_destroy(m.world);
    }
}

// Water that sinks through sand which a filter holds, without end: q = n v is the conductivity.
// Catches drag against grains that are thought to move, the n that is easily lost, and drag of
// another liquid or another planet.
static void water_seeps_as_darcy_says(void)
{
    static const struct {
        double dx, gravity, density, conductivity, permeability, viscosity;
    } rows[] = {
        {0.05, 9.81, 1000, 1e-2, -1, 0},      {0.025, 9.81, 1000, 1e-2, -1, 0},
        {0.05, 9.81, 1000, 1e-4, -1, 0},      {0.025, 9.81, 1000, 1e-4, -1, 0},
        {0.05, 3.7, 1000, 1e-2, -1, 0},       {0.05, 9.81, 800, 1e-2, -1, 0},
        {0.05, 9.81, 1000, 9.81e-3, 1e-9, 0}, {0.05, 3.7, 800, 2.96e-4, 1e-9, 0.01},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bed b = usual;
        b.dx = rows[i].dx;
        b.gravity = rows[i].gravity;
        b.water_density = rows[i].density;
        b.conductivity = rows[i].conductivity;
        b.permeability = rows[i].permeability;
        b.viscosity = rows[i].viscosity;
        const double period[3] = {8 * b.dx, 8 * b.dx, 0}, zero[3] = {0};
        const made m = make(&b, period);
        rp_collider_def filter = rp_default_collider_def();
        rp_shape *all;
        CHECK_OK(rp_shape_box((double[]){-1, -1, -1}, (double[]){2, 2, 2}, &all));
        filter.shape = all;
        filter.permeable = true;
        CHECK_OK(rp_world_add_collider(m.world, &filter));
        rp_shape_release(all);
        fill(&m, m.sand, 1.0, zero, period, zero);
        fill(&m, m.water, b.porosity, zero, period, zero);
        for (int f = 0; f < 10; f++) {
            CHECK_OK(rp_world_run_frame(m.world));
        }
        const double q = -b.porosity * mean(m.world, RP_COL_VELOCITY, 2, 1, 1);
        check_context("row %zu, conductivity %g: %g m/s", i, b.conductivity, q);
        CHECK_NEAR(q / b.conductivity, 1.0, 0.005);
        CHECK_NEAR(mean(m.world, RP_COL_VELOCITY, 2, 1, 0), 0.0, 1e-12);
        rp_world_destroy(m.world);
    }
}

static void momentum_of(const rp_world *world, int dim, double ms, double mw, double out[3],
                        double *scale)
{
    static double v[MOST * 3];
    static uint8_t kind[MOST];
    rp_stats s;
    rp_world_stats(world, &s);
    CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, v));
    rp_world_read_species(world, kind);
    memset(out, 0, 3 * sizeof *out);
    *scale = 0.0;
    for (int64_t i = 0; i < s.particles; i++) {
        for (int a = 0; a < dim; a++) {
            out[a] += (kind[i] == 0 ? ms : mw) * v[i * dim + a];
            *scale += (kind[i] == 0 ? ms : mw) * fabs(v[i * dim + a]);
        }
    }
}

// A jet of water through a lump of sand: pressure, drag and strain, and the whole keeps its
// momentum. Catches a share of pressure that only one of both gets.
static void momentum_of_both_is_kept(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        bed b = usual;
        b.dim = dim;
        b.bulk = 1e5;
        const made m = make(&b, NULL);
        const double up = dim == 3 ? 0.3 : 0.4, zero[3] = {0}, jet[3] = {-1.0, 0.3, 0.1};
        fill(&m, m.sand, 1.0, zero, (double[]){up, up, up}, zero);
        fill(&m, m.water, 1.0, (double[]){up - 0.05, 0.05, 0.05},
             (double[]){2 * up, up - 0.05, up - 0.05}, jet);
        rp_stats s;
        rp_world_stats(m.world, &s);
        const double cell = pow(b.dx / 2.0, dim);
        double before[3], after[3], scale;
        momentum_of(m.world, dim, 1500.0 * cell, 1000.0 * cell, before, &scale);
        for (int i = 0; i < 60; i++) {
            CHECK_OK(rp_world_step(m.world));
            momentum_of(m.world, dim, 1500.0 * cell, 1000.0 * cell, after, &scale);
            check_context("%dD, step %d", dim, i);
            for (int a = 0; a < dim; a++) {
                CHECK_NEAR(after[a], before[a], 1e-12 * scale);
            }
            memcpy(before, after, sizeof before);
        }
        // and they have met: sand moves, too
        CHECK(mean(m.world, RP_COL_VELOCITY, dim, 0, 0) < -1e-3);
        CHECK(mean(m.world, RP_COL_SATURATION, 1, 0, 0) > 0.01);
        rp_world_destroy(m.world);
    }
}

// ---- columns ----

static void tank(const made *m, double width, double offset)
{
    for (int side = 0; side < 3; side++) {
        rp_plane_def plane = rp_default_plane_def();
        plane.contact = RP_SLIP;
        plane.normal[1] = side == 0;
        plane.normal[0] = side == 1 ? 1.0 : side == 2 ? -1.0 : 0.0;
        plane.point[0] = offset + (side == 2 ? width : 0.0);
        plane.point[1] = offset;
        CHECK_OK(rp_world_add_plane(m->world, &plane));
    }
}

// Slopes over the height of what two columns say, between two heights: of the pressure of water,
// and of the effective stress along the height, both in Pa/m, compression positive.
static void slopes(const rp_world *world, const bed *b, double low, double high, double *pore,
                   double *effective)
{
    static double x[MOST * 2], J[MOST], h[MOST * 3];
    static uint8_t kind[MOST];
    rp_stats s;
    rp_world_stats(world, &s);
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
    CHECK_OK(rp_world_read(world, RP_COL_VOLUME_RATIO, J));
    CHECK_OK(rp_world_read(world, RP_COL_STRAIN, h));
    rp_world_read_species(world, kind);
    const double lambda = b->young * 0.3 / (1.3 * 0.4), mu = b->young / 2.6;
    for (int species = 0; species < 2; species++) {
        double n = 0.0, sy = 0.0, sp = 0.0, syy = 0.0, syp = 0.0;
        for (int64_t i = 0; i < s.particles; i++) {
            const double y = x[2 * i + 1] - b->offset;
            const double p = species == 1
                                 ? b->bulk / 7.0 * expm1(-7.0 * log(J[i]))
                                 : -(2.0 * mu * h[3 * i + 1] + lambda * (h[3 * i] + h[3 * i + 1]));
            if (kind[i] == species && y > low && y < high) {
                n += 1.0;
                sy += y;
                sp += p;
                syy += y * y;
                syp += y * p;
            }
        }
        *(species == 1 ? pore : effective) = -(n * syp - sy * sp) / (n * syy - sy * sy);
    }
}

// A saturated column without drains gets its weight: water and grains carry it by their
// stiffnesses, p / q = (K / n) / (K / n + M). Catches a volume of water that follows all of the
// deformation instead of 1 / n of it.
static void water_and_grains_share_a_sudden_load(void)
{
    for (int i = 0; i < 2; i++) {
        bed b = usual;
        b.conductivity = 1e-7;
        b.gravity = 9.81;
        b.young = 2e6;
        b.bulk = 2e6;
        b.offset = i == 0 ? 0.0 : 0.02;
        const made m = make(&b, NULL);
        const double o = b.offset, lower[3] = {o, o, 0}, upper[3] = {o + 0.2, o + 1.0, 0},
                     zero[3] = {0};
        tank(&m, 0.2, o);
        fill(&m, m.sand, 1.0, lower, upper, zero);
        fill(&m, m.water, b.porosity, lower, upper, zero);
        CHECK_OK(rp_world_settle(m.world, 1.0));
        double pore, effective;
        slopes(m.world, &b, 0.3, 0.7, &pore, &effective);
        const double M = b.young * 0.7 / (1.3 * 0.4), K = b.bulk / b.porosity;
        const double q = (b.sand_density + b.porosity * 1000.0) * 9.81;
        check_context("offset %g: %g and %g Pa/m of %g", o, pore, effective, q);
        CHECK_NEAR(pore / q, K / (K + M), 0.03 * K / (K + M));
        CHECK_NEAR((pore + effective) / q, 1.0, 0.02);
        rp_world_destroy(m.world);
    }
}

// Sand under water that has come to rest carries its weight less that of the water it displaces,
// and water its own. Catches buoyancy that is not there (14 kPa/m instead of 8.8).
static void sand_under_water_is_lighter(void)
{
    bed b = usual;
    b.conductivity = 0.1;
    b.gravity = 9.81;
    const made m = make(&b, NULL);
    const double zero[3] = {0};
    tank(&m, 0.2, 0.0);
    fill(&m, m.sand, 1.0, zero, (double[]){0.2, 0.8, 0}, zero);
    fill(&m, m.water, b.porosity, zero, (double[]){0.2, 0.8, 0}, zero);
    fill(&m, m.water, 1.0, (double[]){0, 0.8, 0}, (double[]){0.2, 1.0, 0}, zero);
    CHECK_OK(rp_world_settle(m.world, 3.0));
    double pore, effective;
    slopes(m.world, &b, 0.2, 0.6, &pore, &effective);
    check_context("%g and %g Pa/m", pore, effective);
    // at 6 kPa water is denser by as much over its modulus of 1 MPa
    CHECK_NEAR(pore, 1.006 * 9810.0, 0.01 * 9810.0);
    CHECK_NEAR(effective, (1500.0 - 600.0) * 9.81, 0.01 * 8829.0);
    rp_world_destroy(m.world);
}

// What is wet is so where water is and nowhere else: 1 two cells inside of what is soaked, 0 two
// cells outside, falling between, and cohesion is what that leaves. Catches an indicator that wets
// ahead of the water.
static void sand_is_wet_where_water_is(void)
{
    static double x[MOST * 2], wet[MOST], bond[MOST];
    static uint8_t kind[MOST];
    for (int i = 0; i < 3; i++) {
        bed b = usual;
        const double shift = 0.3 * b.dx * i, zero[3] = {0};
        const double upper[3] = {1.2, 0.4, 0}, half[3] = {0.6 + shift, 0.4, 0};
        const made m = make(&b, NULL);
        fill(&m, m.sand, 1.0, zero, upper, zero);
        fill(&m, m.water, b.porosity, zero, half, zero);
        CHECK_OK(rp_world_step(m.world));
        rp_stats s;
        rp_world_stats(m.world, &s);
        CHECK_OK(rp_world_read(m.world, RP_COL_POSITION, x));
        CHECK_OK(rp_world_read(m.world, RP_COL_SATURATION, wet));
        CHECK_OK(rp_world_read(m.world, RP_COL_BOND, bond));
        rp_world_read_species(m.world, kind);
        for (int64_t p = 0; p < s.particles; p++) {
            const double ahead = x[2 * p] - half[0];
            check_context("shift %d, particle %lld, %g cells ahead", i, (long long)p, ahead / b.dx);
            if (kind[p] != 0 || x[2 * p + 1] < 0.15 || x[2 * p + 1] > 0.25 || x[2 * p] < 0.15) {
                continue;
            }
            CHECK(wet[p] >= 0.0 && wet[p] <= 1.0);
            CHECK_NEAR(bond[p], 1.0 - wet[p], 1e-14);
            if (fabs(ahead) > 2.0 * b.dx) {
                CHECK_NEAR(wet[p], ahead < 0.0, 2e-3);
            }
            for (int64_t q = 0; q < s.particles; q++) {
                const bool row = kind[q] == 0 && fabs(x[2 * q + 1] - x[2 * p + 1]) < 1e-6;
                CHECK(!row || x[2 * q] < x[2 * p] || wet[q] <= wet[p] + 1e-4);
            }
        }
        rp_world_destroy(m.world);
    }
}

// Births far away have everything sorted: what is done page by page must not show it. Catches
// pages of water that meet sand or do not by who happens to lie in them.
static void when_particles_are_sorted_does_not_matter(void)
{
    static double x[2][MOST * 2];
    static uint8_t kind[MOST];
    int64_t counts[2][2] = {{0}};
    for (int i = 0; i < 2; i++) {
        bed b = usual;
        b.gravity = 9.81;
        b.bulk = 1e5;
        const made m = make(&b, NULL);
        const double zero[3] = {0};
        tank(&m, 2.0, 0.0);
        fill(&m, m.sand, 1.0, (double[]){0.6, 0, 0}, (double[]){1.0, 0.4, 0}, zero);
        fill(&m, m.water, 1.0, zero, (double[]){0.6, 0.5, 0}, zero);
        int64_t sorts = 0;
        for (int step = 0; step < 60; step++) {
            if (i == 1 && step % 7 == 3) {
                const double far = 20.0 + step; // above
                fill(&m, step % 2 != 0 ? m.sand : m.water, 1.0, (double[]){0.1, far, 0},
                     (double[]){0.2, far + 0.1, 0}, zero);
            }
            rp_stats s;
            CHECK_OK(rp_world_step(m.world));
            rp_world_stats(m.world, &s);
            sorts += s.sorts;
        }
        rp_stats s;
        rp_world_stats(m.world, &s);
        static double all[MOST * 2];
        CHECK_OK(rp_world_read(m.world, RP_COL_POSITION, all));
        rp_world_read_species(m.world, kind);
        int64_t n = 0;
        for (int64_t p = 0; p < s.particles; p++) {
            if (all[2 * p + 1] < 10.0) {
                memcpy(&x[i][2 * n++], &all[2 * p], 2 * sizeof(double));
            }
        }
        counts[i][0] = n;
        counts[i][1] = sorts;
        rp_world_destroy(m.world);
    }
    CHECK_EQUAL(counts[0][0], counts[1][0]);
    check_context("%lld and %lld sorts", (long long)counts[0][1], (long long)counts[1][1]);
    for (int64_t k = 0; k < 2 * counts[0][0]; k++) {
        CHECK_NEAR(x[0][k], x[1][k], 1e-11);
    }
}

// The same world with one thread, two and five ends in the same bits.
static void threads_do_not_matter(void)
{
    static double x[3][MOST * 2];
    static const int threads[] = {1, 2, 5};
    rp_stats s;
    for (int i = 0; i < 3; i++) {
        bed b = usual;
        b.precision = RP_SINGLE;
        b.threads = threads[i];
        b.gravity = 9.81;
        const made m = make(&b, NULL);
        const double zero[3] = {0};
        tank(&m, 2.0, 0.0);
        fill(&m, m.sand, 1.0, (double[]){0.6, 0, 0}, (double[]){1.2, 0.6, 0}, zero);
        fill(&m, m.water, 1.0, zero, (double[]){0.6, 0.8, 0}, zero);
        for (int f = 0; f < 10; f++) {
            CHECK_OK(rp_world_run_frame(m.world));
        }
        CHECK_OK(rp_world_read(m.world, RP_COL_POSITION, x[i]));
        rp_world_stats(m.world, &s);
        rp_world_destroy(m.world);
    }
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
    CHECK(memcmp(x[0], x[2], sizeof x[0]) == 0);
}

TEST_MAIN(TEST(drag_divides_by_one_plus_kappa_dt), TEST(water_seeps_as_darcy_says),
          TEST(momentum_of_both_is_kept), TEST(water_and_grains_share_a_sudden_load),
          TEST(sand_under_water_is_lighter), TEST(sand_is_wet_where_water_is),
          TEST(when_particles_are_sorted_does_not_matter), TEST(threads_do_not_matter))

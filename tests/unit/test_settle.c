// Tests what happens before and beside the steps: prestress, settling, fields of accelerations, the
// share of the elastic limit, and the account of energy.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A layer between smooth walls on a floor, two cells wide or more.
static void make_layer(int dim, double friction, rp_prestress prestress, bool energy,
                       rp_world **out)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_particles_def fill = rp_default_particles_def();
    def.dimension = dim;
    def.precision = RP_DOUBLE;
    def.dx = 0.025;
    def.fps = 20.0;
    def.energy = energy;
    sand.young = 3.537e6;
    sand.friction_coefficient = friction;
    const double lower[3] = {0.0, 0.0, -0.05}, upper[3] = {0.2, 0.4, 0.05},
                 high[3] = {0.2, 1.0, 0.05};
    rp_shape *box;
    CHECK_OK(rp_shape_box(lower, upper, &box));
    CHECK_OK(rp_world_create(&def, out));
    CHECK_OK(rp_world_add_material(*out, &sand, &fill.material));
    fill.shape = box;
    fill.sampling = RP_LATTICE;
    fill.jitter = 0.0;
    fill.prestress = prestress;
    CHECK_OK(rp_world_add_walls(*out, lower, high, RP_SLIP, 0.0));
    CHECK_OK(rp_world_add_particles(*out, &fill, NULL));
    rp_shape_release(box);
}

static double *read_all(const rp_world *world, rp_column_id column, int64_t *count)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    *count = stats.particles;
    const size_t comps = (size_t)rp_world_column_comps(world, column);
    double *out = malloc(((size_t)stats.particles * comps + 1) * sizeof *out);
    if (rp_world_read(world, column, out) != RP_OK) {
        check_record(__FILE__, __LINE__, "%s", rp_last_error());
    }
    return out;
}

// Catches a depth from the wrong side, a lost Lame factor and a share that the cone does not allow:
// upright the weight of what is above, sideways K0 of it, or the share at yield.
static void prestress_carries_what_lies_above(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int weak = 0; weak < 2; weak++) {
            const double coefficient = weak ? 0.2 : 0.9, nu = 0.3, E = 3.537e6;
            const double lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = E / (2 * (1 + nu));
            const double s = coefficient / sqrt(3.0);
            const double yield =
                dim == 2 ? (1 - coefficient) / (1 + coefficient) : (1 - s) / (1 + 2 * s);
            const double share = weak ? yield : nu / (1 - nu);
            rp_world *world;
            int64_t n;
            CHECK_HELPER(make_layer(dim, coefficient, RP_PRESTRESS_K0, false, &world));
            double *x = read_all(world, RP_COL_POSITION, &n);
            double *h = read_all(world, RP_COL_STRAIN, &n);
            for (int64_t i = 0; i < n; i++) {
                const double *e = h + i * (dim == 2 ? 3 : 6);
                const double trace = e[0] + e[1] + (dim == 3 ? e[2] : 0.0);
                const double upright = 2 * mu * e[1] + lambda * trace;
                const double side = 2 * mu * e[0] + lambda * trace;
                check_context("%dD, friction %g, particle %d", dim, coefficient, (int)i);
                CHECK_NEAR(upright, -2200.0 * 9.81 * (0.4 - x[i * dim + 1]), 1e-6 * 8700.0);
                CHECK_NEAR(side, share * upright, 1e-6 * 8700.0);
                CHECK_NEAR(e[dim], 0.0, 1e-15);
            }
            free(x);
            free(h);
            rp_world_destroy(world);
        }
    }
}

// Catches a stress that is not in balance with gravity: such a layer hardly moves, one without
// prestress drops and swings.
static void prestressed_sand_starts_at_rest(void)
{
    double most[2] = {0};
    for (int k = 0; k < 2; k++) {
        rp_world *world;
        CHECK_HELPER(make_layer(2, 0.5, k ? RP_PRESTRESS_K0 : RP_PRESTRESS_NONE, false, &world));
        for (int frame = 0; frame < 4; frame++) {
            rp_totals t;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &t);
            most[k] = fmax(most[k], t.kinetic);
        }
        rp_world_destroy(world);
    }
    CHECK(most[1] < 0.01 * most[0]);
}

// Catches a settling that goes on swinging, moves time, or depends on the pieces it is done in by
// more than a little; and the same calls give the same bits.
static void settled_sand_rests(void)
{
    void *state[2];
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        rp_world *world;
        rp_stats stats;
        rp_totals t;
        rp_collider_load load;
        CHECK_HELPER(make_layer(2, 0.5, RP_PRESTRESS_NONE, false, &world));
        CHECK_ERROR(rp_world_settle(world, -1.0), RP_ERR_ARGUMENT, "settle");
        CHECK_OK(rp_world_settle(world, 0.2));
        CHECK_OK(rp_world_settle(world, 0.2));
        rp_world_stats(world, &stats);
        rp_world_totals(world, &t);
        CHECK(stats.time == 0.0 && stats.frame == 0);
        CHECK(t.kinetic == 0.0);
        CHECK_OK(rp_world_save(world, &state[k], &size[k]));
        double most = 0.0;
        for (int frame = 0; frame < 4; frame++) {
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &t);
            most = fmax(most, t.kinetic);
        }
        // v_rms below a thousandth of sqrt(g H)
        CHECK(most < 0.5 * t.mass * 1e-6 * 9.81 * 0.4);
        rp_world_collider_load(world, 2, &load); // the floor: sides of x come first
        CHECK_NEAR(load.force[1], -9.81 * t.mass, 0.01 * 9.81 * t.mass);
        rp_world_destroy(world);
    }
    CHECK(size[0] == size[1] && memcmp(state[0], state[1], size[0]) == 0);
    rp_state_free(state[0]);
    rp_state_free(state[1]);
}

typedef struct field {
    double constant[3], slope[3][3];
} field;

static rp_result field_at(void *context, double t, const double x[3], double out[3])
{
    const field *f = context;
    (void)t;
    for (int a = 0; a < 3; a++) {
        out[a] = f->constant[a];
        for (int b = 0; b < 3; b++) {
            out[a] += f->slope[a][b] * x[b];
        }
    }
    return f->constant[0] < 1e6 ? RP_OK : rp_fail(RP_ERR_ARGUMENT, "too windy");
}

// Catches nodes at the wrong place, an axis for another, a lost dt: after a step particles of a
// free block have the field at their place, since splines give linear functions back.
static void a_field_accelerates_from_place_to_place(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int precision = 0; precision < 2; precision++) {
            field f = {{1.0, -2.0, dim == 3 ? 0.5 : 0.0}, {{0}}};
            rp_world_def def = rp_default_world_def();
            rp_material_def rubber = rp_default_elastic_def();
            rp_box_def box = rp_default_box_def();
            rp_world *world;
            rp_stats stats;
            int64_t n;
            for (int a = 0; a < dim; a++) {
                for (int b = 0; b < dim; b++) {
                    f.slope[a][b] = 3.0 * a - 2.0 * b + 1.0;
                }
                box.lower[a] = -0.3 + 0.1 * a;
                box.upper[a] = 0.5;
            }
            def.dimension = dim;
            def.precision = (rp_precision)precision;
            def.dx = 0.1;
            def.gravity[1] = 0.0;
            def.acceleration = (rp_vector_field){field_at, &f};
            CHECK_OK(rp_world_create(&def, &world));
            CHECK_OK(rp_world_add_material(world, &rubber, &box.material));
            CHECK_OK(rp_world_add_box(world, &box, NULL));
            CHECK_OK(rp_world_prepare(world));
            double *x = read_all(world, RP_COL_POSITION, &n);
            CHECK_OK(rp_world_step(world));
            double *v = read_all(world, RP_COL_VELOCITY, &n);
            rp_world_stats(world, &stats);
            for (int64_t i = 0; i < n; i++) {
                double at[3] = {0}, want[3];
                memcpy(at, x + i * dim, (size_t)dim * sizeof *at);
                CHECK_OK(field_at(&f, 0.0, at, want));
                for (int a = 0; a < dim; a++) {
                    check_context("%dD, precision %d, particle %d, axis %d", dim, precision, (int)i,
                                  a);
                    CHECK_NEAR(v[i * dim + a] / stats.dt, want[a], precision ? 1e-12 : 1e-4);
                }
            }
            f.constant[0] = 1e7;
            CHECK_ERROR(rp_world_step(world), RP_ERR_ARGUMENT, "too windy");
            f.constant[0] = NAN;
            CHECK_ERROR(rp_world_step(world), RP_ERR_ARGUMENT, "too windy");
            free(x);
            free(v);
            rp_world_destroy(world);
        }
    }
}

// Catches a share that is not read: half the share, half the step.
static void the_elastic_share_scales_the_step(void)
{
    double dt[2];
    for (int k = 0; k < 2; k++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_box_def box = rp_default_box_def();
        rp_world *world;
        rp_stats stats;
        def.dx = 0.1;
        def.fps = 1e-3;
        def.elastic_share = k ? 0.4 : 0.8;
        box.upper[0] = box.upper[1] = box.upper[2] = 0.2;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_add_material(world, &sand, &box.material));
        CHECK_OK(rp_world_add_box(world, &box, NULL));
        CHECK_OK(rp_world_step(world));
        rp_world_stats(world, &stats);
        CHECK(strcmp(stats.limiter, "elastic") == 0);
        dt[k] = stats.dt;
        rp_world_destroy(world);
    }
    CHECK_NEAR(dt[1], 0.5 * dt[0], 1e-3 * dt[0]);
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    def.dx = 0.1;
    def.elastic_share = 0.0;
    CHECK_ERROR(rp_world_create(&def, &world), RP_ERR_ARGUMENT, "elastic_share");
}

static double all_of(const rp_world *world, rp_energy *e)
{
    rp_totals t;
    rp_world_totals(world, &t);
    rp_world_energy(world, e);
    return t.kinetic + e->affine + t.elastic + 9.81 * t.mass * t.center[1];
}

// Catches a loss that is counted twice or not at all: a column collapses, and what it has lost is
// what the account says, most of it plastic; finite steps are to blame for less than 2 %.
static void energy_is_accounted_for(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_box_def box = rp_default_box_def();
        rp_plane_def ground = rp_default_plane_def();
        rp_world *world;
        rp_energy e;
        def.dimension = dim;
        def.dx = 0.02;
        def.energy = true;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_add_material(world, &sand, &box.material));
        for (int a = 0; a < 3; a++) {
            box.upper[a] = a == 1 ? 0.3 : 0.14;
        }
        CHECK_OK(rp_world_add_box(world, &box, NULL));
        CHECK_OK(rp_world_add_plane(world, &ground));
        const double start = all_of(world, &e);
        for (int frame = 0; frame < 12; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        const double lost = start - all_of(world, &e);
        const double told = e.plastic + e.contact + e.friction + e.transfer + e.stepping;
        check_context("%dD: lost %.3f J, plastic %.3f contact %.3f friction %.3f transfer %.3f "
                      "stepping %.3f",
                      dim, lost, e.plastic, e.contact, e.friction, e.transfer, e.stepping);
        CHECK(lost > 0.2 * start);
        CHECK_NEAR(told, lost, 0.01 * lost);
        CHECK(fabs(e.stepping) < 0.02 * lost);
        CHECK(e.plastic > 0.5 * lost && e.transfer > 0.0);
        rp_world_destroy(world);
    }
}

// Catches friction that is booked as contact or with a wrong factor: a block slides with friction;
// what is lost is force times way.
static void friction_takes_force_times_way(void)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def rubber = rp_default_elastic_def();
    rp_box_def box = rp_default_box_def();
    rp_plane_def floor = rp_default_plane_def();
    rp_world *world;
    rp_energy e;
    rp_totals before, after;
    def.dimension = 2;
    def.precision = RP_DOUBLE;
    def.dx = 0.02;
    def.energy = true;
    rubber.young = 1e6;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &rubber, &box.material));
    box.upper[0] = 0.16;
    box.upper[1] = 0.06;
    box.jitter = 0.0;
    box.velocity[0] = 4.0;
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    floor.contact = RP_SEPARATE;
    floor.friction = 0.3;
    CHECK_OK(rp_world_add_plane(world, &floor));
    rp_world_totals(world, &before);
    for (int frame = 0; frame < 12; frame++) {
        CHECK_OK(rp_world_run_frame(world));
    }
    rp_world_totals(world, &after);
    rp_world_energy(world, &e);
    const double want = 0.3 * 9.81 * after.mass * (after.center[0] - before.center[0]);
    check_context("friction %g, want %g", e.friction, want);
    CHECK_NEAR(e.friction, want, 0.05 * want);
    CHECK(e.plastic == 0.0);
    rp_world_destroy(world);
}

TEST_MAIN(TEST(prestress_carries_what_lies_above), TEST(prestressed_sand_starts_at_rest),
          TEST(settled_sand_rests), TEST(a_field_accelerates_from_place_to_place),
          TEST(the_elastic_share_scales_the_step), TEST(energy_is_accounted_for),
          TEST(friction_takes_force_times_way))

// Emitters whose mouths move, with and without a collider or a rigid body.
#include "repose/scene.h"
#include "repose/world.h"

#include "check.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static const double OMEGA = 2.0 * PI, DOWN = -0.7, RADIUS = 0.03; // a turn a second

// Ways of mouths, none of which is there before time begins. About y, and along x.
static rp_result go_round(void *context, double t, rp_pose *out)
{
    const double *along = context;
    *out = (rp_pose){.position = {along != NULL ? *along * t : 0.0, 0.0, 0.0},
                     .rotation = {0.0, sin(0.5 * OMEGA * t), 0.0, cos(0.5 * OMEGA * t)}};
    return t >= 0.0 ? RP_OK : RP_ERR_ARGUMENT;
}

static rp_result go_round_flat(void *context, double t, rp_pose *out)
{
    (void)context;
    *out = (rp_pose){.rotation = {0.0, 0.0, sin(0.5 * OMEGA * t), cos(0.5 * OMEGA * t)}};
    return t >= 0.0 ? RP_OK : RP_ERR_ARGUMENT;
}

static rp_result leap(void *context, double t, rp_pose *out)
{
    (void)context;
    *out = (rp_pose){.position = {0.01 * floor(100.0 * t), t < 0.1 ? 0.0 : 0.4, 0.0},
                     .rotation = {0.0, 0.0, 0.0, 1.0}};
    return t >= 0.0 ? RP_OK : RP_ERR_ARGUMENT;
}

typedef enum carrier { ITSELF, COLLIDER, CHAIN, LEAPS, BODY } carrier;

typedef struct mouth {
    int dim;
    carrier carrier;
    rp_precision precision;
    double rate, start, stop, volume;
    double gravity;
    int threads;
    bool energy;
} mouth;

// At (0.3, 0) or so, pours downwards, or to the right from a body.
static rp_world *make_mouth(const mouth *m)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_emitter_def e = rp_default_emitter_def();
    rp_collider_def solid = rp_default_collider_def();
    rp_rigid_def body = rp_default_rigid_def();
    const double center[3] = {0.3, 0.0, 0.0}, far[3] = {-1.0, 0.0, 0.0};
    rp_world *world = NULL;
    rp_shape *hole = NULL, *ball = NULL;
    def.dimension = m->dim;
    def.precision = m->precision;
    def.dx = 0.02;
    def.fps = 20.0;
    def.gravity[1] = m->gravity;
    def.threads = m->threads;
    def.energy = m->energy;
    bool ok = rp_world_create(&def, &world) == RP_OK;
    ok = ok && rp_world_add_material(world, &sand, &e.material) == RP_OK;
    ok = ok && rp_shape_sphere(center, RADIUS, &hole) == RP_OK;
    ok = ok && rp_shape_sphere(far, 0.1, &ball) == RP_OK;
    solid.shape = body.shape = ball;
    body.density = 1000.0;
    body.spin[2] = m->dim == 2 ? 1.0 : 0.0;
    const rp_pose_of_time round = {m->dim == 3 ? go_round : go_round_flat, NULL};
    if (m->carrier == COLLIDER || m->carrier == CHAIN) {
        solid.motion = round;
        ok = ok && rp_world_add_collider(world, &solid) == RP_OK;
        e.parent = 0;
    }
    if (m->carrier == CHAIN) { // one that stands still on one that goes round
        solid.motion = (rp_pose_of_time){0};
        solid.parent = 0;
        ok = ok && rp_world_add_collider(world, &solid) == RP_OK;
        e.parent = 1;
    }
    if (m->carrier == BODY) {
        ok = ok && rp_world_add_rigid(world, &body, &e.parent) == RP_OK;
    }
    if (m->carrier == ITSELF || m->carrier == LEAPS) {
        e.motion = m->carrier == LEAPS ? (rp_pose_of_time){leap, NULL} : round;
    }
    e.shape = hole;
    e.velocity[1] = DOWN;
    e.rate = m->rate;
    e.start = m->start;
    e.stop = m->stop > 0.0 ? m->stop : INFINITY;
    e.volume = m->volume;
    ok = ok && rp_world_add_emitter(world, &e) == RP_OK;
    rp_shape_release(hole);
    rp_shape_release(ball);
    if (!ok) {
        check_record(__FILE__, __LINE__, "no mouth: %s", rp_last_error());
    }
    return world;
}

typedef struct grains {
    int64_t count;
    double *id, *x, *v;
} grains;

static grains read_grains(const rp_world *world)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    const size_t n = (size_t)stats.particles + 1;
    grains g = {stats.particles, calloc(n, 8), calloc(3 * n, 8), calloc(3 * n, 8)};
    if (rp_world_read(world, RP_COL_ID, g.id) != RP_OK ||
        rp_world_read(world, RP_COL_POSITION, g.x) != RP_OK ||
        rp_world_read(world, RP_COL_VELOCITY, g.v) != RP_OK) {
        check_record(__FILE__, __LINE__, "no grains: %s", rp_last_error());
    }
    return g;
}

static void free_grains(grains *g)
{
    free(g->id);
    free(g->x);
    free(g->v);
}

// Grains of a mouth, and the time between two of them.
static double interval_of(const mouth *m)
{
    const double volume = pow(0.01, m->dim);
    return 2200.0 * volume / m->rate;
}

// A grain that has just come, against a mouth that turns with OMEGA about the origin: it came
// through the mouth when it was due, with v = R u + w x r, and has flown since.
static void check_newborn(const mouth *m, double now, double n, const double *x, const double *v)
{
    const double due = m->start + n * interval_of(m), flight = now - due;
    const double angle = OMEGA * due, c = cos(angle), s = sin(angle);
    double r[3] = {0}, u[3] = {0}, local[3] = {0}, want[3] = {0};
    for (int a = 0; a < m->dim; a++) { // back to where and how it left
        u[a] = v[a] - (a == 1 ? m->gravity * flight : 0.0);
        r[a] = x[a] - flight * u[a] - (a == 1 ? 0.5 * m->gravity * flight * flight : 0.0);
    }
    if (m->dim == 3) { // about y
        local[0] = c * r[0] - s * r[2];
        local[1] = r[1];
        local[2] = s * r[0] + c * r[2];
        want[0] = OMEGA * r[2];
        want[1] = DOWN;
        want[2] = -OMEGA * r[0];
    } else { // about z; the way out turns, too
        local[0] = c * r[0] + s * r[1];
        local[1] = -s * r[0] + c * r[1];
        want[0] = -OMEGA * r[1] - s * DOWN;
        want[1] = OMEGA * r[0] + c * DOWN;
    }
    const double off[3] = {local[0] - 0.3, local[1], local[2]};
    check_context("%dD, carrier %d, grain %g at %g s", m->dim, (int)m->carrier, n, now);
    CHECK(flight >= -1e-12 && flight < 0.05);
    CHECK_NEAR(off[1], 0.0, 1e-7); // in the plane of the mouth, and in its round
    CHECK(sqrt(off[0] * off[0] + off[2] * off[2]) < RADIUS + 0.25 * 0.01);
    for (int a = 0; a < m->dim; a++) {
        CHECK_NEAR(u[a], want[a], 1e-6);
    }
}

// Catches a velocity without the mouth's, a mouth that does not turn, grains that start where the
// mouth is at the end of the step, and flow that depends on steps.
static void grains_leave_a_mouth_on_a_circle_as_theory_says(void)
{
    static const mouth mouths[] = {
        {.dim = 3, .carrier = ITSELF, .precision = RP_DOUBLE, .rate = 1.0, .gravity = -9.81},
        {.dim = 3, .carrier = COLLIDER, .precision = RP_DOUBLE, .rate = 3.0, .start = 0.1131},
        {.dim = 2, .carrier = ITSELF, .precision = RP_DOUBLE, .rate = 60.0, .gravity = -9.81},
        {.dim = 2, .carrier = CHAIN, .precision = RP_DOUBLE, .rate = 11.0, .stop = 0.21},
        {.dim = 2, .carrier = ITSELF, .precision = RP_DOUBLE, .rate = 60.0, .volume = 5.04e-3},
    };
    for (size_t i = 0; i < sizeof mouths / sizeof mouths[0]; i++) {
        const mouth *m = &mouths[i];
        rp_world *world = make_mouth(m);
        rp_stats stats = {0};
        for (int64_t before = 0; stats.time < 0.3; before = stats.born) {
            CHECK_OK(rp_world_step(world));
            rp_world_stats(world, &stats);
            // all that is due, and nothing else
            const double until = m->stop > 0.0 ? fmin(m->stop, stats.time) : stats.time;
            double due = fmax(0.0, floor((until - m->start) / interval_of(m) + 1e-9) + 1.0);
            due = m->volume > 0.0 ? fmin(due, 50.0) : due;
            check_context("mouth %zu at %g s", i, stats.time);
            CHECK(stats.born <= due);
            CHECK(stats.born >=
                  due - 1.0 - 0.016 / interval_of(m)); // a spacing or a step is waited
            if (fabs(stats.time * 20.0 - round(stats.time * 20.0)) < 1e-12) { // a frame ends
                CHECK_EQUAL(stats.born, due);
            }
            grains g = read_grains(world);
            for (int64_t k = 0; k < g.count; k++) {
                if (g.id[k] >= (double)before) {
                    check_newborn(m, stats.time, g.id[k], g.x + k * m->dim, g.v + k * m->dim);
                }
            }
            free_grains(&g);
        }
        CHECK(stats.born >= 10);
        rp_world_destroy(world);
    }
}

// At full rate a stream has the density of sand, and no two grains are in the same place.
static void grains_of_a_stream_keep_apart(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        const mouth m = {.dim = dim, .precision = RP_DOUBLE};
        rp_world *world = make_mouth(&m);
        double nearest = INFINITY;
        rp_stats stats;
        for (int frame = 0; frame < 3; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        rp_world_stats(world, &stats);
        grains g = read_grains(world);
        for (int64_t i = 0; i < g.count; i++) {
            for (int64_t j = 0; j < i; j++) {
                double d2 = 0.0;
                for (int a = 0; a < dim; a++) {
                    const double d = g.x[i * dim + a] - g.x[j * dim + a];
                    d2 += d * d;
                }
                nearest = fmin(nearest, sqrt(d2));
            }
        }
        free_grains(&g);
        const double sites = dim == 3 ? 32.0 : 6.0; // of a lattice 0.01 wide in the mouth
        check_context("%dD: %lld grains, nearest %g m", dim, (long long)g.count, nearest);
        CHECK_NEAR((double)g.count, sites * -DOWN * stats.time / 0.01, 2.0);
        CHECK(nearest > 0.2 * 0.01);
        rp_world_destroy(world);
    }
}

// A body falls freely and pours: seen from it, each grain goes away from the mouth as if nothing
// fell. In 2D it turns, too, and the mouth with it.
static void a_mouth_on_a_falling_body_falls_along(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        const mouth m = {.dim = dim,
                         .carrier = BODY,
                         .precision = RP_DOUBLE,
                         .rate = dim == 3 ? 0.5 : 30.0,
                         .gravity = -9.81};
        rp_world *world = make_mouth(&m);
        rp_stats stats;
        rp_rigid_state body;
        for (int frame = 0; frame < 5; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        rp_world_stats(world, &stats);
        rp_world_rigid(world, 0, &body);
        const double spin = dim == 2 ? 1.0 : 0.0, now = stats.time;
        CHECK_NEAR(body.velocity[1], -9.81 * now, 1e-9);
        grains g = read_grains(world);
        CHECK(g.count > 30);
        for (int64_t k = 0; k < g.count; k++) {
            const double due = g.id[k] * interval_of(&m), age = now - due;
            const double *x = g.x + k * dim, c = cos(spin * due), s = sin(spin * due);
            // from the body, which is at rest in its own fall; back by the age of the grain
            double r[2] = {x[0] - body.pose.position[0], x[1] - body.pose.position[1]};
            double mouth_v[2] = {-s * DOWN, c * DOWN}, at[2], local[2];
            // r = q + age (w x q + R u), which is linear in q
            const double det = 1.0 + spin * age * spin * age;
            const double b[2] = {r[0] - age * mouth_v[0], r[1] - age * mouth_v[1]};
            at[0] = (b[0] + spin * age * b[1]) / det;
            at[1] = (b[1] - spin * age * b[0]) / det;
            local[0] = c * at[0] + s * at[1];
            local[1] = -s * at[0] + c * at[1];
            check_context("%dD, grain %g of age %g s: (%g, %g)", dim, g.id[k], age, local[0],
                          local[1]);
            CHECK_NEAR(local[0], 1.3, RADIUS + 0.004);
            // exact but for neighbours that share nodes where the mouth turns
            CHECK_NEAR(local[1], 0.0, dim == 2 ? 0.002 : 1e-4);
        }
        free_grains(&g);
        rp_world_destroy(world);
    }
}

// Catches a difference over no time: a mouth that is elsewhere at once throws nothing.
static void a_mouth_that_leaps_throws_nothing(void)
{
    const mouth m = {.dim = 2, .carrier = LEAPS, .rate = 60.0};
    rp_world *world = make_mouth(&m);
    rp_stats stats;
    for (int frame = 0; frame < 4; frame++) {
        CHECK_OK(rp_world_run_frame(world));
        rp_world_stats(world, &stats);
        check_context("%g m/s", stats.max_speed);
        CHECK(stats.max_speed < 1.0);
    }
    CHECK(stats.born > 50 && stats.step < 3000);
    rp_world_destroy(world);
}

// The account of energy knows what comes: kinetic and potential energy of each grain.
static void what_grains_bring_is_in_the_account_of_energy(void)
{
    const mouth m = {
        .dim = 2, .precision = RP_DOUBLE, .rate = 60.0, .gravity = -9.81, .energy = true};
    const double below[3] = {0.0, -0.5, 0.0}, up[3] = {0.0, 1.0, 0.0}, mass = 2200.0 * 1e-4;
    rp_world *world = make_mouth(&m);
    rp_shape *sink;
    rp_stats stats = {0};
    rp_energy e;
    rp_totals t;
    double brought = 0.0;
    for (int64_t before = 0; stats.time < 0.2; before = stats.born) {
        CHECK_OK(rp_world_step(world));
        rp_world_stats(world, &stats);
        grains g = read_grains(world);
        for (int64_t k = 0; k < g.count; k++) {
            const double *v = g.v + 2 * k;
            if (g.id[k] >= (double)before) {
                brought += mass * (0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * g.x[2 * k + 1]);
            }
        }
        free_grains(&g);
        rp_world_energy(world, &e);
        CHECK_NEAR(e.brought, brought, 1e-9);
    }
    CHECK(e.brought > 1.0);
    // and what goes: all that is left, and all that was lost, is what came less what went
    CHECK_OK(rp_shape_half_space(below, up, &sink));
    CHECK_OK(rp_world_add_sink(world, sink));
    rp_shape_release(sink);
    while (stats.sunk < 20) {
        CHECK_OK(rp_world_run_frame(world));
        rp_world_stats(world, &stats);
    }
    rp_world_energy(world, &e);
    rp_world_totals(world, &t);
    const double now = t.kinetic + e.affine + t.elastic + 9.81 * t.mass * t.center[1];
    const double lost = e.plastic + e.contact + e.friction + e.transfer + e.stepping;
    CHECK_NEAR(now + lost, e.brought, 1e-9 * fabs(e.brought));
    rp_world_destroy(world);
}

// Catches what a mouth remembers and does not save, and births that depend on threads.
static void moving_mouths_go_on_bit_for_bit(void)
{
    static const carrier carriers[] = {ITSELF, BODY};
    for (int k = 0; k < 2; k++) {
        mouth m = {
            .dim = 3 - k, .carrier = carriers[k], .rate = k == 0 ? 4.0 : 60.0, .gravity = -9.81};
        void *end[4];
        size_t size[4];
        for (int i = 0; i < 4; i++) {
            m.threads = i == 2 ? 5 : i == 3 ? 2 : 1;
            rp_world *world = make_mouth(&m);
            for (int step = 0; step < 60; step++) {
                CHECK_OK(rp_world_step(world));
                if (i % 2 == 1 && step % 25 == 11) {
                    rp_world *fresh = make_mouth(&m);
                    void *middle;
                    size_t bytes;
                    CHECK_OK(rp_world_save(world, &middle, &bytes));
                    CHECK_OK(rp_world_restore(fresh, middle, bytes));
                    rp_state_free(middle);
                    rp_world_destroy(world);
                    world = fresh;
                }
            }
            CHECK_OK(rp_world_save(world, &end[i], &size[i]));
            rp_world_destroy(world);
        }
        for (int i = 1; i < 4; i++) {
            check_context("carrier %d, run %d", (int)carriers[k], i);
            CHECK(size[0] == size[i] && memcmp(end[0], end[i], size[0]) == 0);
            rp_state_free(end[i]);
        }
        rp_state_free(end[0]);
    }
}

// Catches a count that says which grain is next and is taken from a damaged state as it is: a step
// that never ends, or a site that there is not.
static void counts_that_cannot_be_are_refused(void)
{
    const mouth m = {.dim = 3, .carrier = ITSELF, .rate = 4.0, .threads = 1};
    const double wrong[] = {-1.0, -1e300, 0.5, 0x1p53, INFINITY, NAN};
    for (int i = 0; i < 6; i++) {
        rp_world *world = make_mouth(&m), *fresh = make_mouth(&m);
        void *state;
        size_t size;
        world->layers[0] = wrong[i];
        CHECK_OK(rp_world_save(world, &state, &size));
        check_context("%g", wrong[i]);
        CHECK_ERROR(rp_world_restore(fresh, state, size), RP_ERR_ARGUMENT, "emitter 0 has poured");
        rp_state_free(state);
        rp_world_destroy(world);
        rp_world_destroy(fresh);
    }
}

TEST_MAIN(TEST(grains_leave_a_mouth_on_a_circle_as_theory_says),
          TEST(grains_of_a_stream_keep_apart), TEST(a_mouth_on_a_falling_body_falls_along),
          TEST(a_mouth_that_leaps_throws_nothing),
          TEST(what_grains_bring_is_in_the_account_of_energy),
          TEST(moving_mouths_go_on_bit_for_bit), TEST(counts_that_cannot_be_are_refused))

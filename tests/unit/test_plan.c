// Tests src/sim/plan.c and what a scene needs of a world besides steps: counting ahead, preparing,
// colliders that move, velocities by place, failures that name who it was.
#include "repose/world.h"
#include "sim/places.h"
#include "sim/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct heap {
    int dim;
    rp_precision precision;
    rp_transfer transfer;
    bool plan;
} heap;

static rp_result make_heap(const heap *h, rp_world **world)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_particles_def particles = rp_default_particles_def();
    const double center[3] = {0.3, 0.6, -0.2};
    rp_box_def box = rp_default_box_def();
    def.dimension = h->dim;
    def.precision = h->precision;
    def.transfer = h->transfer;
    def.plan = h->plan;
    def.dx = h->dim == 3 ? 0.03 : 0.006;
    rp_shape *ball = NULL;
    rp_result result = rp_world_create(&def, world);
    if (result == RP_OK) result = rp_world_add_material(*world, &sand, &particles.material);
    if (result == RP_OK) result = rp_shape_sphere(center, 0.3, &ball);
    particles.shape = ball;
    if (result == RP_OK) result = rp_world_add_particles(*world, &particles, NULL);
    rp_shape_release(ball);
    box.material = particles.material;
    for (int a = 0; a < 3; a++) {
        box.lower[a] = -1.0;
        box.upper[a] = -0.4;
    }
    if (result == RP_OK) result = rp_world_add_box(*world, &box, NULL);
    return result;
}

// Catches an estimate that is a guess: the plan must find what the world then needs.
static void a_plan_finds_what_the_world_needs(void)
{
    static const heap heaps[] = {{2, RP_SINGLE, RP_APIC, false},
                                 {3, RP_SINGLE, RP_APIC, false},
                                 {3, RP_DOUBLE, RP_APIC, false},
                                 {3, RP_SINGLE, RP_FLIP, false}};
    for (size_t i = 0; i < sizeof heaps / sizeof heaps[0]; i++) {
        heap h = heaps[i];
        rp_world *world, *planned;
        rp_plan plan;
        rp_stats stats;
        void *state;
        size_t size;
        check_context("heap %zu", i);
        CHECK_OK(make_heap(&h, &world));
        h.plan = true;
        CHECK_OK(make_heap(&h, &planned));
        CHECK_OK(rp_world_plan(planned, &plan));
        CHECK_ERROR(rp_world_step(planned), RP_ERR_ARGUMENT, "planned");
        CHECK_ERROR(rp_world_plan(world, &plan), RP_ERR_ARGUMENT, "plan");
        CHECK_OK(rp_world_plan(planned, &plan));
        CHECK_OK(rp_world_prepare(world));
        CHECK_OK(rp_world_save(world, &state, &size));
        rp_world_stats(world, &stats);
        CHECK_EQUAL(plan.particles, stats.particles);
        CHECK_EQUAL(plan.pages, stats.pages);
        CHECK_EQUAL(plan.node_pages, stats.node_pages);
        // arrays have up to a quarter to spare
        CHECK(plan.bytes <= stats.memory && (double)plan.bytes > 0.78 * (double)stats.memory);
        CHECK_NEAR((double)plan.state_bytes, (double)size, 4096.0);
        CHECK_OK(rp_world_step(world));
        rp_world_stats(world, &stats);
        CHECK_NEAR(plan.dt, stats.dt, 1e-12 * stats.dt);
        CHECK(strcmp(plan.limiter, stats.limiter) == 0);
        rp_state_free(state);
        rp_world_destroy(world);
        rp_world_destroy(planned);
    }
}

static void preparing_changes_nothing(void)
{
    const heap h = {3, RP_SINGLE, RP_APIC, false};
    rp_world *world[2];
    void *state[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(make_heap(&h, &world[i]));
        if (i == 1) {
            CHECK_OK(rp_world_prepare(world[i]));
            CHECK_OK(rp_world_prepare(world[i]));
        }
        for (int k = 0; k < 5; k++) {
            CHECK_OK(rp_world_step(world[i]));
        }
        CHECK_OK(rp_world_save(world[i], &state[i], &size[i]));
    }
    CHECK(size[0] == size[1] && memcmp(state[0], state[1], size[0]) == 0);
    for (int i = 0; i < 2; i++) {
        rp_state_free(state[i]);
        rp_world_destroy(world[i]);
    }
}

// The mass of a filled ball is exact, however it is filled.
static void a_filled_ball_weighs_what_it_should(void)
{
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i / 2;
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_particles_def particles = rp_default_particles_def();
        const double center[3] = {0.013, 0.5, 0.0}, radius = 0.2;
        rp_shape *ball;
        rp_world *world;
        rp_totals totals;
        int64_t added;
        def.dimension = dim;
        def.dx = 0.02;
        particles.sampling = i % 2 == 0 ? RP_POISSON : RP_LATTICE;
        check_context("%dD, sampling %d", dim, (int)particles.sampling);
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_add_material(world, &sand, &particles.material));
        CHECK_OK(rp_shape_sphere(center, radius, &ball));
        particles.shape = ball;
        CHECK_OK(rp_world_add_particles(world, &particles, &added));
        const double volume = rp_shape_volume(ball, dim);
        rp_shape_release(ball);
        rp_world_totals(world, &totals);
        CHECK_NEAR(totals.mass, 2200.0 * volume, 1e-9 * totals.mass);
        // and it is as full as asked for
        CHECK_NEAR((double)added, volume / pow(0.01, dim), 0.05 * (double)added);
        // blue noise is not symmetric: one particle in ten of the surface decides
        const double off = particles.sampling == RP_LATTICE ? 0.05 : 0.2;
        CHECK_NEAR(totals.center[0], center[0], off * 0.01);
        rp_world_destroy(world);
    }
}

// Particles belong to the seed and to how many came before, not to the threads.
static void a_filling_belongs_to_its_seed(void)
{
    double x[4][3 * 600];
    int64_t added[4][2];
    for (int i = 0; i < 4; i++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_particles_def particles = rp_default_particles_def();
        const double center[3] = {0};
        rp_shape *ball;
        rp_world *world;
        def.dx = 0.1;
        def.threads = i == 1 ? 3 : 1;
        def.seed = i == 2 ? 8 : 7;
        def.plan = i == 3;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_add_material(world, &sand, &particles.material));
        CHECK_OK(rp_shape_sphere(center, 0.2, &ball));
        particles.shape = ball;
        for (int again = 0; again < 2; again++) {
            CHECK_OK(rp_world_add_particles(world, &particles, &added[i][again]));
        }
        if (!def.plan) {
            CHECK(added[i][0] + added[i][1] <= 600);
            CHECK_OK(rp_world_prepare(world));
            CHECK_OK(rp_world_read(world, RP_COL_POSITION, x[i]));
        }
        rp_shape_release(ball);
        rp_world_destroy(world);
    }
    const size_t bytes = (size_t)(added[0][0] + added[0][1]) * 3 * sizeof(double);
    CHECK(memcmp(added[0], added[1], sizeof added[0]) == 0);
    CHECK(memcmp(x[0], x[1], bytes) == 0);
    CHECK(memcmp(x[0], x[2], bytes) != 0);
    // a plan counts the same
    CHECK(memcmp(added[0], added[3], sizeof added[0]) == 0);
    // filled again, other places
    for (int64_t i = 0; i < added[0][0] + added[0][1]; i++) {
        for (int64_t j = 0; j < i; j++) {
            CHECK(memcmp(x[0] + 3 * i, x[0] + 3 * j, 3 * sizeof(double)) != 0);
        }
    }
}

// Where something solid is, no particle is made; the others weigh what they would have weighed.
static void particles_inside_colliders_are_carved(void)
{
    rp_totals totals;
    int64_t added[2];
    for (int carved = 0; carved < 2; carved++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_particles_def particles = rp_default_particles_def();
        rp_collider_def collider = rp_default_collider_def();
        const double lower[3] = {0}, upper[3] = {0.4, 0.4, 0.4}, corner[3] = {0.2, 0.2, 0.2};
        rp_shape *block, *box;
        rp_world *world;
        def.dx = 0.02;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_add_material(world, &sand, &particles.material));
        CHECK_OK(rp_shape_box(lower, corner, &block));
        CHECK_OK(rp_shape_box(lower, upper, &box));
        collider.shape = block;
        particles.shape = box;
        if (carved) {
            CHECK_OK(rp_world_add_collider(world, &collider));
        }
        CHECK_OK(rp_world_add_particles(world, &particles, &added[carved]));
        rp_world_totals(world, &totals);
        CHECK_NEAR(totals.mass, 2200.0 * 0.064 * (carved ? 7.0 / 8.0 : 1.0), 0.01 * totals.mass);
        particles.shape = block;
        if (carved) {
            CHECK_ERROR(rp_world_add_particles(world, &particles, NULL), RP_ERR_ARGUMENT,
                        "inside colliders");
        }
        rp_shape_release(block);
        rp_shape_release(box);
        rp_world_destroy(world);
    }
    CHECK_NEAR((double)added[1], 7.0 / 8.0 * (double)added[0], 0.01 * (double)added[0]);
}

static rp_result vortex(void *context, const double x[3], double out[3])
{
    (void)context;
    out[0] = -3.0 * x[1];
    out[1] = 3.0 * x[0];
    out[2] = 0.0;
    return x[0] < 5.0 ? RP_OK : rp_fail(RP_ERR_ARGUMENT, "too far");
}

// A velocity that is a function gives the same particles as the gradient that it has.
static void velocity_may_be_a_function_of_place(void)
{
    rp_world *world[2];
    double *v[2], *C[2];
    rp_stats stats;
    for (int i = 0; i < 2; i++) {
        rp_world_def def = rp_default_world_def();
        rp_material_def sand = rp_default_sand_def();
        rp_particles_def particles = rp_default_particles_def();
        const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {0.2, 0.2, 0.2};
        rp_shape *box;
        def.dx = 0.05;
        CHECK_OK(rp_world_create(&def, &world[i]));
        CHECK_OK(rp_world_add_material(world[i], &sand, &particles.material));
        CHECK_OK(rp_shape_box(lower, upper, &box));
        particles.shape = box;
        particles.velocity_gradient[0][1] = -3.0;
        particles.velocity_gradient[1][0] = 3.0;
        particles.velocity_of_place.call = i == 1 ? vortex : NULL;
        CHECK_OK(rp_world_add_particles(world[i], &particles, NULL));
        rp_shape_release(box);
        rp_world_stats(world[i], &stats);
        v[i] = calloc((size_t)stats.particles * 3, sizeof(double));
        C[i] = calloc((size_t)stats.particles * 9, sizeof(double));
        CHECK_OK(rp_world_read(world[i], RP_COL_VELOCITY, v[i]));
        CHECK_OK(rp_world_read(world[i], RP_COL_AFFINE, C[i]));
    }
    for (int64_t k = 0; k < 9 * stats.particles; k++) {
        CHECK_NEAR(C[0][k], C[1][k], 1e-6);
        CHECK(k >= 3 * stats.particles || fabs(v[0][k] - v[1][k]) < 1e-7);
    }
    for (int i = 0; i < 2; i++) {
        free(v[i]);
        free(C[i]);
        rp_world_destroy(world[i]);
    }
}

static void a_velocity_that_fails_leaves_the_world_as_it_was(void)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_particles_def particles = rp_default_particles_def();
    const double lower[3] = {4.0, 0.0, 0.0}, upper[3] = {6.0, 0.2, 0.2};
    rp_world *world;
    rp_shape *box;
    rp_stats stats;
    def.dx = 0.1;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &sand, &particles.material));
    CHECK_OK(rp_shape_box(lower, upper, &box));
    particles.shape = box;
    particles.velocity_of_place.call = vortex;
    CHECK_ERROR(rp_world_add_particles(world, &particles, NULL), RP_ERR_ARGUMENT, "too far");
    rp_shape_release(box);
    rp_world_stats(world, &stats);
    CHECK_EQUAL(stats.particles, 0);
    CHECK_EQUAL(stats.born, 0);
    CHECK_EQUAL(world->set[0].groups, 0);
    CHECK(world->newborn_speed == 0.0);
    rp_world_destroy(world);
}

typedef struct ride {
    double speed, spin, fails_at;
} ride;

static rp_result move(void *context, double t, rp_pose *out)
{
    const ride *r = context;
    out->position[0] = r->speed * t;
    out->rotation[2] = sin(0.5 * r->spin * t);
    out->rotation[3] = cos(0.5 * r->spin * t);
    return t < r->fails_at ? RP_OK : rp_fail(RP_ERR_ARGUMENT, "derailed at t = %g s", t);
}

// A world of one elastic block on a moving or turning collider.
static rp_world *make_ride(ride *r, const rp_shape *shape, const double lower[3],
                           const double upper[3])
{
    rp_world_def def = rp_default_world_def();
    rp_material_def rubber = rp_default_elastic_def();
    rp_box_def box = rp_default_box_def();
    rp_collider_def collider = rp_default_collider_def();
    rp_world *world = NULL;
    def.dx = 0.05;
    def.precision = RP_DOUBLE;
    def.gravity[1] = 0.0;
    collider.shape = shape;
    collider.motion = (rp_pose_of_time){move, r};
    collider.name = "wagon";
    memcpy(box.lower, lower, sizeof box.lower);
    memcpy(box.upper, upper, sizeof box.upper);
    rp_result result = rp_world_create(&def, &world);
    if (result == RP_OK) result = rp_world_add_material(world, &rubber, &box.material);
    if (result == RP_OK) result = rp_world_add_box(world, &box, NULL);
    if (result == RP_OK) result = rp_world_add_collider(world, &collider);
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return world;
}

// All that is inside a sticky collider goes along with it: a ball of rubber within a moving box.
static void a_sticky_collider_carries_and_turns_what_it_holds(void)
{
    const double big_lower[3] = {-1.0, -1.0, -1.0}, big_upper[3] = {1.0, 1.0, 1.0};
    const double lower[3] = {0.1, 0.1, -0.1}, upper[3] = {0.3, 0.3, 0.1};
    ride r = {.speed = 0.7, .fails_at = INFINITY};
    rp_shape *box;
    rp_totals before, totals;
    rp_stats stats;
    CHECK_OK(rp_shape_box(big_lower, big_upper, &box));
    rp_world *world = make_ride(&r, box, lower, upper);
    rp_world_totals(world, &before);
    CHECK_OK(rp_world_run_frame(world));
    rp_world_totals(world, &totals);
    rp_world_stats(world, &stats);
    CHECK_NEAR(totals.center[0], before.center[0] + 0.7 * stats.time, 1e-9);
    CHECK_NEAR(totals.momentum[0], 0.7 * totals.mass, 1e-9 * totals.mass);
    CHECK_NEAR(totals.center[1], before.center[1], 1e-9);
    rp_world_destroy(world);

    // turning: the centre of mass goes round, to second order in the step
    r = (ride){.spin = 2.0, .fails_at = INFINITY};
    world = make_ride(&r, box, lower, upper);
    CHECK_OK(rp_world_run_frame(world));
    rp_world_totals(world, &totals);
    rp_world_stats(world, &stats);
    // chords instead of arcs: each step adds (w dt)^2 / 2 to the radius
    const double angle = 2.0 * stats.time, x = before.center[0], y = before.center[1];
    const double chord = 0.3 * angle * (angle / (double)stats.step) / 2.0;
    CHECK_NEAR(totals.center[0], x * cos(angle) - y * sin(angle), 1.1 * chord);
    CHECK_NEAR(totals.center[1], y * cos(angle) + x * sin(angle), 1.1 * chord);
    rp_world_destroy(world);
    rp_shape_release(box);
}

static void a_motion_that_fails_ends_the_step_and_nothing_more(void)
{
    const double point[3] = {0}, up[3] = {0.0, 1.0, 0.0};
    const double lower[3] = {0.1, 0.1, -0.1}, upper[3] = {0.3, 0.3, 0.1};
    ride r = {.speed = 0.1, .fails_at = 0.02};
    rp_shape *floor;
    CHECK_OK(rp_shape_half_space(point, up, &floor));
    rp_world *world = make_ride(&r, floor, lower, upper);
    rp_shape_release(floor);
    CHECK_ERROR(rp_world_run_frame(world), RP_ERR_ARGUMENT, "derailed");
    rp_stats stats;
    rp_failure failure;
    rp_world_stats(world, &stats);
    CHECK(stats.time > 0.0 && stats.time < 0.02);
    CHECK(!rp_world_failure(world, &failure));
    // it did not change anything: with the rails mended the run goes on
    r.fails_at = INFINITY;
    CHECK_OK(rp_world_run_frame(world));
    r.speed = NAN;
    CHECK_ERROR(rp_world_step(world), RP_ERR_ARGUMENT, "wagon");
    rp_world_destroy(world);
}

// A particle with a NaN is named with cell, material, step, dt and limiter, and it is in the list.
static void a_failure_names_the_guilty(void)
{
    const heap h = {3, RP_SINGLE, RP_APIC, false};
    rp_world *world;
    rp_failure failure;
    uint64_t ids[8] = {0};
    CHECK_OK(make_heap(&h, &world));
    CHECK(!rp_world_failure(world, &failure));
    CHECK_OK(rp_world_step(world));
    CHECK_EQUAL(rp_world_guilty(world, ids, 8), 0);
    const rp_local slot = rp_set_page(world->set)[3].first + 2;
    const uint64_t id = *(uint64_t *)rp_set_at(world->set, RP_COL_ID, slot, 0);
    *(float *)rp_set_at(world->set, RP_COL_VELOCITY, slot, 1) = NAN;
    CHECK_EQUAL(rp_world_guilty(world, ids, 8), 1);
    CHECK_EQUAL(ids[0], id);
    CHECK_ERROR(rp_world_step(world), RP_ERR_DIVERGED, "cell (");
    CHECK(strstr(rp_last_error(), "material 0") != NULL &&
          strstr(rp_last_error(), "step 1") != NULL);
    CHECK(rp_world_failure(world, &failure));
    CHECK_EQUAL(failure.step, 1);
    CHECK(failure.dt > 0.0 && strcmp(failure.limiter, "none") != 0);
    // a NaN spreads to all that its nodes reach; the one that is blamed is among them
    const int64_t count = rp_world_guilty(world, NULL, 0);
    uint64_t *all = calloc((size_t)count, sizeof *all);
    CHECK_EQUAL(rp_world_guilty(world, all, count), count);
    CHECK(bsearch(&failure.particle, all, (size_t)count, sizeof *all, rp_compare_ids) != NULL);
    CHECK(bsearch(&id, all, (size_t)count, sizeof *all, rp_compare_ids) != NULL);
    free(all);
    CHECK_ERROR(rp_world_step(world), RP_ERR_DIVERGED, "failed");
    rp_world_destroy(world);
}

static rp_world *two_shapes(rp_places *places, bool plan, rp_sampling sampling)
{
    rp_world_def def = rp_default_world_def();
    def.dx = 0.05;
    def.plan = plan;
    def.places = places;
    rp_world *world;
    const rp_material_def sand = rp_default_sand_def();
    rp_particles_def fill = rp_default_particles_def();
    if (rp_world_create(&def, &world) != RP_OK ||
        rp_world_add_material(world, &sand, &fill.material) != RP_OK) {
        return NULL;
    }
    for (int k = 0; k < 2; k++) {
        const double center[3] = {0.6 * k, 0.0, 0.0};
        rp_shape *ball;
        if (rp_shape_sphere(center, 0.2, &ball) != RP_OK) {
            return NULL;
        }
        fill.shape = ball;
        fill.sampling = sampling;
        const rp_result result = rp_world_add_particles(world, &fill, NULL);
        rp_shape_release(ball);
        if (result != RP_OK) {
            return NULL;
        }
    }
    return world;
}

static rp_result count_visits(void *context, const double x[3])
{
    (void)x;
    ++*(int *)context;
    return RP_OK;
}

// The places that a plan found are those of the world that follows it, which takes them instead of
// looking again. Catches places of another shape, and memory that is kept.
static void places_go_from_the_plan_to_the_world(void)
{
    for (int sampling = 0; sampling < 2; sampling++) {
        check_context("sampling %d", sampling);
        rp_places *places;
        CHECK_OK(rp_places_create(&places));
        rp_world *alone = two_shapes(NULL, false, (rp_sampling)sampling);
        rp_world *plan = two_shapes(places, true, (rp_sampling)sampling);
        rp_stats stats;
        rp_world_stats(alone, &stats);
        const double origin[3] = {0.0, 0.0, 0.0};
        rp_shape *ball;
        CHECK_OK(rp_shape_sphere(origin, 0.2, &ball));
        const rp_filling_key first = {.call = 0,
                                      .spacing = 0.025,
                                      .jitter = 0.5,
                                      .volume = rp_shape_volume(ball, 3),
                                      .sampling = (rp_sampling)sampling};
        rp_shape_release(ball);
        int visits = 0;
        rp_result result = RP_ERR_FILE;
        CHECK(rp_places_visit(places, &first, false, count_visits, &visits, &result));
        CHECK(result == RP_OK && visits > 100 && visits < stats.particles);
        rp_world *world = two_shapes(places, false, (rp_sampling)sampling);
        CHECK(!rp_places_visit(places, &first, false, count_visits, &visits, &result));
        void *state[2];
        size_t size[2];
        CHECK_OK(rp_world_save(alone, &state[0], &size[0]));
        CHECK_OK(rp_world_save(world, &state[1], &size[1]));
        CHECK(size[0] == size[1] && memcmp(state[0], state[1], size[0]) == 0);
        rp_state_free(state[0]);
        rp_state_free(state[1]);
        rp_world_destroy(alone);
        rp_world_destroy(plan);
        rp_world_destroy(world);
        rp_places_destroy(places);
    }
}

TEST_MAIN(TEST(places_go_from_the_plan_to_the_world), TEST(a_plan_finds_what_the_world_needs),
          TEST(preparing_changes_nothing), TEST(a_filled_ball_weighs_what_it_should),
          TEST(a_filling_belongs_to_its_seed), TEST(particles_inside_colliders_are_carved),
          TEST(velocity_may_be_a_function_of_place),
          TEST(a_velocity_that_fails_leaves_the_world_as_it_was),
          TEST(a_sticky_collider_carries_and_turns_what_it_holds),
          TEST(a_motion_that_fails_ends_the_step_and_nothing_more),
          TEST(a_failure_names_the_guilty))

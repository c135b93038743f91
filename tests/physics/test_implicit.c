// Implicit steps (src/solver/implicit): the same motion as explicit ones at the same step, at any
// stiffness, rest that lasts, and the same bits whatever the number of threads.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    rp_scene *scene;
    rp_world *world;
} run;

static run start(const char *text, int threads)
{
    run r = {.scene = scene_of(text)};
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    if (rp_scene_create_world(r.scene, &def, &r.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return r;
}

static void stop(run *r)
{
    rp_world_destroy(r->world);
    rp_scene_free(r->scene);
}

static rp_stats stats_of(const rp_world *world)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    return stats;
}

enum { PARTICLES_MOST = 20000 };
static double place[PARTICLES_MOST][3], other[PARTICLES_MOST][3];

// Where all particles are, by their ids.
static int64_t read_places(const rp_world *world, double (*out)[3])
{
    static double all[PARTICLES_MOST * 3], id[PARTICLES_MOST];
    const int64_t count = stats_of(world).particles;
    const int dim = rp_world_dimension(world);
    if (count > PARTICLES_MOST || rp_world_read(world, RP_COL_POSITION, all) != RP_OK ||
        rp_world_read(world, RP_COL_ID, id) != RP_OK) {
        check_record(__FILE__, __LINE__, "%lld particles are not read", (long long)count);
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) {
            out[(int64_t)id[i]][a] = a < dim ? all[i * dim + a] : 0.0;
        }
    }
    return count;
}

// ---- collapse ----

// Half a column between a smooth wall and a floor; a frame is a unit of time, sqrt(H0 / g).
#define COLUMN                                                                                     \
    "local method, dt, young, floor, more = '%s', %g, %g, '%s', { %s }\n"                          \
    "local H0 = 0.324\n"                                                                           \
    "scene { method = method, dimension = 2, dx = H0 / 20, fps = math.sqrt(9.81 / H0),\n"          \
    "    frames = 3, dt_max = dt, order = more.order, precision = more.precision,\n"               \
    "    transfer = more.transfer }\n"                                                             \
    "local def = more.sand or { friction_coefficient = 0.48 }\n"                                   \
    "def.density, def.young = 1500, young\n"                                                       \
    "particles { material = material.sand(def), sampling = 'lattice', jitter = 0,\n"               \
    "    shape = box { min = {0, 0}, max = {H0 / 1.42, H0} }, per_cell = 4 }\n"                    \
    "collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = 'slip' }\n"      \
    "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = floor,\n"        \
    "    friction = floor ~= 'sticky' and 0.5 or nil }\n"

// The place that 99.5 % of the particles do not exceed, after each frame.
static void fronts(const char *method, double dt, double young, const char *floor, const char *more,
                   int frames, double *front)
{
    char text[2048];
    snprintf(text, sizeof text, COLUMN, method, dt, young, floor, more);
    run r = start(text, 1);
    for (int f = 0; f < frames; f++) {
        CHECK_OK(rp_world_run_frame(r.world));
        const int64_t count = read_places(r.world, place), most = count / 200;
        int64_t beyond = 0;
        double high = 0.0, low = 10.0;
        for (int turn = 0; turn < 60; turn++) { // bisection is enough
            const double middle = turn == 0 ? 5.0 : 0.5 * (low + high);
            beyond = 0;
            for (int64_t i = 0; i < count; i++) {
                beyond += place[i][0] > middle;
            }
            if (beyond > most) {
                high = middle;
            } else {
                low = middle;
            }
        }
        front[f] = low;
    }
    stop(&r);
}

// V-C11: steps of the same length lead to the same front, with every way to carry and to yield.
static void steps_of_the_same_length_agree(void)
{
    static const struct {
        const char *floor, *more;
        int frames;
    } kind[] = {{"sticky", "", 3},
                {"separate", "", 2},
                {"slip", "order = 'cubic', precision = 'double'", 2},
                {"sticky", "transfer = { flip = 0.5 }, sand = { hardening = true }", 2},
                {"separate", "sand = { cohesion = 200, friction_angle = 30 }", 2}};
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        double known[3], found[3];
        const int frames = check_long() ? kind[k].frames : kind[k].frames - 1;
        fronts("explicit", 3e-4, 3.537e5, kind[k].floor, kind[k].more, frames, known);
        fronts("implicit", 3e-4, 3.537e5, kind[k].floor, kind[k].more, frames, found);
        for (int f = 0; f < frames; f++) {
            check_context("%s %s, frame %d", kind[k].floor, kind[k].more, f + 1);
            CHECK_NEAR(found[f], known[f], 0.005 * known[f]);
        }
    }
}

// V-G1c: the front does not depend on the stiffness.
static void stiffness_does_not_matter(void)
{
    double soft[3], stiff[3];
    const int frames = check_long() ? 3 : 2;
    fronts("implicit", 1e-3, 3.537e5, "sticky", "", frames, soft);
    for (double times = 10.0; times <= (check_long() ? 100.0 : 10.0); times *= 10.0) {
        fronts("implicit", 1e-3, times * 3.537e5, "sticky", "", frames, stiff);
        for (int f = 0; f < frames; f++) {
            check_context("E x %g, frame %d", times, f + 1);
            CHECK_NEAR(stiff[f], soft[f], 0.01 * soft[f]);
        }
    }
}

// ---- elasticity ----

// V-C10: a bar in uniaxial strain, free at one end, in steps of 2 dx / c, ten times those of an
// explicit run. Its period is 4 L / c; implicit steps damp it by exp(-omega^2 dt t / 2).
static void a_bar_keeps_its_period(void)
{
    const double c = sqrt(1e6 * 0.7 / (1.3 * 0.4) / 1000.0), T = 4.0 / c;
    const double dt = 2.0 * 0.025 / c, omega = 2.0 * acos(-1.0) / T;
    char text[1024];
    snprintf(text, sizeof text,
             "scene { method = 'implicit', dimension = 2, dx = 0.025, fps = %.17g, frames = 1000,\n"
             "    gravity = {0, 0}, precision = 'double', transfer = { flip = 1 } }\n"
             "particles { material = material.elastic { density = 1000, young = 1e6 },\n"
             "    shape = box { min = {0, 0}, max = {1, 0.1} }, sampling = 'lattice', jitter = 0,\n"
             "    velocity = function(x) return 0.01 * math.sin(math.pi * x / 2), 0 end }\n"
             "collider { shape = half_space { point = {0, 0}, normal = {1, 0} },\n"
             "    contact = 'slip' }\n"
             "collider { shape = half_space { point = {0, 0}, normal = {0, 1} },\n"
             "    contact = 'slip' }\n"
             "collider { shape = half_space { point = {0, 0.1}, normal = {0, -1} },\n"
             "    contact = 'slip' }\n",
             1.0 / dt);
    run r = start(text, 1);
    rp_totals t;
    rp_world_totals(r.world, &t);
    const double first = t.momentum[0];
    double before = first, crossing[2] = {0}, least = 0.0;
    for (int n = 1, found = 0; found < 2 && n < 400; n++) {
        CHECK_OK(rp_world_run_frame(r.world));
        rp_world_totals(r.world, &t);
        if (t.momentum[0] * before < 0.0) {
            crossing[found++] = dt * (n - 1 + before / (before - t.momentum[0]));
        }
        least = fmin(least, t.momentum[0]);
        before = t.momentum[0];
        CHECK(stats_of(r.world).extra[2] <= 1e-3);
    }
    CHECK_EQUAL(stats_of(r.world).extra[3], 0.0); // none was rejected
    CHECK_NEAR(2.0 * (crossing[1] - crossing[0]), T, 0.02 * T);
    const double damped = exp(-omega * omega * dt * 0.25 * T); // half a period
    printf("period / T0 %.4f, damping %.4f of %.4f\n", 2.0 * (crossing[1] - crossing[0]) / T,
           -least / first, damped);
    CHECK_NEAR(log(-least / first), log(damped), 0.2 * fabs(log(damped)));
    stop(&r);
}

// ---- rest ----

// A heap of 20 degrees stays where it is, on a floor that holds it and on one that it could leave.
static void heaps_rest(void)
{
    for (int k = 0; k < 2; k++) {
        const int seconds = check_long() ? 5 : 1;
        char text[1024];
        snprintf(text, sizeof text,
                 "local floor, seconds = '%s', %d\n"
                 "scene { method = 'implicit', dimension = 2, dx = 0.04, fps = 2,\n"
                 "    frames = 2 * seconds, dt_max = 1e-3 }\n"
                 "particles { material = material.sand { density = 1500,\n"
                 "    friction_coefficient = 0.6 }, prestress = 'k0',\n"
                 "    shape = cone { base = {0, 0}, height = 0.2,\n"
                 "    radius = 0.2 / math.tan(math.rad(20)) } }\n"
                 "collider { shape = half_space { point = {0, 0},\n"
                 "    normal = {0, 1} }, contact = floor,\n"
                 "    friction = floor ~= 'sticky' and 0.6 or nil }\n",
                 k % 2 ? "separate" : "sticky", seconds);
        run r = start(text, 1);
        check_context("%s", k % 2 ? "separate" : "sticky");
        CHECK_OK(rp_world_run_frame(r.world)); // from the strains at the start to those of rest
        read_places(r.world, other);
        for (int f = 1; f < 2 * seconds; f++) {
            CHECK_OK(rp_world_run_frame(r.world));
        }
        const int64_t count = read_places(r.world, place);
        double farthest = 0.0;
        int64_t gone = 0; // grains at the foot creep alone, in explicit steps by as much
        for (int64_t i = 0; i < count; i++) {
            const double way = hypot(hypot(place[i][0] - other[i][0], place[i][1] - other[i][1]),
                                     place[i][2] - other[i][2]);
            farthest = fmax(farthest, way);
            gone += way > 0.05 * 0.04;
        }
        printf("%s: the farthest moved %.3g dx, %lld of %lld more than 0.05 dx\n",
               k % 2 ? "separate" : "sticky", farthest / 0.04, (long long)gone, (long long)count);
        CHECK(100 * gone <= count);
        stop(&r);
    }
}

// A block on a slope whose friction holds it, and on one where it slides: Coulomb's law is part of
// the step.
static void friction_is_coulombs(void)
{
    for (int k = 0; k < 2; k++) {
        const double friction = k == 0 ? 0.4 : 0.1, slope = 0.3; // tangent of the angle
        char text[1024];
        snprintf(text, sizeof text,
                 "local s = %g\n"
                 "scene { method = 'implicit', dimension = 2, dx = 0.05, fps = 10, frames = 5,\n"
                 "    dt_max = 2e-3, gravity = {9.81 * math.sin(math.atan(s)),\n"
                 "    -9.81 * math.cos(math.atan(s))} }\n"
                 "particles { material = material.elastic { density = 1000, young = 1e7 },\n"
                 "    shape = box { min = {0, 0}, max = {0.4, 0.2} }, sampling = 'lattice',\n"
                 "    jitter = 0 }\n"
                 "collider { shape = half_space { point = {0, 0}, normal = {0, 1} },\n"
                 "    contact = 'separate', friction = %g }\n",
                 slope, friction);
        run r = start(text, 1);
        for (int f = 0; f < 5; f++) {
            CHECK_OK(rp_world_run_frame(r.world));
        }
        rp_totals t;
        rp_world_totals(r.world, &t);
        const double angle = atan(slope);
        const double want = 9.81 * 0.5 * fmax(0.0, sin(angle) - friction * cos(angle));
        check_context("friction %g", friction);
        printf("friction %g: slides at %.4f of %.4f m/s\n", friction, t.momentum[0] / t.mass, want);
        CHECK_NEAR(t.momentum[0] / t.mass, want, 0.02 * 9.81 * 0.5 * sin(angle));
        stop(&r);
    }
}

// ---- bits, and what fails ----

// A plate pushes a block of sand. Tries that fail are made again with a shorter step, and the plate
// is no faster for that; nor do steps stay short.
static void tries_do_not_hurry_colliders(void)
{
    double momentum[2];
    for (int k = 0; k < 2; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "scene { method = 'implicit', dimension = 2, dx = 0.04, fps = 50, frames = 8,\n"
                 "    dt_max = 4e-3, implicit = { newton = %d } }\n"
                 "particles { material = material.sand {},\n"
                 "    shape = box { min = {0.02, 0}, max = {0.5, 0.3} } }\n"
                 "collider { shape = half_space { point = {0, 0}, normal = {0, 1} },\n"
                 "    contact = 'slip' }\n"
                 "collider { shape = box { min = {-0.4, 0}, max = {0, 0.6} },\n"
                 "    motion = function(t) return { position = {t, 0} } end,\n"
                 "    contact = 'separate', friction = 0.2 }\n",
                 k == 0 ? 30 : 4);
        run r = start(text, 1);
        for (int f = 0; f < 8; f++) {
            CHECK_OK(rp_world_run_frame(r.world));
        }
        rp_totals t;
        rp_world_totals(r.world, &t);
        momentum[k] = t.momentum[0] / t.mass;
        const rp_stats stats = stats_of(r.world);
        printf("newton %d: %.4f m/s, %g tries failed, %lld steps\n", k == 0 ? 30 : 4, momentum[k],
               stats.extra[3], (long long)stats.step);
        CHECK((stats.extra[3] > 0.0) == (k == 1));
        stop(&r);
    }
    CHECK_NEAR(momentum[1], momentum[0], 0.1 * momentum[0]);
}

static void threads_make_no_difference(void)
{
    static const char text[] =
        "scene { method = 'implicit', dx = 0.05, fps = 50, frames = 3, dt_max = 4e-3 }\n"
        "particles { material = material.sand { cohesion = 50 },\n"
        "    shape = box { min = {0, 0, 0}, max = {0.4, 0.3, 0.2} } }\n"
        "particles { material = material.elastic { density = 1000, young = 1e6 },\n"
        "    velocity = {-2, 0, 0}, shape = sphere { center = {0.55, 0.2, 0.1}, radius = 0.12 } }\n"
        "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} },\n"
        "    contact = 'separate', friction = 0.4 }\n"
        "collider { shape = box { min = {-0.2, 0, 0}, max = {-0.05, 0.5, 0.3} },\n"
        "    motion = function(t) return { position = {t, 0, 0} } end, contact = 'separate', "
        "friction = 0.3 }\n";
    static const int threads[] = {1, 2, 5};
    for (int k = 0; k < 3; k++) {
        run r = start(text, threads[k]);
        for (int f = 0; f < 3; f++) {
            CHECK_OK(rp_world_run_frame(r.world));
        }
        const int64_t count = read_places(r.world, k == 0 ? place : other);
        check_context("%d threads", threads[k]);
        CHECK(k == 0 || memcmp(place, other, (size_t)count * sizeof place[0]) == 0);
        CHECK(stats_of(r.world).extra[0] > 0.0 && stats_of(r.world).extra[1] > 0.0);
        stop(&r);
    }
}

// One step of Newton's is not enough, however short the step of time: it is tried again, shorter
// and shorter, and then ends with a sentence that names the node and a particle.
static void what_finds_no_solution_says_so(void)
{
    run r = start("scene { method = 'implicit', dimension = 2, dx = 0.05, fps = 50, frames = 5,\n"
                  "    dt_max = 4e-3, implicit = { newton = 1, tolerance = 1e-9 } }\n"
                  "particles { material = material.sand {}, velocity = {0, -5},\n"
                  "    shape = box { min = {0, 0}, max = {0.4, 0.4} } }\n"
                  "collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n",
                  1);
    rp_result result = RP_OK;
    for (int f = 0; f < 5 && result == RP_OK; f++) {
        result = rp_world_run_frame(r.world);
    }
    CHECK_EQUAL(result, RP_ERR_DIVERGED);
    CHECK(strstr(rp_last_error(), "the balance at the node (") != NULL);
    CHECK(strstr(rp_last_error(), "Newton's method is too slow") != NULL);
    rp_failure failure;
    CHECK(rp_world_failure(r.world, &failure));
    CHECK(failure.particle != RP_NO_PARTICLE && failure.dt < 4e-3);
    stop(&r);
}

TEST_MAIN(TEST(a_bar_keeps_its_period), TEST(threads_make_no_difference),
          TEST(what_finds_no_solution_says_so), TEST(tries_do_not_hurry_colliders),
          TEST(friction_is_coulombs), TEST(heaps_rest), TEST(steps_of_the_same_length_agree),
          TEST(stiffness_does_not_matter))

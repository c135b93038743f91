// Bodies with velocities of their own: they collide, slide and part as mechanics has it.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"
#include "sim/world.h"

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

static void run_frames(rp_world *world, int frames)
{
    for (int i = 0; i < frames; i++) {
        CHECK_OK(rp_world_run_frame(world));
    }
}

// Mass, centre and mean velocity of a body.
typedef struct sums {
    double mass, x[3], v[3];
} sums;

static sums sums_of(const rp_world *world, int body)
{
    sums s = {0};
    for (int k = 0; k < world->species_count; k++) {
        const rp_set *set = &world->set[k];
        for (rp_local p = 0; p < set->pages; p++) {
            const rp_page *page = &rp_set_page(set)[p];
            for (rp_local i = page->first; i < page->first + page->count; i++) {
                double mass, volume;
                if (page->field != body) {
                    continue;
                }
                rp_set_measure(set, page, i, &mass, &volume);
                s.mass += mass;
                for (int a = 0; a < world->def.dimension; a++) {
                    s.x[a] += mass * rp_set_value(set, RP_COL_POSITION, i, a, page);
                    s.v[a] += mass * rp_set_value(set, RP_COL_VELOCITY, i, a, page);
                }
            }
        }
    }
    for (int a = 0; a < 3; a++) {
        s.x[a] /= s.mass;
        s.v[a] /= s.mass;
    }
    return s;
}

// ---- a pair ----

// Two balls that meet head-on, or a little aside.
static void write_pair(char *text, size_t size, int dimension, const char *more, double aside)
{
    const bool flat = dimension == 2;
    snprintf(text, size,
             "scene { dimension = %d, dx = 0.1, fps = 20, frames = 100, gravity = %s, %s }\n"
             "local rubber = material.elastic { density = 1000, young = 1e5, poisson = 0.3 }\n"
             "local function ball(name, x, y, v)\n"
             "  particles { material = rubber, body = name, velocity = %s, sampling = 'lattice',\n"
             "    jitter = 0, shape = sphere { center = %s, radius = 0.45 } }\n"
             "end\n"
             "ball('left', -0.6, %g, 1)\n"
             "ball('right', 0.6, 0.01, -1)\n"
             "contact { friction = 0.3 }\n",
             dimension, flat ? "{0, 0}" : "{0, 0, 0}", more, flat ? "{v, 0}" : "{v, 0, 0}",
             flat ? "{x, y}" : "{x, y, 0.02}", aside);
}

// V-M4: momentum to rounding, they swap velocities, and no energy is gained.
static void a_pair_swaps_velocities_and_keeps_momentum(void)
{
    static const char *const kinds[] = {
        "precision = 'double'",
        "precision = 'double', order = 'linear'",
        "precision = 'double', order = 'cubic'",
        "precision = 'double', transfer = 'pic'",
        "precision = 'double', transfer = { flip = 0.95 }",
        "precision = 'double', gradient = 'affine'",
        "precision = 'single'",
    };
    for (int i = 0; i < 14; i++) {
        char text[1024];
        const char *kind = kinds[i / 2];
        const bool single = strstr(kind, "single") != NULL, pic = strstr(kind, "pic'") != NULL;
        write_pair(text, sizeof text, 2 + i % 2, kind, 0.01);
        check_context("%dD, %s", 2 + i % 2, kind);
        run r = start(text, 1);
        rp_totals before, after;
        rp_world_totals(r.world, &before);
        // elastic bodies that cross cells gain energy with linear splines, contact or not
        const bool linear = strstr(kind, "linear") != NULL;
        CHECK_HELPER(run_frames(r.world, linear ? 5 : 20));
        rp_world_totals(r.world, &after);
        const sums left = sums_of(r.world, 1), right = sums_of(r.world, 2);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(after.momentum[a], before.momentum[a],
                       (single ? 2e-5 : 2e-13) * left.mass); // of 1 m/s, over hundreds of steps
        }
        if (linear) {
            CHECK(left.v[0] < 0.8 && right.v[0] > -0.8);
            stop(&r);
            continue;
        }
        CHECK(left.v[0] < (pic ? -0.05 : -0.5) && right.v[0] > (pic ? 0.05 : 0.5));
        CHECK(after.kinetic + after.elastic <= 1.001 * (before.kinetic + before.elastic));
        stop(&r);
    }
}

// The force between them, added up, is what changed their momentum.
static void what_a_pair_gives_each_other_is_told(void)
{
    char text[1024];
    write_pair(text, sizeof text, 2, "precision = 'double'", 0.3);
    run r = start(text, 1);
    double given[3] = {0};
    const double *force;
    CHECK_HELPER(run_frames(r.world, 1)); // into pages
    const sums before = sums_of(r.world, 2);
    for (int f = 0; f < 19; f++) {
        CHECK_HELPER(run_frames(r.world, 1));
        const rp_pair_loads *loads = &r.world->pair_loads;
        CHECK(loads->count <= 1);
        force = loads->count > 0 ? rp_pair_loads_at(loads, 0)->force : NULL;
        for (int a = 0; a < 3 && force != NULL; a++) {
            given[a] += force[a] / 20.0;
        }
    }
    const sums after = sums_of(r.world, 2);
    CHECK(given[0] > 0.5 * after.mass);
    CHECK(fabs(given[1]) > 0.1 * after.mass);
    for (int a = 0; a < 2; a++) {
        CHECK_NEAR(given[a], after.mass * (after.v[a] - before.v[a]), 1e-11 * after.mass);
    }
    stop(&r);
}

// ---- surfaces ----

// V-M5: blocks of particles at random places touch when their shapes do, not a cell before. Catches
// a surface that is read off masses or off the places of particles.
static void bodies_meet_where_their_shapes_do(void)
{
    for (int turn = 0; turn <= 30; turn += 30) {
        char text[1024];
        snprintf(text, sizeof text,
                 "scene { dimension = 2, dx = 0.1, fps = 400, frames = 120, gravity = {0, 0} }\n"
                 "local rubber = material.elastic { density = 1000, young = 1e6, poisson = 0.3 }\n"
                 "local a = math.rad(%d)\n"
                 "local function block(name, x, v)\n"
                 "  particles { material = rubber, body = name,\n"
                 "    velocity = {v * math.cos(a), v * math.sin(a)},\n"
                 "    shape = move(box { min = {x - 0.4, -0.35}, max = {x + 0.4, 0.35} },\n"
                 "                 { rotation = { angle = %d } }) }\n"
                 "end\n"
                 "block('left', -0.5, 0.5)\n"
                 "block('right', 0.5, -0.5)\n"
                 "contact { friction = 0.2 }\n",
                 turn, turn);
        run r = start(text, 1);
        int frames = 0;
        while (r.world->pair_loads.count == 0 && frames < 120) {
            CHECK_HELPER(run_frames(r.world, 1));
            frames++;
        }
        // 0.2 m apart, 1 m/s: the shapes meet at the end of frame 80, and a frame is h / 40
        check_context("turned by %d: first contact in frame %d", turn, frames);
        CHECK(frames >= 76 && frames <= 82);
        stop(&r);
    }
}

// V-M6: friction between bodies is what was asked for, wherever the grid lies and particles are.
// Catches normals that tilt: nodes that tilt against the motion push, and the others do not.
static void a_block_slides_on_a_bed_as_friction_says(void)
{
    for (int turn = 0; turn <= 45; turn += check_long() ? 15 : 45) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "local a, slope, g = math.rad(%d), math.rad(30), 9.81\n"
            "local function along(x, y)\n"
            "  return math.cos(a) * x - math.sin(a) * y, math.sin(a) * x + math.cos(a) * y\n"
            "end\n"
            "scene { dimension = 2, dx = 0.1, fps = 20, frames = 24, gravity = function(t)\n"
            "  local s = g * math.min(1, t / 0.3)\n"
            "  return along(s * math.sin(slope), -s * math.cos(slope)) end }\n"
            "local rubber = material.elastic { density = 1000, young = 1e6, poisson = 0.3 }\n"
            "local function body(name, low, high)\n"
            "  particles { material = rubber, body = name,\n"
            "    shape = move(box { min = low, max = high }, { rotation = { angle = %d } }) }\n"
            "end\n"
            "body('bed', {-0.6, -0.4}, {4.0, 0})\n"
            "body('block', {0, 0}, {0.8, 0.4})\n"
            "contact { friction = 0.3 }\n"
            "collider { shape = move(half_space { point = {0, -0.4}, normal = {0, 1} },\n"
            "                        { rotation = { angle = %d } }) }\n",
            turn, turn, turn);
        run r = start(text, 1);
        const double c = cos(turn * M_PI / 180.0), s = sin(turn * M_PI / 180.0);
        CHECK_HELPER(run_frames(r.world, 8));
        const sums first = sums_of(r.world, 2);
        CHECK_HELPER(run_frames(r.world, 14));
        const sums last = sums_of(r.world, 2);
        const double found =
            (c * (last.v[0] - first.v[0]) + s * (last.v[1] - first.v[1])) / (14 / 20.0);
        check_context("turned by %d: %g m/s^2", turn, found);
        CHECK_NEAR(found, 9.81 * (0.5 - 0.3 * sqrt(0.75)), 0.03 * 2.3563);
        stop(&r);
    }
}

// ---- the same bits ----

// Sand, two bodies and a floor: everything at once.
#define HEAP                                                                                       \
    "scene { dx = 0.05, fps = 50, frames = 100, %s }\n"                                            \
    "local rubber = material.elastic { density = 1000, young = 1e5 }\n"                            \
    "particles { material = material.sand {}, shape = box { min = {-0.3, 0, -0.3}, max = {0.3, "   \
    "0.15, 0.3} } }\n"                                                                             \
    "particles { material = rubber, body = 'ball', velocity = {0, -2, 0}, shape = sphere { "       \
    "center = {0, 0.32, 0}, radius = 0.12 } }\n"                                                   \
    "particles { material = rubber, body = 'brick', velocity = {0, -2, 0}, shape = box { min = "   \
    "{-0.1, 0.46, -0.1}, max = {0.15, 0.6, 0.1} } }\n"                                             \
    "contact { friction = 0.3 }\n"                                                                 \
    "contact { bodies = {'ball', 'brick'}, friction = 0.1, normals = 'regression' }\n"             \
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n"

static void save(rp_world *world, void **state, size_t *size)
{
    CHECK_OK(rp_world_save(world, state, size));
}

static void bits_depend_neither_on_threads_nor_on_a_restart(void)
{
    static const char *const kinds[] = {"precision = 'single'",
                                        "precision = 'double', transfer = { flip = 0.9 }"};
    for (int k = 0; k < 2; k++) {
        char text[2048];
        void *state[4] = {0}, *half = NULL;
        size_t size[4] = {0}, half_size = 0;
        snprintf(text, sizeof text, HEAP, kinds[k]);
        static const int threads[] = {1, 2, 5, 3};
        for (int i = 0; i < 4; i++) {
            run r = start(text, threads[i]);
            if (i == 3) { // goes on from the middle of the first
                CHECK_OK(rp_world_restore(r.world, half, half_size));
            } else {
                CHECK_HELPER(run_frames(r.world, 3));
                CHECK_OK(rp_world_step(r.world));
                if (i == 0) {
                    CHECK_HELPER(save(r.world, &half, &half_size));
                }
            }
            CHECK_HELPER(run_frames(r.world, 3));
            CHECK(r.world->pair_loads.count == 2);
            CHECK_HELPER(save(r.world, &state[i], &size[i]));
            stop(&r);
            check_context("%s, %d threads", kinds[k], threads[i]);
            CHECK_EQUAL(size[i], size[0]);
            CHECK(memcmp(state[i], state[0], size[0]) == 0);
        }
        for (int i = 0; i < 4; i++) {
            rp_state_free(state[i]);
        }
        rp_state_free(half);
    }
}

// A ball in sand of its own field lifts off without taking sand along; in one field it sticks.
static void a_ball_that_is_lifted_leaves_the_sand_behind(void)
{
    double risen[2];
    for (int own = 0; own < 2; own++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "scene { dimension = 2, dx = 0.02, fps = 50, frames = 20 }\n"
                 "local ball = sphere { center = {0, 0.16}, radius = 0.08 }\n"
                 "particles { material = material.elastic { density = 1500, young = 2e5 }, "
                 "body = '%s', velocity = {0, 2}, shape = ball }\n"
                 "particles { material = material.sand {}, shape = subtract(box { min = {-0.3, 0}, "
                 "max = {0.3, 0.14} }, ball) }\n"
                 "contact { friction = 0.2 }\n"
                 "collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n",
                 own ? "ball" : "rest");
        run r = start(text, 1);
        CHECK_HELPER(run_frames(r.world, 8));
        // the ball's particles were the first
        double *x = malloc((size_t)r.world->next_id * 2 * sizeof *x);
        double *id = malloc((size_t)r.world->next_id * sizeof *id);
        CHECK_OK(rp_world_read(r.world, RP_COL_POSITION, x));
        CHECK_OK(rp_world_read(r.world, RP_COL_ID, id));
        int64_t high = 0;
        for (uint64_t i = 0; i < r.world->next_id; i++) {
            high += id[i] >= 201.0 && x[2 * i + 1] > 0.19; // sand above where it was
        }
        risen[own] = (double)high;
        free(x);
        free(id);
        stop(&r);
    }
    check_context("sand that rose: %g in one field, %g with two", risen[0], risen[1]);
    CHECK(risen[0] >= 8.0);
    CHECK(risen[1] <= 1.0);
}

TEST_MAIN(TEST(a_pair_swaps_velocities_and_keeps_momentum),
          TEST(what_a_pair_gives_each_other_is_told), TEST(bodies_meet_where_their_shapes_do),
          TEST(a_block_slides_on_a_bed_as_friction_says),
          TEST(bits_depend_neither_on_threads_nor_on_a_restart),
          TEST(a_ball_that_is_lifted_leaves_the_sand_behind))

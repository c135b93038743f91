// What a run watches, src/sim/watch.c and mouths in src/sim/pour.c: one that makes energy out of
// nothing is stopped, and no other is; emitters that are buried are told of.
#include "repose/repose.h"

#include "check.h"
#include "folder.h"
#include "scene_text.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// What the run of a scene came to.
typedef struct outcome {
    rp_result result;
    char sentence[1024];
    int64_t frame, step;
    rp_watch watch;
    bool left_failure;
} outcome;

typedef struct minder {
    int64_t stop_at; // step; -1: none
} minder;

static rp_run_answer mind(void *context, const rp_run_progress *at)
{
    const minder *m = context;
    return at->stats->step == m->stop_at ? RP_RUN_STOP : RP_RUN_GO;
}

static outcome go(const char *text, const char *folder, rp_run_mode mode, int64_t stop_at)
{
    outcome out = {0};
    minder m = {.stop_at = stop_at};
    rp_scene *scene = scene_of(text);
    rp_scene_info info;
    rp_scene_get_info(scene, &info);
    rp_scene_world_def world_def = rp_default_scene_world_def();
    world_def.threads = 1;
    world_def.empty = mode == RP_RUN_RESUME;
    rp_run_def def = rp_default_run_def();
    def.frames = info.frames;
    def.energy_limit = info.energy_limit;
    def.tick = mind;
    def.context = &m;
    rp_run *run = NULL;
    rp_run_end end;
    out.result = rp_scene_create_world(scene, &world_def, &def.world);
    out.result = out.result == RP_OK ? rp_run_open(folder, mode, &run) : out.result;
    out.result = out.result == RP_OK ? rp_run_go(run, &def, &end) : out.result;
    snprintf(out.sentence, sizeof out.sentence, "%s", out.result != RP_OK ? rp_last_error() : "");
    out.frame = def.world->time.frame;
    out.step = def.world->time.step;
    out.watch = def.world->watch;
    char path[256];
    snprintf(path, sizeof path, "%s/failure.hdf", folder);
    out.left_failure = access(path, F_OK) == 0;
    rp_run_close(run);
    rp_world_destroy(def.world);
    rp_scene_free(scene);
    return out;
}

static outcome run_scene(const char *text)
{
    test_folder folder = test_folder_make();
    const outcome out = go(text, folder.path, RP_RUN_NEW, -1);
    test_folder_remove(&folder);
    return out;
}

// A column of stiff sand on a floor.
static const char *column_of_sand(int dim, const char *precision, double share, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "scene { dimension = %d, precision = '%s', dx = 0.02, fps = 24, frames = 4, "
             "elastic_share = %g%s }\n"
             "particles { material = material.sand { young = 1e6 }, shape = box { min = {0, 0, 0}, "
             "max = {0.2, 0.3, 0.08} } }\n"
             "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "
             "'separate', friction = 0.5 }\n",
             dim, precision, share, more);
    return text;
}

// Catches a watch that sees only one variant, or forgets the failure's record.
static void energy_out_of_nothing_stops_a_run(void)
{
    check_expect_warning(); // such steps are doubted, too
    for (int k = 0; k < 4; k++) {
        const int dim = 2 + k / 2;
        const char *precision = k % 2 ? "double" : "single";
        check_context("%dD, %s", dim, precision);
        const outcome out = run_scene(column_of_sand(dim, precision, 6.0, ""));
        CHECK_EQUAL(out.result, RP_ERR_DIVERGED);
        CHECK(strstr(out.sentence, "times the energy") != NULL);
        CHECK(strstr(out.sentence, "energy_limit is 10") != NULL);
        CHECK(strstr(out.sentence, "elastic_share is 6") != NULL);
        CHECK(out.left_failure);
        CHECK(out.frame <= 2);
    }
}

// The scene decides how much is too much; a little is said, and only once.
static void the_scene_says_how_much_is_too_much(void)
{
    check_expect_warning();
    outcome out = run_scene(column_of_sand(2, "single", 6.0, ", energy_limit = 1e9"));
    CHECK_EQUAL(out.result, RP_OK);
    CHECK(strstr(check_last_warning(), "the run is blowing up") != NULL);
    CHECK(out.watch.told == 1.0);
    out = run_scene(column_of_sand(2, "single", 6.0, ", energy_limit = 0"));
    CHECK_EQUAL(out.result, RP_OK);
    CHECK(out.watch.told == 0.0);
    CHECK_ERROR(load(column_of_sand(2, "single", 6.0, ", energy_limit = 0.5")), RP_ERR_ARGUMENT,
                "scene.energy_limit: want > 1, or 0 for never, got 0.5");
}

// Catches a watch that begins anew when a run goes on: the run is broken off in mid-frame before it
// fails.
static void a_run_with_a_break_is_stopped_as_one_without(void)
{
    check_expect_warning(); // such steps are doubted, too
    static const char text[] =
        "scene { dimension = 2, precision = 'double', dx = 0.02, fps = 24, frames = 24, "
        "elastic_share = 2, energy_limit = 1.05 }\n"
        "particles { material = material.elastic { density = 1000, young = 1e5, poisson = 0.3 }, "
        "shape = box { min = {0, 0.2}, max = {0.3, 0.5} }, velocity = {1, -2} }\n"
        "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'slip' }";
    const outcome whole = run_scene(text);
    CHECK_EQUAL(whole.result, RP_ERR_DIVERGED);
    CHECK(whole.frame >= 2); // so that there is a frame to remember
    test_folder folder = test_folder_make();
    const int64_t per_frame = whole.step / whole.frame;
    outcome out = go(text, folder.path, RP_RUN_NEW, per_frame / 2);
    CHECK_EQUAL(out.result, RP_OK);
    out = go(text, folder.path, RP_RUN_RESUME, whole.step - per_frame / 3);
    CHECK_EQUAL(out.result, RP_OK);
    out = go(text, folder.path, RP_RUN_RESUME, -1);
    CHECK_EQUAL(out.result, whole.result);
    CHECK_EQUAL(out.step, whole.step);
    CHECK(strcmp(out.sentence, whole.sentence) == 0);
    CHECK(memcmp(&out.watch, &whole.watch, sizeof out.watch) == 0);
    test_folder_remove(&folder);
}

// What an elastic block gains is what was brought in, whoever brought it; a warning would fail the
// test. Each pushes it by more than it had.
static void work_that_somebody_does_is_accounted_for(void)
{
    static const struct {
        const char *who, *scene, *rest;
        double least; // share of what was brought in that is there at the end
        double most;  // share of it that may be there besides
    } cases[] = {
        {"gravity", "", "", 0.97, 0.02},
        {"gravity of time", ", gravity = function(t) return {20 * math.cos(7 * t), -3, 0} end", "",
         0.97, 0.02},
        {"a field",
         ", gravity = {0, 0, 0}, acceleration = function(t, x, y, z) return {4 * t, 3 + y, 0} end",
         "", 0.97, 0.02},
        {"a field against gravity",
         ", acceleration = function(t, x, y, z) return {0, 9.81 + 5 * math.cos(20 * t), 0} end", "",
         // the two nearly cancel, and a field works with velocities at the end of a step
         0.9, 0.1},
        {"a collider", ", gravity = {0, 0, 0}",
         "collider { shape = box { min = {-0.3, -1, -1}, max = {-0.02, 1, 1} }, contact = "
         "'separate', friction = 0, velocity = {1.5, 0, 0} }",
         0.6, 0.02},
        {"a collider that turns", ", gravity = {0, 0, 0}",
         "collider { shape = box { min = {-0.5, -0.1, -1}, max = {0.5, -0.02, 1} }, contact = "
         "'sticky', spin = { axis = {0, 0, 1}, rate = 90 } }",
         0.3, 0.02},
        {"a rigid body", ", gravity = {0, 0, 0}",
         "rigid { shape = box { min = {-0.3, 0, 0}, max = {-0.05, 0.2, 0.1} }, density = 4000, "
         "velocity = {2, 0, 0} }",
         0.3, 0.02},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[1024];
        check_context("%s", cases[k].who);
        snprintf(
            text, sizeof text,
            "scene { dimension = 2, precision = 'double', dx = 0.02, fps = 24, frames = 6%s }\n"
            "particles { material = material.elastic { density = 1000, young = 1e5, poisson = "
            "0.3 }, shape = box { min = {0, 0, 0}, max = {0.2, 0.2, 0.2} } }\n%s\n",
            cases[k].scene, cases[k].rest);
        test_folder folder = test_folder_make();
        const outcome out = go(text, folder.path, RP_RUN_NEW, -1);
        test_folder_remove(&folder);
        CHECK_OK(out.result);
        // the sum of all that was brought in: the account of frames whose surplus stayed 0 begins
        // anew, so that it is compared with the energy at the end of the last
        const double energy = out.watch.energy;
        CHECK(energy > 0.1);
        CHECK(out.watch.surplus <= cases[k].most * out.watch.most);
        CHECK(energy >= cases[k].least * out.watch.account);
    }
}

// None of these brings in energy that nobody knows of.
static void honest_scenes_are_left_alone(void)
{
    static const char *const scenes[] = {
        // a hard impact
        "scene { dimension = 2, dx = 0.02, fps = 24, frames = 6 }\n"
        "particles { material = material.sand {}, shape = box { min = {0, 0.1}, max = {0.2, 0.3} "
        "}, "
        "velocity = {0, -30} }\n"
        "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'separate' }",
        // a bouncing block of rubber
        "scene { dimension = 2, dx = 0.02, fps = 24, frames = 24 }\n"
        "particles { material = material.elastic { density = 1000, young = 1e5, poisson = 0.3 }, "
        "shape = box { min = {0, 0.2}, max = {0.2, 0.4} }, velocity = {0, -2} }\n"
        "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'slip' }",
        // an emitter, a sink and a stirrer
        "scene { dimension = 2, dx = 0.02, fps = 24, frames = 12 }\n"
        "emitter { material = material.sand {}, shape = box { min = {0, 0.5}, max = {0.2, 0.54} }, "
        "velocity = {0, -4} }\n"
        "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'separate' "
        "}\n"
        "collider { shape = box { min = {-0.1, 0.12}, max = {0.3, 0.18} }, contact = 'sticky', "
        "spin = { axis = {0, 0, 1}, rate = 720 } }\n"
        "sink { shape = box { min = {0.3, -1}, max = {1, 0.5} } }",
        // other methods, with a wind
        "scene { dimension = 2, method = 'nonsmooth', dx = 0.02, fps = 24, frames = 12, "
        "acceleration "
        "= function(t, x, y, z) return {10 * math.sin(20 * t), y > 0.1 and 15 or 0, 0} end }\n"
        "particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.2, 0.2} } "
        "}\n"
        "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'separate' }",
        "scene { dimension = 2, method = 'sph', dx = 0.04, fps = 24, frames = 12, acceleration "
        "= function(t, x, y, z) return {10 * math.sin(20 * t), y > 0.1 and 15 or 0, 0} end }\n"
        "particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.4, 0.4} } "
        "}\n"
        "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = 'separate' }",
    };
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        char text[1024];
        check_context("scene %zu", k);
        snprintf(text, sizeof text, "%s", scenes[k]);
        const outcome out = run_scene(text);
        CHECK_OK(out.result);
        CHECK(out.watch.told == 0.0);
    }
}

// Catches an energy that is no number and passes for none: a comparison must fail it.
static void what_is_no_number_is_too_much(void)
{
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    rp_totals totals;
    def.dx = 0.1;
    CHECK_OK(rp_world_create(&def, &world));
    rp_world_totals(world, &totals);
    rp_watch_begin(world, &totals);
    CHECK_OK(rp_watch_frame(world, &totals, 10.0));
    totals.elastic = NAN;
    CHECK_ERROR(rp_watch_frame(world, &totals, 10.0), RP_ERR_DIVERGED, "energy_limit");
    rp_world_destroy(world);
}

static int buried_warnings;

static void count_buried(rp_log_level level, const char *message, void *context)
{
    (void)context;
    buried_warnings += level == RP_LOG_WARNING && strstr(message, "its mouth is buried") != NULL;
}

// Catches a warning in every frame, one that comes again when the run goes on, and one for a free
// stream.
static void a_mouth_that_is_buried_is_told_of_once(void)
{
    for (int k = 0; k < 6; k++) {
        static const char *const methods[] = {"explicit", "nonsmooth", "sph"};
        const bool high = k % 2;
        const char *method = methods[k / 2];
        // smoothed particles that lie in each other fly apart: buried only just before the end
        const double mouth = high ? 0.6 : k / 2 == 2 ? 0.28 : 0.1;
        char text[1024];
        check_context("%s, %s", method, high ? "above the sand" : "in it at the end");
        snprintf(
            text, sizeof text,
            "scene { dimension = 2, method = '%s', dx = %g, fps = 24, frames = 16, "
            "energy_limit = 0 }\n"
            "emitter { name = 'hose', material = material.sand {}, shape = box { min = {0.1, "
            "%g}, max = {0.3, %g} }, velocity = {0, -1} }\n"
            "collider { shape = invert(box { min = {0, 0}, max = {0.4, 9} }), contact = 'slip' "
            "}\n",
            method, k / 2 == 2 ? 0.04 : 0.02, mouth, mouth + 0.04);
        test_folder folder = test_folder_make();
        buried_warnings = 0;
        rp_set_log_hook(count_buried, NULL);
        outcome out = go(text, folder.path, RP_RUN_NEW, -1);
        const int first = buried_warnings;
        // and on: two frames more
        char *frames = strstr(text, "frames = 16");
        memcpy(frames, "frames = 18", strlen("frames = 18"));
        outcome more = go(text, folder.path, RP_RUN_RESUME, -1);
        rp_set_log_hook(NULL, NULL);
        test_folder_remove(&folder);
        CHECK_OK(out.result);
        CHECK_OK(more.result);
        CHECK_EQUAL(more.frame, 18);
        CHECK_EQUAL(first, high ? 0 : 1);
        CHECK_EQUAL(buried_warnings, high ? 0 : 1);
    }
}

TEST_MAIN(TEST(energy_out_of_nothing_stops_a_run), TEST(the_scene_says_how_much_is_too_much),
          TEST(a_run_with_a_break_is_stopped_as_one_without),
          TEST(work_that_somebody_does_is_accounted_for), TEST(honest_scenes_are_left_alone),
          TEST(what_is_no_number_is_too_much), TEST(a_mouth_that_is_buried_is_told_of_once))

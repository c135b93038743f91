// Warnings before a run, and steps that moving colliders bound.
#include "check.h"
#include "folder.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All warnings of one scene, a line each.
static char warnings[4096];

static void gather(rp_log_level level, const char *message, void *context)
{
    (void)context;
    if (level == RP_LOG_WARNING) {
        const size_t length = strlen(warnings);
        snprintf(warnings + length, sizeof warnings - length, "%s\n", message);
    }
}

static void foresee(const char *text)
{
    rp_scene *scene = scene_of(text);
    rp_scene_world_def def = rp_default_scene_world_def();
    rp_world *world;
    def.plan = true;
    warnings[0] = '\0';
    CHECK_OK(rp_scene_create_world(scene, &def, &world));
    rp_set_log_hook(gather, NULL);
    const rp_result result = rp_world_foresee(world);
    rp_set_log_hook(NULL, NULL);
    CHECK_OK(result);
    rp_world_destroy(world);
    rp_scene_free(scene);
}

#define GROUND                                                                                     \
    "collider { name = 'ground', shape = half_space { point = {0,0,0}, normal = {0,1,0} } }\n"
#define HEAP                                                                                       \
    "particles { material = material.sand {}, shape = box { min = {-1,0,-1}, max = {1,1,1} } }\n"

// A box of stiff sand on a lattice
#define ROWS(spacing)                                                                              \
    START GROUND "local spacing = 0.1 * " spacing "\n"                                             \
                 "local s = material.sand { young = 1e7 }\n"
#define ROWS_FROM(x)                                                                               \
    "particles { material = s, sampling = 'lattice', jitter = 0, spacing = spacing,\n"             \
    "shape = box { min = {" x "," x "," x "}, max = {" x "+1.9," x "+1.9," x "+1.9} } }\n"

static void what_is_fine_is_not_told(void)
{
    static const char *const scenes[] = {
        START HEAP GROUND,
        // a ball on the ground, a cone, walls that reach into the ground, a thick bowl
        START HEAP GROUND "collider { shape = sphere { center = {3,0.5,0}, radius = 0.5 } }\n"
                          "collider { shape = cone { base = {-3,0,0}, radius = 1, height = 1 } }\n"
                          "collider { shape = box { min = {-1,-1,2}, max = {1,1,2.5} } }\n",
        // round things that touch the ground far from most of what is near it, and each other
        START HEAP GROUND
        "collider { shape = sphere { center = {6,2,0}, radius = 2 } }\n"
        "collider { shape = sphere { center = {8.828,1,0}, radius = 1 } }\n"
        "collider { shape = ellipsoid { center = {-6,0.5,0}, radii = {3,0.5,3} } }\n"
        "collider { shape = capsule { a = {-2,1.5,7}, b = {2,1.5,7}, radius = 1.5 } }\n",
        START "particles { material = material.sand {}, shape = box { min = {-1,-1,-1}, max = "
              "{1,0,1} } }\n"
              "collider { shape = invert(box { min = {-1,-1,-1}, max = {1,1,1} }) }\n",
        // free bodies beside each other and above the ground are elsewhere soon
        START HEAP GROUND
        "collider { shape = box { min = {3,0,-1}, max = {4,2,1} } }\n"
        "rigid { density = 500, shape = box { min = {4.12,0.1,-1}, max = {5,2,1} } }\n"
        "rigid { density = 500, shape = box { min = {5.12,0.1,-1}, max = {6,2,1} } }\n",
        // nothing pulls, so nothing falls
        "scene { dx = 0.1, frames = 1, gravity = {0,0,0} }\n" HEAP,
        // the domain, space that comes round and a sink end a fall
        START "domain { min = {-2,-1,-2}, max = {2,2,2}, leave = 'remove' }\n" HEAP,
        "scene { dx = 0.125, frames = 1 }\n"
        "domain { min = {0,0,0}, max = {2,2,2}, periodic = {false, true, false} }\n"
        "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} } }\n",
        START HEAP "sink { shape = half_space { point = {0,-3,0}, normal = {0,1,0} } }\n",
        // rows of particles, more in one block than in the next; some on the borders of blocks
        ROWS("0.65") ROWS_FROM("0"),
        ROWS("1") ROWS_FROM("0"),
        ROWS("1.1") ROWS_FROM("0"),
        ROWS("0.5") ROWS_FROM("0.025"),
        // high is not deep: a heap with a lump far above, and a layer on a slope
        START GROUND
        "local s = material.sand {}\n"
        "particles { material = s, shape = box { min = {-1,0,-1}, max = {1,0.2,1} } }\n"
        "particles { material = s, shape = box { min = {-1,2.5,-1}, max = {1,2.6,1} } }\n",
        "scene { dx = 0.1, frames = 1, gravity = {4.1,-8.9,0} }\n" GROUND
        "particles { material = material.sand {}, shape = box { min = {-2,0,-1}, max = {2,0.1,1} } "
        "}\n",
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        check_context("scene %zu", i);
        CHECK_HELPER(foresee(scenes[i]));
        check_context("scene %zu: %s", i, warnings);
        CHECK(warnings[0] == '\0');
    }
}

static void what_will_go_wrong_is_told(void)
{
    static const struct {
        const char *text, *sentence, *detail;
    } scenes[] = {
        // 2200 kg/m^3 * 9.81 m/s^2 * 2 m against a modulus of 4.76e5 Pa: 9 %
        {START GROUND "particles { material = material.sand {},\n"
                      "shape = box { min = {-1,0,-1}, max = {1,2,1} } }\n",
         "sand is soft for its height: its own weight presses it together by 9.1 %", "e+06 makes"},
        // all of it twice
        {ROWS("0.5") ROWS_FROM("0") ROWS_FROM("0"), "particles lie in each other: near ",
         " times as much as fits"},
        {START HEAP GROUND
         "collider { name = 'sheet', shape = box { min = {2,0,-1}, max = {2.2,2,1} } }\n",
         "collider 'sheet' is thinner than 4 dx over ", "about 0.2 m at"},
        {"scene { dx = 0.1, frames = 10, explicit = { contact_at = 'surface' } }\n" HEAP GROUND
         "collider { name = 'sheet', shape = box { min = {2,0,-1}, max = {2.15,2,1} } }\n",
         "collider 'sheet' is thinner than 2 dx over ", "about 0.15 m at"},
        {START HEAP GROUND
         "collider { name = 'foil', shape = box { min = {2,0,-1}, max = {2.06,2,1} } }\n",
         "collider 'foil' is thinner than dx over ",
         "): sand may fall through it; want at least 0.1 m"},
        {START HEAP GROUND
         "collider { name = 'bowl', shape = revolve { base = {4,1,0}, thickness = 0.3,\n"
         "  profile = { {0.4, 0}, {1, 0.2}, {1.5, 1} } } }\n",
         "collider 'bowl' is thinner than 4 dx", "of its surface, about 0.3 m"},
        {START HEAP GROUND
         "collider { name = 'left', shape = box { min = {3,0,-1}, max = {4,2,1} } }\n"
         "collider { name = 'right', shape = box { min = {4.12,0,-1}, max = {5,2,1} } }\n",
         "collider 'left' and collider 'right' leave a gap of about 0.1", "less than 2 dx"},
        // the neck of a funnel: a small part of the surface
        {START HEAP GROUND
         "local block = cylinder { base = {5,1,0}, radius = 2, height = 3 }\n"
         "local funnel = cone { base = {5,4.1,0}, radius = 1.5, height = 2, axis = {0,-1,0} }\n"
         "local neck = cylinder { base = {5,0.5,0}, radius = 0.07, height = 3 }\n"
         "collider { name = 'funnel', shape = subtract(block, funnel, neck) }\n",
         "collider 'funnel' leaves a gap of about 0.1", "less than 2 dx"},
        {START GROUND "particles { material = material.cam_clay {}, "
                      "shape = box { min = {1,0,0}, max = {2,1,1} } }\n"
                      "particles { material = material.water {}, "
                      "shape = box { min = {3,0,0}, max = {4,1,1} } }\n",
         "sand and water share one velocity with method explicit", "does not flow through sand"},
        {START HEAP GROUND "probe { name = 'tip', particle = 99999 }\nprobe { particle = 999 }\n",
         "probe 'tip' looks for particle 99999, and there are only those from 0 to ", ""},
        {START HEAP, "about 100 % of the particles", "above nothing to land on"},
        {START
         "particles { material = material.sand {}, shape = box { min = {0,1,0}, max = {2,2,1} } }\n"
         "collider { shape = box { min = {-1,0,-1}, max = {1,0.6,2} } }\n",
         "% of the particles at the start", "above nothing to land on"},
        {START "domain { min = {0,-9,-9}, max = {9,9,9}, leave = 'remove' }\n" HEAP GROUND,
         "% of the particles at the start", "are outside of the domain"},
        {START HEAP GROUND "sink { shape = box { min = {-1,-1,-1}, max = {1,2,1} } }\n",
         "about 100 %", "are inside a sink and will vanish at once"},
        {START GROUND
         "emitter { name = 'spout', material = material.sand {}, velocity = {0,-1,0},\n"
         "  shape = sphere { center = {0,-3,0}, radius = 0.5 } }\n",
         "about 100 % of what emitter 'spout' pours", "are inside a collider"},
        {START "emitter { material = material.sand {}, velocity = {0,-1,0},\n"
               "  shape = sphere { center = {0,3,0}, radius = 0.5 } }\n",
         "of what emitter '0' pours", "above nothing to land on"},
        {"scene { dx = 0.125, frames = 1 }\n"
         "domain { min = {0,-9,0}, max = {2,9,2}, periodic = {true, false, true} }\n"
         "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {2,1,2} } }\n"
         "collider { name = 'bump', shape = sphere { center = {2,3,1}, radius = 0.6 } }\n",
         "collider 'bump' crosses the border of the periodic domain along x", "come round"},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        check_context("scene %zu", i);
        CHECK_HELPER(foresee(scenes[i].text));
        check_context("scene %zu: %s", i, warnings);
        CHECK(strstr(warnings, scenes[i].sentence) != NULL);
        CHECK(strstr(warnings, scenes[i].detail) != NULL);
        CHECK(strchr(warnings, '\n') == strrchr(warnings, '\n')); // one and no other
    }
}

// A plate of triangles, turned; and a wedge, which has an edge but no wall. Catches a thickness
// that is read off edges and corners.
static void the_thickness_of_a_mesh_is_told_as_it_is(void)
{
    static const double thick[] = {0.06, 0.07, 0.08, 0.15, 0.3};
    static const double tilt[] = {0.0, 10.0, 17.0, 33.0, 45.0, 71.0};
    test_folder folder = test_folder_make();
    for (int k = 0; k < 30; k++) {
        char obj[1024], text[1024], *at = obj;
        const double t = thick[k / 6], angle = tilt[k % 6];
        for (int i = 0; i < 8; i++) {
            at += sprintf(at, "v %g %g %g\n", i & 1 ? 1.0 : -1.0, (i & 2 ? 0.5 : -0.5) * t,
                          i & 4 ? 0.8 : -0.8);
        }
        sprintf(at, "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\n"
                    "f 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n");
        test_write_file(test_path(&folder, "plate.obj"), obj, (long)strlen(obj));
        snprintf(text, sizeof text,
                 START HEAP GROUND
                 "collider { name = 'plate', shape = move(mesh { file = '%s' }, { "
                 "position = {0, 3, 0}, rotation = { axis = {3, 2, 1}, angle = "
                 "%g } }) }",
                 test_path(&folder, "plate.obj"), angle);
        CHECK_HELPER(foresee(text));
        check_context("%g m, %g degrees: %s", t, angle, warnings);
        const char *said = strstr(warnings, "% of its surface, about ");
        CHECK(said != NULL);
        CHECK_NEAR(strtod(said + strlen("% of its surface, about "), NULL), t, 0.1 * t + 0.005);
        CHECK((strstr(warnings, "is thinner than dx over") != NULL) == (t < 0.1));
    }
    static const char wedge[] =
        "v 0 0 -1\nv 2 0 -1\nv 0 2 -1\nv 0 0 1\nv 2 0 1\nv 0 2 1\n"
        "f 1 3 2\nf 4 5 6\nf 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\nf 3 1 4\nf 3 4 6\n";
    char text[512];
    test_write_file(test_path(&folder, "wedge.obj"), wedge, (long)strlen(wedge));
    snprintf(text, sizeof text,
             START HEAP GROUND "collider { shape = move(mesh { file = '%s' }, { position = {3, 0, "
                               "0} }) }",
             test_path(&folder, "wedge.obj"));
    CHECK_HELPER(foresee(text));
    check_context("a wedge: %s", warnings);
    CHECK(warnings[0] == '\0');

    // a funnel whose rims are cut at 45 degrees, with walls of 1.2 dx: it is not thinner
    // than its resolution can show
    enum { ROUND = 24 };
    static const double profile[4][2] = {{2.0, 0.0}, {10.0, 8.0}, {11.0, 8.0}, {3.0, -1.0}};
    char funnel[16384], *at = funnel;
    for (int k = 0; k < ROUND; k++) {
        for (int i = 0; i < 4; i++) {
            const double turn = 2.0 * 3.14159265358979 * k / ROUND;
            at += sprintf(at, "v %g %g %g\n", profile[i][0] * cos(turn), profile[i][1],
                          profile[i][0] * sin(turn));
        }
    }
    for (int k = 0; k < ROUND; k++) {
        for (int i = 0; i < 4; i++) {
            const int a = 4 * k + i + 1, b = 4 * k + (i + 1) % 4 + 1,
                      c = 4 * ((k + 1) % ROUND) + (i + 1) % 4 + 1,
                      d = 4 * ((k + 1) % ROUND) + i + 1;
            at += sprintf(at, "f %d %d %d\nf %d %d %d\n", a, c, b, a, d, c);
        }
    }
    test_write_file(test_path(&folder, "funnel.obj"), funnel, (long)strlen(funnel));
    snprintf(text, sizeof text,
             START HEAP GROUND "collider { shape = move(mesh { file = '%s', scale = 0.1667 }, { "
                               "position = {4, 1, 0} }) }",
             test_path(&folder, "funnel.obj"));
    warnings[0] = '\0';
    rp_set_log_hook(gather, NULL);
    rp_scene *scene = scene_of(text);
    rp_set_log_hook(NULL, NULL);
    rp_scene_free(scene);
    check_context("a funnel: %s", warnings);
    CHECK(warnings[0] == '\0');
    test_folder_remove(&folder);
}

static void only_plans_are_foreseen(void)
{
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    def.dx = 0.1;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_ERROR(rp_world_foresee(world), RP_ERR_ARGUMENT, "not planned");
    rp_world_destroy(world);
}

// ---- steps ----

static rp_result fly(void *context, double t, rp_pose *out)
{
    out->position[0] = *(double *)context * t;
    return RP_OK;
}

static rp_result leap(void *context, double t, rp_pose *out)
{
    out->position[0] = t < *(double *)context ? 0.0 : 10.0;
    return RP_OK;
}

static rp_result leap_upon(void *context, double t, rp_pose *out)
{
    out->position[0] = t < *(double *)context ? -20.0 : -0.5;
    return RP_OK;
}

// A block of sand at (1..2, 0..1) without weight, and a ball at (0, 0.5).
static rp_world *block_and_ball(double radius, rp_pose_of_time motion)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_collider_def ball = rp_default_collider_def();
    rp_world *world;
    rp_shape *shape = NULL;
    const double center[3] = {0.0, 0.5, 0.0};
    def.dimension = 2;
    def.dx = 0.1;
    def.gravity[1] = 0.0;
    sand.young = 1e3;
    box.lower[0] = 1.0;
    box.upper[0] = 2.0;
    box.upper[1] = 1.0;
    rp_result result = rp_world_create(&def, &world);
    result = result == RP_OK ? rp_world_add_material(world, &sand, &box.material) : result;
    result = result == RP_OK ? rp_world_add_box(world, &box, NULL) : result;
    result = result == RP_OK ? rp_shape_sphere(center, radius, &shape) : result;
    ball.shape = shape;
    ball.motion = motion;
    result = result == RP_OK ? rp_world_add_collider(world, &ball) : result;
    rp_shape_release(shape);
    if (result != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return world;
}

// Catches a collider that passes over sand between two steps: where they meet, the ball goes at
// most a cell a step, and its first contact with sand at rest is within a cell of the sand.
static void a_fast_collider_takes_short_steps(void)
{
    double speed = 30.0;
    rp_stats stats;
    rp_world *world = block_and_ball(0.4, (rp_pose_of_time){fly, &speed});
    bool met = false;
    for (int i = 0; i < 60; i++) {
        CHECK_OK(rp_world_step(world));
        rp_world_stats(world, &stats);
        const double front = 0.4 + speed * stats.time;
        if (front > 1.1 && front < 2.0) {
            check_context("step %d, t = %g s, bounded by %s", i, stats.time, stats.limiter);
            CHECK(speed * stats.dt <= 0.1 * (1.0 + 1e-9));
            met = true;
        }
    }
    CHECK(met);
    rp_world_destroy(world);
}

// Also at the very end of a frame, or a hair before or after it, where the step that is left
// shrinks as the leap comes near.
static void a_collider_that_leaps_does_not_stop_the_run(void)
{
    for (int i = 0; i < 60; i++) {
        double when = (1 + i / 5) / 24.0 + (i % 5 - 2) * (i % 2 != 0 ? 1e-15 : 1e-9);
        rp_stats stats;
        rp_world *world = block_and_ball(0.4, (rp_pose_of_time){leap, &when});
        check_context("at %.17g s", when);
        for (int frame = 0; frame < 14; frame++) {
            CHECK_OK(rp_world_run_frame(world));
        }
        rp_world_stats(world, &stats);
        CHECK(stats.step < 2000);
        rp_world_destroy(world);
    }
}

// Catches a grain that is put back further than a place can be written: forty cells deep, it comes
// out bit by bit.
static void sand_that_a_collider_leapt_upon_comes_out(void)
{
    static const double radius = 6.0, dx = 0.1;
    double when = 0.01;
    rp_stats stats = {0};
    rp_world *world = block_and_ball(radius, (rp_pose_of_time){leap_upon, &when});
    while (stats.time < 0.02 || stats.step < 150) {
        CHECK_OK(rp_world_step(world));
        rp_world_stats(world, &stats);
    }
    double(*x)[2] = malloc((size_t)stats.particles * sizeof *x);
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, x[0]));
    for (int64_t i = 0; i < stats.particles; i++) {
        check_context("particle %lld", (long long)i);
        CHECK_NEAR(hypot(x[i][0] + 0.5, x[i][1] - 0.5), radius, dx);
    }
    free(x);
    rp_world_destroy(world);
}

TEST_MAIN(TEST(what_is_fine_is_not_told), TEST(what_will_go_wrong_is_told),
          TEST(only_plans_are_foreseen), TEST(the_thickness_of_a_mesh_is_told_as_it_is),
          TEST(a_fast_collider_takes_short_steps),
          TEST(a_collider_that_leaps_does_not_stop_the_run),
          TEST(sand_that_a_collider_leapt_upon_comes_out))

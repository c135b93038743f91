// Colliders that move evenly or from key frame to key frame, against what the scene says.
#include "check.h"
#include "scene/scene.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BALL   "collider { shape = sphere { center = {0,0,0}, radius = 1 }, "
#define DEGREE (3.14159265358979323846 / 180.0)

// The pose of the scene's one collider.
static rp_pose pose_at(const rp_scene *scene, double t)
{
    const rp_pose_of_time motion = rp_scene_motion(rp_call_find(scene->first, "collider"));
    rp_pose pose = {.rotation = {0.0, 0.0, 0.0, 1.0}};
    if (motion.call(motion.context, t, &pose) != RP_OK) {
        check_record(__FILE__, __LINE__, "no pose: %s", rp_last_error());
    }
    return pose;
}

static double x_at(const rp_scene *scene, double t) { return pose_at(scene, t).position[0]; }

static double angle_at(const rp_scene *scene, double t)
{
    const rp_pose pose = pose_at(scene, t);
    return 2.0 * atan2(pose.rotation[2], pose.rotation[3]) / DEGREE;
}

static void key_frames_are_reached_and_held(void)
{
    for (int linear = 0; linear < 2; linear++) {
        char text[512];
        snprintf(text, sizeof text,
                 START BALL "between = '%s', keys = { { time = 1, position = {2, 0, 1} },\n"
                            "  { time = 2, position = {5, 1, 1}, rotation = { angle = 90 } },\n"
                            "  { time = 4, position = {-1, 1, 1}, rotation = { angle = 450 } } } }",
                 linear ? "linear" : "smooth");
        rp_scene *scene = scene_of(text);
        static const double time[] = {0.0, 1.0, 2.0, 4.0, 9.0}, x[] = {2.0, 2.0, 5.0, -1.0, -1.0},
                            angle[] = {0.0, 0.0, 90.0, 90.0, 90.0};
        for (int i = 0; i < 5; i++) {
            check_context("%s at %g s", linear ? "linear" : "smooth", time[i]);
            CHECK_NEAR(x_at(scene, time[i]), x[i], 1e-12);
            CHECK_NEAR(pose_at(scene, time[i]).position[2], 1.0, 1e-12);
            // from 90 to 450 degrees it turns once, so that the quaternion changes its sign
            CHECK_NEAR(cos(angle_at(scene, time[i]) * DEGREE), cos(angle[i] * DEGREE), 1e-12);
            CHECK_NEAR(sin(angle_at(scene, time[i]) * DEGREE), sin(angle[i] * DEGREE), 1e-12);
        }
        rp_scene_free(scene);
    }
}

static void linear_goes_straight(void)
{
    rp_scene *scene =
        scene_of(START BALL "between = 'linear', keys = { { time = 0, position = {1, 0, 0} },\n"
                            "  { time = 2, position = {2, 4, 0}, rotation = { angle = 360 } } } }");
    for (int i = 0; i <= 8; i++) {
        const double s = i / 8.0;
        const rp_pose pose = pose_at(scene, 2.0 * s);
        CHECK_NEAR(pose.position[0], 1.0 + s, 1e-12);
        CHECK_NEAR(pose.position[1], 4.0 * s, 1e-12);
        CHECK_NEAR(pose.rotation[2], sin(180.0 * DEGREE * s), 1e-12);
        CHECK_NEAR(pose.rotation[3], cos(180.0 * DEGREE * s), 1e-12);
    }
    rp_scene_free(scene);
}

// Catches a curve that jumps in speed at a key, shoots over one, or does not rest at its ends.
static void smooth_is_smooth(void)
{
    rp_scene *scene = scene_of(
        START BALL "keys = { { time = 0, position = {0, 0, 0} },\n"
                   "  { time = 1, position = {1, 0, 0} }, { time = 3, position = {9, 0, 0} },\n"
                   "  { time = 4, position = {9, 0, 0} }, { time = 5, position = {2, 0, 0} },\n"
                   "  { time = 7, position = {3, 0, 0} } } }");
    static const double time[] = {0.0, 1.0, 3.0, 4.0, 5.0, 7.0};
    const double d = 1e-6;
    for (int i = 0; i < 6; i++) {
        const double before = (x_at(scene, time[i]) - x_at(scene, time[i] - d)) / d;
        const double after = (x_at(scene, time[i] + d) - x_at(scene, time[i])) / d;
        check_context("key %d: %g and %g m/s", i, before, after);
        CHECK_NEAR(before, after, 1e-4);
        // the ends, and where it stays or turns round
        CHECK_NEAR(after, i == 1 ? after : 0.0, 1e-4);
        CHECK(i != 1 || after > 0.5);
    }
    for (int i = 0; i < 5; i++) {
        const double from = x_at(scene, time[i]), to = x_at(scene, time[i + 1]);
        double last = from;
        for (int k = 1; k <= 200; k++) {
            const double x = x_at(scene, time[i] + (time[i + 1] - time[i]) * k / 200.0);
            check_context("piece %d, %d of 200", i, k);
            CHECK((x - last) * (to - from) >= -1e-12); // never back
            CHECK(from != to || fabs(x - from) < 1e-12);
            last = x;
        }
    }
    rp_scene_free(scene);
}

// Keys on a straight line at even speed: between the first and the last piece smooth is that line.
static void smooth_keeps_an_even_speed(void)
{
    rp_scene *scene = scene_of(
        START BALL "keys = { { time = 0, position = {0, 0, 0} },\n"
                   "  { time = 1, position = {2, 0, 0} }, { time = 1.5, position = {3, 0, 0} },\n"
                   "  { time = 4, position = {8, 0, 0} }, { time = 5, position = {10, 0, 0} } } }");
    for (int k = 0; k <= 30; k++) {
        const double t = 1.0 + 0.1 * k;
        CHECK_NEAR(x_at(scene, t), 2.0 * t, 1e-12);
    }
    rp_scene_free(scene);
}

static void even_motion_turns_about_its_centre(void)
{
    rp_scene *scene = scene_of(START BALL "velocity = {1, 0, 0}, spin = { rate = 90, "
                                          "center = {2, 0, 0} } }");
    const rp_pose pose = pose_at(scene, 1.0);
    // a quarter turn takes the origin from (2, 0) - (2, 0) to (2, 0) - (0, 2), and 1 m along
    CHECK_NEAR(pose.position[0], 3.0, 1e-12);
    CHECK_NEAR(pose.position[1], -2.0, 1e-12);
    CHECK_NEAR(angle_at(scene, 1.0), 90.0, 1e-10);
    rp_scene_free(scene);
}

static void wrong_keys_are_refused(void)
{
    static const struct {
        const char *text, *sentence;
    } mistakes[] = {
        {"keys = {} }",
         "collider.keys: want a list of at most 4096 tables, such as {{ time = ... }}"},
        {"keys = { { time = 0 } } }", "test.lua:2: collider.keys: want two or more, got 1"},
        {"keys = { { time = 0 }, { time = 0 } } }",
         "collider.keys: want times that grow, got 0 s after 0 s in number 2"},
        {"keys = { { time = 0 }, { tme = 1 } } }",
         "collider.keys[2]: unknown key 'tme'; did you mean 'time'?"},
        {"keys = { { time = 0 }, { position = {0, 0, 0} } } }",
         "collider.keys[2].time: want a number, got nothing"},
        {"keys = { { time = 0 }, { time = 1, position = {0, 0} } } }", "want 3 components"},
        {"keys = { { time = 0 }, { time = 1, rotation = { axis = {0, 0, 0}, angle = 1 } } } }",
         "collider.keys: want an axis that is not 0"},
        {"keys = { { time = 0 }, { time = 1 } }, velocity = {1, 0, 0} }", "got both"},
        {"between = 'linear' }", "collider.between: want none without keys"},
        {"keys = { { time = 0 }, { time = 1 } }, between = 'smoth' }", "did you mean \"smooth\"?"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, START BALL "%s", mistakes[i].text);
        check_context("%s", text);
        CHECK_ERROR(load(text), RP_ERR_ARGUMENT, mistakes[i].sentence);
    }
}

// Where a pose takes a point, by a matrix that is made the long way.
static void take_to(const rp_pose *pose, const double x[3], double out[3])
{
    const double *q = pose->rotation, w = q[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = pose->position[a] + (1.0 - 2.0 * (q[b] * q[b] + q[c] * q[c])) * x[a] +
                 2.0 * (q[a] * q[b] - w * q[c]) * x[b] + 2.0 * (q[a] * q[c] + w * q[b]) * x[c];
    }
}

// Whatever turns it, the pivot goes where `position` says. Catches a pivot that is turned the wrong
// way, or that a spin with a centre of its own gets besides.
static void a_turn_leaves_the_pivot_in_place(void)
{
    static const double pivot[3] = {0.3, -0.2, 0.5}, own[3] = {1.0, 2.0, 3.0};
    static const struct {
        const char *text;
        bool has_center;
    } cases[] = {
        {"keys = { { time = 0 }, { time = 2, position = {2, 0, 0}, rotation = { axis = {1, 2, 3}, "
         "angle = 250 } } }, between = 'linear'",
         false},
        {"motion = function(t) return { position = {t, 0, 0}, rotation = { axis = {1, 2, 3}, angle "
         "= 80 * t } } end",
         false},
        {"velocity = {1, 0, 0}, spin = { axis = {1, 2, 3}, rate = 70 }", false},
        {"velocity = {1, 0, 0}, spin = { axis = {1, 2, 3}, rate = 70, center = {1, 2, 3} }", true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[512];
        snprintf(text, sizeof text, START BALL "pivot = {0.3, -0.2, 0.5}, %s }", cases[k].text);
        rp_scene *scene = scene_of(text);
        for (double t = 0.0; t <= 2.0; t += 0.25) {
            const double *still = cases[k].has_center ? own : pivot;
            const rp_pose pose = pose_at(scene, t);
            double at[3];
            check_context("%s at %g s", cases[k].text, t);
            take_to(&pose, still, at);
            CHECK_NEAR(at[0], still[0] + t, 1e-12);
            CHECK_NEAR(at[1], still[1], 1e-12);
            CHECK_NEAR(at[2], still[2], 1e-12);
            CHECK(t == 0.0 || fabs(pose.rotation[3]) < 0.999); // and it turns
        }
        rp_scene_free(scene);
    }
    CHECK_ERROR(load(START BALL "pivot = {1, 0, 0} }"), RP_ERR_ARGUMENT,
                "test.lua:2: collider.pivot: want none without motion, keys or spin");
}

TEST_MAIN(TEST(key_frames_are_reached_and_held), TEST(linear_goes_straight), TEST(smooth_is_smooth),
          TEST(smooth_keeps_an_even_speed), TEST(even_motion_turns_about_its_centre),
          TEST(a_turn_leaves_the_pivot_in_place), TEST(wrong_keys_are_refused))

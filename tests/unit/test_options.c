// Tests how the options of a method get from a scene to its solver: `scene { warm = { ... } }`,
// with two methods that were made up. They step as the explicit one does, and note what they are
// given.
#include "repose/run.h"
#include "repose/scene.h"
#include "sim/world.h"

#include "check.h"
#include "folder.h"
#include "scene_text.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

typedef enum start { START_ZERO, START_LAST } start;

// What the solver of "warm" reads.
typedef struct warm_options {
    double tolerance;
    double cone; // [rad]
    double damping;
    bool exact;
    start start;
    bool searches;
    double shrink;
} warm_options;
_Static_assert(sizeof(warm_options) <= sizeof(((rp_world_def *)0)->option), "room for options");

#define AT(member) .offset = offsetof(warm_options, member)
static const rp_property search[] = {
    {.name = "shrink",
     .type = RP_PROPERTY_NUMBER,
     .low = 0.0,
     .high = 1.0,
     .above_low = true,
     .below_high = true,
     .otherwise = "0.5",
     .sentence = "Of a step that was too long.",
     AT(shrink)},
};
static const char *const starts[] = {"zero", "last", NULL};
static const rp_property warm_option[] = {
    {.name = "tolerance",
     .type = RP_PROPERTY_NUMBER,
     .unit = "m/s",
     .low = 0.0,
     .high = 1.0,
     .above_low = true,
     .otherwise = "1e-6",
     .sentence = "When to stop.",
     AT(tolerance)},
    {.name = "cone",
     .type = RP_PROPERTY_NUMBER,
     .unit = "degrees",
     .low = 0.0,
     .high = 90.0,
     .otherwise = "30",
     .sentence = "An angle.",
     AT(cone)},
    {.name = "damping",
     .type = RP_PROPERTY_NUMBER,
     .low = 0.0,
     .high = 1.0,
     .absent = "none",
     .none = -1.0,
     .sentence = "May be left out.",
     AT(damping)},
    {.name = "exact",
     .type = RP_PROPERTY_BOOLEAN,
     .otherwise = "false",
     .sentence = "Yes or no.",
     AT(exact)},
    {.name = "start",
     .type = RP_PROPERTY_CHOICE,
     .choices = starts,
     .otherwise = "\"last\"",
     .sentence = "Where from.",
     AT(start)},
    {.name = "line_search",
     .type = RP_PROPERTY_TABLE,
     .otherwise = "false",
     .form = search,
     .forms = 1,
     .sentence = "A table in a table.",
     AT(searches)},
};
enum { WARM_OPTIONS = sizeof warm_option / sizeof warm_option[0] };

static rp_solver warm, cold;
static const rp_solver *honest;
static warm_options made, stepped; // what the two functions below were given

static rp_result warm_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    memcpy(&made, def->option, sizeof made);
    return honest->create(def, a, state);
}

static rp_result warm_step(void *state, rp_step *step)
{
    memcpy(&stepped, step->option, sizeof stepped);
    return honest->step(state, step);
}

static void make_methods(void)
{
    if (honest != NULL) {
        return;
    }
    honest = rp_solver_find("explicit");
    warm = cold = *honest;
    warm.info.name = "warm";
    warm.info.option = warm_option;
    warm.info.options = WARM_OPTIONS;
    warm.create = warm_create;
    warm.step = warm_step;
    cold.info.name = "cold";
    cold.info.option = search;
    cold.info.options = 1;
    rp_solver_add(&warm);
    rp_solver_add(&cold);
}

#define HEAD "scene { dimension = 2, dx = 0.1, frames = 1, "
#define BODY                                                                                       \
    " }\nparticles { material = material.elastic {}, shape = box { min = {0,0}, max = {1,1} } }\n"

// Make the world of a scene and step it once. NULL: it could not be read.
static rp_scene *step_scene(const char *said, const char *method)
{
    static char text[1024];
    snprintf(text, sizeof text, HEAD "%s" BODY, said);
    rp_scene_def def = def_of(text);
    rp_scene_world_def how = rp_default_scene_world_def();
    rp_scene *scene;
    rp_world *world;
    def.method = method;
    memset(&made, 0xff, sizeof made);
    memset(&stepped, 0xff, sizeof stepped);
    if (rp_scene_load(&def, &scene) != RP_OK) {
        return NULL;
    }
    const rp_result result = rp_scene_create_world(scene, &how, &world);
    if (result != RP_OK || rp_world_step(world) != RP_OK) {
        rp_world_destroy(world);
        rp_scene_free(scene);
        return NULL;
    }
    rp_world_destroy(world);
    return scene;
}

static void check_options(const warm_options *got, const warm_options *want)
{
    CHECK_NEAR(got->tolerance, want->tolerance, 0.0);
    CHECK_NEAR(got->cone, want->cone, 1e-15);
    CHECK_NEAR(got->damping, want->damping, 0.0);
    CHECK_EQUAL(got->exact, want->exact);
    CHECK_EQUAL(got->start, want->start);
    CHECK_EQUAL(got->searches, want->searches);
    CHECK_NEAR(got->shrink, want->shrink, 0.0);
}

static const warm_options DEFAULTS = {
    .tolerance = 1e-6, .cone = 30 * DEGREE, .damping = -1.0, .start = START_LAST, .shrink = 0.5};

// A value that goes to another member, a default that is not filled in, degrees that stay degrees,
// a table in a table that nobody reads.
static void a_solver_sees_what_the_scene_says(void)
{
    make_methods();
    warm_options all = {1e-3, 20 * DEGREE, 0.25, true, START_ZERO, true, 0.125};
    warm_options part = DEFAULTS, table = DEFAULTS;
    part.tolerance = 0.5;
    table.searches = true;
    const struct {
        const char *said, *method;
        const warm_options *want;
    } cases[] = {
        {"method = 'warm', warm = { tolerance = 1e-3, cone = 20, damping = 0.25, exact = true, "
         "start = 'zero', line_search = { shrink = 0.125 } }",
         NULL, &all},
        {"method = 'warm'", NULL, &DEFAULTS},
        {"method = 'warm', warm = {}", NULL, &DEFAULTS},
        {"method = 'warm', warm = { tolerance = 0.5 }", NULL, &part},
        {"method = 'warm', warm = { line_search = true }", NULL, &table},
        // the command line's method has its table too
        {"warm = { tolerance = 0.5 }", "warm", &part},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_context("%s", cases[i].said);
        rp_scene *scene = step_scene(cases[i].said, cases[i].method);
        CHECK(scene != NULL);
        CHECK_HELPER(check_options(&made, cases[i].want));
        CHECK_HELPER(check_options(&stepped, cases[i].want));
        rp_scene_free(scene);
    }
}

static void wrong_options_are_named_with_their_line(void)
{
    make_methods();
    static const struct {
        const char *said, *sentence;
    } cases[] = {
        {"warm = { tolerance = 'small' }",
         "test.lua:1: scene.warm.tolerance: want a number, got 'small'"},
        {"warm = { tolerance = 0 }",
         "test.lua:1: scene.warm.tolerance: want > 0 and <= 1 m/s, got 0"},
        {"warm = { tolerance = 2 }", "scene.warm.tolerance: want > 0 and <= 1 m/s, got 2"},
        {"warm = { cone = 91 }", "scene.warm.cone: want 0 to 90 degrees, got 91"},
        {"warm = { exact = 1 }", "scene.warm.exact: want a boolean, got 1"},
        {"warm = { start = 'zeroo' }",
         "scene.warm.start: want \"zero\" or \"last\", got 'zeroo'; did you mean \"zero\"?"},
        {"warm = { tolerence = 0.1 }",
         "scene.warm: unknown key 'tolerence'; did you mean 'tolerance'? Known are tolerance, "
         "cone, damping, exact, start, line_search"},
        {"warm = { line_search = { shrink = 1 } }",
         "scene.warm.line_search.shrink: want > 0 and < 1, got 1"},
        {"warm = 1", "test.lua:1: scene.warm: want a table, got 1"},
        {"wram = {}", "scene: unknown key 'wram'; did you mean 'warm'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_context("%s", cases[i].said);
        char text[1024];
        snprintf(text, sizeof text, HEAD "method = 'warm', %s" BODY, cases[i].said);
        CHECK_ERROR(load(text), RP_ERR_ARGUMENT, cases[i].sentence);
    }
    // a program that has no scene
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    warm_options bad = DEFAULTS;
    def.dx = 0.1;
    def.method = "warm";
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_HELPER(check_options(&made, &DEFAULTS));
    rp_world_destroy(world);
    bad.tolerance = -1.0;
    memcpy(def.option, &bad, sizeof bad);
    def.options = true;
    CHECK_ERROR(rp_world_create(&def, &world), RP_ERR_ARGUMENT,
                "warm.tolerance: want > 0 and <= 1 m/s, got -1");
}

static char remarks[1024];

static void gather(rp_log_level level, const char *message, void *context)
{
    (void)context;
    if (level == RP_LOG_INFO) {
        strncat(remarks, message, sizeof remarks - strlen(remarks) - 1);
    }
}

// Options of a method that is not in use are read and checked, and a remark says that they do
// nothing.
static void options_of_another_method_are_remarked_upon(void)
{
    make_methods();
    static const struct {
        const char *said, *remark;
    } cases[] = {
        {"warm = { tolerance = 0.5 }",
         "test.lua: method explicit: without meaning for this method: scene.warm"},
        {"method = 'cold', warm = { tolerance = 0.5 }, cold = { shrink = 0.25 }",
         "test.lua: method cold: without meaning for this method: scene.warm"},
        {"warm = {}, cold = {}",
         "test.lua: method explicit: without meaning for this method: scene.warm, scene.cold"},
        {"method = 'warm', warm = { exact = true }", ""},
        {"method = 'cold'", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_context("%s", cases[i].said);
        remarks[0] = '\0';
        rp_set_log_hook(gather, NULL);
        rp_scene *scene = step_scene(cases[i].said, NULL);
        rp_set_log_hook(NULL, NULL);
        CHECK(scene != NULL);
        CHECK(strcmp(remarks, cases[i].remark) == 0);
        rp_scene_free(scene);
    }
    CHECK(step_scene("warm = { tolerance = 2 }", NULL) == NULL);
}

static const char said_all[] = "method = 'warm', warm = { tolerance = 0.125, cone = 20, start = "
                               "'zero', line_search = { shrink = 0.25 } }, cold = {}";

static void check_written(const json_t *o)
{
    CHECK_NEAR(json_number_value(json_object_get(o, "tolerance")), 0.125, 0.0);
    CHECK_NEAR(json_number_value(json_object_get(o, "cone")), 20.0, 1e-13);
    CHECK(json_is_null(json_object_get(o, "damping")));
    CHECK(json_is_false(json_object_get(o, "exact")));
    CHECK(strcmp(json_string_value(json_object_get(o, "start")), "zero") == 0);
    const json_t *inner = json_object_get(o, "line_search");
    CHECK_NEAR(json_number_value(json_object_get(inner, "shrink")), 0.25, 0.0);
}

// Whoever looks at a run must be able to see what it was made with, defaults too.
static void the_record_of_a_run_has_the_options(void)
{
    make_methods();
    rp_scene *scene = step_scene(said_all, NULL);
    json_t *resolved = json_loads(rp_scene_resolved(scene), 0, NULL);
    const json_t *in_scene = json_object_get(resolved, "scene");
    CHECK_HELPER(check_written(json_object_get(in_scene, "warm")));
    CHECK(json_object_get(in_scene, "cold") != NULL); // said, although it does nothing
    json_decref(resolved);

    test_folder folder = test_folder_make();
    rp_scene_world_def how = rp_default_scene_world_def();
    rp_run_def def = rp_default_run_def();
    rp_run *run;
    rp_run_end end;
    CHECK_OK(rp_scene_create_world(scene, &how, &def.world));
    CHECK_OK(rp_run_open(test_path(&folder, "out"), RP_RUN_NEW, &run));
    CHECK_OK(rp_run_go(run, &def, &end));
    rp_run_close(run);
    rp_world_destroy(def.world);
    rp_scene_free(scene);
    json_t *record = json_load_file(test_path(&folder, "out/run.json"), 0, NULL);
    CHECK(strcmp(json_string_value(json_object_get(record, "method")), "warm") == 0);
    CHECK_HELPER(check_written(json_object_get(record, "options")));
    json_decref(record);
    test_folder_remove(&folder);

    scene = step_scene("method = 'cold'", NULL);
    resolved = json_loads(rp_scene_resolved(scene), 0, NULL);
    in_scene = json_object_get(resolved, "scene");
    const json_t *shrink = json_object_get(json_object_get(in_scene, "cold"), "shrink");
    CHECK_NEAR(json_number_value(shrink), 0.5, 0.0);
    CHECK(json_object_get(in_scene, "warm") == NULL);
    json_decref(resolved);
    rp_scene_free(scene);
}

// The page on scenes tells of them.
static void the_reference_lists_the_options(void)
{
    make_methods();
    char *page = rp_scene_reference();
    CHECK(strstr(page, "Fields of the table that `scene.warm` takes:") != NULL);
    CHECK(strstr(page, "| `tolerance` | a number, > 0 and <= 1 | m/s | `1e-6` | When to stop. |") !=
          NULL);
    CHECK(strstr(page, "Fields of the table that `scene.warm.line_search` takes:") != NULL);
    free(page);
}

TEST_MAIN(TEST(a_solver_sees_what_the_scene_says), TEST(wrong_options_are_named_with_their_line),
          TEST(options_of_another_method_are_remarked_upon),
          TEST(the_record_of_a_run_has_the_options), TEST(the_reference_lists_the_options))

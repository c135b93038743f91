// Tests src/scene: that every word does what its table says, and that every mistake is answered
// with file, line and what was wanted. What scripts may not do is tested in test_sandbox.c.
#include "scene/call.h"
#include "scene/scene.h"
#include "scene/words.h"
#include "solver/solver.h"

#include "check.h"
#include "page.h"
#include "scene_text.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define FLAT            "scene { dimension = 2, dx = 0.1, frames = 10 }\n"
#define BALL            "sphere { center = {0,0,0}, radius = 1 }"

static json_t *resolved(const char *text)
{
    rp_scene *scene = scene_of(text);
    json_error_t error;
    json_t *root = json_loads(rp_scene_resolved(scene), 0, &error);
    if (root == NULL) {
        check_record(__FILE__, __LINE__, "resolved scene, line %d: %s", error.line, error.text);
        abort();
    }
    rp_scene_free(scene);
    return root;
}

static json_t *at(json_t *root, const char *group, size_t index, const char *key)
{
    json_t *found = json_object_get(root, group);
    if (json_is_array(found)) {
        found = json_array_get(found, index);
    }
    return json_object_get(found, key);
}

// ---- the table of words ----

// A key that checks but does nothing, an example that went stale.
static void every_example_runs(void)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        check_context("example of %s", rp_scene_word_at(w)->name);
        rp_scene_def def = rp_default_scene_def();
        rp_scene_world_def how = rp_default_scene_world_def();
        rp_scene *scene;
        rp_world *world;
        rp_stats stats;
        def.path = PROJECT_SOURCE_DIR "/scenes/obstacles/example.lua"; // files are found beside it
        def.text = rp_scene_word_at(w)->example;
        def.text_size = strlen(def.text);
        CHECK_OK(rp_scene_load(&def, &scene));
        CHECK_OK(rp_scene_create_world(scene, &how, &world));
        for (int step = 0; step < 5; step++) {
            CHECK_OK(rp_world_step(world));
        }
        rp_world_stats(world, &stats);
        CHECK(stats.particles > 50);
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

// Whoever changes the table makes the page anew.
static void the_page_is_made_from_the_table(void) { check_page("scene.md", rp_scene_reference()); }

// Calls visit(path, text before the value, text after it, key) for every key of every word.
typedef void (*key_visitor)(const char *path, const char *before, const char *after,
                            const scene_key *key);

static void visit_keys(const scene_word *word, const char *path, const char *before,
                       const char *after, key_visitor visit)
{
    for (int k = 0; k < word->keys; k++) {
        const scene_key *key = &word->key[k];
        char inner_path[128], inner_before[512], inner_after[64];
        snprintf(inner_path, sizeof inner_path, "%s.%s", path, key->name);
        snprintf(inner_before, sizeof inner_before, "%s%s = ", before, key->name);
        snprintf(inner_after, sizeof inner_after, "%s", after);
        // by place: what stands before it
        static const char *const params[] = {"", "'x', ", "'x', 1, "};
        static const char *const shapes[] = {"", "sphere { center = {0,0,0}, radius = 1 }, "};
        const char *const *earlier = word->kind == WORD_PARAM ? params : shapes;
        const bool by_place = word->kind == WORD_PARAM || word->by_place;
        if (by_place) {
            snprintf(inner_before, sizeof inner_before, "%s%s", before, earlier[k]);
        }
        CHECK_HELPER(visit(inner_path, inner_before, inner_after, key));
        if (key->form != NULL && (key->takes & TAKES_FUNCTION) == 0) {
            const bool list = (key->takes & TAKES_TABLES) != 0;
            snprintf(inner_before, sizeof inner_before, by_place ? "%s%s{ " : "%s%s = { %s", before,
                     by_place ? earlier[k] : key->name, list ? "{ " : "");
            snprintf(inner_after, sizeof inner_after, " }%s%s", list ? " }" : "", after);
            if (list) {
                snprintf(inner_path, sizeof inner_path, "%s.%s[1]", path, key->name);
            }
            CHECK_HELPER(visit_keys(key->form, inner_path, inner_before, inner_after, visit));
        } else if (key->form != NULL) {
            // what the function returns is read when the whole scene is there
            snprintf(inner_before, sizeof inner_before,
                     START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, "
                           "%s = function(t) return { ",
                     key->name);
            CHECK_HELPER(visit_keys(key->form, key->form->name, inner_before, " } end }", visit));
        }
    }
}

static void visit_all(key_visitor visit)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        const scene_word *word = rp_scene_word_at(w);
        const bool by_place = word->kind == WORD_PARAM || word->by_place;
        char before[128];
        snprintf(before, sizeof before, by_place ? "%s(" : "%s { ", word->name);
        CHECK_HELPER(visit_keys(word, word->name, before, by_place ? ")" : " }", visit));
    }
}

static void refuse_value(const char *path, const char *before, const char *value, const char *after)
{
    char text[1024], want[160];
    snprintf(text, sizeof text, "%s%s%s\n", before, value, after);
    snprintf(want, sizeof want, "%s", path);
    check_context("%s", text);
    CHECK_ERROR(load(text), RP_ERR_ARGUMENT, want);
    CHECK(strncmp(rp_last_error(), "test.lua:", 9) == 0);
    CHECK(strstr(rp_last_error(), "want ") != NULL);
    CHECK(strstr(rp_last_error(), ", got ") != NULL);
}

static void refuse_wrong_types(const char *path, const char *before, const char *after,
                               const scene_key *key)
{
    static const struct {
        const char *text;
        unsigned kinds;
    } values[] = {
        {"12", TAKES_NUMBER | TAKES_INTEGER},
        {"'text'", TAKES_STRING},
        {"'nonesuch'", TAKES_STRING},
        {"true", TAKES_BOOLEAN},
        {"{ 'a', 'b', 'c' }", TAKES_STRINGS},
        {"{ 'a', 'b', 3 }", 0},
        {"{ 'a' }", 0},
        {"{ 1, 2, 3, 4 }", 0},
        {"{ 1 }", 0},
        {"{ 1, 2, nil, 4 }", 0},
        {"{ 1, 0/0, 3 }", 0},
        {"{ 1, 2, math.huge }", 0},
        {"{ x = 1, y = 2 }", 0},
        {"setmetatable({}, {})", 0},
        {"function() end", TAKES_FUNCTION},
        {"sphere { center = {0,0,0}, radius = 1 }", TAKES_SHAPE | TAKES_SHAPES},
        {"material.sand {}", TAKES_MATERIAL},
        {"print", TAKES_FUNCTION},
    };
    const bool returned = strncmp(path, "pose.", 5) == 0;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        // a function that is called later makes no shapes
        if (returned && (values[i].kinds & (TAKES_SHAPE | TAKES_MATERIAL)) != 0) {
            continue;
        }
        if ((values[i].kinds & key->takes) == 0 &&
            // the message of a table inside names its own first key
            !(key->form != NULL && strchr(values[i].text, '=') != NULL)) {
            CHECK_HELPER(refuse_value(path, before, values[i].text, after));
        }
    }
}

static void every_key_refuses_other_types(void) { visit_all(refuse_wrong_types); }

static void refuse_bad_numbers(const char *path, const char *before, const char *after,
                               const scene_key *key)
{
    if ((key->takes & (TAKES_NUMBER | TAKES_INTEGER)) == 0) {
        return;
    }
    char value[64];
    CHECK_HELPER(refuse_value(path, before, "0/0", after));
    CHECK_HELPER(refuse_value(path, before, "math.huge", after));
    CHECK_HELPER(refuse_value(path, before, "-math.huge", after));
    if ((key->takes & TAKES_INTEGER) != 0) {
        CHECK_HELPER(refuse_value(path, before, "2.5", after));
    }
    const double low = key->range.low, high = key->range.high;
    if (isfinite(low)) {
        snprintf(value, sizeof value, "%.17g", key->range.above_low ? low : low - 1.0);
        CHECK_HELPER(refuse_value(path, before, value, after));
    }
    if (isfinite(high)) {
        snprintf(value, sizeof value, "%.17g", key->range.below_high ? high : 2.0 * high);
        CHECK_HELPER(refuse_value(path, before, value, after));
    }
}

static void every_number_refuses_what_is_out_of_its_range(void) { visit_all(refuse_bad_numbers); }

static void refuse_misspelt(const char *path, const char *before, const char *after,
                            const scene_key *key)
{
    (void)path;
    const size_t length = strlen(key->name);
    const size_t end = strlen(before);
    if (length < 4 || end < 3 || strcmp(before + end - 3, " = ") != 0) {
        return; // too short, or it goes by its place
    }
    // swap two letters in the middle of the key, which stands last in `before`
    char text[1024], want[160];
    snprintf(text, sizeof text, "%s1%s\n", before, after);
    char *spelt = text + strlen(before) - strlen(" = ") - length;
    const char letter = spelt[1];
    if (letter == spelt[2]) {
        return;
    }
    spelt[1] = spelt[2];
    spelt[2] = letter;
    snprintf(want, sizeof want, "; did you mean '%s'?", key->name);
    check_context("%s", text);
    CHECK_ERROR(load(text), RP_ERR_ARGUMENT, want);
}

static void a_misspelt_key_is_answered_with_the_right_one(void) { visit_all(refuse_misspelt); }

static void a_required_key_is_asked_for(void)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        const scene_word *word = rp_scene_word_at(w);
        bool required = false;
        for (int k = 0; k < word->keys; k++) {
            required = required || (word->key[k].otherwise == NULL && word->key[k].absent == NULL);
        }
        char text[128];
        snprintf(text, sizeof text, word->kind == WORD_PARAM || word->by_place ? "%s()" : "%s {}",
                 word->name);
        check_context("%s", text);
        if (required) {
            CHECK_ERROR(load(text), RP_ERR_ARGUMENT, "got nothing");
        }
    }
}

// Two lists of defaults, in C and in the table of words, that drift apart.
static void defaults_are_those_of_the_library(void)
{
    json_t *r =
        resolved(START SAND "particles { material = material.elastic {}, shape = sphere { "
                            "center = {2,0,0}, radius = 1 } }\n"
                            "particles { material = material.sand { hardening = true }, shape = "
                            "sphere { center = {4,0,0}, radius = 1 } }\n"
                            "collider { shape = sphere { center = {0,0,0}, radius = 1 } }\n");
    const rp_world_def world = rp_default_world_def();
    CHECK_NEAR(json_real_value(at(r, "scene", 0, "fps")), world.fps, 0.0);
    CHECK_NEAR(json_real_value(at(r, "scene", 0, "cfl")), world.cfl, 0.0);
    CHECK_EQUAL(json_integer_value(at(r, "scene", 0, "dimension")), world.dimension);
    CHECK_EQUAL(json_integer_value(at(r, "scene", 0, "seed")), world.seed);
    for (size_t a = 0; a < 3; a++) {
        CHECK_NEAR(json_real_value(json_array_get(at(r, "scene", 0, "gravity"), a)),
                   world.gravity[a], 0.0);
    }
    const rp_material_def sand = rp_default_sand_def(), elastic = rp_default_elastic_def();
    const double degree = acos(-1.0) / 180.0;
    CHECK_NEAR(json_real_value(at(r, "materials", 0, "density")), sand.density, 0.0);
    CHECK_NEAR(json_real_value(at(r, "materials", 0, "young")), sand.young, 0.0);
    CHECK_NEAR(json_real_value(at(r, "materials", 0, "poisson")), sand.poisson, 0.0);
    CHECK_NEAR(json_real_value(at(r, "materials", 0, "friction_angle")) * degree,
               sand.friction_angle, 1e-15);
    CHECK_NEAR(json_real_value(at(r, "materials", 0, "cohesion")), sand.cohesion, 0.0);
    CHECK_EQUAL(json_is_true(at(r, "materials", 0, "volume_correction")), sand.volume_correction);
    CHECK(json_is_false(at(r, "materials", 0, "hardening")));
    CHECK_NEAR(json_real_value(at(r, "materials", 1, "density")), elastic.density, 0.0);
    CHECK_NEAR(json_real_value(at(r, "materials", 1, "young")), elastic.young, 0.0);
    // a solid does not look like sand, unless the scene says so
    CHECK(json_is_null(at(r, "materials", 0, "color")));
    CHECK_EQUAL(json_array_size(at(r, "materials", 1, "color")), 3);
    const char *const h[] = {"h0", "h1", "h2", "h3"};
    for (int i = 0; i < 4; i++) {
        const json_t *value = json_object_get(at(r, "materials", 2, "hardening"), h[i]);
        CHECK_NEAR(json_real_value(value) * (i == 2 ? 1.0 : degree), sand.hardening_h[i], 1e-15);
    }
    CHECK_NEAR(json_real_value(at(r, "particles", 0, "jitter")), rp_default_particles_def().jitter,
               0.0);
    CHECK_NEAR(json_real_value(at(r, "particles", 0, "spacing")), 0.05, 0.0);
    CHECK_EQUAL(rp_default_collider_def().contact, RP_STICKY);
    CHECK(strcmp(json_string_value(at(r, "colliders", 0, "contact")), "sticky") == 0);
    json_decref(r);
}

// ---- messages ----

typedef struct mistake {
    const char *text, *sentence;
} mistake;

static void refuse_all(const mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_context("%s", mistakes[i].text);
        CHECK_ERROR(plan(mistakes[i].text, NULL), RP_ERR_ARGUMENT, mistakes[i].sentence);
    }
}

// ---- which way is up ----

static double number_at(const json_t *list, size_t index)
{
    return json_number_value(json_array_get(list, index));
}

static void up_is_what_the_scene_says(void)
{
    static const char rest[] =
        "collider { shape = cylinder { base = {0,0,0}, radius = 1, height = 1 } }\n"
        "collider { shape = cone { base = {0,0,0}, radius = 1, height = 1, axis = {1,0,0} } }\n";
    for (size_t z = 0; z < 2; z++) {
        char text[512];
        rp_scene_info info;
        snprintf(text, sizeof text, "scene { dx = 0.1, frames = 1%s }\n%s", z ? ", up = 'z'" : "",
                 rest);
        check_context("%s", text);
        rp_scene *scene = scene_of(text);
        rp_scene_get_info(scene, &info);
        CHECK_EQUAL(info.up, 1 + (int)z);
        rp_scene_free(scene);
        json_t *r = resolved(text);
        const json_t *gravity = at(r, "scene", 0, "gravity");
        const json_t *left_out =
            json_object_get(json_object_get(at(r, "colliders", 0, "shape"), "cylinder"), "axis");
        const json_t *given =
            json_object_get(json_object_get(at(r, "colliders", 1, "shape"), "cone"), "axis");
        for (size_t a = 0; a < 3; a++) {
            CHECK_NEAR(number_at(gravity, a), a == 1 + z ? -9.81 : 0.0, 0.0);
            CHECK_NEAR(number_at(left_out, a), a == 1 + z ? 1.0 : 0.0, 0.0);
            CHECK_NEAR(number_at(given, a), a == 0 ? 1.0 : 0.0, 0.0);
        }
        json_decref(r);
    }
    // what is said counts, and a slice has no z
    json_t *r = resolved("scene { dx = 0.1, frames = 1, up = 'z', gravity = {1,2,-3} }");
    CHECK_NEAR(number_at(at(r, "scene", 0, "gravity"), 1), 2.0, 0.0);
    json_decref(r);
    CHECK_ERROR(load("scene { dx = 0.1, frames = 1, dimension = 2, up = 'z' }"), RP_ERR_ARGUMENT,
                "test.lua:1: scene.up: want \"y\" in 2D, got 'z'");
    CHECK_ERROR(load("scene { dx = 0.1, frames = 1, up = 'z' }\n"
                     "collider { shape = height_field { min = {0,0,0}, max = {1,1,1}, height = "
                     "function(x, y) return y > 0.5 and 0/0 or 1 end } }"),
                RP_ERR_ARGUMENT, "height of height_field at x = 0 m, y = 1 m: result");
}

static char warnings[2048];

static void gather(rp_log_level level, const char *message, void *context)
{
    (void)context;
    if (level == RP_LOG_WARNING) {
        strncat(warnings, message, sizeof warnings - strlen(warnings) - 1);
    }
}

// Scenes that are taken at their word, with a doubt; and others that only look alike.
static void what_is_hardly_meant_is_doubted(void)
{
#define GRAINS                                                                                     \
    "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} } }\n"
#define ROCK(more)                                                                                 \
    "collider { shape = mesh { file = '" PROJECT_SOURCE_DIR                                        \
    "/scenes/obstacles/meshes/rock.obj'" more " } }\n"
#define FACING(n) "collider { shape = half_space { point = {0,0,0}, normal = {" n "} } }\n"
#define SHEET                                                                                      \
    "local sheet = mesh_sequence { files = '" PROJECT_SOURCE_DIR                                   \
    "/scenes/obstacles/meshes/trampoline-%02d.obj', last = 1, thickness = 0.3 }\n"
#define MOUTH                                                                                      \
    "emitter { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = 1 }, "     \
    "velocity = {0,-1,0}, "
#define MOUTH_AT(x, more)                                                                          \
    "emitter { material = material.sand {}, shape = box { min = {" x ",1,0}, max = {" x            \
    "+1,1.2,1} }, velocity = {0,-1,0}" more " }\n"
#define TRAY(a, b, c, d)                                                                           \
    "collider { shape = subtract(box { min = {" a "}, max = {" b "} }, box { min = {" c            \
    "}, max = {" d "} }) }\n"
#define JOINT                                                                                      \
    "rigid { name = 'one', density = 1, shape = sphere { center = {0,0,0}, radius = 1 } } "        \
    "joint { a = 'one', at = {0,0,0}, "
    static const struct {
        const char *text, *doubt; // NULL: none
    } cases[] = {
        // radians
        {START "particles { material = material.sand { friction_angle = 0.6 }, shape = " BALL " }",
         "test.lua:2: material.sand.friction_angle: 0.6 degrees; that looks like radians, which "
         "would be 34.38 degrees (math.deg converts)"},
        {START "particles { material = material.sand { friction_angle = 0 }, shape = " BALL " }",
         NULL},
        {START "particles { material = material.sand { friction_angle = 5 }, shape = " BALL " }",
         NULL},
        {START "camera { eye = {0,0,1}, look_at = {0,0,0}, fov = 0.7 }",
         "camera.fov: 0.7 degrees; that looks like radians, which would be 40.11 degrees"},
        {START "camera { eye = {0,0,1}, look_at = {0,0,0}, fov = 4 }", NULL},
        {START "collider { shape = move(" BALL ", { rotation = { angle = math.rad(30) } }) }",
         "move.place.rotation.angle: 0.5236 degrees; that looks like radians, which would be 30 "
         "degrees"},
        {START "collider { shape = move(" BALL ", { rotation = { angle = -math.rad(7) } }) }",
         "which would be -7 degrees"},
        {START "collider { shape = move(" BALL ", { rotation = { angle = 1.57 } }) }",
         "which would be 89.95 degrees"},
        {START "collider { shape = move(" BALL ", { rotation = { angle = 0.5 } }) }", NULL},
        {START "collider { shape = move(" BALL ", { rotation = { angle = 90 } }) }", NULL},
        {START "collider { shape = " BALL ", spin = { rate = 2 * math.pi } }",
         "collider.spin.rate: 6.283 degrees/s; that looks like radians, which would be 360 "
         "degrees/s"},
        {START "collider { shape = " BALL ", spin = { rate = 6 } }", NULL},
        {START "collider { shape = " BALL
               ", keys = { { time = 0 }, { time = 1, rotation = { angle = "
               "math.pi } } } }",
         "collider.keys.rotation.angle: 3.142 degrees"},
        {START "collider { shape = " BALL ", motion = function(t) return { rotation = { angle = "
               "math.sin(9 * t) } } end }",
         "collider.motion: it turns by no more than 1 degrees in the whole run"},
        {START "collider { shape = " BALL ", keys = { { time = 0 }, { time = 0.3, rotation = { "
               "angle = 1.2 } } } }",
         "collider.keys: it turns by no more than 1.2 degrees"},
        {START "collider { shape = " BALL ", spin = { rate = 2 } }",
         "collider.spin: it turns by no more than 0.833 degrees"},
        // ten turns that every tenth of the run ends where it began
        {START "collider { shape = " BALL ", spin = { rate = 8640 } }", NULL},
        {START "particles { material = material.sand { hardening = { h0 = 0.61 } }, shape = " BALL
               " }",
         "material.sand.hardening.h0: 0.61 degrees; that looks like radians"},
        {START "collider { shape = " BALL ", motion = function(t) return { rotation = { angle = "
               "30 * math.sin(t) } } end }",
         NULL},
        {START "collider { shape = " BALL
               ", motion = function(t) return { position = {t,0,0} } end }",
         NULL},
        // which way is up
        {"scene { dx = 0.1, frames = 1, gravity = {0, 0, -9.81} }\n" GRAINS FACING("0,0,1"),
         "test.lua:1: scene.gravity: it points along z, and y is up in this scene: say scene { up "
         "= \"z\" }, or pictures and measurements lie on their side"},
        {"scene { dx = 0.1, frames = 1, gravity = {0, 0, -9.81}, up = 'z' }\n" GRAINS FACING(
             "0,0,1"),
         NULL},
        {"scene { dx = 0.1, frames = 1, gravity = {0, -9.81, 0}, up = 'z' }\n" GRAINS FACING(
             "0,1,0"),
         "it points along y, and z is up in this scene: say scene { up = \"y\" }"},
        {"scene { dx = 0.1, frames = 1, gravity = {5, -8, 0} }\n" GRAINS FACING("0,1,0"), NULL},
        {"scene { dx = 0.1, frames = 1, gravity = {0, 0, 0} }\n" GRAINS, NULL},
        {START GRAINS FACING("0,0,1"),
         "test.lua:3: collider.shape: it looks like a floor where z is up, and gravity points "
         "along y: say scene { up = \"z\" } if that is meant"},
        {START GRAINS "collider { shape = box { min = {-2,-2,-0.2}, max = {3,3,0} } }\n",
         "it looks like a floor where z is up"},
        {"scene { dx = 0.1, frames = 1, up = 'z' }\n" GRAINS FACING("0,0,1"), NULL},
        // a wall behind the sand, and a floor of any kind
        {START GRAINS FACING("0,0,1") FACING("0,1,0"), NULL},
        {START GRAINS FACING("0,0,1") FACING("1,1,0"), NULL},
        {START GRAINS FACING(
             "0,0,1") "collider { shape = box { min = {-2,-1,-2}, max = {3,0,3} } }\n",
         NULL},
        {START GRAINS FACING(
             "0,0,1") "collider { shape = invert(box { min = {0,0,0}, max = {1,2,1} }) }\n",
         NULL},
        {START GRAINS FACING("0,0,-1"), NULL},
        // in a tray whose rim is along z; and one along y
        {START GRAINS TRAY("-1,-1,-1", "2,2,3", "-0.5,-0.5,0", "1.5,1.5,4"),
         "it looks like a floor where z is up"},
        {START GRAINS FACING("0,0,1") FACING("0,1,0") "collider { shape = half_space { point = "
                                                      "{0,1,0}, normal = {0,-1,0} } }\n",
         "test.lua:3: collider.shape: it looks like a floor where z is up"},
        {START GRAINS TRAY("-1,-1,-1", "2,3,2", "-0.5,0,-0.5", "1.5,4,1.5"), NULL},
        // filled twice
        {START GRAINS
         "particles { material = material.sand {}, shape = box { min = {0.6,0,0}, max = {1.4,1,1} "
         "} }",
         "test.lua:3: particles.shape: it lies up to 0.2 m deep in the particles of line 2, near "
         "("},
        {START GRAINS "particles { material = material.elastic {}, shape = sphere { center = "
                      "{0.5,0.5,0.5}, radius = 0.2 } }",
         "there will be twice as much as fits; subtract one from the other"},
        {START GRAINS GRAINS GRAINS, "in the particles of line 2 (and 2 more that do so), near ("},
        {START GRAINS "particles { material = material.sand {}, shape = box { min = {0,1,0}, max = "
                      "{1,2,1} } }",
         NULL},
        {START GRAINS "particles { material = material.tracer {}, shape = sphere { center = "
                      "{0.5,0.5,0.5}, radius = 0.2 } }",
         NULL},
        {START MOUTH_AT("0", "") MOUTH_AT("0.3", ""),
         "test.lua:3: emitter.shape: it lies in the mouth of line 2, 0.1 m deep near ("},
        {START MOUTH_AT("0", "") MOUTH_AT("1", ""), NULL},
        {START MOUTH_AT("0", ", stop = 1") MOUTH_AT("0.3", ", start = 1"), NULL},
        // an angle for a coefficient
        {START "collider { shape = " BALL ", contact = 'separate', friction = 30 }",
         "collider.friction: 30; that looks like an angle in degrees, of which the coefficient "
         "would be 0.577"},
        {START "particles { material = material.sand { friction_coefficient = 35 }, shape = " BALL
               " }",
         "material.sand.friction_coefficient: 35; that looks like an angle"},
        {START "collider { shape = " BALL ", contact = 'separate', friction = 1000 }", NULL},
        // steps that nothing bounds
        {"scene { dx = 0.1, frames = 10, elastic_share = 3 }",
         "test.lua:1: scene.elastic_share: 3: steps longer than 1 are not stable"},
        {"scene { dx = 0.1, frames = 10, elastic_share = 3, dt_max = 1e-5 }", NULL},
        {"scene { dx = 0.1, frames = 10, elastic_share = 1 }", NULL},
        // too coarse for a shape: sheets, flat and bent; what keeps together; marks; a single grain
        {START "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = "
               "{2,0.2,2} } }",
         "test.lua:2: particles.shape: it is about 0.2 m thick, which is 2 dx: the grid hardly "
         "sees "
         "it, and it spreads over the cells around; dx = 0.05 puts 4 cells across it"},
        {START "particles { material = material.sand {}, shape = move(box { min = {-1,-0.05,-1}, "
               "max = {1,0.05,1} }, { rotation = { axis = {1,2,3}, angle = 33 } }) }",
         "it is about 0.1 m thick, which is 1 dx"},
        {START "particles { material = material.water {}, shape = subtract(sphere { center = "
               "{0,0,0}, radius = 1 }, sphere { center = {0,0,0}, radius = 0.85 }) }",
         "it is about 0.15 m thick, which is 1.5 dx"},
        {"scene { dimension = 2, dx = 0.1, frames = 10 }\n"
         "particles { material = material.sand {}, shape = box { min = {0,0}, max = {0.25,2} } }",
         "it is about 0.25 m thick, which is 2.5 dx"},
        {START "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = "
               "{2,0.3,2} } }",
         NULL},
        {START "particles { material = material.elastic { density = 1, young = 1, poisson = 0 }, "
               "shape = box { min = {0,0,0}, max = {2,0.2,2} } }",
         NULL},
        {START "particles { material = material.elastic { density = 1, young = 1, poisson = 0 }, "
               "shape = box { min = {0,0,0}, max = {2,0.07,2} } }",
         "it is about 0.07 m thick"},
        {START "particles { material = material.tracer {}, shape = box { min = {0,0,0}, max = "
               "{2,0.02,2} } }",
         NULL},
        {START "particles { material = material.sand {}, shape = sphere { center = {0,0,0}, radius "
               "= 0.04 } }",
         NULL},
        // a mouth that is buried from the start
        {START GRAINS "emitter { material = material.sand {}, velocity = {0,-1,0}, shape = box { "
                      "min = {0.5,0.5,0.2}, max = {1.5,0.6,0.8} } }",
         "test.lua:3: emitter.shape: 50 % of its mouth lies in the particles of line 2: what it "
         "pours will lie in them; move it out, or let it begin (start) when they have gone"},
        {START GRAINS
         "emitter { material = material.sand {}, velocity = {0,-1,0}, start = 1, shape "
         "= box { min = {0.5,0.5,0.2}, max = {1.5,0.6,0.8} } }",
         NULL},
        {START GRAINS "emitter { material = material.sand {}, velocity = {0,-1,0}, shape = box { "
                      "min = {0.2,1.5,0.2}, max = {0.8,1.6,0.8} } }",
         NULL},
        // one that is moved out of them before it begins
        {START GRAINS "emitter { material = material.sand {}, velocity = {0,-1,0}, shape = box { "
                      "min = {0.5,0.5,0.2}, max = {1.5,0.6,0.8} }, "
                      "motion = function(t) return { position = {0,1,0} } end }",
         NULL},
    // water in the pores of sand that is not there
#define SOAKED(from)                                                                               \
    "scene { method = 'mixture', dimension = 2, dx = 0.05, frames = 1 }\n"                         \
    "local s = material.sand {} "                                                                  \
    "particles { material = s, shape = box { min = {0,0,0}, max = {1,1,0} } } "                    \
    "particles { material = material.water {}, within = s, "                                       \
    "shape = box { min = {" from ",0,0}, max = {1,1,0} } } "
        {SOAKED("0"), NULL},
        {SOAKED("-1"), "particles.within: 50 % of the shape has none of that sand in it: water is "
                       "thin there and falls together; want the shape of the sand"},
        // a clock that stands still
        {"scene { dx = 0.1, frames = 1, gravity = {0,0,0} }\nlocal s = material.sand { flow = "
         "'resting' }\nparticles { material = s, shape = " BALL " }",
         "material.sand.flow: without gravity sand never pays back by how much it swelled"},
        {"scene { dx = 0.1, frames = 1, gravity = {0,0,0} }\nlocal s = material.sand {}\n"
         "particles { material = s, shape = " BALL " }",
         NULL},
        {"scene { dx = 0.1, frames = 1, gravity = {1,0,0} }\nlocal s = material.sand { flow = "
         "'resting' }\nparticles { material = s, shape = " BALL " }",
         NULL},
    // a smooth wall between nodes that holds water
#define HELD(method, contact, x)                                                                   \
    "scene { method = '" method "', dimension = 2, dx = 0.05, frames = 1 }\n"                      \
    "particles { material = material.water {}, shape = box { min = {1,0,0}, max = {2,1,0} } } "    \
    "collider { shape = half_space { point = {" x ", 0}, normal = {2, 0} }, contact = '" contact   \
    "' }"
        {HELD("mixture", "slip", "1.0"), NULL},
        {HELD("mixture", "sticky", "1.02"), NULL},
        {HELD("explicit", "slip", "1.02"), NULL},
        {HELD("mixture", "slip", "1.02"),
         "collider.shape: a smooth wall between nodes stirs the water that it holds; put it onto "
         "one, such as x = 1, or make the scene periodic there"},
        {HELD("mixture", "separate", "1.03"), "such as x = 1.05"},
        {HELD("mixture", "slip", "0.99999999"), NULL}, // but for rounding it is on a node
        {HELD("mixture", "slip", "0.9999"), "such as x = 1, or"}, // acts at 0.95
        {HELD("mixture", "slip", "1.00000001"), NULL},            // acts at 1
        // a mesh in other units: it is 2.7 m large
        {"scene { dx = 0.05, frames = 1 }\n" GRAINS ROCK(""), NULL},
        {"scene { dx = 0.05, frames = 1 }\n" GRAINS ROCK(", scale = 20, resolution = 1"), NULL},
        {"scene { dx = 0.05, frames = 1 }\n" GRAINS ROCK(", scale = 100, resolution = 1"),
         "mesh.scale: it is 267 m large, and all particles are within 1 m: is the file in "
         "centimetres? then want scale = 1"},
        {"scene { dx = 0.05, frames = 1 }\n" GRAINS ROCK(", scale = 1000, resolution = 10"),
         "is the file in millimetres? then want scale = 1"},
        {"scene { dx = 0.05, frames = 1 }\n" GRAINS ROCK(", scale = 0.005, resolution = 0.002"),
         "mesh.scale: it is 0.013 m large, less than 4 dx, and particles are spread over 1 m: does "
         "a unit of the file have more metres?"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_context("%s", cases[i].text);
        warnings[0] = '\0';
        rp_set_log_hook(gather, NULL);
        const rp_result result = load(cases[i].text);
        rp_set_log_hook(NULL, NULL);
        CHECK_OK(result);
        if (cases[i].doubt == NULL ? warnings[0] != '\0'
                                   : strstr(warnings, cases[i].doubt) == NULL) {
            check_record(__FILE__, __LINE__, "warned: '%s'", warnings);
        }
    }
}

// ---- words of other tools ----

// Calls visit(word) for every word and every form inside one.
static void visit_words(const scene_word *word, void (*visit)(const scene_word *))
{
    visit(word);
    for (int k = 0; k < word->keys; k++) {
        if (word->key[k].form != NULL) {
            visit_words(word->key[k].form, visit);
        }
    }
}

static const scene_foreign *sought; // a row of the table
static const char *sought_name;     // one of its names
static int sought_uses;             // words that are answered with it

static void count_uses(const scene_word *word)
{
    for (int k = 0; k < word->keys; k++) {
        const scene_key *key = &word->key[k];
        char path[96];
        snprintf(path, sizeof path, "%s.%s", word->name, key->name);
        const bool chosen = strcmp(sought->in, path) == 0;
        for (int c = 0; chosen && key->choices != NULL && key->choices[c] != NULL; c++) {
            sought_uses += sought->ours != NULL && strcmp(key->choices[c], sought->ours) == 0;
        }
        sought_uses += chosen && sought->ours == NULL;
        if (strcmp(key->name, sought_name) == 0) {
            return; // it is the right word here
        }
    }
    sought_uses += rp_scene_foreign_key(word, sought_name) == sought;
}

static int uses_of(const scene_foreign *f, const char *name)
{
    char path[64];
    const rp_method_info *method;
    snprintf(path, sizeof path, "material.%s", f->ours != NULL ? f->ours : "sand");
    if (strcmp(f->in, "words") == 0) {
        return rp_scene_find_foreign(f->in, name) == f && rp_scene_find_word(name) == NULL &&
               (f->ours == NULL || rp_scene_find_word(f->ours) != NULL);
    }
    if (strcmp(f->in, "materials") == 0) {
        return rp_scene_find_foreign(f->in, name) == f && rp_scene_find_word(path) != NULL;
    }
    if (strcmp(f->in, "scene.method") == 0) {
        return rp_method_named(f->ours, &method) == RP_OK;
    }
    sought = f;
    sought_name = name;
    sought_uses = 0;
    for (int w = 0; w < rp_scene_word_count(); w++) {
        visit_words(rp_scene_word_at(w), count_uses);
    }
    return sought_uses;
}

// A name that leads to nothing, that an earlier row hides, or that is the right word anyway.
static void every_foreign_name_leads_somewhere(void)
{
    for (int i = 0; i < rp_scene_foreign_count(); i++) {
        const scene_foreign *f = rp_scene_foreign_at(i);
        CHECK(f->ours != NULL || f->how != NULL);
        for (const char *at = f->theirs; *at != '\0';) {
            char name[48];
            const int length = (int)strcspn(at, " ");
            snprintf(name, sizeof name, "%.*s", length, at);
            check_context("%s in %s", name, f->in);
            CHECK(uses_of(f, name) > 0);
            at += length + (at[length] == ' ');
        }
    }
}

static void words_of_other_tools_are_understood(void)
{
    static const mistake mistakes[] = {
        {START "material.sand { friction = 0.5 }",
         "test.lua:2: material.sand: unknown key 'friction'; did you mean 'friction_coefficient' "
         "(or friction_angle, in degrees)? Known are name, density, young, poisson, "
         "friction_angle, yield_fit, friction_coefficient, hardening, cohesion, "
         "porosity, conductivity, permeability, drag, dilation_angle, "
         "dilation_limit, volume_correction, flow, inertial, color"},
        {START "material.sand { E = 1e6 }", "unknown key 'E'; did you mean 'young'?"},
        {START "material.sand { Youngs_Modulus = 1e6 }", "did you mean 'young'?"},
        {START "material.sand { nu = 0.3 }", "unknown key 'nu'; did you mean 'poisson'?"},
        {START "material.sand { phi = 30 }", "did you mean 'friction_angle' (in degrees)?"},
        {START "material.sand { mu = 0.5 }", "did you mean 'friction_coefficient'"},
        {START "material.water { mu = 0.5 }", "did you mean 'viscosity'?"},
        {START "material.sand { psi = 5 }",
         "unknown key 'psi'; did you mean 'dilation_angle' (in degrees)? Known are name, density"},
        {START "material.sand { wxyzabcdefg = 5 }",
         "unknown key 'wxyzabcdefg'; known are name, density"},
        {START "material.soil {}", "unknown name 'material.soil'; did you mean 'material.sand'? "
                                   "Known are material.sand, material.elastic"},
        {START "material.wxyzabcdefg {}",
         "unknown name 'material.wxyzabcdefg'; known are material.sand, material.elastic"},
        {START "collider { shape = plane { point = {0,0,0}, normal = {0,1,0} } }",
         "test.lua:2: collider.shape: want a shape, got a cut; did you mean half_space { ... }?"},
        {START "cube {}", "unknown name 'cube'; did you mean 'box'?"},
        {START "wxyzabcdefg {}", "unknown name 'wxyzabcdefg'; known are scene, param, particles"},
        {START "translate(" BALL ", {0, 1, 0})",
         "did you mean 'move' (move(shape, { position = ..., rotation = ..., scale = ... }))?"},
        {"scene { dx = 1, duration = 2 }",
         "scene: unknown key 'duration'; did you mean 'frames' (frames = duration * fps)? Known "
         "are title, method, dimension"},
        {"scene { dx = 1, frames = 2, dt = 1e-4 }", "did you mean 'dt_max' (the longest step;"},
        {"scene { dx = 1, frames = 2, threads = 2 }", "; that is repose run --threads N. Known"},
        {"scene { dx = 1, frames = 2, transfer = 'flip' }",
         "scene.transfer: want \"apic\", \"pic\" or \"steady\" or a table, got 'flip'; FLIP has "
         "a "
         "share: transfer = { flip = 0.95 }."},
        {"scene { dx = 1, frames = 2, method = 'mpm' }", "did you mean 'explicit'?"},
        {START "camera { eye = {0,1,2}, target = {0,0,0} }",
         "camera: unknown key 'target'; did you mean 'look_at'? Known are eye, look_at, fov"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1, translate = {1,0,0} } }",
         "sphere: unknown key 'translate'; move(shape, { position = ..., rotation = ..., scale = "
         "... }) puts a shape elsewhere. Known are center, radius"},
        {START "sphere { position = {0,0,0}, radius = 1 }", "did you mean 'center'?"},
        {START "move(" BALL ", { translate = {0,1,0} })",
         "move.place: unknown key 'translate'; did you mean 'position'?"},
        {START "collider { shape = " BALL ", rotation = {0, 90, 0} }",
         "collider: unknown key 'rotation'; move(shape, { position = ..., rotation = ..., scale = "
         "... }) puts a shape elsewhere; what moves has motion, velocity, spin or keys. Known"},
        {START "collider { mesh = 'rock.obj' }",
         "unknown key 'mesh'; did you mean 'shape' (shape = mesh { file = ... })?"},
        {START "collider { shape = " BALL ", motion = { { time = 0 } } }",
         "collider.motion: want a function, got a table; key frames go into keys"},
        {START "output { stress = true }",
         "output: unknown key 'stress'; did you mean 'columns' (columns = {\"velocity\", "
         "\"stress\", \"pressure\"})?"},
        {START "probe { at = {0,0,0} }", "probe: unknown key 'at'; did you mean 'point'?"},
        {START "probe { point = {0,0,0}, interval = 0.1 }", "did you mean 'every' (in seconds)?"},
        {START "wind { velocity = {1, 0, 0} }",
         "unknown name 'wind'; it is a field: scene { acceleration ="},
        {START "render { samples = 64 }", "repose render makes pictures of a run"},
        {START "collider { shape = " BALL ", contact = 'no_slip' }", "did you mean \"sticky\"?"},
        {START "collider { shape = " BALL ", spin = { rpm = 10 } }",
         "did you mean 'rate' (in degrees/s: 6 times the turns a minute)?"},
    };
    refuse_all(mistakes, COUNT_OF(mistakes));
}

static void mistakes_are_named_with_their_line(void)
{
    static const mistake mistakes[] = {
        {"\n\nscene { dx = 0, frames = 1 }", "test.lua:3: scene.dx: want > 0 m, got 0"},
        {START "\n\nlocal s = material.sand { frction_angle = 30 }",
         "test.lua:4: material.sand: unknown key 'frction_angle'; did you mean 'friction_angle'?"},
        {START "material.sandd {}",
         "test.lua:2: unknown name 'material.sandd'; did you mean 'material.sand'?"},
        {START "particle {}", "test.lua:2: unknown name 'particle'; did you mean 'particles'?"},
        {"scene { dx = 0.1 frames = 3 }",
         "test.lua:1: '}' expected near 'frames'; is a comma missing before it?"},
        {START "collider ( shape = 1 )",
         "')' expected near '='; fields go into braces, as in collider { shape = ... }"},
        {START "particles {\n", "near <eof>; is a brace"},
        {START
         "particles { material = material.sand, shape = sphere { center = {0,0,0}, radius = 1 } }",
         "particles.material: want a material, got a function; are the braces after its name "
         "missing?"},
        {START "local x = mth.pi", "unknown name 'mth'; did you mean 'math'?"},
        {START "local x = math.sinn(1)",
         "test.lua:2: unknown name 'math.sinn'; did you mean 'math.sin'?"},
        {START "local x = ('a'):find('b')", "test.lua:2: 'string.find' is left out of scenes"},
        {START "os.execute('true')", "test.lua:2: 'os' is left out of scenes"},
        {START "load('x = 1')()", "test.lua:2: 'load' is left out of scenes"},
        {START "scene { dx = 1, frames = 1 }", "test.lua:2: scene: want it once"},
        {"local x = 1", "test.lua: want scene { ... }, got a script without it"},
        {"scene { dx = 1 }", "test.lua:1: scene.frames: want a whole number, got nothing"},
        {"scene { frames = 1 }", "test.lua:1: scene.dx: want a number, got nothing"},
        {"scene { dx = 1, frames = 1, method = 'implicit', implicit = { newton = 0 } }",
         "implicit.newton: want 1 to 1000"},
        {"scene { dx = 1, frames = 1, method = 'implicit' }\nmaterial.sand { inertial = true }",
         "method implicit cannot simulate inertial of sand"},
        {"scene { dx = 1, frames = 1, method = 'explict' }",
         "test.lua:1: scene.method: no method 'explict'; there are explicit, implicit, mixture, "
         "nonsmooth, sph; did you mean 'explicit'?"},
        {"scene { dx = 1, frames = 1, method = 'nonsmooth', nonsmooth = { tolerance = 0 } }",
         "nonsmooth.tolerance: want > 0"},
        {"scene { dx = 1, frames = 1, method = 'nonsmooth', nonsmooth = { stress = 'face' } }",
         "nonsmooth.stress: want"},
        {"scene { dx = 1, frames = 1, method = 'nonsmooth' }\nmaterial.sand { dilation_angle = 5 }",
         "method nonsmooth cannot simulate dilation_angle of sand"},
        {"scene { dx = 1, frames = 1, order = 'qubic' }", "did you mean \"cubic\"?"},
        {"scene { dx = 1, frames = 1, order = 'linear' }\nmaterial.sand { }",
         "scene.order: sand wants \"quadratic\" or \"cubic\" splines, got \"linear\""},
        {"scene { dx = 1, frames = 1, transfer = { flip = 1, steady = 1 } }",
         "want flip or steady, got both"},
        {"scene { dx = 1, frames = 1, transfer = { steady = 0 } }",
         "scene.transfer.steady: want > 0"},
        {"scene { dx = 1, frames = 1, dimension = 4 }", "scene.dimension: want 2 to 3, got 4"},
        {"scene { dx = '0.1', frames = 1 }", "scene.dx: want a number, got '0.1'"},
        {"scene { dx = 1, frames = 1, transfer = { flp = 1 } }",
         "scene.transfer: unknown key 'flp'; did you mean 'flip'?"},
        {"scene { dx = 1, frames = 1, title = 'a\\nb' }", "scene.title: want one line of UTF-8"},
        {"scene { dx = 1, frames = 1, title = '\\xff' }", "scene.title: want one line of UTF-8"},
        {"scene { 1, dx = 1, frames = 1 }", "want fields with names"},
        {"scene(1)", "test.lua:1: scene: want a table, as in scene { ... }, got 1"},
        {"scene({}, 2)", "test.lua:1: scene: want one table, got 2 values"},
        {"scene { dx = 1 frames = 2 }", "test.lua:1: '}' expected near 'frames'"},
        {START "error('mine')", "test.lua:2: mine"},
        {START "error('mine', 0)", "test.lua:2: mine"},
        {START "error({})", "error() was called with table instead of a sentence"},
        {START "local t = nil; t.x = 1", "test.lua:2: attempt to index a nil value"},
        {START "table.sort { {}, {} }", "test.lua:2: attempt to compare two table values"},
        // contradictions
        {START "material.sand { friction_angle = 30, friction_coefficient = 0.5 }",
         "test.lua:2: material.sand: want friction_angle or friction_coefficient, got both"},
        {START "material.sand { yield_fit = 'slope', friction_coefficient = 0.5 }",
         "want yield_fit or friction_coefficient, got both"},
        {START "material.sand { friction_angle = 30, hardening = true }",
         "test.lua:2: material.sand.friction_angle: want none with hardening"},
        {START "material.sand { porosity = 1 }",
         "test.lua:2: material.sand.porosity: want >= 0 and < 1, got 1"},
        {START "material.sand { inertial = { grain = 0 } }",
         "test.lua:2: material.sand.inertial.grain: want > 0 m, got 0"},
        {START "particles { shape = sphere { center = {0, 0, 0}, radius = 1 }, "
               "material = material.sand { friction_angle = 30, "
               "dilation_angle = 60 } }",
         "sand.dilation_angle: want at most"},
        {START "material.sand { dilation_limit = 0 }",
         "test.lua:2: material.sand.dilation_limit: want > 0, got 0"},
        {"scene { dimension = 2, dx = 0.1, frames = 10, method = 'sph' }\nmaterial.sand { "
         "dilation_angle = 5 }",
         "dilation_angle of sand"},
        {"scene { dimension = 2, dx = 0.1, frames = 10, method = 'mixture' }\nmaterial.sand { flow "
         "= 'resting' }",
         "flow of sand"},
        {START "material.sand { flow = 'restin' }", "material.sand.flow"},
        {START "material.sand { drag = 0 }", "test.lua:2: material.sand.drag: want"},
        {START "material.sand { drag = 1e12 }", "test.lua:2: material.sand.drag: want"},
        {START "material.sand { conductivity = 0 }", "material.sand.conductivity: want"},
        {START "material.sand { conductivity = 0.1, drag = 1e5 }", "got both"},
        {START "material.sand { porosity = 1 }", "material.sand.porosity: want"},
        {"scene { dx = 0.1, frames = 10, method = 'mixture' }\nparticles { material = "
         "material.sand { porosity = 0 }, shape = box { min = {0,0,0}, max = {1,1,1} } }",
         "sand.porosity: want > 0 with method mixture, got 0"},
        {"scene { dx = 0.1, frames = 10, method = 'mixture' }\nparticles { material = "
         "material.water {}, within = material.sand { porosity = 0 }, shape = box { min = "
         "{0,0,0}, max = {1,1,1} } }",
         "particles.within: want a sand whose porosity is more than 0"},
        {"scene { dx = 0.1, frames = 10, method = 'mixture' }\nlocal s = material.sand {}\n"
         "particles { material = s, within = s, shape = box { min = {0,0,0}, max = {1,1,1} } }",
         "particles.within: want it of water alone, got"},
        {"scene { dx = 0.1, frames = 10, method = 'mixture', mixture = { pressure = 'print' } }",
         "scene.mixture.pressure: want"},
        {"scene { dx = 0.1, frames = 10, method = 'nonsmooth' }\nparticles { material = "
         "material.water {}, shape = box { min = {0,0,0}, max = {1,1,1} } }",
         "water"},
        {"scene { dimension = 2, dx = 0.1, frames = 10, method = 'sph' }\nmaterial.sand { inertial "
         "= true }",
         "inertial of sand"},
        {START "material.sand { color = {0.5, 2, 0} }", "material.sand.color"},
        {START "material.elastic { color = 'red' }", "material.elastic.color"},
        {START "material.sand { name = ('x'):rep(64) }",
         "material.sand.name: want 1 to 63 bytes, got 64"},
        {START "collider { shape = half_space { point = {0,0,0}, normal = {0,1,0} }, name = "
               "('\\xc3\\xa9'):rep(32) }",
         "collider.name: want 1 to 63 bytes, got 64"},
        {START "collider { shape = half_space { point = {0,0,0}, normal = {0,1,0} }, name = '' }",
         "collider.name: want 1 to 63 bytes, got 0"},
        {START "collider { shape = half_space { point = {0,0,0}, normal = {0,1,0} }, name = "
               "'a\\xc2\\x9bm' }",
         "collider.name: want one line of UTF-8 text"},
        {"scene { dx = 0.1, frames = 10,\n title = ('x'):rep(128) }",
         "scene.title: want 0 to 127 bytes, got 128"},
        {START
         "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} "
         "}, per_cell = 8, spacing = 0.1 }",
         "test.lua:2: particles: want per_cell or spacing, got both"},
        {START
         "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} "
         "}, velocity = function() return 0, 0, 0 end, velocity_gradient = {{0,0,0}, {0,0,0}, "
         "{0,0,0}} }",
         "test.lua:2: particles.velocity_gradient: want none with a function"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, friction = 0.2 }",
         "test.lua:2: collider.friction: want none with sticky contact"},
        // shapes
        {START "\nbox { min = {0,0,0}, max = {1,0,1} }",
         "test.lua:3: box.max: want > min along y, which is 0, got 0"},
        {START "sphere { center = {0,0,0}, radius = -1 }", "sphere.radius: want > 0 m, got -1"},
        {START "half_space { point = {0,0,0}, normal = {0,0,0} }",
         "test.lua:2: half_space.normal: want a vector that is not 0"},
        {START "box { min = {0,0}, max = {1,1} }",
         "test.lua:2: box.min: want 3 components in a 3D scene, got 2"},
        {START "sphere { center = {0,0,1e999}, radius = 1 }",
         "sphere.center: want a finite number"},
        {START "box { min = {0,0,0}, max = {1,2,3}, round = 0.6 }",
         "test.lua:2: box.round: want at most half the shortest side, which is 0.5 m, got 0.6"},
        {START "cylinder { base = {0,0,0}, radius = 1, height = 1, axis = {0,0,0} }",
         "test.lua:2: cylinder.axis: want a vector that is not 0, got 0"},
        {FLAT "cone { base = {0,0}, radius = 1, height = 1, axis = {0,0,1} }",
         "test.lua:2: cone.axis: want a vector that is not 0 and lies in the plane"},
        {FLAT "torus { center = {0,0}, major = 1, minor = 0.5 }",
         "test.lua:2: torus: want a 3D scene, got a 2D one"},
        {START "torus { center = {0,0,0}, major = 1, minor = 2 }",
         "test.lua:2: torus.minor: want at most major"},
        {START "revolve { profile = {{1,0}} }", "test.lua:2: revolve.profile: want a list of 2 to"},
        {START "revolve { profile = {{1,0}, {1}} }", "revolve.profile[2]: want two numbers"},
        {START "revolve { profile = {{1,0}, {-1,1}} }",
         "test.lua:2: revolve.profile[2]: want finite"},
        {START "revolve { profile = {{1,0}, {1,1}}, round = 2 }",
         "test.lua:2: revolve.round: want one that fits the corners"},
        {START "height_field { min = {0,0,0}, max = {1,1,1} }",
         "test.lua:2: height_field.height: want a function, or file in its place"},
        {START "height_field { min = {0,0,0}, max = {1,1,1}, file = 'x.png', spacing = 1 }",
         "want spacing or file, got both"},
        {START "height_field { min = {0,0,0}, max = {1,1,0}, height = math.abs }",
         "test.lua:2: height_field.max: want > min along z"},
        {START "height_field { min = {0,0,0}, max = {1,1,1}, height = math.abs, spacing = 1e-9 }",
         "test.lua:2: height_field.spacing: want at most 16777216 heights"},
        {START
         "height_field { min = {0,0,0}, max = {1,1,1},\nheight = function(x, z) return 'a' end }",
         "test.lua:3: height of height_field at x = 0 m, z = 0 m: result: want a finite number"},
        {START "union()", "test.lua:2: union.shapes: want shapes, got nothing"},
        {START "union(1)", "test.lua:2: union.shapes: want shapes, got 1"},
        {START "union(material.sand {})", "union.shapes: want shapes, got a material"},
        {START "subtract(" BALL ")", "test.lua:2: subtract.others: want shapes, got nothing"},
        {START "offset(" BALL ")", "test.lua:2: offset.distance: want a number, got nothing"},
        {START "offset(" BALL ", 1, 2)", "offset: want at most 2 values, got 3"},
        {START "move(" BALL ", { postion = {0,0,0} })",
         "test.lua:2: move.place: unknown key 'postion'; did you mean 'position'?"},
        {START "move(" BALL ", { position = {0,0} })",
         "test.lua:2: move.position: want 3 components in a 3D scene, got 2"},
        {FLAT "move(" BALL ", { rotation = { axis = {1,0,0}, angle = 3 } })",
         "test.lua:2: move.place.rotation.axis: want {0, 0, 1} in 2D"},
        {START "move(" BALL ", { rotation = { axis = {0,0,0}, angle = 3 } })",
         "move.place.rotation.axis: want a vector that is not 0"},
        {START "local s = " BALL "\nfor i = 1, 10000 do s = offset(s, 0.001) end",
         "test.lua:3: offset: want at most 256 operators inside each other"},
        {START "local s = " BALL "\nfor i = 1, 40 do s = union(s, s) end",
         "test.lua:3: union: want at most 10000 simple shapes in all"},
        {START "particles { material = material.sand {}, shape = invert(" BALL ") }",
         "test.lua:2: particles.shape: "},
        // what the world refuses
        {START "\nparticles { material = material.sand {}, shape = half_space { point = {0,0,0}, "
               "normal = {0,1,0} } }",
         "test.lua:3: particles.shape: "},
        {START
         "particles { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = "
         "1e-9 }, spacing = 1e3, sampling = \"lattice\", jitter = 1 }",
         "test.lua:2: particles: "},
        {START
         "particles { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = "
         "1e-9 } }",
         "none fits into the shape"},
        {START "particles { material = material.sand {}, shape = sphere { center = {0,0,0}, "
               "radius = 1 }, jitter = 0.1 }",
         "test.lua:2: particles.jitter: want none without sampling = \"lattice\", got 0.1"},
        // the domain
        {START "domain { min = {0,0,0}, max = {1,1,1}, leave = 'fly' }", "domain.leave: want"},
        {START "domain { min = {0,0,0}, max = {1,-1,1} }", "domain.max: want > min along y"},
        // joints: in the units of the script
        {START JOINT "kind = 'hinge', range = { min = 10 } }",
         "joint.range: want min <= 0 degrees, where the joint starts, got 10"},
        {START JOINT "kind = 'hinge', range = { min = -20, max = -5 } }",
         "joint.range: want max >= 0 degrees, where the joint starts, got -5"},
        {START JOINT "kind = 'slider', range = { min = 0.2, max = 1 } }",
         "joint.range: want min <= 0 m, where the joint starts, got 0.2"},
        {START JOINT "kind = 'weld' }", "joint.kind: want \"fixed\", \"hinge\" or \"slider\""},
        {START JOINT "kind = 'hinge', b = 'nobody' }",
         "joint.b: want the name of a rigid body or a collider, got 'nobody'"},
        {START JOINT "kind = 'hinge', b = 'one' }",
         "joint.b: want another than a, got 'one' twice"},
        {START JOINT "kind = 'slider', axis = {0,0,0} }",
         "joint.axis: want a vector that is not 0, got 0"},
        {START JOINT "kind = 'hinge', strength = 3 }",
         "joint.strength: want none without speed, got 3"},
        {START JOINT "kind = 'hinge', speed = 1, strength = 0 }", "joint.strength: want > 0"},
        {START "collider { name = 'wall', shape = " BALL " } "
               "joint { kind = 'hinge', a = 'wall', at = {0,0,0} }",
         "joint: want a rigid body on one side, got none"},
        // bodies
        {START "rigid { shape = " BALL " }", "rigid: want a density or a mass, got neither"},
        {START "rigid { density = 1, mass = 1, shape = " BALL " }",
         "rigid: want density or mass, got both"},
        {START "rigid { mass = 0, shape = " BALL " }", "rigid.mass: want > 0 kg, got 0"},
        {START "rigid { density = -1, shape = " BALL " }",
         "rigid.density: want > 0 kg/m^3, got -1"},
        {START "rigid { mass = 1, shape = half_space { point = {0,0,0}, normal = {0,1,0} } }",
         "rigid.shape: want one with a finite volume, got one of inf m^3"},
        {START "rigid { mass = 1, shape = subtract(" BALL ", " BALL ") }",
         "rigid.shape: want one with a finite volume, got one of 0 m^3"},
        {START "rigid { mass = 1, restitution = 2, shape = " BALL " }",
         "rigid.restitution: want 0 to 1, got 2"},
        {START "rigid { mass = 1, spin = { axis = {0,0,0}, rate = 1 }, shape = " BALL " }",
         "rigid.spin: want an axis that is not 0"},
        {START "rigid { name = 'a', mass = 1, shape = " BALL " }\n"
               "rigid { name = 'a', mass = 1, shape = move(" BALL ", { position = {9,0,0} }) }",
         "test.lua:3: rigid.name: want one that no other body or collider has, got 'a'"},
        {START "collider { name = 'a', shape = move(" BALL ", { position = {9,0,0} }) }\n"
               "rigid { name = 'a', mass = 1, shape = " BALL " }",
         "test.lua:3: rigid.name: want one that no other body or collider has, got 'a'"},
        {START "contact { bodies = {'a', 'rest'}, friction = 1 } "
               "rigid { name = 'a', mass = 1, shape = " BALL " }",
         "contact.bodies: want bodies that particles or emitters name, got 'a'"},
        {START "rigid { name = 'a', mass = 1, shape = " BALL
               ", force = function(t) return 0/0 end }",
         "force of rigid 'a' at t = 0 s: "},
        {START JOINT "kind = 'hinge', speed = function(t) return 0/0 end }",
         "speed of joint 0 at t = 0 s: "},
        // colliders that deform
        {START "collider { shape = mesh_sequence { files = 'nobody.obj', last = 1 } }",
         "mesh_sequence.files: want one %d or %04d, where the number goes, got 'nobody.obj'"},
        {START "collider { shape = mesh_sequence { files = '%s-%d.obj', last = 1 } }",
         "mesh_sequence.files: want one %d"},
        {START "collider { shape = mesh_sequence { files = '%d%d.obj', last = 1 } }",
         "mesh_sequence.files: want one %d"},
        {START "collider { shape = mesh_sequence { files = '%d.obj', first = 2, last = 1 } }",
         "mesh_sequence.last: want first, which is 2"},
        {START "collider { shape = mesh_sequence { files = '%d.obj', last = 1, fps = 0 } }",
         "mesh_sequence.fps: want > 0"},
        {"scene { dx = 0.1, frames = 1, dimension = 2 }\n"
         "collider { shape = mesh_sequence { files = '%d.obj', last = 1 } }",
         "mesh_sequence: want it in a 3D scene"},
        {START SHEET "particles { material = material.sand {}, shape = sheet }",
         "particles.shape: want one that stays as it is, got a mesh_sequence"},
        {START SHEET "collider { name = 'a', shape = sheet }\n" MOUTH "attach = 'a' }",
         "emitter.attach: want what stays as it is, got 'a', which deforms"},
        // pouring, and colliders that go along
        {START
         "emitter { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = 1 }, "
         "velocity = {0,0,0} }",
         "emitter.velocity: want a vector that is not 0"},
        {START
         "emitter { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = 1 }, "
         "velocity = {0,-1,0}, rate = 1e9 }",
         "do not fit through this shape"},
        {START
         "emitter { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = 1 }, "
         "velocity = {0,-1,0}, start = 2, stop = 1 }",
         "emitter.stop: want > start"},
        {START
         "emitter { material = material.sand {}, shape = sphere { center = {0,0,0}, radius = 1 }, "
         "velocity = {0,-1,0}, spacing = 1e-7 }",
         "emitter.spacing: want at least 0.00625 m, which is 4096 particles in a cell, got 1e-07"},
        {START MOUTH "attach = 'nobody' }",
         "emitter.attach: want the name of a collider or a rigid body, got 'nobody'"},
        {START MOUTH "spin = { axis = {0,0,0}, rate = 1 } }", "emitter.spin: want an axis"},
        {START MOUTH "keys = {{ time = 1 }} }", "emitter.keys: want two or more, got 1"},
        {START MOUTH "between = 'linear' }", "emitter.between: want none without keys"},
        {START MOUTH "mouth_velocity = {1,0,0}, motion = function(t) return {} end }",
         "emitter: want mouth_velocity or motion, got both"},
        {"scene { dx = 0.1, frames = 1, dimension = 2 }\n" MOUTH
         "spin = { axis = {0,1,0}, rate = 1 } }",
         "emitter.spin: want the axis {0, 0, 1} in 2D, got {0, 1, 0}"},
        {"scene { dx = 0.1, frames = 1, dimension = 2 }\n" MOUTH
         "motion = function(t) return { rotation = { axis = {1,0,0}, angle = 9 } } end }",
         "rotation.axis: want {0, 0, 1} in 2D, got {1, 0, 0}"},
        {START "particles { material = material.sand {}, shape = sphere { center = {0,0,0}, "
               "radius = 1 }, spacing = 0.006 }",
         "particles.spacing: want at least 0.00625 m"},
        {START "collider { name = 'a', shape = sphere { center = {0,0,0}, radius = 1 } }\n"
               "collider { name = 'a', shape = sphere { center = {9,0,0}, radius = 1 } }",
         "collider.name: want one that no other collider has, got 'a'"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, attach = 'nobody' }",
         "collider.attach: want the name of an earlier collider"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, "
               "spin = { axis = {0,0,0}, rate = 1 } }",
         "collider.spin: want an axis"},
        {START "domain { min = {0,0,0}, max = {0.7,1,1}, periodic = {true,false,false} }",
         "test.lua:2: domain.max: want a multiple of 8 cells"},
        {START "domain { min = {-0.8,0,0}, max = {0.8,1,1}, periodic = {true,false,false} }",
         "domain.min: want 0 along x, which is periodic, got -0.8"},
        {START "camera { eye = {1,2,3}, look_at = {1,2,3} }", "camera.look_at: want another point"},
    };
    refuse_all(mistakes, COUNT_OF(mistakes));
}

static void a_missing_file_is_named(void)
{
    rp_scene_def def = rp_default_scene_def();
    rp_scene *scene;
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT, "scene.path");
    def.path = "/nowhere/dunes.lua";
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_FILE, "/nowhere/dunes.lua: cannot be read");
    def.path = "/";
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_FILE, "/: cannot be read");
    CHECK(scene == NULL);
    CHECK_ERROR(rp_scene_load(&(rp_scene_def){0}, &scene), RP_ERR_ARGUMENT,
                "rp_default_scene_def()");
}

// A mesh is looked for beside the scene, listed, and its faults are the scene's.
static void a_mesh_is_found_beside_its_scene(void)
{
    static const char rock[] = "scene { dx = 0.1, frames = 1 }\n"
                               "collider { shape = mesh { file = 'meshes/rock.obj' } }\n";
    rp_scene_def def = def_of(rock);
    rp_scene *scene;
    def.path = PROJECT_SOURCE_DIR "/scenes/obstacles/rock.lua";
    CHECK_OK(rp_scene_load(&def, &scene));
    CHECK_EQUAL(rp_scene_files(scene), 1);
    CHECK(strcmp(rp_scene_file(scene, 0), PROJECT_SOURCE_DIR "/scenes/obstacles/meshes/rock.obj") ==
          0);
    CHECK(rp_scene_file(scene, 1) == NULL);
    CHECK(strstr(rp_scene_resolved(scene), "meshes/rock.obj") != NULL);
    rp_scene_free(scene);
    CHECK_ERROR(
        load(START "collider { shape = mesh_sequence { files = 'no-%02d.obj', last = 1 } }"),
        RP_ERR_FILE, "no-00.obj: cannot be read");
    // one alone is a sheet that keeps its form
    CHECK_OK(load(START "collider { shape = mesh_sequence { files = '" PROJECT_SOURCE_DIR
                        "/scenes/obstacles/meshes/trampoline-02.obj', last = 0, thickness = 0.4 } "
                        "}"));
    CHECK_ERROR(plan(START SHEET "collider { name = 'a', shape = sheet }\n"
                                 "rigid { name = 'b', density = 1, shape = sphere { center = "
                                 "{0,9,0}, radius = 1 } }",
                     NULL),
                RP_ERR_UNSUPPORTED,
                "rigid 'b' and collider 'a', which deforms: the two do not meet yet");
    CHECK_ERROR(load(START "\ncollider { shape = mesh { file = 'rock.obj' } }"), RP_ERR_FILE,
                "rock.obj: cannot be read: No such file");
    CHECK_ERROR(load("scene { dimension = 2, dx = 0.1, frames = 1 }\n"
                     "collider { shape = mesh { file = 'rock.obj' } }"),
                RP_ERR_ARGUMENT, "test.lua:2: mesh: want it in a 3D scene");
}

static void another_method_is_checked_too(void)
{
    rp_scene_def def = def_of(START SAND);
    rp_scene *scene;
    def.method = "implicid";
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT, "no method 'implicid'");
    def.method = "sph";
    CHECK_OK(rp_scene_load(&def, &scene));
    rp_scene_free(scene);
    def.method = "explicit";
    CHECK_OK(rp_scene_load(&def, &scene));
    rp_scene_free(scene);
}

// ---- what a scene says ----

static void a_scene_tells_about_itself(void)
{
    rp_scene *scene = scene_of("scene { dx = 0.1, frames = 7, fps = 30 }\n" SAND
                               "camera { eye = {1,2,3}, look_at = {0,0,0}, fov = 90 }\n"
                               "output { state = 'latest' }\n");
    rp_scene_info info;
    rp_scene_get_info(scene, &info);
    CHECK(strcmp(info.title, "test") == 0);
    CHECK(strcmp(info.method, "explicit") == 0);
    CHECK_EQUAL(info.frames, 7);
    CHECK_NEAR(info.fps, 30.0, 0.0);
    CHECK_EQUAL(info.state, RP_STATE_LATEST);
    CHECK(info.has_camera);
    CHECK_NEAR(info.eye[2], 3.0, 0.0);
    CHECK_NEAR(info.fov, acos(0.0), 1e-15);
    size_t size;
    const char *text = rp_scene_text(scene, &size);
    CHECK_EQUAL(size, strlen(text));
    CHECK(strncmp(text, "scene {", 7) == 0);
    CHECK_EQUAL(rp_scene_files(scene), 0);
    rp_scene_free(scene);
}

static void frames_keep_the_columns_that_output_lists(void)
{
    static const mistake mistakes[] = {
        {START SAND "output { columns = {'velocity', 'stres'} }",
         "test.lua:3: output.columns[2]: want \"position\", "},
        {START SAND "output { columns = {'velocity', 'stres'} }", "; did you mean \"stress\"?"},
        {START SAND "output { columns = {'stress', 'stress'} }",
         "output.columns[2]: want each string once, got 'stress' again"},
        {START SAND "output { columns = {'stress', 3} }", "output.columns[2]: want"},
        {START SAND "output { columns = {stress = true} }",
         "output.columns: want a list of 0 to 32 strings, such as {\"position\", \"velocity\"}, "
         "got one with other fields"},
        {START SAND "output { columns = {'consolidation'} }",
         "test.lua:3: output: columns: nothing here has 'consolidation'; want any of velocity, "
         "affine, strain, volume_gain, stress or pressure"},
        {START SAND "output { columns = {}, state = 'latest' }",
         "test.lua:3: output: want columns or state, got both"},
    };
    refuse_all(mistakes, COUNT_OF(mistakes));
    json_t *r = resolved(START SAND "output { columns = {'stress', 'velocity'} }");
    const json_t *columns = at(r, "output", 0, "columns");
    CHECK_EQUAL(json_array_size(columns), 2);
    CHECK(strcmp(json_string_value(json_array_get(columns, 1)), "velocity") == 0);
    json_decref(r);
    CHECK_OK(plan(START SAND "output { columns = {} }", NULL));
    CHECK_OK(plan("output { columns = {'consolidation', 'pressure'} }\n" START
                  "particles { material = material.cam_clay {}, shape = " BALL " }",
                  NULL));
}

// A check or a default that looks at what has been said so far.
static void the_order_of_words_does_not_matter(void)
{
    static const char *const words[] = {
        "scene { dimension = 2, dx = 0.1, frames = 3, seed = 4 }\n",
        "particles { material = material.sand {}, shape = box { min = {0,0}, max = {1,1} } }\n",
        "collider { shape = half_space { point = {0,0}, normal = {0,1} } }\n",
        "domain { min = {0,0}, max = {1.6,1}, periodic = {true,false} }\n",
    };
    int64_t first = 0;
    for (int start = 0; start < 4; start++) {
        char text[1024] = "";
        for (int i = 0; i < 4; i++) {
            strcat(text, words[(start + i) % 4]);
        }
        int64_t particles;
        CHECK_OK(plan(text, &particles));
        first = start == 0 ? particles : first;
        CHECK_EQUAL(particles, first);
    }
    CHECK_NEAR((double)first, 400.0, 10.0);
}

static void in_2d_a_third_component_is_not_looked_at(void)
{
    json_t *r = resolved("scene { dimension = 2, dx = 0.1, frames = 1 }\n" SAND
                         "collider { shape = half_space { point = {0,0,5}, normal = {0,1,7} } }\n");
    const json_t *box = json_object_get(at(r, "particles", 0, "shape"), "box");
    CHECK_EQUAL(json_array_size(json_object_get(box, "max")), 2);
    CHECK_EQUAL(json_integer_value(at(r, "particles", 0, "per_cell")), 4);
    CHECK_NEAR(json_real_value(at(r, "particles", 0, "spacing")), 0.05, 0.0);
    json_decref(r);
}

static void the_resolved_scene_has_everything(void)
{
    json_t *r = resolved("local a = param('angle', 30, 'degrees')\n"
                         "scene { dx = 1/3, frames = 2, gravity = function(t) return 0, -t, 0 end, "
                         "transfer = { flip = 0.9 } }\n"
                         "particles { material = material.sand { name = 'grün', friction_angle = a "
                         "}, shape = sphere { center = {1, 2, 3}, radius = 4 } }\n"
                         "collider { shape = box { min = {0,0,0}, max = {1,1,1} } }\n");
    CHECK_NEAR(json_real_value(at(r, "scene", 0, "dx")), 1.0 / 3.0, 0.0); // 17 digits
    CHECK(json_is_null(at(r, "scene", 0, "dt_max")));
    const json_t *gravity = json_object_get(at(r, "scene", 0, "gravity"), "function");
    CHECK(strcmp(json_string_value(gravity), "test.lua:2") == 0);
    const json_t *flip = json_object_get(at(r, "scene", 0, "transfer"), "flip");
    CHECK_NEAR(json_real_value(flip), 0.9, 0.0);
    CHECK_NEAR(json_real_value(json_object_get(at(r, "params", 0, "angle"), "value")), 30.0, 0.0);
    CHECK(strcmp(json_string_value(at(r, "materials", 0, "name")), "grün") == 0);
    CHECK_EQUAL(json_integer_value(at(r, "particles", 0, "material")), 0);
    CHECK_EQUAL(json_integer_value(at(r, "particles", 0, "line")), 3);
    const json_t *ball = json_object_get(at(r, "particles", 0, "shape"), "sphere");
    CHECK_NEAR(json_real_value(json_object_get(ball, "radius")), 4.0, 0.0);
    CHECK(strcmp(json_string_value(at(r, "colliders", 0, "name")), "0") == 0);
    CHECK(strcmp(json_string_value(at(r, "output", 0, "state")), "all") == 0);
    CHECK(json_is_null(json_object_get(r, "camera")));
    // every key of every word, given or not
    for (int w = 0; w < rp_scene_word_count(); w++) {
        const scene_word *word = rp_scene_word_at(w);
        json_t *group = word->group != NULL ? json_object_get(r, word->group) : NULL;
        check_context("%s", word->name);
        CHECK(word->group == NULL || group != NULL);
        json_t *first = json_is_array(group) ? json_array_get(group, 0) : group;
        const json_t *said = json_is_object(first) ? json_object_get(first, "word") : NULL;
        const bool there = json_is_object(first) && word->kind != WORD_PARAM &&
                           (said == NULL || strcmp(json_string_value(said), word->name) == 0);
        for (int k = 0; there && k < word->keys; k++) {
            check_context("%s.%s", word->name, word->key[k].name);
            // options of another method, which this scene does not speak of
            if (rp_solver_find(word->key[k].name) != NULL) {
                continue;
            }
            CHECK(json_object_get(first, word->key[k].name) != NULL);
        }
    }
    json_decref(r);
}

static void params_are_set_from_outside(void)
{
    const char *text = "local n = param('number', 3, 'm')\n"
                       "local b = param('flag', false)\n"
                       "local s = param('word', 'a')\n"
                       "assert(n == 3 or n == 4.5 or n == 7)\n"
                       "assert(n ~= 7 or math.type(n) == 'integer')\n"
                       "assert(b == false or s == 'a')\n" START;
    CHECK_OK(load(text));
    CHECK_OK(load_set(text, "number", "4.5"));
    CHECK_OK(load_set(text, "number", "7"));
    CHECK_OK(load_set(text, "flag", "true"));
    CHECK_OK(load_set(text, "word", "any text = at all"));
    CHECK_ERROR(load_set(text, "number", "many"), RP_ERR_ARGUMENT,
                "test.lua:1: param 'number': want a finite number, got 'many'");
    CHECK_ERROR(load_set(text, "number", "1e999"), RP_ERR_ARGUMENT, "want a finite number");
    CHECK_ERROR(load_set(text, "number", ""), RP_ERR_ARGUMENT, "want a finite number, got ''");
    CHECK_ERROR(load_set(text, "flag", "yes"), RP_ERR_ARGUMENT,
                "test.lua:2: param 'flag': want true or false, got 'yes'");
    CHECK_ERROR(load_set(text, "word", "\xff"), RP_ERR_ARGUMENT, "UTF-8");
    CHECK_ERROR(load_set(text, "nubmer", "1"), RP_ERR_ARGUMENT,
                "test.lua: there is no param 'nubmer'; did you mean 'number'?; the scene has "
                "number, flag, word");
    CHECK_ERROR(load_set(START, "x", "1"), RP_ERR_ARGUMENT, "the scene has none");
    CHECK_ERROR(load("param('a', 1) param('a', 2)" START), RP_ERR_ARGUMENT,
                "param 'a': want it once");
    CHECK_ERROR(load("param('a b', 1)" START), RP_ERR_ARGUMENT,
                "param.name: want letters, digits and _, got 'a b'");
    CHECK_ERROR(load("param('a', {})" START), RP_ERR_ARGUMENT, "param.default: want a number");
    CHECK_ERROR(load("param('a', 1, 'm', 4)" START), RP_ERR_ARGUMENT, "want at most 3 values");
}

// A choice that takes anything, that forgets its default, or that a script can change afterwards.
static void a_param_may_be_a_choice(void)
{
    const char *text = "local sizes = {'quick', 'fine', 'finest'}\n"
                       "local size = param('size', sizes, 'how fine')\n"
                       "sizes[1], sizes[2] = 'other', nil\n"
                       "scene { dx = ({ quick = 0.1, fine = 0.05, finest = 0.025 })[size],\n"
                       "frames = 1 }\n";
    json_t *r = resolved(text);
    const json_t *size = at(r, "params", 0, "size");
    CHECK(strcmp(json_string_value(json_object_get(size, "value")), "quick") == 0);
    CHECK(strcmp(json_string_value(json_object_get(size, "default")), "quick") == 0);
    const json_t *choices = json_object_get(size, "choices");
    CHECK_EQUAL(json_array_size(choices), 3);
    CHECK(strcmp(json_string_value(json_array_get(choices, 1)), "fine") == 0);
    json_decref(r);

    rp_scene_def def = def_of(text);
    def.param = &(rp_scene_param){"size", "fine"};
    def.params = 1;
    rp_scene *scene;
    CHECK_OK(rp_scene_load(&def, &scene));
    r = json_loads(rp_scene_resolved(scene), 0, NULL);
    size = at(r, "params", 0, "size");
    CHECK(strcmp(json_string_value(json_object_get(size, "value")), "fine") == 0);
    CHECK(strcmp(json_string_value(json_object_get(size, "default")), "quick") == 0);
    CHECK_NEAR(json_real_value(at(r, "scene", 0, "dx")), 0.05, 0.0);
    json_decref(r);
    rp_scene_free(scene);

    CHECK_ERROR(
        load_set(text, "size", "fien"), RP_ERR_ARGUMENT,
        "test.lua:2: param 'size': want \"quick\", \"fine\" or \"finest\", got 'fien'; did you "
        "mean \"fine\"?");
    CHECK_ERROR(load_set(text, "size", ""), RP_ERR_ARGUMENT,
                "want \"quick\", \"fine\" or \"finest\", got ''");
    CHECK_ERROR(load_set(text, "size", "Quick"), RP_ERR_ARGUMENT, "did you mean \"quick\"?");
    CHECK_ERROR(load_set(text, "size", "\xff"), RP_ERR_ARGUMENT, "param 'size': want \"quick\"");

    static const mistake mistakes[] = {
        {"param('a', {1, 2})", "param.default: want a number or a boolean or a string or a list of "
                               "strings, got a table"},
        {"param('a', {'b'})", "param.default: want a list of 2 to 16 strings, such as {\"quick\", "
                              "\"fine\"}, got 1"},
        {"local t = {} for i = 1, 17 do t[i] = 'a' .. i end param('a', t)",
         "param.default: want a list of 2 to 16 strings, such as {\"quick\", \"fine\"}, got 17"},
        {"param('a', {'b', 'c', also = 'd'})", "got one with other fields"},
        {"param('a', setmetatable({'b', 'c'}, {}))", "got one with a metatable"},
        {"param('a', {'b', 2})",
         "param.default[2]: want a line of UTF-8 text of 1 to 32 bytes, got 2"},
        {"param('a', {'b', ''})", "param.default[2]: want a line of UTF-8 text of 1 to 32 bytes"},
        {"param('a', {'b', 'c\\n'})", "param.default[2]: want a line of UTF-8"},
        {"param('a', {'b', ('c'):rep(33)})", "param.default[2]: want a line of UTF-8"},
        {"param('a', {'b', 'c', 'b'})", "param.default[3]: want each string once, got 'b' again"},
    };
    refuse_all(mistakes, COUNT_OF(mistakes));
}

// What is asked of the shape of the first particles or collider.
static const rp_shape *first_shape(const rp_scene *scene, const char *word)
{
    return rp_call_value(rp_call_find(scene->first, word), "shape")->call->shape;
}

// A word that makes another shape than the C call of the same name, in 2D and 3D.
static void shapes_are_what_the_script_says(void)
{
    static const struct {
        const char *text;
        double volume, inside[3];
    } shapes[] = {
        {"box { min = {0,0,0}, max = {1,1,1}, round = 0.5 }", 0.5235987755982988, {0.5, 0.5, 0.5}},
        {"capsule { a = {0,0,0}, b = {0,2,0}, radius = 1 }", 10.471975511965976, {0, 2.9, 0}},
        {"cylinder { base = {1,0,0}, radius = 1, height = 2, axis = {5,0,0} }",
         6.283185307179586,
         {2.9, 0, 0.9}},
        {"cone { base = {0,0,0}, radius = 1, height = 3 }", 3.141592653589793, {0, 2.9, 0}},
        {"torus { center = {0,0,0}, major = 1, minor = 0.1 }", 0.19739208802178716, {1, 0.05, 0}},
        {"ellipsoid { center = {0,0,0}, radii = {1,2,3} }", 25.132741228718345, {0, 0, 2.9}},
        {"revolve { profile = {{1,0}, {1,2}} }", 6.283185307179586, {0, 1, 0}},
        {"revolve { profile = {{1,0}, {1,2}}, thickness = 0.2 }", 2.710744345627617, {1.05, 1, 0}},
        {"union(" BALL ", sphere { center = {3,0,0}, radius = 1 })", 8.377580409572781, {3, 0, 0}},
        {"intersect(" BALL ", half_space { point = {0,0,0}, normal = {1,0,0} })",
         2.0943951023931953,
         {-0.5, 0, 0}},
        {"subtract(" BALL ", sphere { center = {0,0,0}, radius = 0.5 })",
         3.665191429188092,
         {0.75, 0, 0}},
        {"offset(" BALL ", 1)", 33.510321638291124, {1.9, 0, 0}},
        {"invert(invert(" BALL "))", INFINITY, {0.9, 0, 0}},
        {"move(box { min = {0,0,0}, max = {1,1,1} }, { position = {5,0,0}, scale = 2, rotation = { "
         "angle = 90 } })",
         8.0,
         {3.1, 1.9, 1}},
        // and in 2D
        {"2 box { min = {0,0}, max = {1,1}, round = 0.5 }", 0.7853981633974483, {0.5, 0.5, 0}},
        {"2 cylinder { base = {0,0}, radius = 1, height = 3, axis = {1,1} }", 6.0, {2, 2, 0}},
        {"2 cone { base = {0,0}, radius = 1, height = 3 }", 3.0, {0, 2.9, 0}},
        {"2 ellipsoid { center = {0,0}, radii = {1,2} }", 6.283185307179586, {0, 1.9, 0}},
        {"2 revolve { profile = {{1,0}, {2,1}} }", 3.0, {-1.4, 0.5, 0}},
        {"2 capsule { a = {0,0}, b = {0,2}, radius = 1 }", 7.141592653589793, {0, 2.9, 0}},
        {"2 subtract(box { min = {0,0}, max = {2,2} }, sphere { center = {1,1}, radius = 1 })",
         0.8584073464102069,
         {0.1, 0.1, 0}},
        {"2 intersect(box { min = {0,0}, max = {2,2} }, height_field { min = {0,0}, max = {2,0}, "
         "height = function(x) return x end })",
         2.0,
         {1.5, 1.4, 0}},
        {"2 move(box { min = {0,0}, max = {1,1} }, { position = {5,0}, rotation = { angle = 90 } "
         "})",
         1.0,
         {4.1, 0.9, 0}},
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const bool flat = shapes[i].text[0] == '2';
        char text[1024];
        snprintf(text, sizeof text, "%scollider { shape = %s }\n", flat ? FLAT : START,
                 shapes[i].text + (flat ? 2 : 0));
        rp_scene *scene = scene_of(text);
        const rp_shape *shape = first_shape(scene, "collider");
        const double volume = rp_shape_volume(shape, flat ? 2 : 3), want = shapes[i].volume;
        check_context("%s", shapes[i].text);
        CHECK(isinf(want) ? isinf(volume) : fabs(volume - want) <= 1e-4 * want);
        CHECK(rp_shape_distance(shape, shapes[i].inside, NULL) < 0.0);
        rp_scene_free(scene);
    }
    json_t *r = resolved(
        START "collider { shape = union(revolve { profile = {{1,0}, {1,2}} }, " BALL ") }\n");
    json_t *list =
        json_object_get(json_object_get(at(r, "colliders", 0, "shape"), "union"), "shapes");
    CHECK_EQUAL(json_array_size(list), 2);
    json_t *profile =
        json_object_get(json_object_get(json_array_get(list, 0), "revolve"), "profile");
    CHECK_NEAR(json_real_value(json_array_get(json_array_get(profile, 1), 1)), 2.0, 0.0);
    json_decref(r);
}

static void write_grey(const char *path, const unsigned char *bytes, int columns, int rows)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)columns,
                       .height = (png_uint_32)rows,
                       .format = PNG_FORMAT_GRAY};
    png_image_write_to_file(&image, path, 0, bytes, 0, NULL);
}

// A picture beside the scene, wherever the program was started.
static void height_fields_come_from_pictures(void)
{
    char folder[] = "/tmp/repose_test_XXXXXX", path[64], picture[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/hills.lua", folder);
    snprintf(picture, sizeof picture, "%s/hills.png", folder);
    const unsigned char grey[] = {0, 255, 0, 255}; // rises along x
    write_grey(picture, grey, 2, 2);
    rp_scene_def def = def_of(START "collider { shape = height_field { file = 'hills.png', min = "
                                    "{0, 1, 0}, max = {2, 3, 2} } }\n");
    def.path = path;
    rp_scene *scene;
    CHECK_OK(rp_scene_load(&def, &scene));
    CHECK_EQUAL(rp_scene_files(scene), 1);
    CHECK(strcmp(rp_scene_file(scene, 0), picture) == 0);
    CHECK(rp_scene_file(scene, 1) == NULL);
    const double above[3] = {1.0, 3.0, 1.0};
    CHECK_NEAR(rp_shape_distance(first_shape(scene, "collider"), above, NULL), sqrt(0.5), 1e-15);
    rp_scene_free(scene);
    // resuming runs a copy of the script in another folder
    def.path = "elsewhere/hills.lua";
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_FILE,
                "elsewhere/hills.lua:2: height_field: elsewhere/hills.png: cannot be read");
    def.folder = folder;
    CHECK_OK(rp_scene_load(&def, &scene));
    rp_scene_free(scene);
    def = def_of(
        FLAT
        "collider { shape = height_field { file = 'hills.png', min = {0,0}, max = {1,1} } }\n");
    def.folder = folder;
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT,
                "test.lua:2: height_field.file: want a picture one pixel high in 2D, got 2");
    remove(picture);
    remove(folder);
}

static void what_nothing_uses_is_warned_of(void)
{
    check_expect_warning();
    CHECK_OK(load(START "\nsphere { center = {0,0,0}, radius = 1 }"));
    CHECK(strcmp(check_last_warning(), "test.lua:3: sphere: made, but nothing uses it") == 0);
}

static void scenes_that_come_along_can_be_run(void)
{
    glob_t found;
    CHECK_EQUAL(glob(PROJECT_SOURCE_DIR "/scenes/*/*.lua", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        check_context("%s", found.gl_pathv[i]);
        rp_scene_def def = rp_default_scene_def();
        def.path = found.gl_pathv[i];
        rp_scene *scene;
        rp_world *world;
        CHECK_OK(rp_scene_load(&def, &scene));
        rp_scene_world_def how = rp_default_scene_world_def();
        CHECK_OK(rp_scene_create_world(scene, &how, &world));
        CHECK_OK(rp_world_step(world));
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
    globfree(&found);
}

// ---- functions ----

static void functions_of_time_must_be_pure(void)
{
    static const mistake mistakes[] = {
        {"local n = 0\nscene { dx = 1, frames = 1,\n"
         "gravity = function(t) n = n + 1 return 0, n, 0 end }",
         "test.lua:3: gravity of the scene at t = "},
        // remembers the last call: found because the second round goes backwards
        {"local last = 0\nscene { dx = 1, frames = 9, gravity = function(t) local d = t - last "
         "last "
         "= t return 0, d, 0 end }",
         "want the same result every time"},
        {START "collider { name = 'lid', shape = sphere { center = {0,0,0}, radius = 1 }, motion = "
               "function(t) return { position = {math.random(), 0, 0} } end }",
         "test.lua:2: motion of collider 'lid' at t = 0 s: math.random: want it called while"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, motion = function(t) "
               "sphere { center = {0,0,0}, radius = 1 } end }",
         "motion of collider 0 at t = 0 s: sphere: want it said while the scene is read"},
        {"scene { dx = 1, frames = 1, gravity = function(t) return 1 end }",
         "gravity of the scene at t = 0 s: result: want 3 numbers or a list of them, got 1"},
        {"scene { dx = 1, frames = 1, gravity = function(t) end }", "want 3 numbers"},
        {"scene { dx = 1, frames = 1, gravity = function(t) return 1, 2, 'x' end }",
         "want finite numbers, got 'x'"},
        {"scene { dx = 1, frames = 1, gravity = function(t) return {1, 2, 0/0} end }",
         "want finite numbers"},
        {"scene { dx = 1, frames = 48, gravity = function(t) return 0, 1 / (t - 1), 0 end }",
         "at t = 1 s: result: want finite numbers, got inf"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, motion = function(t) "
               "return { rotation = { axis = {0,0,0}, angle = 1 } } end }",
         "rotation.axis: want a vector that is not 0"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, motion = function(t) "
               "return { postion = {0,0,0} } end }",
         "pose: unknown key 'postion'; did you mean 'position'?"},
        {START "collider { shape = sphere { center = {0,0,0}, radius = 1 }, motion = function(t) "
               "return nil end }",
         "pose: want a table"},
        {START
         "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} "
         "}, velocity = 'fast' }",
         "particles.velocity: want a vector or a function, got 'fast'"},
    };
    refuse_all(mistakes, COUNT_OF(mistakes));
}

static void functions_give_c_what_the_script_says(void)
{
    rp_scene *scene = scene_of(
        "scene { dx = 0.5, frames = 10, gravity = function(t) return { t, -t, 2 } end }\n"
        "collider { shape = sphere { center = {0,9,0}, radius = 1 }, motion = function(t)\n"
        "return { position = {t, 0, 0}, rotation = { axis = {0, 2, 0}, angle = 90 } } end }\n"
        "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {2,2,2} },\n"
        "sampling = 'lattice', velocity = function(x, y, z) return x + 1, y + 2, z + 3 end }\n");
    double out[3];
    const rp_vector_of_time gravity = rp_scene_vector_of_time(scene->said, "gravity");
    CHECK_OK(gravity.call(gravity.context, 1.5, out));
    CHECK_NEAR(out[1], -1.5, 0.0);
    CHECK_NEAR(out[2], 2.0, 0.0);

    rp_pose pose;
    const scene_call *collider = rp_call_find(scene->first, "collider");
    const rp_pose_of_time motion = rp_scene_pose_of_time(collider, "motion");
    CHECK_OK(motion.call(motion.context, 0.25, &pose));
    CHECK_NEAR(pose.position[0], 0.25, 0.0);
    CHECK_NEAR(pose.rotation[1], sqrt(0.5), 1e-15);
    CHECK_NEAR(pose.rotation[3], sqrt(0.5), 1e-15);

    // and the world takes them: a particle at x has the velocity of that place
    rp_world *world;
    rp_scene_world_def how = rp_default_scene_world_def();
    CHECK_OK(rp_scene_create_world(scene, &how, &world));
    CHECK_OK(rp_world_prepare(world));
    rp_stats stats;
    rp_world_stats(world, &stats);
    CHECK_EQUAL(stats.particles, 512);
    double x[512][3], v[512][3];
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, &x[0][0]));
    CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, &v[0][0]));
    for (int p = 0; p < 512; p++) {
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(v[p][a], x[p][a] + a + 1, 1e-6);
        }
    }
    rp_world_destroy(world);

    // without particles: they will be restored
    how.empty = true;
    CHECK_OK(rp_scene_create_world(scene, &how, &world));
    CHECK_OK(rp_world_prepare(world));
    rp_world_stats(world, &stats);
    CHECK_EQUAL(stats.particles, 0);
    rp_world_destroy(world);
    rp_scene_free(scene);
}

// A scene takes every form of the transfer into a world.
static void transfers_become_those_of_the_world(void)
{
    static const char *const forms[] = {
        "'apic'", "'pic'", "'steady'", "{}", "{ flip = 0.9 }", "{ steady = 0.1 }",
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        check_context("transfer = %s", forms[i]);
        char text[512];
        snprintf(text, sizeof text,
                 "scene { dx = 0.1, frames = 1, transfer = %s }\n" SAND
                 "collider { shape = sphere { center = {0,9,0}, radius = 1 } }\n",
                 forms[i]);
        rp_scene *scene = scene_of(text);
        rp_world *world;
        rp_scene_world_def how = rp_default_scene_world_def();
        CHECK_OK(rp_scene_create_world(scene, &how, &world));
        CHECK_OK(rp_world_step(world));
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

// A function that fails when the run is on its way comes back through the step that called it.
static void a_function_may_fail_in_the_middle_of_a_run(void)
{
    rp_scene *scene =
        scene_of("scene { dx = 0.1, frames = 64, fps = 32 }\n" SAND
                 "collider { name = 'lid', shape = sphere { center = {0,9,0}, radius = 1 },\n"
                 "  motion = function(t)\n"
                 "    if t > 0.1 and t < 0.9 then local x = nil + 1 end\n"
                 "    return {}\n"
                 "  end }\n");
    rp_world *world;
    rp_scene_world_def how = rp_default_scene_world_def();
    CHECK_OK(rp_scene_create_world(scene, &how, &world));
    rp_result result = RP_OK;
    for (int f = 0; f < 32 && result == RP_OK; f++) {
        result = rp_world_run_frame(world);
    }
    CHECK_ERROR(result, RP_ERR_ARGUMENT, "test.lua:5: motion of collider 'lid' at t = 0.1");
    CHECK_ERROR(result, RP_ERR_ARGUMENT, " s: attempt to perform arithmetic on a nil value");
    rp_world_destroy(world);
    rp_scene_free(scene);
}

TEST_MAIN(TEST(every_example_runs), TEST(the_page_is_made_from_the_table),
          TEST(every_key_refuses_other_types), TEST(every_number_refuses_what_is_out_of_its_range),
          TEST(a_misspelt_key_is_answered_with_the_right_one), TEST(a_required_key_is_asked_for),
          TEST(defaults_are_those_of_the_library), TEST(up_is_what_the_scene_says),
          TEST(what_is_hardly_meant_is_doubted), TEST(every_foreign_name_leads_somewhere),
          TEST(words_of_other_tools_are_understood), TEST(mistakes_are_named_with_their_line),
          TEST(a_missing_file_is_named), TEST(a_mesh_is_found_beside_its_scene),
          TEST(another_method_is_checked_too), TEST(frames_keep_the_columns_that_output_lists),
          TEST(a_scene_tells_about_itself), TEST(the_order_of_words_does_not_matter),
          TEST(in_2d_a_third_component_is_not_looked_at), TEST(the_resolved_scene_has_everything),
          TEST(shapes_are_what_the_script_says), TEST(height_fields_come_from_pictures),
          TEST(params_are_set_from_outside), TEST(a_param_may_be_a_choice),
          TEST(what_nothing_uses_is_warned_of), TEST(scenes_that_come_along_can_be_run),
          TEST(functions_of_time_must_be_pure), TEST(functions_give_c_what_the_script_says),
          TEST(a_function_may_fail_in_the_middle_of_a_run),
          TEST(transfers_become_those_of_the_world))

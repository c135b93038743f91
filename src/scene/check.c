// What only shows when all has been said.
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Dimensions
// -----------------------------------------------------------------------------------------------

static bool has_axes(unsigned kind)
{
    return kind == TAKES_VECTOR || kind == TAKES_AXES || kind == TAKES_MATRIX;
}

// In 2D the third component is not looked at; it is set to 0, so that nobody does by mistake.
static void flatten(scene_value *v)
{
    v->count = 2;
    if (v->kind == TAKES_VECTOR) {
        v->vector[2] = 0.0;
    } else if (v->kind == TAKES_AXES) {
        v->axes[2] = false;
    } else {
        for (int a = 0; a < 3; a++) {
            v->matrix[a][2] = v->matrix[2][a] = 0.0;
        }
    }
}

static rp_result fit_dimension(rp_scene *scene, scene_call *call)
{
    for (int k = 0; k < call->word->keys; k++) {
        scene_value *v = &call->value[k];
        rp_result result = v->kind == TAKES_TABLE ? fit_dimension(scene, v->call) : RP_OK;
        for (int i = 0; v->kind == TAKES_TABLES && result == RP_OK && i < v->count; i++) {
            result = fit_dimension(scene, v->tables[i]);
        }
        if (result != RP_OK) {
            return result;
        }
        if (!has_axes(v->kind)) {
            continue;
        }
        if (v->count < scene->dimension) {
            return rp_call_fail(scene, call, call->word->key[k].name,
                                "want 3 components in a 3D scene, got %d", v->count);
        }
        if (scene->dimension == 2) {
            flatten(v);
        }
    }
    return RP_OK;
}

// Materials, particles, colliders
// ---------------------------------------------------------------------------

// Names and titles stand in records, which have room for so much and cut nothing.
static rp_result check_length(rp_scene *scene, scene_call *r, const char *key, size_t least,
                              size_t room)
{
    for (int k = 0; k < r->word->keys; k++) {
        const scene_value *value = &r->value[k];
        if (strcmp(r->word->key[k].name, key) == 0 && value->kind == TAKES_STRING) {
            const size_t length = strlen(value->text);
            if (length < least || length >= room) {
                return rp_call_fail(scene, r, key, "want %zu to %zu bytes, got %zu", least,
                                    room - 1, length);
            }
        }
    }
    return RP_OK;
}

static rp_result check_sand(rp_scene *scene, scene_call *r)
{
    const bool hardens = rp_call_value(r, "hardening")->kind == TAKES_TABLE;
    const char *const replaced[] = {"friction_angle", "friction_coefficient"};
    for (int i = 0; hardens && i < 2; i++) {
        if (rp_call_value(r, replaced[i])->given) {
            return rp_call_fail(scene, r, replaced[i],
                                "want none with hardening, which makes its own, got one");
        }
    }
    return RP_OK;
}

// The root along as many axes as there are, exact for whole roots.
static double root(double x, int dimension)
{
    const double r = dimension == 2 ? sqrt(x) : cbrt(x), whole = round(r);
    return (dimension == 2 ? whole * whole : whole * whole * whole) == x ? whole : r;
}

// As fine as the largest per_cell, and no finer: more would be a slip, and never end.
static rp_result check_spacing(rp_scene *scene, scene_call *r)
{
    const scene_value *spacing = rp_call_value(r, "spacing");
    const double dx = rp_call_number(scene->said, "dx");
    const double least = dx / root(4096.0, scene->dimension);
    if (spacing->kind != 0 && spacing->number < least * (1.0 - 1e-9)) {
        return rp_call_fail(scene, r, "spacing",
                            "want at least %.3g m, which is 4096 particles in a cell, got %g",
                            least, spacing->number);
    }
    return RP_OK;
}

static rp_result check_particles(rp_scene *scene, scene_call *r)
{
    const bool by_place = rp_call_value(r, "velocity")->kind == TAKES_FUNCTION;
    if (by_place && rp_call_value(r, "velocity_gradient")->kind != 0) {
        return rp_call_fail(scene, r, "velocity_gradient",
                            "want none with a function as velocity, got one");
    }
    if (rp_call_choice(r, "sampling") != RP_LATTICE && rp_call_value(r, "jitter")->given) {
        return rp_call_fail(scene, r, "jitter", "want none without sampling = \"lattice\", got %g",
                            rp_call_number(r, "jitter"));
    }
    const scene_value *within = rp_call_value(r, "within");
    if (within->kind != 0 && (strcmp(within->call->word->name, "material.sand") != 0 ||
                              !(rp_call_number(within->call, "porosity") > 0.0))) {
        return rp_call_fail(scene, r, "within", "want a sand whose porosity is more than 0");
    }
    const scene_call *material = rp_call_value(r, "material")->call;
    if (within->kind != 0 && strcmp(material->word->name, "material.water") != 0) {
        return rp_call_fail(scene, r, "within", "want it of water alone, got %s",
                            material->word->name);
    }
    scene_value *per_cell = &r->value[rp_scene_key_index(r->word, "per_cell")];
    scene_value *spacing = &r->value[rp_scene_key_index(r->word, "spacing")];
    if (!spacing->given && !per_cell->given) {
        per_cell->kind = TAKES_INTEGER;
        per_cell->integer = scene->dimension == 2 ? 4 : 8;
    }
    if (!spacing->given) {
        spacing->kind = TAKES_NUMBER;
        spacing->number =
            rp_call_number(scene->said, "dx") / root((double)per_cell->integer, scene->dimension);
    }
    return check_spacing(scene, r);
}

// The axis that a table for turning names, if it is there at all.
static rp_result check_turning(rp_scene *scene, scene_call *r, const char *key,
                               const scene_value *turning)
{
    const double *axis = turning->kind != 0 ? rp_call_vector(turning->call, "axis") : NULL;
    if (axis != NULL && rp_is_zero(axis)) {
        return rp_call_fail(scene, r, key, "want an axis that is not 0, got 0");
    }
    if (axis != NULL && scene->dimension == 2 && (axis[0] != 0.0 || axis[1] != 0.0)) {
        return rp_call_fail(scene, r, key, "want the axis {0, 0, 1} in 2D, got {%g, %g, %g}",
                            axis[0], axis[1], axis[2]);
    }
    return RP_OK;
}

static rp_result check_key_frames(rp_scene *scene, scene_call *r)
{
    const scene_value *keys = rp_call_value(r, "keys");
    if (keys->kind == 0) {
        return !rp_call_value(r, "between")->given
                   ? RP_OK
                   : rp_call_fail(scene, r, "between", "want none without keys, got one");
    }
    if (keys->count < 2) {
        return rp_call_fail(scene, r, "keys", "want two or more, got %d", keys->count);
    }
    for (int i = 0; i < keys->count; i++) {
        const scene_call *key = keys->tables[i];
        const double time = rp_call_number(key, "time");
        const double before = i > 0 ? rp_call_number(keys->tables[i - 1], "time") : -INFINITY;
        if (!(time > before)) {
            return rp_call_fail(scene, r, "keys",
                                "want times that grow, got %g s after %g s in number %d", time,
                                before, i + 1);
        }
        const scene_value *rotation = rp_call_value(key, "rotation");
        const rp_result result = check_turning(scene, r, "keys", rotation);
        if (result != RP_OK) {
            return result;
        }
    }
    return RP_OK;
}

// Of a collider, or of the mouth of an emitter.
static rp_result check_motion(rp_scene *scene, scene_call *r)
{
    if (rp_call_value(r, "pivot")->given && rp_call_value(r, "motion")->kind == 0 &&
        rp_call_value(r, "keys")->kind == 0 && rp_call_value(r, "spin")->kind == 0) {
        return rp_call_fail(scene, r, "pivot", "want none without motion, keys or spin, got one");
    }
    const rp_result result = check_turning(scene, r, "spin", rp_call_value(r, "spin"));
    return result == RP_OK ? check_key_frames(scene, r) : result;
}

static rp_result check_collider(rp_scene *scene, scene_call *r)
{
    const bool sticky = rp_call_choice(r, "contact") == RP_STICKY;
    if (sticky && rp_call_value(r, "friction")->given) {
        return rp_call_fail(scene, r, "friction",
                            "want none with sticky contact, where nothing slides, got %g",
                            rp_call_number(r, "friction"));
    }
    rp_result result = check_motion(scene, r);
    if (result != RP_OK) {
        return result;
    }
    const char *name = rp_call_text(r, "name");
    if (name != NULL && rp_scene_find_solid(scene, name, r) != NULL) {
        return rp_call_fail(scene, r, "name", "want one that no other collider has, got '%s'",
                            name);
    }
    const char *parent = rp_call_text(r, "attach");
    if (parent != NULL && rp_scene_find_collider(scene, parent, r) == NULL) {
        return rp_call_fail(scene, r, "attach", "want the name of an earlier collider, got '%s'",
                            parent);
    }
    return RP_OK;
}

static rp_result check_rigid(rp_scene *scene, scene_call *r)
{
    const char *name = rp_call_text(r, "name");
    if (name != NULL && rp_scene_find_solid(scene, name, r) != NULL) {
        return rp_call_fail(scene, r, "name",
                            "want one that no other body or collider has, got '%s'", name);
    }
    if (rp_call_value(r, "density")->kind == 0 && rp_call_value(r, "mass")->kind == 0) {
        return rp_call_fail(scene, r, NULL, "want a density or a mass, got neither");
    }
    return check_turning(scene, r, "spin", rp_call_value(r, "spin"));
}

static rp_result check_joint(rp_scene *scene, scene_call *r)
{
    static const char *const sides[] = {"a", "b"};
    bool rigid = false;
    for (int k = 0; k < 2; k++) {
        const char *name = rp_call_text(r, sides[k]);
        const scene_call *solid = name != NULL ? rp_scene_find_solid(scene, name, NULL) : NULL;
        if (name != NULL && solid == NULL) {
            return rp_call_fail(scene, r, sides[k],
                                "want the name of a rigid body or a collider, got '%s'", name);
        }
        rigid = rigid || (solid != NULL && strcmp(solid->word->name, "rigid") == 0);
    }
    if (!rigid) {
        return rp_call_fail(scene, r, NULL, "want a rigid body on one side, got none");
    }
    const char *a = rp_call_text(r, "a"), *b = rp_call_text(r, "b");
    if (b != NULL && strcmp(a, b) == 0) {
        return rp_call_fail(scene, r, "b", "want another than a, got '%s' twice", b);
    }
    if (rp_is_zero(rp_call_vector(r, "axis"))) {
        return rp_call_fail(scene, r, "axis", "want a vector that is not 0, got 0");
    }
    const bool fixed = rp_call_choice(r, "kind") == RP_JOINT_FIXED;
    if (fixed && (rp_call_value(r, "range")->kind != 0 || rp_call_value(r, "speed")->kind != 0)) {
        return rp_call_fail(scene, r, "kind",
                            "want \"hinge\" or \"slider\" with a range or a speed, got \"fixed\"");
    }
    const scene_value *range = rp_call_value(r, "range");
    if (range->kind != 0) {
        const char *unit = rp_call_choice(r, "kind") == RP_JOINT_HINGE ? "degrees" : "m";
        const bool begins = rp_call_value(range->call, "min")->kind != 0;
        const bool ends = rp_call_value(range->call, "max")->kind != 0;
        if (begins && rp_call_number(range->call, "min") > 0.0) {
            return rp_call_fail(scene, r, "range",
                                "want min <= 0 %s, where the joint starts, got %g", unit,
                                rp_call_number(range->call, "min"));
        }
        if (ends && rp_call_number(range->call, "max") < 0.0) {
            return rp_call_fail(scene, r, "range",
                                "want max >= 0 %s, where the joint starts, got %g", unit,
                                rp_call_number(range->call, "max"));
        }
    }
    if (rp_call_value(r, "strength")->kind != 0 && rp_call_value(r, "speed")->kind == 0) {
        return rp_call_fail(scene, r, "strength", "want none without speed, got %g",
                            rp_call_number(r, "strength"));
    }
    return RP_OK;
}

const scene_call *rp_scene_find_solid(const rp_scene *scene, const char *name,
                                      const scene_call *before)
{
    for (const scene_call *r = scene->first; r != NULL && r != before; r = r->next) {
        const bool solid =
            strcmp(r->word->name, "collider") == 0 || strcmp(r->word->name, "rigid") == 0;
        const char *own = solid ? rp_call_text(r, "name") : NULL;
        if (own != NULL && strcmp(own, name) == 0) {
            return r;
        }
    }
    return NULL;
}

const scene_call *rp_scene_find_collider(const rp_scene *scene, const char *name,
                                         const scene_call *before)
{
    const scene_call *r = rp_call_find(scene->first, "collider");
    for (; r != NULL && r != before; r = rp_call_find(r->next, "collider")) {
        const char *own = rp_call_text(r, "name");
        if (own != NULL && strcmp(own, name) == 0) {
            return r;
        }
    }
    return NULL;
}

static rp_result check_emitter(rp_scene *scene, scene_call *r)
{
    if (rp_is_zero(rp_call_vector(r, "velocity"))) {
        return rp_call_fail(scene, r, "velocity", "want a vector that is not 0, got 0");
    }
    const double start = rp_call_number(r, "start");
    if (rp_call_value(r, "stop")->kind != 0 && !(rp_call_number(r, "stop") > start)) {
        return rp_call_fail(scene, r, "stop", "want > start, which is %g s, got %g", start,
                            rp_call_number(r, "stop"));
    }
    const char *parent = rp_call_text(r, "attach");
    if (parent != NULL && rp_scene_find_solid(scene, parent, NULL) == NULL) {
        return rp_call_fail(scene, r, "attach",
                            "want the name of a collider or a rigid body, got '%s'", parent);
    }
    rp_result result = check_motion(scene, r);
    return result == RP_OK ? check_spacing(scene, r) : result;
}

static rp_result check_probe(rp_scene *scene, scene_call *r)
{
    if (rp_call_value(r, "point")->kind == 0 && rp_call_value(r, "plane")->kind == 0 &&
        rp_call_value(r, "particle")->kind == 0) {
        return rp_call_fail(scene, r, NULL,
                            "want a point, a plane or a particle, got none of them");
    }
    return RP_OK;
}

// Which way is up
// ---------------------------------------------------------------------------------------------

// Gravity and axes that were left out.
static void fill_in_up(rp_scene *scene, scene_call *call, const char *key, double length)
{
    for (int k = 0; k < call->word->keys; k++) {
        scene_value *v = &call->value[k];
        if (v->kind == 0 && strcmp(call->word->key[k].name, key) == 0) {
            *v = (scene_value){.kind = TAKES_VECTOR, .count = scene->dimension};
            v->vector[scene->up] = length;
        }
    }
}

static rp_result check_up(rp_scene *scene)
{
    scene->up = rp_call_choice(scene->said, "up") == 0 ? 1 : 2;
    if (scene->up == 2 && scene->dimension == 2) {
        return rp_call_fail(scene, scene->said, "up", "want \"y\" in 2D, got 'z'");
    }
    for (scene_call *r = scene->first; r != NULL; r = r->next) {
        if (r == scene->said) {
            fill_in_up(scene, r, "gravity", -9.81);
        } else if (r->word->kind == WORD_SHAPE) {
            fill_in_up(scene, r, "axis", 1.0);
        }
    }
    return RP_OK;
}

// Words that are said once
// ------------------------------------------------------------------------------------

static rp_result check_camera(rp_scene *scene, scene_call *r)
{
    const double *eye = rp_call_vector(r, "eye"), *look_at = rp_call_vector(r, "look_at");
    if (eye[0] == look_at[0] && eye[1] == look_at[1] && eye[2] == look_at[2]) {
        return rp_call_fail(scene, r, "look_at", "want another point than eye, got the same");
    }
    return RP_OK;
}

int rp_scene_block_cells(const rp_scene *scene, int axis)
{
    return scene->dimension == 3 && axis == 2 ? 4 : 8;
}

int rp_scene_period(const rp_scene *scene, const scene_call *domain, int axis)
{
    if (!rp_call_value(domain, "periodic")->axes[axis]) {
        return 0;
    }
    const double *lower = rp_call_vector(domain, "min"), *upper = rp_call_vector(domain, "max");
    const double cells = (upper[axis] - lower[axis]) / rp_call_number(scene->said, "dx");
    const double whole = round(cells);
    // sides are written as decimal numbers, so they miss by round-off
    const bool fits = whole > 0.0 && whole < 1e9 && fabs(cells - whole) <= 1e-9 * whole;
    return fits && (int)whole % rp_scene_block_cells(scene, axis) == 0 ? (int)whole : -1;
}

static rp_result check_domain(rp_scene *scene, scene_call *r)
{
    const double *lower = rp_call_vector(r, "min"), *upper = rp_call_vector(r, "max");
    const double dx = rp_call_number(scene->said, "dx");
    for (int a = 0; a < scene->dimension; a++) {
        const bool periodic = rp_call_value(r, "periodic")->axes[a];
        if (!(lower[a] < upper[a])) {
            return rp_call_fail(scene, r, "max", "want > min along %c, which is %g, got %g",
                                rp_axis_name(a), lower[a], upper[a]);
        }
        // space repeats from the origin on, and colliders do not
        if (periodic && lower[a] != 0.0) {
            return rp_call_fail(scene, r, "min", "want 0 along %c, which is periodic, got %g",
                                rp_axis_name(a), lower[a]);
        }
        if (rp_scene_period(scene, r, a) < 0) {
            const int block = rp_scene_block_cells(scene, a);
            return rp_call_fail(scene, r, "max",
                                "want a multiple of %d cells, which are %g m, above min along %c,"
                                " got %.17g m, which are %.17g cells",
                                block, block * dx, rp_axis_name(a), upper[a] - lower[a],
                                (upper[a] - lower[a]) / dx);
        }
    }
    return RP_OK;
}

// All of it
// ----------------------------------------------------------------------------------------------------

static rp_result check_call(rp_scene *scene, scene_call *call)
{
    static const struct {
        const char *word;
        rp_result (*check)(rp_scene *, scene_call *);
    } checks[] = {
        {"material.sand", check_sand}, {"particles", check_particles}, {"collider", check_collider},
        {"emitter", check_emitter},    {"camera", check_camera},       {"domain", check_domain},
        {"probe", check_probe},        {"rigid", check_rigid},         {"joint", check_joint},
    };
    if (call->word->kind == WORD_SHAPE) {
        return rp_scene_make_shape(scene, call);
    }
    RP_TRY(check_length(scene, call, "name", 1, RP_NAME_SIZE));
    RP_TRY(check_length(scene, call, "body", 1, RP_NAME_SIZE));
    RP_TRY(check_length(scene, call, "title", 0, sizeof((rp_record_info *)0)->title));
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (strcmp(call->word->name, checks[i].word) == 0) {
            return checks[i].check(scene, call);
        }
    }
    return RP_OK;
}

static rp_result check_energy_limit(rp_scene *scene)
{
    const double limit = rp_call_number(scene->said, "energy_limit");
    return limit == 0.0 || limit > 1.0 ? RP_OK
                                       : rp_call_fail(scene, scene->said, "energy_limit",
                                                      "want > 1, or 0 for never, got %g", limit);
}

static rp_result check_method(const rp_scene *scene)
{
    const rp_method_info *method;
    const char *name = scene->method != NULL ? scene->method : rp_call_text(scene->said, "method");
    rp_nearest nearest = rp_nearest_start(name);
    for (int m = 0; m < rp_methods(); m++) {
        rp_nearest_try(&nearest, rp_method_at(m)->name);
    }
    if (rp_method_named(name, &method) != RP_OK) {
        char sentence[512], meant[256];
        snprintf(sentence, sizeof sentence, "%s", rp_last_error() + strlen("method: "));
        const bool close = nearest.best != NULL && strcmp(nearest.best, name) != 0;
        rp_scene_suggest(rp_scene_find_foreign("scene.method", name), close ? nearest.best : NULL,
                         "", '\'', meant, sizeof meant);
        if (scene->method != NULL) {
            return rp_fail(RP_ERR_ARGUMENT, "--method: %s%s", sentence, meant);
        }
        return rp_call_fail(scene, scene->said, "method", "%s%s", sentence, meant);
    }
    return rp_scene_check_features(scene, method);
}

static rp_result check_needed(const rp_scene *scene)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        const scene_word *word = rp_scene_word_at(w);
        if (word->needed && rp_call_find(scene->first, word->name) == NULL) {
            return rp_fail(RP_ERR_ARGUMENT, "%s: want %s { ... }, got a script without it",
                           scene->path, word->name);
        }
    }
    return RP_OK;
}

// The file's name without folder and ending.
static char *title_of(const rp_scene *scene)
{
    const char *given = rp_call_text(scene->said, "title");
    const char *slash = strrchr(scene->path, '/');
    char *title = strdup(given != NULL ? given : slash != NULL ? slash + 1 : scene->path);
    char *dot = title != NULL && given == NULL ? strrchr(title, '.') : NULL;
    if (dot != NULL && dot != title) {
        *dot = '\0';
    }
    if (title != NULL && given == NULL) {
        title[strnlen(title, sizeof((rp_record_info *)0)->title - 1)] = '\0';
        rp_make_text(title, true); // a file may be called anything
    }
    return title;
}

rp_result rp_scene_check(rp_scene *scene)
{
    rp_result result = check_needed(scene);
    if (result != RP_OK) {
        return result;
    }
    scene->said = rp_call_find(scene->first, "scene");
    scene->dimension = (int)rp_call_integer(scene->said, "dimension");
    scene->title = title_of(scene);
    if (scene->title == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the scene", scene->path);
    }
    result = check_up(scene);
    result = result == RP_OK ? check_method(scene) : result;
    result = result == RP_OK ? check_energy_limit(scene) : result;
    for (scene_call *r = scene->first; result == RP_OK && r != NULL; r = r->next) {
        result = fit_dimension(scene, r);
        if (result == RP_OK) {
            result = rp_call_place(scene, r, check_call(scene, r));
        }
    }
    return result == RP_OK ? rp_scene_check_bodies(scene) : result;
}

// Functions of the script as C calls them, and whether they are pure.
#include "scene/read.h"
#include "scene/sandbox.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

// One asking of a function.
typedef struct asking {
    const scene_function *function;
    int arguments;
    double argument[4];
    double *vector; // where its result goes: this
    rp_pose *pose;  // or that
} asking;

static const scene_key *key_of(const scene_function *f) { return &f->call->word->key[f->key]; }

// Results
// ------------------------------------------------------------------------------------------------------

static void turn(lua_State *L, const scene_call *rotation, int dimension, double quaternion[4])
{
    const double *axis = rp_call_vector(rotation, "axis");
    const double length = hypot(hypot(axis[0], axis[1]), axis[2]);
    if (!(length > 0.0 && isfinite(length))) {
        rp_sandbox_error(L, "rotation.axis: want a vector that is not 0, got {%g, %g, %g}", axis[0],
                         axis[1], axis[2]);
    }
    if (dimension == 2 && (axis[0] != 0.0 || axis[1] != 0.0)) {
        rp_sandbox_error(L, "rotation.axis: want {0, 0, 1} in 2D, got {%g, %g, %g}", axis[0],
                         axis[1], axis[2]);
    }
    const double half = 0.5 * DEGREE * rp_call_number(rotation, "angle");
    for (int a = 0; a < 3; a++) {
        quaternion[a] = sin(half) * (axis[a] / length);
    }
    quaternion[3] = cos(half);
}

static void read_pose(lua_State *L, const asking *c)
{
    const scene_function *f = c->function;
    const int dimension = f->scene->dimension;
    const scene_call *pose = rp_read_call(L, 1, key_of(f)->form, key_of(f)->form->name);
    const scene_value *position = rp_call_value(pose, "position");
    if (position->count < dimension) {
        rp_sandbox_error(L, "pose.position: want %d components, got %d", dimension,
                         position->count);
    }
    *c->pose = (rp_pose){.rotation = {0.0, 0.0, 0.0, 1.0}};
    memcpy(c->pose->position, position->vector, (size_t)dimension * sizeof(double));
    const scene_value *rotation = rp_call_value(pose, "rotation");
    if (rotation->kind == TAKES_TABLE) {
        turn(L, rotation->call, dimension, c->pose->rotation);
    }
}

// Calls
// --------------------------------------------------------------------------------------------------------

static int make_call(lua_State *L)
{
    const asking *c = lua_touserdata(L, 1);
    lua_settop(L, 0);
    rp_push_function(L, c->function);
    for (int i = 0; i < c->arguments; i++) {
        lua_pushnumber(L, c->argument[i]);
    }
    lua_call(L, c->arguments, LUA_MULTRET);
    if (c->pose != NULL) {
        lua_settop(L, 1);
        read_pose(L, c);
    } else {
        if (lua_gettop(L) == 0) {
            lua_pushnil(L);
        }
        const unsigned takes = key_of(c->function)->takes;
        const int numbers = (takes & TAKES_VECTOR3) != 0  ? 3
                            : (takes & TAKES_NUMBER) != 0 ? 1
                                                          : c->function->scene->dimension;
        rp_read_returned_vector(L, 1, numbers, "result", c->vector);
    }
    return 0;
}

// "motion of collider 'lid' at t = 3 s"
static void describe_call(const asking *c, char *text, size_t size)
{
    const scene_call *r = c->function->call;
    char what[RP_NAME_SIZE + 32] = "the scene", when[96];
    if (r->word->kind == WORD_MANY) {
        snprintf(what, sizeof what, "%s %d", r->word->name, r->index);
        for (int k = 0; k < r->word->keys; k++) {
            if (strcmp(r->word->key[k].name, "name") == 0 && r->value[k].kind == TAKES_STRING) {
                snprintf(what, sizeof what, "%s '%s'", r->word->name, r->value[k].text);
            }
        }
    }
    if (r->word->kind == WORD_SHAPE) {
        snprintf(what, sizeof what, "%s", r->word->name);
        snprintf(when, sizeof when, "x = %.9g m, %c = %.9g m", c->argument[0],
                 c->function->scene->up == 2 ? 'y' : 'z', c->argument[1]);
    } else if (c->arguments == 1) {
        snprintf(when, sizeof when, "t = %.9g s", c->argument[0]);
    } else if (c->arguments == 4) {
        snprintf(when, sizeof when, "t = %.9g s, (%.9g, %.9g, %.9g) m", c->argument[0],
                 c->argument[1], c->argument[2], c->argument[3]);
    } else {
        snprintf(when, sizeof when, "(%.9g, %.9g, %.9g)", c->argument[0], c->argument[1],
                 c->argument[2]);
    }
    snprintf(text, size, "%s of %s at %s", key_of(c->function)->name, what, when);
}

// The script's sentence begins with its own place: "file:line: …". What went wrong where goes
// between the two.
static rp_result refuse_call(const asking *c, rp_result code)
{
    char chunk[LUA_IDSIZE], description[256];
    const sandbox *s = c->function->scene->sandbox;
    const size_t length = strlen(rp_sandbox_chunk(s, chunk));
    const char *sentence = rp_last_error();
    int line = c->function->line;
    if (strncmp(sentence, chunk, length) == 0 && sentence[length] == ':') {
        char *end;
        const long found = strtol(sentence + length + 1, &end, 10);
        if (end > sentence + length + 1 && end[0] == ':' && end[1] == ' ') {
            line = (int)found;
            sentence = end + 2;
        } else if (sentence[length + 1] == ' ') {
            sentence += length + 2;
        }
    }
    describe_call(c, description, sizeof description);
    return rp_fail(code, "%s:%d: %s: %s", chunk, line, description, sentence);
}

static rp_result run_call(const asking *c)
{
    const rp_scene *scene = c->function->scene;
    const rp_result result =
        rp_sandbox_run(scene->sandbox, make_call, (void *)c, scene->call_seconds);
    return result == RP_OK ? RP_OK : refuse_call(c, result);
}

static rp_result call_vector_of_time(void *context, double t, double out[3])
{
    return run_call(&(asking){.function = context, .arguments = 1, .argument = {t}, .vector = out});
}

static rp_result call_vector_of_place(void *context, const double x[3], double out[3])
{
    return run_call(&(asking){
        .function = context, .arguments = 3, .argument = {x[0], x[1], x[2]}, .vector = out});
}

static rp_result call_vector_field(void *context, double t, const double x[3], double out[3])
{
    return run_call(&(asking){
        .function = context, .arguments = 4, .argument = {t, x[0], x[1], x[2]}, .vector = out});
}

static rp_result call_pose_of_time(void *context, double t, rp_pose *out)
{
    return run_call(&(asking){.function = context, .arguments = 1, .argument = {t}, .pose = out});
}

// Heights on a grid
// --------------------------------------------------------------------------------------------

typedef struct sampling {
    asking asked;
    const scene_samples *samples;
} sampling;

static double along(double min, double max, int i, int count)
{
    return count > 1 ? min + (max - min) * i / (count - 1) : min;
}

static int sample_all(lua_State *L)
{
    sampling *s = lua_touserdata(L, 1);
    const scene_samples *grid = s->samples;
    const size_t count = (size_t)grid->columns * (size_t)grid->rows;
    for (size_t i = 0; i < count; i++) {
        const int column = (int)(i % (size_t)grid->columns), row = (int)(i / (size_t)grid->columns);
        s->asked.argument[0] = along(grid->min[0], grid->max[0], column, grid->columns);
        s->asked.argument[1] = along(grid->min[1], grid->max[1], row, grid->rows);
        lua_settop(L, 0);
        rp_push_function(L, s->asked.function);
        for (int a = 0; a < s->asked.arguments; a++) {
            lua_pushnumber(L, s->asked.argument[a]);
        }
        lua_call(L, s->asked.arguments, 1);
        grid->height[i] = lua_tonumber(L, 1);
        if (lua_type(L, 1) != LUA_TNUMBER || !isfinite(grid->height[i])) {
            rp_sandbox_error(L, "result: want a finite number, got %s", rp_sandbox_show(L, 1));
        }
    }
    return 0;
}

rp_result rp_scene_sample(const scene_call *call, const char *key, const scene_samples *samples)
{
    const scene_function *f = &rp_call_value(call, key)->function;
    sampling s = {.asked = {.function = f, .arguments = f->scene->dimension - 1},
                  .samples = samples};
    const rp_result result =
        rp_sandbox_run(f->scene->sandbox, sample_all, &s, f->scene->load_seconds);
    return result == RP_OK ? RP_OK : refuse_call(&s.asked, result);
}

static void *context_of(const scene_call *call, const char *key)
{
    return (void *)&rp_call_value(call, key)->function;
}

rp_vector_of_time rp_scene_vector_of_time(const scene_call *call, const char *key)
{
    return (rp_vector_of_time){call_vector_of_time, context_of(call, key)};
}

rp_vector_of_place rp_scene_vector_of_place(const scene_call *call, const char *key)
{
    return (rp_vector_of_place){call_vector_of_place, context_of(call, key)};
}

rp_vector_field rp_scene_vector_field(const scene_call *call, const char *key)
{
    return (rp_vector_field){call_vector_field, context_of(call, key)};
}

rp_pose_of_time rp_scene_pose_of_time(const scene_call *call, const char *key)
{
    return (rp_pose_of_time){call_pose_of_time, context_of(call, key)};
}

// Purity
// -------------------------------------------------------------------------------------------------------

// What a function of time gave, whichever kind it is.
typedef struct result {
    double vector[3];
    rp_pose pose;
} result;

static rp_result call_at(const scene_function *f, double t, result *out)
{
    const bool pose = key_of(f)->form != NULL;
    memset(out, 0, sizeof *out);
    // of a field at one place: that must do
    return run_call(&(asking){.function = f,
                              .arguments = strcmp(key_of(f)->arguments, "t") == 0 ? 1 : 4,
                              .argument = {t, 0.25, 0.5, 0.75},
                              .vector = out->vector,
                              .pose = pose ? &out->pose : NULL});
}

static rp_result refuse_impure(const scene_function *f, double t)
{
    char chunk[LUA_IDSIZE], description[256];
    describe_call(&(asking){.function = f, .arguments = 1, .argument = {t}}, description,
                  sizeof description);
    return rp_fail(RP_ERR_ARGUMENT,
                   "%s:%d: %s: want the same result every time, got two: it may depend on t alone",
                   rp_sandbox_chunk(f->scene->sandbox, chunk), f->line, description);
}

static rp_result check_function(const rp_scene *scene, const scene_function *f)
{
    enum { TIMES = 4 };
    const double fps = rp_call_number(scene->said, "fps");
    const double end = (double)rp_call_integer(scene->said, "frames") / fps;
    const double t[TIMES] = {0.0, 1.0 / fps, 0.5 * end, end};

    // the second time backwards, for functions that remember the call before
    result first[TIMES], again;
    rp_result code = RP_OK;
    for (int i = 0; code == RP_OK && i < TIMES; i++) {
        code = call_at(f, t[i], &first[i]);
    }
    for (int i = TIMES - 1; code == RP_OK && i >= 0; i--) {
        code = call_at(f, t[i], &again);
        if (code == RP_OK && memcmp(&first[i], &again, sizeof again) != 0) {
            code = refuse_impure(f, t[i]);
        }
    }
    return code;
}

rp_result rp_scene_check_functions(const rp_scene *scene)
{
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        for (int k = 0; k < r->word->keys; k++) {
            const bool of_time =
                r->value[k].kind == TAKES_FUNCTION && r->word->key[k].arguments[0] == 't';
            const rp_result result_ =
                of_time ? check_function(scene, &r->value[k].function) : RP_OK;
            if (result_ != RP_OK) {
                return result_;
            }
        }
    }
    return RP_OK;
}

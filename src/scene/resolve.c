// The scene with every default filled in, as JSON.
//
//   { "repose": "0.1.0", "file": "dunes.lua",
//     "params": { NAME: { "value", "default", "choices", "note" } },   choices: where it is one
//     "scene": { KEY: VALUE … }, "camera": null, …      words that are said once
//     "materials": [ { "word", "line", KEY: VALUE … } ], …   words that are said often
//   }
//
// Numbers are in the units of docs/scene.md. A material is given by its place in "materials", a
// shape by its word and fields, a function by where it begins.
#include "scene/sandbox.h"
#include "scene/scene.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// A path may be anything; only UTF-8 can be written.
static json_t *text_of(const char *text)
{
    json_t *string = json_string(text);
    return string != NULL ? string : json_null();
}

static json_t *numbers(const double *x, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_real(x[i]));
    }
    return list;
}

static json_t *axes(const bool *x, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_boolean(x[i]));
    }
    return list;
}

static json_t *rows(const scene_value *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        json_array_append_new(list, numbers(v->matrix[i], v->count));
    }
    return list;
}

static json_t *place_of(const scene_function *f)
{
    char chunk[LUA_IDSIZE];
    return json_pack("{s:o}", "function",
                     json_sprintf("%s:%d", rp_sandbox_chunk(f->scene->sandbox, chunk), f->line));
}

static json_t *fields(const scene_call *call, json_t *object);

static json_t *shapes(const scene_value *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        const scene_call *one = v->shapes[i];
        json_array_append_new(list,
                              json_pack("{s:o}", one->word->name, fields(one, json_object())));
    }
    return list;
}

static json_t *points(const scene_value *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        json_array_append_new(list, numbers(v->points[i], 2));
    }
    return list;
}

static json_t *places(const scene_value *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        json_array_append_new(list, numbers(v->places[i], v->comps));
    }
    return list;
}

static json_t *tables(const scene_value *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        json_array_append_new(list, fields(v->tables[i], json_object()));
    }
    return list;
}

static json_t *texts(const scene_value *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        json_array_append_new(list, json_string(v->texts[i]));
    }
    return list;
}

static json_t *value_of(const scene_key *key, const scene_value *v)
{
    switch (v->kind) {
    case TAKES_NUMBER:
        return json_real(v->number);
    case TAKES_INTEGER:
        return json_integer(v->integer);
    case TAKES_BOOLEAN:
        return json_boolean(v->boolean);
    case TAKES_STRING:
        return json_string(v->text);
    case TAKES_CHOICE:
        return json_string(key->choices[v->choice]);
    case TAKES_VECTOR:
    case TAKES_VECTOR3:
        return numbers(v->vector, v->count);
    case TAKES_AXES:
        return axes(v->axes, v->count);
    case TAKES_MATRIX:
        return rows(v);
    case TAKES_TABLE:
        return fields(v->call, json_object());
    case TAKES_FUNCTION:
        return place_of(&v->function);
    case TAKES_SHAPE:
        return json_pack("{s:o}", v->call->word->name, fields(v->call, json_object()));
    case TAKES_CUT:
        return json_pack("{s:o}", v->call->word->name, fields(v->call, json_object()));
    case TAKES_RANGE:
        return numbers(v->vector, 2);
    case TAKES_PLACES:
        return places(v);
    case TAKES_SHAPES:
        return shapes(v);
    case TAKES_POINTS:
        return points(v);
    case TAKES_TABLES:
        return tables(v);
    case TAKES_STRINGS:
        return texts(v);
    case TAKES_MATERIAL:
        return json_integer(v->call->index);
    default:
        return json_null();
    }
}

static json_t *fields(const scene_call *call, json_t *object)
{
    for (int k = 0; k < call->word->keys; k++) {
        const scene_key *key = &call->word->key[k];
        json_object_set_new(object, key->name, value_of(key, &call->value[k]));
    }
    return object;
}

static void add_param(json_t *params, const scene_call *r)
{
    const int k = rp_scene_key_index(r->word, "default");
    const scene_key *key = &r->word->key[k];
    const bool choice = r->value[k].kind == TAKES_STRINGS;
    const scene_value first = {.kind = TAKES_STRING, .text = choice ? r->value[k].texts[0] : NULL};
    const scene_value *otherwise = choice ? &first : &r->value[k];
    json_t *param = json_object();
    json_object_set_new(param, "value", value_of(key, r->set.kind != 0 ? &r->set : otherwise));
    json_object_set_new(param, "default", value_of(key, otherwise));
    if (choice) {
        json_object_set_new(param, "choices", texts(&r->value[k]));
    }
    json_object_set_new(param, "note", json_string(rp_call_text(r, "note")));
    json_object_set_new(params, rp_call_text(r, "name"), param);
}

static void add_to_list(json_t *list, const scene_call *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "word", json_string(r->word->name));
    json_object_set_new(object, "line", json_integer(r->line));
    json_array_append_new(list, fields(r, object));
}

static void add_groups(json_t *root)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        const scene_word *word = rp_scene_word_at(w);
        if (word->group != NULL && json_object_get(root, word->group) == NULL) {
            json_object_set_new(root, word->group,
                                word->kind == WORD_ONCE    ? json_null()
                                : word->kind == WORD_PARAM ? json_object()
                                                           : json_array());
        }
    }
}

static void add_call(json_t *root, const scene_call *r)
{
    json_t *group = r->word->group != NULL ? json_object_get(root, r->word->group) : NULL;
    if (r->word->kind == WORD_PARAM) {
        add_param(group, r);
    } else if (r->word->kind == WORD_ONCE) {
        json_object_set_new(root, r->word->group, fields(r, json_object()));
    } else if (group != NULL) {
        add_to_list(group, r);
    }
}

// What the table of words cannot know.
static void add_computed(json_t *root, const rp_scene *scene)
{
    rp_scene_info info;
    rp_scene_get_info(scene, &info);
    json_t *said = json_object_get(root, "scene");
    json_object_set_new(said, "title", text_of(info.title));
    json_object_set_new(said, "method", json_string(info.method));
    // options of other methods, where the scene does not speak of them
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *method = rp_method_at(m);
        if (method->options > 0 && strcmp(method->name, info.method) != 0 &&
            !rp_call_value(scene->said, method->name)->given) {
            json_object_del(said, method->name);
        }
    }
    for (const scene_call *r = rp_call_find(scene->first, "collider"); r != NULL;
         r = rp_call_find(r->next, "collider")) {
        if (rp_call_text(r, "name") == NULL) {
            json_t *collider = json_array_get(json_object_get(root, "colliders"), (size_t)r->index);
            json_object_set_new(collider, "name", json_sprintf("%d", r->index));
        }
    }
    // rigid bodies are numbered after them
    const size_t colliders = json_array_size(json_object_get(root, "colliders"));
    for (const scene_call *r = rp_call_find(scene->first, "rigid"); r != NULL;
         r = rp_call_find(r->next, "rigid")) {
        if (rp_call_text(r, "name") == NULL) {
            json_t *rigid = json_array_get(json_object_get(root, "rigids"), (size_t)r->index);
            json_object_set_new(rigid, "name", json_sprintf("%d", (int)colliders + r->index));
        }
    }
}

char *rp_scene_resolve(const rp_scene *scene)
{
    json_t *root = json_object();
    json_object_set_new(root, "repose", json_string(RP_VERSION));
    json_object_set_new(root, "file", text_of(scene->path));
    add_groups(root);
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        add_call(root, r);
    }
    add_computed(root, scene);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    return text;
}

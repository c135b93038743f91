// From a script to the list of what it said.
#include "repose/file.h"
#include "repose/nearest.h"
#include "scene/read.h"
#include "scene/sandbox.h"
#include "scene/scene.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COOKIE = 0x5ce9e5,
    LONGEST_TEXT = 4 << 20, // bytes of a script
    LONGEST_LIST = 512,     // bytes of a message that lists names
    // bytes of one that lists all choices: each in quotes, with " or " before it
    LONGEST_CHOICES = RP_MOST_CHOICES * (RP_LONGEST_CHOICE + 6) + 1,
};

rp_scene_def rp_default_scene_def(void)
{
    return (rp_scene_def){
        .memory = (size_t)256 << 20, .load_seconds = 10.0, .call_seconds = 1.0, .cookie = COOKIE};
}

// Words
// -----------------------------------------------------------------------------------------------------

static int same_group(const scene_call *call, const char *group)
{
    int n = 0;
    for (; call != NULL; call = call->next) {
        n += call->word->group != NULL && strcmp(call->word->group, group) == 0;
    }
    return n;
}

// Add the call on top of the stack to what was said, and keep it alive.
static void say(lua_State *L, rp_scene *scene, scene_call *call)
{
    for (int k = 0; k < call->word->keys; k++) {
        if (call->value[k].kind == TAKES_FUNCTION) {
            call->value[k].function.scene = scene;
        }
    }
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, call);
    if (call->word->group != NULL) {
        call->index = same_group(scene->first, call->word->group);
    }
    *(scene->last != NULL ? &scene->last->next : &scene->first) = call;
    scene->last = call;
}

static void refuse_untimely(lua_State *L, const rp_scene *scene, const scene_word *word)
{
    if (!scene->sandbox->loading) {
        rp_sandbox_error(L,
                         "%s: want it said while the scene is read, got it in a function that "
                         "is called later",
                         word->name);
    }
    const scene_call *first = rp_call_find(scene->first, word->name);
    if (word->kind == WORD_ONCE && first != NULL) {
        rp_sandbox_error(L, "%s: want it once, got it again after line %d", word->name,
                         first->line);
    }
}

static rp_scene *scene_of(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

static bool makes_value(const scene_word *word)
{
    return word->kind == WORD_SHAPE || word->kind == WORD_MATERIAL || word->kind == WORD_CUT;
}

static int say_word(lua_State *L)
{
    rp_scene *scene = scene_of(L);
    const scene_word *word = lua_touserdata(L, lua_upvalueindex(2));
    refuse_untimely(L, scene, word);
    if (lua_gettop(L) > 1 && !word->by_place) {
        rp_sandbox_error(L, "%s: want one table, got %d values", word->name, lua_gettop(L));
    }
    scene_call *call =
        word->by_place ? rp_read_arguments(L, word) : rp_read_call(L, 1, word, word->name);
    if (makes_value(word)) {
        luaL_setmetatable(L, word->kind == WORD_SHAPE ? "shape"
                             : word->kind == WORD_CUT ? "cut"
                                                      : "material");
    }
    say(L, scene, call);
    if (strcmp(word->name, "scene") == 0) {
        scene->sandbox->seed = (uint64_t)rp_call_integer(call, "seed");
    }
    return makes_value(word);
}

// Params
// ----------------------------------------------------------------------------------------------------

static bool is_name(const char *text)
{
    const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return text[0] != '\0' && strchr(letters, text[0]) != NULL &&
           strspn(text, more) == strlen(text);
}

static const char *name_of(const scene_call *param) { return rp_call_text(param, "name"); }

static const scene_call *find_param(const rp_scene *scene, const char *name)
{
    const scene_call *r = rp_call_find(scene->first, "param");
    while (r != NULL && strcmp(name_of(r), name) != 0) {
        r = rp_call_find(r->next, "param");
    }
    return r;
}

// The last one counts, as on a command line.
static const char *find_set(const rp_scene *scene, const char *name)
{
    for (int i = scene->params - 1; i >= 0; i--) {
        if (strcmp(scene->param[i].name, name) == 0) {
            return scene->param[i].value;
        }
    }
    return NULL;
}

// Push what `text` means as a value of the type of the default; raise an error when it means
// nothing.
static void push_set(lua_State *L, scene_call *param, const char *text)
{
    const scene_value *otherwise = rp_call_value(param, "default");
    scene_value *set = &param->set;
    set->kind = otherwise->kind;
    set->given = true;
    if (otherwise->kind == TAKES_STRINGS) {
        char wanted[LONGEST_CHOICES];
        const char *const *choices = otherwise->texts;
        rp_scene_describe_choices(choices, wanted, sizeof wanted);
        const char *path = lua_pushfstring(L, "param '%s'", name_of(param));
        lua_pushstring(L, text);
        set->kind = TAKES_STRING;
        set->text = choices[rp_read_choice(L, -1, choices, path, wanted)];
    } else if (otherwise->kind == TAKES_STRING) {
        set->text = lua_pushstring(L, text);
        if (!rp_is_text(text, strlen(text))) {
            rp_sandbox_error(L, "param '%s': want one line of UTF-8 text, got %s", name_of(param),
                             rp_sandbox_show(L, -1));
        }
        // the param keeps it alive, behind its own keys
        lua_getiuservalue(L, -2, 1);
        lua_pushvalue(L, -2);
        lua_rawseti(L, -2, param->word->keys + 1);
        lua_pop(L, 1);
    } else if (otherwise->kind == TAKES_BOOLEAN) {
        set->boolean = strcmp(text, "true") == 0;
        if (!set->boolean && strcmp(text, "false") != 0) {
            lua_pushstring(L, text);
            rp_sandbox_error(L, "param '%s': want true or false, got %s", name_of(param),
                             rp_sandbox_show(L, -1));
        }
        lua_pushboolean(L, set->boolean);
    } else {
        const bool number = lua_stringtonumber(L, text) == strlen(text) + 1;
        set->number = number ? lua_tonumber(L, -1) : 0.0;
        if (!number || !(set->number - set->number == 0.0)) {
            lua_pushstring(L, text);
            rp_sandbox_error(L, "param '%s': want a finite number, got %s", name_of(param),
                             rp_sandbox_show(L, -1));
        }
    }
}

static int say_param(lua_State *L)
{
    rp_scene *scene = scene_of(L);
    const scene_word *word = lua_touserdata(L, lua_upvalueindex(2));
    refuse_untimely(L, scene, word);
    scene_call *param = rp_read_arguments(L, word);
    if (!is_name(name_of(param))) {
        lua_pushstring(L, name_of(param));
        rp_sandbox_error(L, "param.name: want letters, digits and _, got %s",
                         rp_sandbox_show(L, -1));
    }
    if (find_param(scene, name_of(param)) != NULL) {
        rp_sandbox_error(L, "param '%s': want it once, got it again", name_of(param));
    }
    say(L, scene, param);
    const char *text = find_set(scene, name_of(param));
    const scene_value *otherwise = rp_call_value(param, "default");
    if (text != NULL) {
        push_set(L, param, text);
    } else if (otherwise->kind == TAKES_STRINGS) {
        lua_pushstring(L, otherwise->texts[0]);
    } else {
        lua_pushvalue(L, 2); // the default itself: an integer stays one
    }
    return 1;
}

// A param that was set must be one that the scene has.
static rp_result check_set(const rp_scene *scene)
{
    for (int i = 0; i < scene->params; i++) {
        const char *name = scene->param[i].name;
        if (find_param(scene, name) != NULL) {
            continue;
        }
        char list[LONGEST_LIST] = "";
        size_t length = 0;
        rp_nearest n = rp_nearest_start(name);
        for (const scene_call *r = rp_call_find(scene->first, "param");
             r != NULL && length < sizeof list; r = rp_call_find(r->next, "param")) {
            rp_nearest_try(&n, name_of(r));
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length > 0 ? ", " : "", name_of(r));
        }
        return rp_fail(RP_ERR_ARGUMENT, "%s: there is no param '%s'%s%s%s; the scene has %s",
                       scene->path, name, n.best != NULL ? "; did you mean '" : "",
                       n.best != NULL ? n.best : "", n.best != NULL ? "'?" : "",
                       length > 0 ? list : "none");
    }
    return RP_OK;
}

// Running the script
// ----------------------------------------------------------------------------------------

static void set_word(lua_State *L, rp_scene *scene, const scene_word *word)
{
    const char *dot = strchr(word->name, '.');
    lua_pushglobaltable(L);
    if (dot != NULL) {
        lua_pushlstring(L, word->name, (size_t)(dot - word->name));
        lua_rawget(L, -2);
    }
    lua_pushstring(L, dot != NULL ? dot + 1 : word->name);
    lua_pushlightuserdata(L, scene);
    lua_pushlightuserdata(L, (void *)word);
    lua_pushcclosure(L, word->kind == WORD_PARAM ? say_param : say_word, 2);
    lua_rawset(L, -3);
    lua_settop(L, 0);
}

// Values that scripts pass around without looking inside.
static void make_handle(lua_State *L, const char *name)
{
    luaL_newmetatable(L, name); // sets __name
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

// Words that may be left out and have no required field mean their defaults.
static void say_unsaid(lua_State *L, rp_scene *scene)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        const scene_word *word = rp_scene_word_at(w);
        bool complete = word->kind == WORD_ONCE && rp_call_find(scene->first, word->name) == NULL;
        for (int k = 0; k < word->keys; k++) {
            complete = complete && (word->key[k].otherwise != NULL || word->key[k].absent != NULL);
        }
        if (complete) {
            lua_newtable(L);
            say(L, scene, rp_read_call(L, -1, word, word->name));
            lua_settop(L, 0);
        }
    }
}
// What Lua's grammar asks for, in the words of somebody who writes scenes. The message is on top.
static void add_hint(lua_State *L)
{
    static const struct {
        const char *sign, *hint;
    } hints[] = {
        {"near <eof>", "is a brace, a bracket or an `end` missing?"},
        {"'}' expected near", "is a comma missing before it?"},
        {"'}' expected (to close", "is a comma missing at the end of the line before?"},
        {"')' expected near '='", "fields go into braces, as in collider { shape = ... }"},
        {"unexpected symbol near",
         "is a comma or a brace too much, or a `--` missing before a remark?"},
    };
    const char *message = lua_tostring(L, -1);
    for (size_t i = 0; message != NULL && i < sizeof hints / sizeof hints[0]; i++) {
        if (strstr(message, hints[i].sign) != NULL) {
            lua_pushfstring(L, "%s; %s", message, hints[i].hint);
            return;
        }
    }
}

static int run_script(lua_State *L)
{
    rp_scene *scene = lua_touserdata(L, 1);
    lua_settop(L, 0);
    make_handle(L, "shape");
    make_handle(L, "material");
    make_handle(L, "cut");
    lua_newtable(L);
    rp_sandbox_guard_names(L, "material");
    lua_setglobal(L, "material");
    for (int w = 0; w < rp_scene_word_count(); w++) {
        set_word(L, scene, rp_scene_word_at(w));
    }

    // some editors mark UTF-8 with three bytes that Lua does not know
    const bool marked = scene->text_size >= 3 && memcmp(scene->text, "\xef\xbb\xbf", 3) == 0;
    const size_t skip = marked ? 3 : 0;
    lua_pushfstring(L, "@%s", scene->path);
    if (luaL_loadbufferx(L, scene->text + skip, scene->text_size - skip, lua_tostring(L, 1), "t") !=
        LUA_OK) {
        add_hint(L);
        return lua_error(L);
    }
    lua_call(L, 0, 0);
    lua_settop(L, 0);
    say_unsaid(L, scene);
    return 0;
}

static void warn_of_unused(const rp_scene *scene)
{
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        if (makes_value(r->word) && !r->used) {
            rp_call_warn(scene, r, NULL, "made, but nothing uses it");
        }
    }
}

// Loading
// ------------------------------------------------------------------------------------------------------

static rp_result no_memory(const char *path)
{
    return rp_fail(RP_ERR_MEMORY, "%s: no memory for the scene", path);
}

static rp_result take_text(rp_scene *scene, const rp_scene_def *def)
{
    if (def->text == NULL) {
        return rp_file_read_all(scene->path, LONGEST_TEXT, &scene->text, &scene->text_size);
    }
    if (def->text_size > LONGEST_TEXT) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want a script of at most %d MiB", scene->path,
                       LONGEST_TEXT >> 20);
    }
    scene->text = malloc(def->text_size + 1);
    if (scene->text == NULL) {
        return no_memory(scene->path);
    }
    memcpy(scene->text, def->text, def->text_size);
    scene->text[def->text_size] = '\0';
    scene->text_size = def->text_size;
    return RP_OK;
}

static rp_result copy_def(rp_scene *scene, const rp_scene_def *def)
{
    scene->load_seconds = def->load_seconds;
    scene->call_seconds = def->call_seconds;
    scene->path = strdup(def->path);
    const char *slash = strrchr(def->path, '/');
    scene->folder = def->folder != NULL ? strdup(def->folder)
                    : slash == NULL
                        ? strdup(".")
                        : strndup(def->path, slash > def->path ? (size_t)(slash - def->path) : 1);
    scene->sandbox = calloc(1, sizeof *scene->sandbox);
    scene->param = calloc((size_t)def->params + 1, sizeof *scene->param);
    scene->method = def->method != NULL ? strdup(def->method) : NULL;
    if (scene->path == NULL || scene->folder == NULL || scene->sandbox == NULL ||
        scene->param == NULL || (def->method != NULL && scene->method == NULL)) {
        return no_memory(def->path);
    }
    if (rp_places_create(&scene->places) != RP_OK) {
        return no_memory(def->path);
    }
    for (int i = 0; i < def->params; i++) {
        scene->param[i] = (rp_scene_param){strdup(def->param[i].name), strdup(def->param[i].value)};
        scene->params = i + 1;
        if (scene->param[i].name == NULL || scene->param[i].value == NULL) {
            return no_memory(def->path);
        }
    }
    return RP_OK;
}

static rp_result load(rp_scene *scene, const rp_scene_def *def)
{
    rp_result result = copy_def(scene, def);
    if (result == RP_OK) {
        result = take_text(scene, def);
    }
    if (result == RP_OK) {
        result = rp_sandbox_open(scene->sandbox, scene->path, def->memory);
    }
    if (result == RP_OK) {
        scene->sandbox->stop = def->stop;
        scene->sandbox->stop_context = def->stop_context;
    }
    if (result == RP_OK) {
        result = rp_sandbox_run(scene->sandbox, run_script, scene, def->load_seconds);
        scene->sandbox->loading = false;
    }
    if (result == RP_OK) {
        result = check_set(scene);
    }
    if (result == RP_OK) {
        result = rp_scene_check(scene);
    }
    if (result == RP_OK) {
        result = rp_scene_check_functions(scene);
    }
    if (result == RP_OK) {
        scene->resolved = rp_scene_resolve(scene);
        result = scene->resolved != NULL ? RP_OK : no_memory(scene->path);
    }
    return result;
}

static rp_result check_def(const rp_scene_def *def)
{
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "scene: start from rp_default_scene_def()");
    }
    if (def->path == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "scene.path: want the path of a file, got none");
    }
    if (!(def->load_seconds > 0.0 && def->load_seconds <= 1e6 && def->call_seconds > 0.0 &&
          def->call_seconds <= 1e6)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "scene.load_seconds, scene.call_seconds: want > 0 and <= 1e6 s, got %g, %g",
                       def->load_seconds, def->call_seconds);
    }
    return RP_OK;
}

rp_result rp_scene_load(const rp_scene_def *def, rp_scene **out)
{
    *out = NULL;
    rp_result result = check_def(def);
    if (result != RP_OK) {
        return result;
    }
    rp_scene_def filled = *def;
    filled.memory = def->memory > 0 ? def->memory : rp_default_scene_def().memory;
    rp_scene *scene = calloc(1, sizeof *scene);
    if (scene == NULL) {
        return no_memory(def->path);
    }
    result = load(scene, &filled);
    if (result != RP_OK) {
        rp_scene_free(scene);
        return result;
    }
    warn_of_unused(scene);
    rp_scene_doubt(scene);
    *out = scene;
    return RP_OK;
}

void rp_scene_free(rp_scene *scene)
{
    if (scene == NULL) {
        return;
    }
    for (scene_call *r = scene->first; r != NULL; r = r->next) {
        rp_shape_release(r->shape);
    }
    if (scene->sandbox != NULL) {
        rp_sandbox_close(scene->sandbox);
    }
    for (int i = 0; i < scene->params; i++) {
        free((char *)scene->param[i].name);
        free((char *)scene->param[i].value);
    }
    free(scene->sandbox);
    free(scene->param);
    for (int i = 0; i < scene->files; i++) {
        free(scene->file[i].name);
        free(scene->file[i].copy);
        free(scene->file[i].path);
    }
    free(scene->file);
    free(scene->folder);
    free(scene->path);
    free(scene->text);
    free(scene->method);
    rp_places_destroy(scene->places);
    free(scene->title);
    free(scene->resolved);
    free(scene->body);
    rp_scene_free_fractures(scene);
    free(scene);
}

const char *rp_scene_text(const rp_scene *scene, size_t *size)
{
    if (size != NULL) {
        *size = scene->text_size;
    }
    return scene->text;
}

const char *rp_scene_resolved(const rp_scene *scene) { return scene->resolved; }

// Files
// --------------------------------------------------------------------------------------------------------

// Where a copy of a file lies below NAME.files: as the script names it, without detours, and with
// %up and %root for what leads out of the folder. Files that name each other by relative paths, as
// those of a glTF do, still find each other.
static char *copy_of(const char *name)
{
    static const char up[] = "%up";
    char *copy = malloc(strlen(name) * sizeof up + sizeof "%root/");
    if (copy == NULL) {
        return NULL;
    }
    size_t length = (size_t)sprintf(copy, "%s", name[0] == '/' ? "%root" : "");
    size_t kept = length; // up to here nothing is taken back
    for (const char *part = name; *part != '\0';) {
        const size_t size = strcspn(part, "/");
        const bool back = size == 2 && strncmp(part, "..", 2) == 0;
        if (back && length > kept) {
            while (length > kept && copy[--length] != '/') {
            }
        } else if (back || (size > 0 && !(size == 1 && part[0] == '.'))) {
            length += (size_t)sprintf(copy + length, "%s%.*s", length > 0 ? "/" : "",
                                      back ? (int)sizeof up : (int)size, back ? up : part);
            kept = back ? length : kept;
        }
        part += size + (part[size] == '/');
    }
    copy[length] = '\0';
    return copy;
}

// The path of a text and two more; NULL when there is no memory.
static char *joined(const char *a, const char *b, const char *c)
{
    const size_t room = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(room);
    if (text != NULL) {
        snprintf(text, room, "%s%s%s", a, b, c);
    }
    return text;
}

// A copy beside the script comes first: what it was copied from may have changed since.
static char *find_file(const rp_scene *scene, const char *name, const char *copy)
{
    const size_t length = strlen(scene->path);
    const bool lua = length > 4 && strcmp(scene->path + length - 4, ".lua") == 0;
    char *beside = strndup(scene->path, length - (lua ? 4 : 0));
    char *path = beside != NULL ? joined(beside, ".files/", copy) : NULL;
    free(beside);
    if (path == NULL || access(path, F_OK) == 0) {
        return path;
    }
    free(path);
    return name[0] == '/' ? strdup(name) : joined(scene->folder, "/", name);
}

const char *rp_scene_take_file(rp_scene *scene, const char *name)
{
    scene_file *grown = realloc(scene->file, ((size_t)scene->files + 1) * sizeof *grown);
    scene->file = grown != NULL ? grown : scene->file;
    scene_file file = {.name = strdup(name), .copy = copy_of(name)};
    file.path = file.copy != NULL ? find_file(scene, name, file.copy) : NULL;
    if (grown == NULL || file.name == NULL || file.path == NULL) {
        free(file.name);
        free(file.copy);
        free(file.path);
        no_memory(scene->path);
        return NULL;
    }
    scene->file[scene->files++] = file;
    return file.path;
}

int rp_scene_files(const rp_scene *scene) { return scene->files; }

static const scene_file *file_at(const rp_scene *scene, int index)
{
    static const scene_file none;
    return index >= 0 && index < scene->files ? &scene->file[index] : &none;
}

const char *rp_scene_file(const rp_scene *scene, int index) { return file_at(scene, index)->path; }

const char *rp_scene_file_name(const rp_scene *scene, int index)
{
    return file_at(scene, index)->name;
}

const char *rp_scene_file_copy(const rp_scene *scene, int index)
{
    return file_at(scene, index)->copy;
}

#include "check_host.h"

#include "progress.h"
#include "say.h"
#include "scenes.h"

#include <repose/repose.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct host {
    const check_job *job;
    json_t *result;
    bool only_declare;
    int runs;
} host;

#define DECLARED "the check has declared itself"

static host *host_of(lua_State *L)
{
    host *h;
    memcpy(&h, lua_getextraspace(L), sizeof h);
    return h;
}

// ---- reading tables ----

// A field of the table at 1: of this type, or missing when it may be.
static int field(lua_State *L, const char *word, const char *name, int type, bool needed)
{
    const int found = lua_getfield(L, 1, name);
    if (found != type && (found != LUA_TNIL || needed)) {
        luaL_error(L, "%s.%s: want a %s, got %s", word, name, lua_typename(L, type),
                   lua_typename(L, found));
    }
    return found;
}

static const char *text_field(lua_State *L, const char *word, const char *name, bool needed)
{
    field(L, word, name, LUA_TSTRING, needed);
    return lua_tostring(L, -1);
}

static double number_field(lua_State *L, const char *word, const char *name, bool needed,
                           double otherwise)
{
    return field(L, word, name, LUA_TNUMBER, needed) == LUA_TNIL ? otherwise : lua_tonumber(L, -1);
}

// Fields that nobody reads are mistakes.
static void only_fields(lua_State *L, const char *word, const char *const *known)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        bool found = false;
        for (int i = 0; known[i] != NULL && lua_type(L, -2) == LUA_TSTRING; i++) {
            found = found || strcmp(known[i], lua_tostring(L, -2)) == 0;
        }
        if (!found) {
            luaL_error(L, "%s: there is no field '%s'", word, luaL_tolstring(L, -2, NULL));
        }
    }
}
#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

// A number that JSON can hold; infinities become texts.
static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value)
                           : json_string(isnan(value) ? "nan"
                                         : value > 0  ? "inf"
                                                      : "-inf");
}

// ---- check ----

static int word_check(lua_State *L)
{
    host *h = host_of(L);
    only_fields(L, "check", FIELDS("id", "title", "source", "setup", "cost", "why", "minutes"));
    if (json_object_get(h->result, "id") != NULL) {
        return luaL_error(L, "check: a file declares one check");
    }
    static const char *const names[] = {"id", "title", "source", "setup", "cost", "why"};
    for (int i = 0; i < 6; i++) {
        const char *value = text_field(L, "check", names[i], i < 3);
        json_object_set_new(h->result, names[i], json_string(value != NULL ? value : ""));
    }
    const char *cost = json_string_value(json_object_get(h->result, "cost"));
    if (strcmp(cost, "quick") != 0 && strcmp(cost, "full") != 0) {
        return luaL_error(L, "check.cost: want \"quick\" or \"full\"");
    }
    json_object_set_new(h->result, "minutes",
                        json_real(number_field(L, "check", "minutes", false, 0.5)));
    return h->only_declare ? luaL_error(L, DECLARED) : 0;
}

// ---- simulate ----

typedef struct simulation {
    rp_scene *scene;
    rp_world *world;
    rp_run *run;
    json_t *record;
} simulation;

static void close_simulation(simulation *s)
{
    rp_run_close(s->run);
    rp_world_destroy(s->world);
    rp_scene_free(s->scene);
}

static rp_result go(simulation *s, const rp_scene_def *def, const char *folder, double frames,
                    const check_job *job)
{
    rp_scene_world_def world = rp_default_scene_world_def();
    rp_run_def run = rp_default_run_def();
    rp_scene_info info;
    rp_run_end end;
    world.threads = job->threads;
    world.gradient = job->gradient;
    rp_result result = rp_scene_load(def, &s->scene);
    result = result == RP_OK ? rp_scene_create_world(s->scene, &world, &s->world) : result;
    result = result == RP_OK ? rp_run_open(folder, RP_RUN_NEW, &s->run) : result;
    if (result != RP_OK) {
        return result;
    }
    rp_scene_get_info(s->scene, &info);
    size_t size;
    const char *text = rp_scene_text(s->scene, &size), *resolved = rp_scene_resolved(s->scene);
    json_object_set_new(s->record, "scene", json_stringn(text, size));
    const rp_run_file files[] = {
        {.name = "scene.lua", .data = text, .size = size},
        {.name = "scene.resolved.json", .data = resolved, .size = strlen(resolved)}};
    run.world = s->world;
    run.frames = frames >= 0.0 ? (int64_t)frames : info.frames;
    run.settle = info.settle;
    run.title = info.title;
    run.file = files;
    run.files = 2;
    result = rp_run_go(s->run, &run, &end);
    rp_stats stats;
    rp_world_stats(s->world, &stats);
    json_object_set_new(s->record, "particles", json_integer(stats.particles));
    json_object_set_new(s->record, "steps", json_integer(stats.step));
    json_object_set_new(s->record, "frames", json_integer(stats.frame));
    return result;
}

// The scene's params from the field `set`.
static int read_params(lua_State *L, rp_scene_param param[32], json_t *record)
{
    int count = 0;
    json_t *set = json_object();
    json_object_set_new(record, "set", set);
    if (field(L, "simulate", "set", LUA_TTABLE, false) == LUA_TNIL) {
        return 0;
    }
    const int table = lua_gettop(L);
    luaL_checkstack(L, 80, "params");
    for (lua_pushnil(L); lua_next(L, table) != 0;) {
        // name and text stay on the stack, below the key that goes on
        if (lua_type(L, -2) != LUA_TSTRING || count == 32) {
            luaL_error(L, "simulate.set: want at most 32 names with values");
        }
        const char *value = luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
        lua_pushvalue(L, -2);
        param[count++] = (rp_scene_param){lua_tostring(L, -3), value};
        json_object_set_new(set, lua_tostring(L, -3), json_string(value));
    }
    return count;
}

static int word_simulate(lua_State *L)
{
    host *h = host_of(L);
    only_fields(L, "simulate", FIELDS("scene", "set", "frames", "name", "may_fail"));
    lua_settop(L, 1);
    simulation s = {.record = json_object()};
    json_array_append_new(json_object_get(h->result, "runs"), s.record);
    rp_scene_def def = rp_default_scene_def();
    rp_scene_param param[32];
    char path[PATH_SIZE], folder[PATH_SIZE];
    const char *scene = text_field(L, "simulate", "scene", true);
    const char *name = text_field(L, "simulate", "name", false);
    const double frames = number_field(L, "simulate", "frames", false, -1.0);
    const bool may_fail = lua_getfield(L, 1, "may_fail") == LUA_TBOOLEAN && lua_toboolean(L, -1);
    json_object_set_new(s.record, "name", json_string(name != NULL ? name : ""));
    def.params = read_params(L, param, s.record);
    def.param = param;
    if (strchr(scene, '\n') != NULL) {
        snprintf(path, sizeof path, "%s", h->job->file);
        def.text = scene;
        def.text_size = strlen(scene);
    } else {
        scene_path(scene, path);
    }
    def.path = path;
    mkdir(h->job->work, 0777);
    snprintf(folder, sizeof folder, "%.4000s/%d", h->job->work, ++h->runs);
    const double began = wall_clock();
    const rp_result result = go(&s, &def, folder, frames, h->job);
    close_simulation(&s);
    json_object_set_new(s.record, "seconds", json_real(wall_clock() - began));
    if (result != RP_OK) {
        json_object_set_new(s.record, "failure", json_string(rp_last_error()));
        if (!may_fail) {
            return luaL_error(L, "simulate: %s", rp_last_error());
        }
    }
    lua_createtable(L, 0, 3);
    lua_pushstring(L, folder);
    lua_setfield(L, -2, "folder");
    lua_pushinteger(L, (lua_Integer)rp_run_last_frame(folder));
    lua_setfield(L, -2, "frames");
    if (result != RP_OK) {
        lua_pushstring(L, rp_last_error());
        lua_setfield(L, -2, "failure");
    }
    return 1;
}

// ---- measure ----

static const char *folder_of(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    if (lua_getfield(L, index, "folder") != LUA_TSTRING) {
        luaL_error(L, "want a run, as simulate gives it");
    }
    return lua_tostring(L, -1);
}

// measure(run, name, { frame = 10, or all = true, and what the measurement takes })
static int word_measure(lua_State *L)
{
    rp_measure_def def = rp_default_measure_def();
    rp_measure_argument argument[16];
    lua_settop(L, 3);
    def.name = luaL_checkstring(L, 2);
    def.folder = folder_of(L, 1);
    def.argument = argument;
    luaL_checkstack(L, 64, "arguments");
    const bool has = lua_istable(L, 3);
    for (lua_pushnil(L); has && lua_next(L, 3) != 0;) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        if (strcmp(key, "all") == 0) {
            def.first = lua_toboolean(L, -1) ? 0 : RP_LAST_FRAME;
            lua_pop(L, 1);
        } else if (strcmp(key, "frame") == 0) {
            def.first = def.last = (int64_t)lua_tonumber(L, -1);
            lua_pop(L, 1);
        } else if (def.arguments == 16) {
            return luaL_error(L, "measure: too many arguments");
        } else {
            const char *value = lua_type(L, -1) == LUA_TNUMBER
                                    ? lua_pushfstring(L, "%f", lua_tonumber(L, -1))
                                    : luaL_tolstring(L, -1, NULL);
            lua_remove(L, -2);
            lua_pushvalue(L, -2);
            argument[def.arguments++] = (rp_measure_argument){key, value};
        }
    }
    rp_measured *m;
    if (rp_measure(&def, &m) != RP_OK) {
        return luaL_error(L, "measure: %s", rp_last_error());
    }
    // one row that can only be one: plain numbers; else a list per column
    const bool plain = !m->profile && m->rows == 1 && def.first == def.last;
    lua_createtable(L, 0, m->columns + 1);
    for (int c = 0; c < m->columns; c++) {
        if (plain) {
            lua_pushnumber(L, m->value[c]);
        } else {
            lua_createtable(L, (int)m->rows, 0);
            for (int64_t r = 0; r < m->rows; r++) {
                lua_pushnumber(L, m->value[r * m->columns + c]);
                lua_rawseti(L, -2, (lua_Integer)r + 1);
            }
        }
        lua_setfield(L, -2, m->name[c]);
    }
    if (!plain) {
        lua_pushinteger(L, (lua_Integer)m->rows);
        lua_setfield(L, -2, "rows");
    }
    rp_measured_free(m);
    return 1;
}

// ---- columns: read-only, column(i) gives the components of particle i ----

typedef struct column {
    int64_t rows;
    int comps;
    double value[];
} column;

static int column_call(lua_State *L)
{
    const column *c = luaL_checkudata(L, 1, "column");
    const lua_Integer i = luaL_checkinteger(L, 2);
    luaL_argcheck(L, i >= 1 && i <= c->rows, 2, "no such particle");
    for (int k = 0; k < c->comps; k++) {
        lua_pushnumber(L, c->value[(i - 1) * c->comps + k]);
    }
    return c->comps;
}

static int column_length(lua_State *L)
{
    lua_pushinteger(L, ((const column *)luaL_checkudata(L, 1, "column"))->rows);
    return 1;
}

// Components of a column of an open frame, 0: it has none.
static int comps_of(const rp_frame *frame, const rp_frame_info *info, const char *name)
{
    rp_frame_column_info about;
    for (int i = 0; i < info->columns && rp_frame_column(frame, i, &about) == RP_OK; i++) {
        if (strcmp(about.name, name) == 0) {
            return about.comps;
        }
    }
    return 0;
}

// column(run, name, frame): a frame's column in the order of ids.
static int word_column(lua_State *L)
{
    char path[PATH_SIZE];
    rp_frame *frame;
    rp_frame_info info;
    const char *name = luaL_checkstring(L, 2);
    const lua_Integer number = luaL_checkinteger(L, 3);
    const char *folder = folder_of(L, 1);
    if (rp_run_frame_path(folder, number, path, sizeof path) != RP_OK ||
        rp_frame_open(path, &frame) != RP_OK) {
        return luaL_error(L, "column: %s", rp_last_error());
    }
    rp_frame_get_info(frame, &info);
    const int comps = comps_of(frame, &info, name);
    const size_t n = (size_t)info.particles;
    column *c = lua_newuserdatauv(L, sizeof *c + n * (size_t)comps * sizeof(double), 0);
    *c = (column){info.particles, comps};
    luaL_setmetatable(L, "column");
    double *value = malloc((n + 1) * (size_t)(comps + 1) * sizeof *value),
           *id = malloc((n + 1) * sizeof *id);
    bool good = comps > 0 && value != NULL && id != NULL &&
                rp_frame_read(frame, name, 0, info.particles, value) == RP_OK &&
                rp_frame_read(frame, "id", 0, info.particles, id) == RP_OK;
    for (size_t i = 0; i < n && good; i++) {
        good = id[i] >= 0.0 && id[i] < (double)n; // ids of a run from which none has gone
        if (good) {
            memcpy(c->value + (size_t)id[i] * (size_t)comps, value + i * (size_t)comps,
                   (size_t)comps * sizeof *value);
        }
    }
    free(value);
    free(id);
    rp_frame_close(frame);
    return good ? 1 : luaL_error(L, "column: no '%s' of all particles in %s", name, path);
}

// ---- expect, plot, note ----

static int word_expect(lua_State *L)
{
    host *h = host_of(L);
    only_fields(
        L, "expect",
        FIELDS("what", "value", "band", "want", "relative", "absolute", "unit", "source", "why"));
    const char *what = text_field(L, "expect", "what", true);
    const char *unit = text_field(L, "expect", "unit", false);
    const char *source = text_field(L, "expect", "source", true);
    const char *why = text_field(L, "expect", "why", false);
    const double value = number_field(L, "expect", "value", true, NAN);
    const double want = number_field(L, "expect", "want", false, NAN);
    const double relative = number_field(L, "expect", "relative", false, NAN);
    const double absolute = number_field(L, "expect", "absolute", false, NAN);
    double low, high;
    if (field(L, "expect", "band", LUA_TTABLE, false) == LUA_TTABLE) {
        lua_geti(L, -1, 1);
        lua_geti(L, -2, 2);
        low = luaL_checknumber(L, -2);
        high = luaL_checknumber(L, -1);
    } else if (!isnan(want) && isnan(relative) != isnan(absolute)) {
        const double reach = isnan(absolute) ? relative * fabs(want) : absolute;
        low = want - reach;
        high = want + reach;
    } else {
        return luaL_error(L, "expect: want a band, or want with either relative or absolute");
    }
    const bool pass = value >= low && value <= high;
    json_t *e = json_object();
    json_object_set_new(e, "what", json_string(what));
    json_object_set_new(e, "unit", json_string(unit != NULL ? unit : ""));
    json_object_set_new(e, "source", json_string(source));
    json_object_set_new(e, "why", json_string(why != NULL ? why : ""));
    json_object_set_new(e, "value", number_json(value));
    json_object_set_new(e, "want", number_json(want));
    json_object_set_new(e, "low", number_json(low));
    json_object_set_new(e, "high", number_json(high));
    json_object_set_new(e, "pass", json_boolean(pass));
    json_array_append_new(json_object_get(h->result, "expectations"), e);
    lua_pushboolean(L, pass);
    return 1;
}

// A list of numbers in a field of the table on top.
static json_t *list_of(lua_State *L, const char *name)
{
    json_t *list = json_array();
    if (lua_getfield(L, -1, name) == LUA_TTABLE) {
        const lua_Integer n = luaL_len(L, -1);
        for (lua_Integer i = 1; i <= n; i++) {
            lua_geti(L, -1, i);
            json_array_append_new(list, number_json(lua_tonumber(L, -1)));
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return list;
}

static void put_text(lua_State *L, json_t *object, const char *name)
{
    lua_getfield(L, -1, name);
    json_object_set_new(object, name, json_string(lua_isstring(L, -1) ? lua_tostring(L, -1) : ""));
    lua_pop(L, 1);
}

static int word_plot(lua_State *L)
{
    host *h = host_of(L);
    only_fields(L, "plot", FIELDS("title", "x", "y", "log_x", "log_y", "series"));
    json_t *plot = json_object(), *series = json_array();
    lua_settop(L, 1);
    put_text(L, plot, "title");
    put_text(L, plot, "x");
    put_text(L, plot, "y");
    for (int i = 0; i < 2; i++) {
        lua_getfield(L, 1, i ? "log_y" : "log_x");
        json_object_set_new(plot, i ? "log_y" : "log_x", json_boolean(lua_toboolean(L, -1)));
        lua_pop(L, 1);
    }
    json_object_set_new(plot, "series", series);
    json_array_append_new(json_object_get(h->result, "plots"), plot);
    field(L, "plot", "series", LUA_TTABLE, true);
    const lua_Integer n = luaL_len(L, -1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, -1, i);
        luaL_checktype(L, -1, LUA_TTABLE);
        json_t *s = json_object();
        put_text(L, s, "name");
        put_text(L, s, "style");
        json_object_set_new(s, "x", list_of(L, "x"));
        json_object_set_new(s, "y", list_of(L, "y"));
        json_array_append_new(series, s);
        lua_pop(L, 1);
    }
    return 0;
}

static int word_note(lua_State *L)
{
    json_array_append_new(json_object_get(host_of(L)->result, "notes"),
                          json_string(luaL_checkstring(L, 1)));
    return 0;
}

// ---- shared code of checks ----

static int word_shared(lua_State *L)
{
    char path[PATH_SIZE];
    const char *name = luaL_checkstring(L, 1), *file = host_of(L)->job->file;
    const char *slash = strrchr(file, '/');
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz_") != strlen(name)) {
        return luaL_error(L, "shared: want a name of letters, got '%s'", name);
    }
    snprintf(path, sizeof path, "%.*sshared/%s.lua", slash != NULL ? (int)(slash - file + 1) : 0,
             file, name);
    if (luaL_loadfilex(L, path, "t") != LUA_OK) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    return 1;
}

// ---- the whole ----

static lua_State *make_state(host *h)
{
    static const luaL_Reg words[] = {
        {"check", word_check},   {"simulate", word_simulate}, {"measure", word_measure},
        {"column", word_column}, {"expect", word_expect},     {"plot", word_plot},
        {"note", word_note},     {"shared", word_shared},     {NULL, NULL}};
    static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                         {LUA_MATHLIBNAME, luaopen_math},
                                         {LUA_STRLIBNAME, luaopen_string},
                                         {LUA_TABLIBNAME, luaopen_table},
                                         {NULL, NULL}};
    static const char *const outside[] = {"dofile", "loadfile", "load", "collectgarbage", "print"};
    lua_State *L = luaL_newstate();
    if (L == NULL) {
        return NULL;
    }
    memcpy(lua_getextraspace(L), &h, sizeof h);
    for (int i = 0; libraries[i].name != NULL; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        lua_pushnil(L);
        lua_setglobal(L, outside[i]);
    }
    lua_pushglobaltable(L);
    luaL_setfuncs(L, words, 0);
    luaL_newmetatable(L, "column");
    lua_pushcfunction(L, column_call);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, column_length);
    lua_setfield(L, -2, "__len");
    lua_settop(L, 0);
    return L;
}

static json_t *empty_result(const char *file)
{
    return json_pack("{s:s, s:[], s:[], s:[], s:[]}", "file", file, "expectations", "plots",
                     "notes", "runs");
}

json_t *check_declared(const char *file)
{
    host h = {
        .job = &(check_job){.file = file}, .only_declare = true, .result = empty_result(file)};
    lua_State *L = h.result != NULL ? make_state(&h) : NULL;
    bool good = false;
    if (L == NULL) {
        say_usage("out of memory: %s", file);
    } else if (luaL_loadfilex(L, file, "t") != LUA_OK || lua_pcall(L, 0, 0, 0) != LUA_OK) {
        const char *sentence = lua_tostring(L, -1);
        good = sentence != NULL && strstr(sentence, DECLARED) != NULL;
        if (!good) {
            say_usage("%s", sentence != NULL ? sentence : file);
        }
    } else {
        say_usage("%s: a check begins with check { id = …, title = …, source = …, cost = … }",
                  file);
    }
    if (L != NULL) {
        lua_close(L);
    }
    if (!good) {
        json_decref(h.result);
        return NULL;
    }
    return h.result;
}

json_t *check_run(const check_job *job)
{
    host h = {.job = job, .result = empty_result(job->file)};
    lua_State *L = h.result != NULL ? make_state(&h) : NULL;
    if (L == NULL) {
        json_decref(h.result);
        return NULL;
    }
    const double began = wall_clock();
    if (luaL_loadfilex(L, job->file, "t") != LUA_OK || lua_pcall(L, 0, 0, 0) != LUA_OK) {
        const char *sentence = lua_tostring(L, -1);
        json_object_set_new(h.result, "error", json_string(sentence != NULL ? sentence : "?"));
    } else if (json_array_size(json_object_get(h.result, "expectations")) == 0) {
        json_object_set_new(h.result, "error", json_string("it expects nothing"));
    }
    json_object_set_new(h.result, "seconds", json_real(wall_clock() - began));
    lua_close(L);
    return h.result;
}

#include "scene/read.h"

#include "repose/nearest.h"
#include "scene/sandbox.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 96, WANTED = 512, MEANT = 256, KNOWN = 512 };

// One key that is being read.
typedef struct reader {
    lua_State *L;
    scene_call *call;
    int owner;        // stack index of the call
    int key;          // of its word
    const char *path; // "scene.dx"
} reader;

static const scene_key *key_of(const reader *r) { return &r->call->word->key[r->key]; }

// Refusals
// --------------------------------------------------------------------------------------------------

// What bodies are cut by, where something else is wanted.
static bool is_cut(lua_State *L, int index)
{
    const scene_call *call = lua_type(L, index) == LUA_TUSERDATA ? lua_touserdata(L, index) : NULL;
    return call != NULL && call->word->kind == WORD_CUT;
}

static int refuse(const reader *r, int index)
{
    char wanted[WANTED];
    rp_scene_describe_takes(key_of(r), wanted, sizeof wanted);
    // material.sand instead of material.sand {}, sphere instead of sphere { ... }
    const bool made = (key_of(r)->takes & (TAKES_MATERIAL | TAKES_SHAPE | TAKES_CUT)) != 0;
    const bool bare = made && lua_type(r->L, index) == LUA_TFUNCTION;
    const bool cut = (key_of(r)->takes & (TAKES_SHAPE | TAKES_SHAPES)) != 0 && is_cut(r->L, index);
    const bool keys = strcmp(key_of(r)->name, "motion") == 0 && lua_type(r->L, index) == LUA_TTABLE;
    return rp_sandbox_error(r->L, "%s: want %s, got %s%s", r->path, wanted,
                            rp_sandbox_show(r->L, index),
                            bare  ? "; are the braces after its name missing?"
                            : cut ? "; did you mean half_space { ... }? What fracture.by takes has "
                                    "no inside"
                            : keys ? "; key frames go into keys"
                                   : "");
}

static bool in_range(scene_range range, double x)
{
    const bool above = range.above_low ? x > range.low : x >= range.low;
    const bool below = range.below_high ? x < range.high : x <= range.high;
    return above && below && isfinite(x);
}

static void check_range(const reader *r, int index, double x)
{
    const scene_key *key = key_of(r);
    if (in_range(key->range, x)) {
        return;
    }
    char wanted[WANTED];
    rp_scene_describe_range(key->range, wanted, sizeof wanted);
    rp_sandbox_error(
        r->L, "%s: want %s%s%s, got %s", r->path, wanted[0] != '\0' ? wanted : "a finite number",
        key->unit != NULL && wanted[0] != '\0' ? " " : "",
        key->unit != NULL && wanted[0] != '\0' ? key->unit : "", rp_sandbox_show(r->L, index));
}

// Kinds of values
// ------------------------------------------------------------------------------------------------

// The call keeps the Lua value at `index` alive.
static void keep(const reader *r, int index)
{
    index = lua_absindex(r->L, index);
    lua_getiuservalue(r->L, r->owner, 1);
    lua_pushvalue(r->L, index);
    lua_rawseti(r->L, -2, r->key + 1);
    lua_pop(r->L, 1);
}

static void read_number(const reader *r, int index, scene_value *out)
{
    const unsigned takes = key_of(r)->takes;
    const double x = lua_tonumber(r->L, index);
    if ((takes & TAKES_NUMBER) != 0) {
        check_range(r, index, x);
        out->kind = TAKES_NUMBER;
        out->number = x;
    } else if ((takes & TAKES_INTEGER) != 0 && floor(x) == x) {
        check_range(r, index, x);
        out->kind = TAKES_INTEGER;
        out->integer = (int64_t)x; // ranges end where doubles cease to count by one
    } else {
        refuse(r, index);
    }
}

static void read_string(const reader *r, int index, scene_value *out)
{
    size_t size;
    out->kind = TAKES_STRING;
    out->text = lua_tolstring(r->L, index, &size);
    if (!rp_is_text(out->text, size)) {
        rp_sandbox_error(r->L, "%s: want one line of UTF-8 text, got %s", r->path,
                         rp_sandbox_show(r->L, index));
    }
    keep(r, index);
}

int rp_read_choice(lua_State *L, int index, const char *const *choices, const char *path,
                   const char *wanted)
{
    const char *text = lua_tostring(L, index);
    rp_nearest n = rp_nearest_start(text);
    for (int c = 0; choices[c] != NULL; c++) {
        if (strcmp(choices[c], text) == 0) {
            return c;
        }
        rp_nearest_try(&n, choices[c]);
    }
    char meant[MEANT];
    rp_scene_suggest(rp_scene_find_foreign(path, text), n.best, "", '"', meant, sizeof meant);
    return rp_sandbox_error(L, "%s: want %s, got %s%s", path, wanted, rp_sandbox_show(L, index),
                            meant);
}

static void read_choice(const reader *r, int index, scene_value *out)
{
    char wanted[WANTED];
    rp_scene_describe_takes(key_of(r), wanted, sizeof wanted);
    out->choice = rp_read_choice(r->L, index, key_of(r)->choices, r->path, wanted);
    out->kind = TAKES_CHOICE;
}

// How many elements a plain list has; raises an error unless it is one of 2 or 3.
static int list_length(const reader *r, int index)
{
    lua_State *L = r->L;
    const int length = (int)(lua_rawlen(L, index) < 4 ? lua_rawlen(L, index) : 4);
    int keys = 0;
    for (lua_pushnil(L); keys < 5 && lua_next(L, index); keys++) {
        lua_pop(L, 1);
    }
    if (keys >= 5) {
        lua_pop(L, 1);
    }
    const bool three = (key_of(r)->takes & TAKES_VECTOR3) != 0;
    if (keys != length || length > 3 || length < (three ? 3 : 2) || lua_getmetatable(L, index)) {
        rp_sandbox_error(L, "%s: want a list of %s, such as {0, 1, 0}, got a table of %s", r->path,
                         three ? "3" : "3, in 2D 2",
                         keys != length ? "other things"
                         : length > 3   ? "more"
                         : length == 0  ? "none"
                         : length == 1  ? "1"
                                        : "2");
    }
    return length;
}

static int read_components(const reader *r, int index, double out[3])
{
    const int length = list_length(r, index);
    for (int a = 0; a < length; a++) {
        if (lua_rawgeti(r->L, index, a + 1) != LUA_TNUMBER) {
            rp_sandbox_error(r->L, "%s[%d]: want a number, got %s", r->path, a + 1,
                             rp_sandbox_show(r->L, -1));
        }
        out[a] = lua_tonumber(r->L, -1);
        check_range(r, -1, out[a]);
        lua_pop(r->L, 1);
    }
    return length;
}

static void read_axes(const reader *r, int index, scene_value *out)
{
    out->kind = TAKES_AXES;
    out->count = list_length(r, index);
    for (int a = 0; a < out->count; a++) {
        if (lua_rawgeti(r->L, index, a + 1) != LUA_TBOOLEAN) {
            rp_sandbox_error(r->L, "%s[%d]: want true or false, got %s", r->path, a + 1,
                             rp_sandbox_show(r->L, -1));
        }
        out->axes[a] = lua_toboolean(r->L, -1);
        lua_pop(r->L, 1);
    }
}

static void read_matrix(const reader *r, int index, scene_value *out)
{
    out->kind = TAKES_MATRIX;
    out->count = list_length(r, index);
    for (int i = 0; i < out->count; i++) {
        const bool row = lua_rawgeti(r->L, index, i + 1) == LUA_TTABLE;
        if (!row || read_components(r, lua_absindex(r->L, -1), out->matrix[i]) != out->count) {
            rp_sandbox_error(r->L, "%s[%d]: want a row of %d numbers, got %s", r->path, i + 1,
                             out->count, rp_sandbox_show(r->L, -1));
        }
        lua_pop(r->L, 1);
    }
}

// A list of pairs; they live in a block of Lua's memory that the call keeps.
static void read_points(const reader *r, int index, scene_value *out)
{
    enum { MOST = 4096 };
    lua_State *L = r->L;
    const lua_Unsigned length = lua_rawlen(L, index);
    if (length < 2 || length > MOST || lua_getmetatable(L, index)) {
        rp_sandbox_error(L, "%s: want a list of 2 to %d points, such as {{0, 1}, {2, 3}}, got %s",
                         r->path, MOST,
                         length == 0   ? "none"
                         : length == 1 ? "1"
                                       : "another table");
    }
    out->kind = TAKES_POINTS;
    out->count = (int)length;
    out->points = lua_newuserdatauv(L, (size_t)length * sizeof *out->points, 0);
    keep(r, -1);
    lua_pop(L, 1);
    for (int i = 0; i < out->count; i++) {
        const bool pair = lua_rawgeti(L, index, i + 1) == LUA_TTABLE && lua_rawlen(L, -1) == 2;
        for (int a = 0; a < 2; a++) {
            if (!pair || lua_rawgeti(L, -1, a + 1) != LUA_TNUMBER) {
                rp_sandbox_error(L, "%s[%d]: want two numbers, such as {0, 1}, got %s", r->path,
                                 i + 1, rp_sandbox_show(L, -1));
            }
            out->points[i][a] = lua_tonumber(L, -1);
            check_range(r, -1, out->points[i][a]);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

// Two numbers, the second not below the first.
static void read_range(const reader *r, int index, scene_value *out)
{
    lua_State *L = r->L;
    if (lua_rawlen(L, index) != 2 || lua_getmetatable(L, index)) {
        refuse(r, index);
    }
    out->kind = TAKES_RANGE;
    out->count = 2;
    for (int a = 0; a < 2; a++) {
        if (lua_rawgeti(L, index, a + 1) != LUA_TNUMBER) {
            rp_sandbox_error(L, "%s[%d]: want a number, got %s", r->path, a + 1,
                             rp_sandbox_show(L, -1));
        }
        out->vector[a] = lua_tonumber(L, -1);
        check_range(r, -1, out->vector[a]);
        lua_pop(L, 1);
    }
    if (out->vector[1] < out->vector[0]) {
        rp_sandbox_error(L, "%s: want the lower number first, got {%f, %f}", r->path,
                         out->vector[0], out->vector[1]);
    }
}

// A list of vectors; they live in a block of Lua's memory that the call keeps.
static void read_places(const reader *r, int index, scene_value *out)
{
    enum { MOST = 4096 };
    lua_State *L = r->L;
    const lua_Unsigned length = lua_rawlen(L, index);
    if (length < 2 || length > MOST || lua_getmetatable(L, index)) {
        rp_sandbox_error(
            L, "%s: want a list of 2 to %d points, such as {{0, 1, 0}, {2, 3, 0}}, got %s", r->path,
            MOST,
            length == 0   ? "none"
            : length == 1 ? "1"
                          : "another table");
    }
    out->kind = TAKES_PLACES;
    out->count = (int)length;
    out->places = lua_newuserdatauv(L, (size_t)length * sizeof *out->places, 0);
    memset(out->places, 0, (size_t)length * sizeof *out->places);
    keep(r, -1);
    lua_pop(L, 1);
    for (int i = 0; i < out->count; i++) {
        const bool table = lua_rawgeti(L, index, i + 1) == LUA_TTABLE;
        const int comps = table ? (int)lua_rawlen(L, -1) : 0;
        out->comps = i == 0 ? comps : out->comps;
        for (int a = 0; a < comps || a == 0; a++) {
            if (comps < 2 || comps > 3 || comps != out->comps ||
                lua_rawgeti(L, -1, a + 1) != LUA_TNUMBER) {
                rp_sandbox_error(L, "%s[%d]: want a point of 3 numbers, in 2D 2, got %s", r->path,
                                 i + 1, rp_sandbox_show(L, -1));
            }
            out->places[i][a] = lua_tonumber(L, -1);
            check_range(r, -1, out->places[i][a]);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

static void read_form(const reader *r, int index, scene_value *out)
{
    out->kind = TAKES_TABLE;
    out->call = rp_read_call(r->L, index, key_of(r)->form, r->path);
    keep(r, -1);
    lua_pop(r->L, 1);
}

// A list of tables, each a call of its own. The list is a block of Lua's memory; Lua keeps it and
// the calls in a table that the call keeps.
static void read_tables(const reader *r, int index, scene_value *out)
{
    enum { MOST = 4096 };
    lua_State *L = r->L;
    const lua_Unsigned length = lua_rawlen(L, index);
    if (length < 1 || length > MOST || lua_getmetatable(L, index)) {
        char many[32];
        snprintf(many, sizeof many, "%llu", (unsigned long long)length);
        rp_sandbox_error(L, "%s: want a list of at most %d tables, such as {{ %s = ... }}, got %s",
                         r->path, MOST, key_of(r)->form->key[0].name,
                         length == 0     ? "none"
                         : length > MOST ? many
                                         : "another table");
    }
    lua_createtable(L, (int)length + 1, 0);
    const int kept = lua_gettop(L);
    out->tables = lua_newuserdatauv(L, (size_t)length * sizeof *out->tables, 0);
    lua_rawseti(L, kept, (lua_Integer)length + 1);
    for (int i = 0; i < (int)length; i++) {
        char path[PATH + 16];
        snprintf(path, sizeof path, "%.*s[%d]", PATH, r->path, i + 1);
        lua_rawgeti(L, index, i + 1);
        out->tables[i] = rp_read_call(L, -1, key_of(r)->form, path);
        lua_rawseti(L, kept, i + 1);
        lua_pop(L, 1);
    }
    out->kind = TAKES_TABLES;
    out->count = (int)length;
    keep(r, kept);
    lua_settop(L, kept - 1);
}

// Names of something that the scene has, such as bodies; neither choices of a param nor of the key.
static bool takes_names(const reader *r)
{
    return key_of(r)->takes == TAKES_STRINGS && key_of(r)->choices == NULL;
}

// One string of a list, on top of the stack; it is the next after those in `out`.
static const char *read_one_choice(const reader *r, const scene_value *out)
{
    size_t size = 0;
    const char *const *choices = key_of(r)->choices;
    const char *text = lua_type(r->L, -1) == LUA_TSTRING ? lua_tolstring(r->L, -1, &size) : NULL;
    if (choices != NULL && text != NULL) {
        char path[PATH + 16], wanted[WANTED];
        snprintf(path, sizeof path, "%.*s[%d]", PATH, r->path, out->count + 1);
        rp_scene_describe_choices(choices, wanted, sizeof wanted);
        text = choices[rp_read_choice(r->L, -1, choices, path, wanted)];
    }
    const size_t longest = takes_names(r) ? RP_NAME_SIZE - 1 : RP_LONGEST_CHOICE;
    if (size < 1 || size > longest || !rp_is_text(text, size)) {
        rp_sandbox_error(r->L, "%s[%d]: want a line of UTF-8 text of 1 to %zu bytes, got %s",
                         r->path, out->count + 1, longest, rp_sandbox_show(r->L, -1));
    }
    for (int i = 0; i < out->count; i++) {
        if (strcmp(out->texts[i], text) == 0) {
            rp_sandbox_error(r->L, "%s[%d]: want each string once, got %s again", r->path,
                             out->count + 1, rp_sandbox_show(r->L, -1));
        }
    }
    return text;
}

// A list of strings. The list is a block of Lua's memory; Lua keeps it and the strings in a table
// that the call keeps, since the script may change its own.
static void read_strings(const reader *r, int index, scene_value *out)
{
    lua_State *L = r->L;
    const bool some = key_of(r)->choices != NULL; // of what the key lists, or none
    const lua_Unsigned length = lua_rawlen(L, index);
    lua_Unsigned keys = 0;
    const bool texts = lua_rawgeti(L, index, 1) == LUA_TSTRING;
    lua_pop(L, 1);
    if (!texts && !(some && length == 0)) {
        refuse(r, index); // a list of numbers, say: the key may take other things as well
    }
    for (lua_pushnil(L); lua_next(L, index); keys++) {
        lua_pop(L, 1);
    }
    const int least = some ? 0 : 2, most = some ? 2 * RP_MOST_CHOICES : RP_MOST_CHOICES;
    const bool fits = length >= (lua_Unsigned)least && length <= (lua_Unsigned)most;
    if (!fits || keys != length || lua_getmetatable(L, index)) {
        char many[32];
        snprintf(many, sizeof many, "%llu", (unsigned long long)length);
        rp_sandbox_error(L, "%s: want a list of %d to %d strings, such as {\"%s\", \"%s\"}, got %s",
                         r->path, least, most,
                         some             ? key_of(r)->choices[0]
                         : takes_names(r) ? "ball"
                                          : "quick",
                         some             ? key_of(r)->choices[1]
                         : takes_names(r) ? "block"
                                          : "fine",
                         keys != length ? "one with other fields"
                         : !fits        ? many
                                        : "one with a metatable");
    }
    lua_createtable(L, (int)length + 1, 0);
    const int kept = lua_gettop(L);
    out->texts = lua_newuserdatauv(L, (size_t)(length + 1) * sizeof *out->texts, 0);
    lua_rawseti(L, kept, (lua_Integer)length + 1);
    for (out->count = 0; out->count < (int)length; out->count++) {
        lua_rawgeti(L, index, out->count + 1);
        out->texts[out->count] = read_one_choice(r, out);
        lua_rawseti(L, kept, out->count + 1);
    }
    out->texts[length] = NULL;
    out->kind = TAKES_STRINGS;
    keep(r, kept);
    lua_settop(L, kept - 1);
}

static void read_table(const reader *r, int index, scene_value *out)
{
    const unsigned takes = key_of(r)->takes;
    if ((takes & (TAKES_VECTOR | TAKES_VECTOR3)) != 0) {
        out->count = read_components(r, index, out->vector);
        out->kind = takes & (TAKES_VECTOR | TAKES_VECTOR3);
    } else if ((takes & TAKES_AXES) != 0) {
        read_axes(r, index, out);
    } else if ((takes & TAKES_MATRIX) != 0) {
        read_matrix(r, index, out);
    } else if ((takes & TAKES_RANGE) != 0) {
        read_range(r, index, out);
    } else if ((takes & TAKES_PLACES) != 0) {
        read_places(r, index, out);
    } else if ((takes & TAKES_POINTS) != 0) {
        read_points(r, index, out);
    } else if ((takes & TAKES_TABLES) != 0) {
        read_tables(r, index, out);
    } else if ((takes & TAKES_STRINGS) != 0) {
        read_strings(r, index, out);
    } else if ((takes & TAKES_TABLE) != 0) {
        read_form(r, index, out);
    } else {
        refuse(r, index);
    }
}

static void read_boolean(const reader *r, int index, scene_value *out)
{
    const unsigned takes = key_of(r)->takes;
    if ((takes & TAKES_BOOLEAN) == 0) {
        refuse(r, index);
    }
    out->kind = TAKES_BOOLEAN;
    out->boolean = lua_toboolean(r->L, index);
    // `true` in place of a table is the table with all its defaults
    if (out->boolean && (takes & TAKES_TABLE) != 0) {
        lua_newtable(r->L);
        read_form(r, lua_absindex(r->L, -1), out);
        lua_pop(r->L, 1);
    }
}

static void read_function(const reader *r, int index, scene_value *out)
{
    if ((key_of(r)->takes & TAKES_FUNCTION) == 0) {
        refuse(r, index);
    }
    lua_Debug ar;
    lua_pushvalue(r->L, index);
    lua_getinfo(r->L, ">S", &ar);
    out->kind = TAKES_FUNCTION;
    out->function = (scene_function){
        .call = r->call, .key = r->key, .line = ar.linedefined > 0 ? ar.linedefined : 0};
    keep(r, index);
}

// Shapes and materials are calls that the script holds as values.
static void read_handle(const reader *r, int index, scene_value *out)
{
    scene_call *call = lua_touserdata(r->L, index);
    if (lua_islightuserdata(r->L, index) || call == NULL) {
        refuse(r, index);
    }
    const unsigned kind = call->word->kind == WORD_SHAPE ? TAKES_SHAPE
                          : call->word->kind == WORD_CUT ? TAKES_CUT
                                                         : TAKES_MATERIAL;
    if ((key_of(r)->takes & kind) == 0) {
        refuse(r, index);
    }
    out->kind = kind;
    out->call = call;
    call->used = true;
    keep(r, index);
}

static void read_text(const reader *r, int index, scene_value *out)
{
    const unsigned takes = key_of(r)->takes;
    if ((takes & TAKES_STRING) != 0) {
        read_string(r, index, out);
    } else if ((takes & TAKES_CHOICE) != 0) {
        read_choice(r, index, out);
    } else {
        refuse(r, index);
    }
}

static void read_value(const reader *r, int index, scene_value *out)
{
    index = lua_absindex(r->L, index);
    switch (lua_type(r->L, index)) {
    case LUA_TNUMBER:
        read_number(r, index, out);
        return;
    case LUA_TSTRING:
        read_text(r, index, out);
        return;
    case LUA_TBOOLEAN:
        read_boolean(r, index, out);
        return;
    case LUA_TTABLE:
        read_table(r, index, out);
        return;
    case LUA_TFUNCTION:
        read_function(r, index, out);
        return;
    case LUA_TUSERDATA:
        read_handle(r, index, out);
        return;
    default:
        refuse(r, index);
    }
}

// Tables of keys
// -----------------------------------------------------------------------------------------------------

static bool is_key(lua_State *L, int index, const scene_word *word)
{
    for (int k = 0; lua_type(L, index) == LUA_TSTRING && k < word->keys; k++) {
        if (strcmp(word->key[k].name, lua_tostring(L, index)) == 0) {
            return true;
        }
    }
    return false;
}

static void refuse_key(lua_State *L, int index, const scene_word *word, const char *path)
{
    const char *shown = rp_sandbox_show(L, index);
    if (lua_type(L, index) != LUA_TSTRING) {
        rp_sandbox_error(L, "%s: want fields with names, such as %s = ..., got one with key %s",
                         path, word->key[0].name, shown);
    }
    const char *name = lua_tostring(L, index);
    rp_nearest n = rp_nearest_start(name);
    char meant[MEANT], known[KNOWN] = "";
    size_t length = 0;
    for (int k = 0; k < word->keys && length < sizeof known; k++) {
        rp_nearest_try(&n, word->key[k].name);
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", k > 0 ? ", " : "",
                                   word->key[k].name);
    }
    rp_scene_suggest(rp_scene_foreign_key(word, name), n.best, "", '\'', meant, sizeof meant);
    rp_sandbox_error(L, "%s: unknown key %s%s%s are %s", path, shown, meant,
                     meant[0] != '\0' ? " Known" : "; known", known);
}

// Of several unknown keys the least is named, so that the message does not depend on chance.
static void refuse_unknown_keys(lua_State *L, int index, const scene_word *word, const char *path)
{
    lua_pushnil(L);
    const int least = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, index);) {
        lua_pop(L, 1);
        const int key = lua_gettop(L);
        if (!is_key(L, key, word) &&
            (lua_isnil(L, least) || rp_sandbox_compare_keys(L, key, least) < 0)) {
            lua_copy(L, key, least);
        }
    }
    if (!lua_isnil(L, least)) {
        refuse_key(L, least, word, path);
    }
    lua_pop(L, 1);
}

static bool names(const char *list, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = list; at != NULL && (at = strstr(at, key)) != NULL; at += length) {
        const bool starts = at == list || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

// A given key that contradicts key k, NULL: none.
static const scene_key *contradiction(const scene_call *call, int k)
{
    const scene_word *word = call->word;
    for (int other = 0; other < word->keys; other++) {
        if (call->value[other].given && names(word->key[k].not_with, word->key[other].name)) {
            return &word->key[other];
        }
    }
    return NULL;
}

static void refuse_contradictions(lua_State *L, const scene_call *call, const char *path)
{
    for (int k = 0; k < call->word->keys; k++) {
        const scene_key *other = contradiction(call, k);
        if (call->value[k].given && other != NULL) {
            rp_sandbox_error(L, "%s: want %s or %s, got both", path, call->word->key[k].name,
                             other->name);
        }
    }
}

static scene_call *new_record(lua_State *L, const scene_word *word)
{
    const size_t size = sizeof(scene_call) + (size_t)word->keys * sizeof(scene_value);
    scene_call *call = lua_newuserdatauv(L, size, 1);
    memset(call, 0, size);
    call->word = word;
    call->line = rp_sandbox_line(L);
    lua_newtable(L);
    lua_setiuservalue(L, -2, 1);
    return call;
}

typedef struct key_path {
    char text[PATH];
} key_path;

static key_path path_of(const char *path, const char *key)
{
    key_path p;
    snprintf(p.text, sizeof p.text, "%s.%s", path, key);
    return p;
}

// Read the value on top of the stack, and pop it, as key k of the call below it.
static void read_key(lua_State *L, scene_call *call, int k, const char *path, bool given)
{
    const key_path p = path_of(path, call->word->key[k].name);
    const reader r = {L, call, lua_gettop(L) - 1, k, p.text};
    luaL_checkstack(L, 16, NULL);
    read_value(&r, -1, &call->value[k]);
    call->value[k].given = given;
    lua_settop(L, r.owner);
}

// Defaults are written as a scene would write them, and read the same way.
static void push_default(lua_State *L, const scene_key *key)
{
    const char *chunk = lua_pushfstring(L, "return %s", key->otherwise);
    if (luaL_loadstring(L, chunk) != LUA_OK) {
        lua_error(L);
    }
    lua_call(L, 0, 1);
    lua_remove(L, -2);
}

static void fill_in_defaults(lua_State *L, scene_call *call, const char *path)
{
    for (int k = 0; k < call->word->keys; k++) {
        const scene_key *key = &call->word->key[k];
        if (call->value[k].given || contradiction(call, k) != NULL) {
            continue;
        }
        if (key->otherwise != NULL) {
            push_default(L, key);
            read_key(L, call, k, path, false);
        } else if (key->absent == NULL) {
            char wanted[WANTED];
            rp_scene_describe_takes(key, wanted, sizeof wanted);
            rp_sandbox_error(L, "%s.%s: want %s, got nothing", path, key->name, wanted);
        }
    }
}

scene_call *rp_read_call(lua_State *L, int index, const scene_word *word, const char *path)
{
    index = lua_absindex(L, index);
    luaL_checkstack(L, 16, NULL);
    if (lua_type(L, index) != LUA_TTABLE) {
        rp_sandbox_error(L, "%s: want a table, as in %s { ... }, got %s", path, word->name,
                         rp_sandbox_show(L, index));
    }
    if (lua_getmetatable(L, index)) {
        rp_sandbox_error(L, "%s: want a table without a metatable, got one with", path);
    }
    refuse_unknown_keys(L, index, word, path);

    scene_call *call = new_record(L, word);
    for (int k = 0; k < word->keys; k++) {
        lua_pushstring(L, word->key[k].name);
        if (lua_rawget(L, index) == LUA_TNIL) {
            lua_pop(L, 1);
        } else {
            read_key(L, call, k, path, true);
        }
    }
    refuse_contradictions(L, call, path);
    fill_in_defaults(L, call, path);
    return call;
}

// The arguments from key k on, as the shapes of that key. The list is a block of Lua's memory that
// the call keeps; the scene keeps the shapes.
static void read_shapes(lua_State *L, scene_call *call, int k, int given)
{
    const key_path p = path_of(call->word->name, call->word->key[k].name);
    const reader r = {L, call, lua_gettop(L), k, p.text};
    scene_value *out = &call->value[k];
    out->shapes = lua_newuserdatauv(L, (size_t)(given - k) * sizeof *out->shapes, 0);
    keep(&r, -1);
    lua_pop(L, 1);
    for (int i = k; i < given; i++) {
        scene_call *shape = lua_touserdata(L, i + 1);
        const bool handle = lua_type(L, i + 1) == LUA_TUSERDATA && shape != NULL;
        if (!handle || shape->word->kind != WORD_SHAPE) {
            refuse(&r, i + 1);
        }
        shape->used = true;
        out->shapes[out->count++] = shape;
    }
    out->kind = TAKES_SHAPES;
    out->given = true;
}

scene_call *rp_read_arguments(lua_State *L, const scene_word *word)
{
    const int given = lua_gettop(L);
    const bool open = (word->key[word->keys - 1].takes & TAKES_SHAPES) != 0;
    if (given > word->keys && !open) {
        rp_sandbox_error(L, "%s: want at most %d values, got %d", word->name, word->keys, given);
    }
    luaL_checkstack(L, 16, NULL);
    scene_call *call = new_record(L, word);
    for (int k = 0; k < given && k < word->keys; k++) {
        if ((word->key[k].takes & TAKES_SHAPES) != 0) {
            read_shapes(L, call, k, given);
            continue;
        }
        lua_pushvalue(L, k + 1);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
        } else {
            read_key(L, call, k, word->name, true);
        }
    }
    fill_in_defaults(L, call, word->name);
    return call;
}

// Functions of the script
// ----------------------------------------------------------------------------------------

void rp_push_function(lua_State *L, const scene_function *function)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, function->call);
    lua_getiuservalue(L, -1, 1);
    lua_rawgeti(L, -1, function->key + 1);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

static void check_returned(lua_State *L, int index, const char *path, double *out)
{
    *out = lua_tonumber(L, index);
    if (lua_type(L, index) != LUA_TNUMBER || !isfinite(*out)) {
        rp_sandbox_error(L, "%s: want finite numbers, got %s", path, rp_sandbox_show(L, index));
    }
}

void rp_read_returned_vector(lua_State *L, int index, int dimension, const char *path,
                             double out[3])
{
    const bool table = lua_type(L, index) == LUA_TTABLE;
    const int count = table ? (int)lua_rawlen(L, index) : lua_gettop(L) - index + 1;
    if (count < dimension || count > 3) {
        rp_sandbox_error(L, "%s: want %d numbers or a list of them, got %d", path, dimension,
                         count);
    }
    out[2] = 0.0;
    for (int a = 0; a < dimension; a++) {
        if (table) {
            lua_rawgeti(L, index, a + 1);
            check_returned(L, -1, path, &out[a]);
            lua_pop(L, 1);
        } else {
            check_returned(L, index + a, path, &out[a]);
        }
    }
}

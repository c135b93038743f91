// What a script finds in its sandbox. Lua's libraries are opened out of its reach; from them a list
// of names is copied, and what is not on the list does not exist.
#include "repose/nearest.h"
#include "scene/sandbox.h"
#include "scene/words.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

enum { TICK_EVERY = 1024 }; // comparisons between two looks at the clock

// Sorting: stable and without chance, unlike Lua's own, which may consult the clock
// --------------------

typedef bool (*before_function)(lua_State *L, int a, int b);

typedef struct sorter {
    int list, spare; // stack indices of two tables
    before_function before;
    int compared;
} sorter;

// Whether element j of the list must stand before element i.
static bool in_wrong_order(lua_State *L, sorter *s, lua_Integer i, lua_Integer j)
{
    if (++s->compared % TICK_EVERY == 0) {
        rp_sandbox_tick(L);
    }
    lua_rawgeti(L, s->list, j);
    lua_rawgeti(L, s->list, i);
    const bool wrong = s->before(L, lua_absindex(L, -2), lua_absindex(L, -1));
    lua_pop(L, 2);
    return wrong;
}

static void move(lua_State *L, int from, lua_Integer i, int to, lua_Integer j)
{
    lua_rawgeti(L, from, i);
    lua_rawseti(L, to, j);
}

// Merge elements first to middle - 1 with middle to end - 1 of the list into the spare table.
static void merge(lua_State *L, sorter *s, lua_Integer first, lua_Integer middle, lua_Integer end)
{
    lua_Integer i = first, j = middle;
    for (lua_Integer k = first; k < end; k++) {
        const bool right = i == middle || (j < end && in_wrong_order(L, s, i, j));
        move(L, s->list, right ? j++ : i++, s->spare, k);
    }
}

// Sort elements 1 to n of the table at `list`; leaves the stack as it was.
static void sort(lua_State *L, int list, lua_Integer n, before_function before)
{
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, 0, 0);
    sorter s = {.list = list, .spare = lua_gettop(L), .before = before};
    for (lua_Integer width = 1; width < n; width *= 2) {
        for (lua_Integer first = 1; first <= n; first += 2 * width) {
            const lua_Integer middle = first + width < n + 1 ? first + width : n + 1;
            const lua_Integer end = middle + width < n + 1 ? middle + width : n + 1;
            merge(L, &s, first, middle, end);
        }
        for (lua_Integer i = 1; i <= n; i++) {
            move(L, s.spare, i, list, i);
        }
    }
    lua_pop(L, 1);
}

static bool key_before(lua_State *L, int a, int b) { return rp_sandbox_compare_keys(L, a, b) < 0; }

static bool value_before(lua_State *L, int a, int b) { return lua_compare(L, a, b, LUA_OPLT); }

// table.sort keeps its comparator at 2
static bool function_before(lua_State *L, int a, int b)
{
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_call(L, 2, 1);
    const bool before = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return before;
}

// Tables: plain ones only. With a metatable, a loop in C could be made of calls that no hook sees
// ---------

static void check_plain(lua_State *L)
{
    rp_sandbox_tick(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    if (lua_getmetatable(L, 1)) {
        luaL_argerror(L, 1, "want a table without a metatable");
    }
}

// Runs as the function it wraps, so that messages name that one and its caller.
static int original(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

static int with_plain_table(lua_State *L)
{
    check_plain(L);
    return original(L);
}

static int table_sort(lua_State *L)
{
    check_plain(L);
    const bool by_function = !lua_isnoneornil(L, 2);
    if (by_function) {
        luaL_checktype(L, 2, LUA_TFUNCTION);
    }
    lua_settop(L, 2);
    sort(L, 1, (lua_Integer)lua_rawlen(L, 1), by_function ? function_before : value_before);
    return 0;
}

// pairs and next, by sorted keys
// -----------------------------------------------------------------------------

static void check_order(lua_State *L, int key)
{
    if (!rp_sandbox_has_order(L, key)) {
        luaL_error(L,
                   "want numbers, strings or booleans as keys of a table that is walked, got %s: "
                   "its place would change from run to run",
                   rp_sandbox_show(L, key));
    }
}

static int next_pair(lua_State *L)
{
    lua_settop(L, 1);
    const int keys = lua_upvalueindex(1), at = lua_upvalueindex(2);
    for (lua_Integer i = lua_tointeger(L, at) + 1;; i++) {
        if (lua_rawgeti(L, keys, i) == LUA_TNIL) {
            return 1;
        }
        lua_pushvalue(L, -1);
        // what was removed since the walk began is passed over
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_replace(L, at);
            return 2;
        }
        lua_pop(L, 2);
    }
}

static int sorted_pairs(lua_State *L)
{
    rp_sandbox_tick(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_Integer n = 0;
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pop(L, 1);
        check_order(L, -1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++n);
    }
    sort(L, 2, n, key_before);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

// The least key above the given one.
static int sorted_next(lua_State *L)
{
    rp_sandbox_tick(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    lua_pushnil(L);
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pop(L, 1);
        check_order(L, 4);
        const bool above = lua_isnil(L, 2) || rp_sandbox_compare_keys(L, 4, 2) > 0;
        if (above && (lua_isnil(L, 3) || rp_sandbox_compare_keys(L, 4, 3) < 0)) {
            lua_copy(L, 4, 3);
        }
    }
    if (lua_isnil(L, 3)) {
        return 1;
    }
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

// Text without addresses
// -----------------------------------------------------------------------------------

static void push_text(lua_State *L, int index)
{
    if (luaL_callmeta(L, index, "__tostring")) {
        if (!lua_isstring(L, -1)) {
            luaL_error(L, "'__tostring' must return a string");
        }
        return;
    }
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
    case LUA_TSTRING:
        lua_pushvalue(L, index);
        lua_tostring(L, -1);
        return;
    case LUA_TNIL:
        lua_pushliteral(L, "nil");
        return;
    case LUA_TBOOLEAN:
        lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
        return;
    default:
        if (luaL_getmetafield(L, index, "__name") != LUA_TSTRING) {
            lua_pushstring(L, luaL_typename(L, index));
        }
    }
}

static int to_string(lua_State *L)
{
    luaL_checkany(L, 1);
    push_text(L, 1);
    return 1;
}

static int print(lua_State *L)
{
    const int n = lua_gettop(L);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 1; i <= n; i++) {
        if (i > 1) {
            luaL_addchar(&b, '\t');
        }
        push_text(L, i);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    rp_log(RP_LOG_SCRIPT, "%s", lua_tostring(L, -1));
    return 0;
}

// string.format without %p, and with our text for what %s would give an address of
static int format(lua_State *L)
{
    int argument = 1;
    for (const char *c = luaL_checkstring(L, 1); *c != '\0'; c++) {
        if (*c != '%') {
            continue;
        }
        c += 1 + strspn(c + 1, "-+ #0123456789.");
        if (*c == '\0') {
            break;
        }
        if (*c == '%') {
            continue;
        }
        argument++;
        if (*c == 'p') {
            return luaL_error(L, "string.format: %%p is left out of scenes: addresses change");
        }
        if (*c == 's' && argument <= lua_gettop(L)) {
            push_text(L, argument);
            lua_replace(L, argument);
        }
    }
    return original(L);
}

// Lua's own loops n times even when there is nothing to repeat.
static int repeat(lua_State *L)
{
    size_t length, between = 0;
    luaL_checklstring(L, 1, &length);
    luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &between);
    if (length + between == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    return original(L);
}

static int set_metatable(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL) {
            return luaL_error(L, "setmetatable: __gc is left out of scenes: no hook watches it");
        }
        lua_pop(L, 1);
    }
    return original(L);
}

// xpcall calls its handler where the error is raised. When that is the hook, no hook would watch
// the handler; so here it is called after the fact.
static int call_with_handler(lua_State *L)
{
    const int arguments = lua_gettop(L) - 2;
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_insert(L, 1);
    lua_remove(L, 3); // handler, function, arguments
    if (lua_pcall(L, arguments, LUA_MULTRET, 0) == LUA_OK) {
        lua_pushboolean(L, true);
        lua_replace(L, 1);
        return lua_gettop(L);
    }
    lua_call(L, 1, LUA_MULTRET);
    lua_pushboolean(L, false);
    lua_insert(L, 1);
    return lua_gettop(L);
}

// Random numbers: a hash of the scene's seed and a counter
// -----------------------------------------------

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static uint64_t draw(lua_State *L)
{
    sandbox *s = rp_sandbox_of(L);
    if (!s->loading) {
        luaL_error(L, "math.random: want it called while the scene is read, got a call in a "
                      "function, which must give the same every time");
    }
    return mix(mix(s->seed + 0x9e3779b97f4a7c15ull) + 0x9e3779b97f4a7c15ull * ++s->drawn);
}

static int math_random(lua_State *L)
{
    const uint64_t bits = draw(L);
    lua_Integer low = 1, high;
    switch (lua_gettop(L)) {
    case 0:
        lua_pushnumber(L, (double)(bits >> 11) * 0x1p-53);
        return 1;
    case 1:
        high = luaL_checkinteger(L, 1);
        break;
    case 2:
        low = luaL_checkinteger(L, 1);
        high = luaL_checkinteger(L, 2);
        break;
    default:
        return luaL_error(L, "math.random: want at most two numbers");
    }
    luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1; // 0: all 2^64
    const uint64_t step = span == 0 ? bits : (uint64_t)((unsigned __int128)bits * span >> 64);
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + step));
    return 1;
}

static int math_randomseed(lua_State *L)
{
    return luaL_error(L, "math.randomseed: left out of scenes: random numbers follow scene.seed");
}

// The library
// ----------------------------------------------------------------------------------------------

typedef struct name {
    const char *name;
    lua_CFunction ours; // NULL: Lua's own; it may use `original`
} name;

static const name base_names[] = {
    {"assert", NULL},       {"error", NULL},
    {"getmetatable", NULL}, {"ipairs", NULL},
    {"next", sorted_next},  {"pairs", sorted_pairs},
    {"pcall", NULL},        {"print", print},
    {"rawequal", NULL},     {"rawget", NULL},
    {"rawlen", NULL},       {"rawset", NULL},
    {"select", NULL},       {"setmetatable", set_metatable},
    {"tonumber", NULL},     {"tostring", to_string},
    {"type", NULL},         {"xpcall", call_with_handler},
    {"_VERSION", NULL},     {NULL, NULL},
};
static const name math_names[] = {
    {"abs", NULL},        {"acos", NULL},          {"asin", NULL},
    {"atan", NULL},       {"ceil", NULL},          {"cos", NULL},
    {"deg", NULL},        {"exp", NULL},           {"floor", NULL},
    {"fmod", NULL},       {"huge", NULL},          {"log", NULL},
    {"max", NULL},        {"maxinteger", NULL},    {"min", NULL},
    {"mininteger", NULL}, {"modf", NULL},          {"pi", NULL},
    {"rad", NULL},        {"sin", NULL},           {"sqrt", NULL},
    {"tan", NULL},        {"tointeger", NULL},     {"type", NULL},
    {"ult", NULL},        {"random", math_random}, {"randomseed", math_randomseed},
    {NULL, NULL},
};
static const name string_names[] = {
    {"byte", NULL},  {"char", NULL},    {"format", format}, {"len", NULL},   {"lower", NULL},
    {"rep", repeat}, {"reverse", NULL}, {"sub", NULL},      {"upper", NULL}, {NULL, NULL},
};
static const name table_names[] = {
    {"concat", with_plain_table},
    {"insert", with_plain_table},
    {"pack", NULL},
    {"remove", with_plain_table},
    {"sort", table_sort},
    {"unpack", with_plain_table},
    {NULL, NULL},
};

// Copy the listed names from Lua's table on top of the stack, which it pops, into ours below.
static void copy_names(lua_State *L, const name *names)
{
    for (const name *n = names; n->name != NULL; n++) {
        lua_getfield(L, -1, n->name);
        if (n->ours != NULL) {
            lua_pushcclosure(L, n->ours, 1);
        }
        lua_setfield(L, -3, n->name);
    }
    lua_pop(L, 1);
}

// Does Lua have this name, where scenes do not?
static bool left_out(lua_State *L, const char *library, const char *key)
{
    static const char *const others[] = {"require", "package", "os",       "io",
                                         "debug",   "utf8",    "coroutine"};
    for (size_t i = 0; library[0] == '\0' && i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(key, others[i]) == 0) {
            return true;
        }
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, library[0] == '\0' ? LUA_GNAME : library);
    const bool there = lua_type(L, -1) == LUA_TTABLE && lua_getfield(L, -1, key) != LUA_TNIL;
    return there;
}

// "scene, param, …" into text: the words of scenes, or the materials.
static void list_words(bool materials, char *text, size_t size)
{
    size_t length = 0;
    for (int w = 0; w < rp_scene_word_count() && length < size; w++) {
        const scene_word *word = rp_scene_word_at(w);
        if ((word->kind == WORD_MATERIAL) == materials) {
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       word->name);
        }
    }
}

// __index of our tables: a name that is not there is a mistake, and most often a known one.
static int unknown_name(lua_State *L)
{
    const char *library = lua_tostring(L, lua_upvalueindex(1));
    const char *dot = library[0] == '\0' ? "" : ".";
    if (lua_type(L, 2) != LUA_TSTRING) {
        return rp_sandbox_error(L, "%s: want a name, got %s", library, rp_sandbox_show(L, 2));
    }
    const char *key = lua_tostring(L, 2);
    if (left_out(L, library, key)) {
        return rp_sandbox_error(L, "'%s%s%s' is left out of scenes", library, dot, key);
    }
    rp_nearest n = rp_nearest_start(key);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            rp_nearest_try(&n, lua_tostring(L, -2));
        }
    }
    const bool word = library[0] == '\0', material = strcmp(library, "material") == 0;
    const scene_foreign *foreign = word       ? rp_scene_find_foreign("words", key)
                                   : material ? rp_scene_find_foreign("materials", key)
                                              : NULL;
    char meant[256], known[512] = "";
    lua_pushfstring(L, "%s%s%s", library, dot, key);
    const char *shown = rp_sandbox_show(L, -1);
    lua_pushfstring(L, "%s%s", library, dot);
    rp_scene_suggest(foreign, n.best, lua_tostring(L, -1), '\'', meant, sizeof meant);
    if (!material && (!word || meant[0] != '\0')) {
        return rp_sandbox_error(L, "unknown name %s%s", shown, meant);
    }
    list_words(material, known, sizeof known);
    return rp_sandbox_error(L, "unknown name %s%s%s are %s", shown, meant,
                            meant[0] != '\0' ? " Known" : "; known", known);
}

void rp_sandbox_guard_names(lua_State *L, const char *library)
{
    lua_createtable(L, 0, 2);
    lua_pushstring(L, library);
    lua_pushcclosure(L, unknown_name, 1);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

static void open_table(lua_State *L, const char *library, lua_CFunction open, const name *names)
{
    lua_newtable(L);
    luaL_requiref(L, library, open, 0);
    copy_names(L, names);
    rp_sandbox_guard_names(L, library);
    lua_setfield(L, -2, library);
}

// Methods of strings come from our table, and nobody may exchange it.
static void guard_strings(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_getfield(L, -3, LUA_STRLIBNAME);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
}

void rp_sandbox_open_library(lua_State *L)
{
    lua_newtable(L);
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    copy_names(L, base_names);
    open_table(L, LUA_MATHLIBNAME, luaopen_math, math_names);
    open_table(L, LUA_STRLIBNAME, luaopen_string, string_names);
    open_table(L, LUA_TABLIBNAME, luaopen_table, table_names);
    guard_strings(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, LUA_GNAME);
    rp_sandbox_guard_names(L, "");
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

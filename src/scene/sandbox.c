#include "scene/sandbox.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HOOK_EVERY = 1000,      // instructions between two looks at the clock
    LONGEST_TEXT = 1 << 20, // bytes of a text
    LOOK_EVERY = 4096,      // allocations between two looks at the clock
    LARGE_BLOCK = 1 << 20,  // bytes; making one takes long enough to look at the clock
    RUN_RESERVE = 64,       // stack slots that a call may count on
    SHOWN = 40,             // bytes of a string in a message
};
// More than any processor does, so that most often the clock decides; where the clock cannot be
// trusted, this does.
#define INSTRUCTIONS_PER_SECOND 1e9

// Processor time of this thread: whoever is stopped by Ctrl-Z, or waits for other processes, does
// not use up what the script was given.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

sandbox *rp_sandbox_of(lua_State *L) { return *(sandbox **)lua_getextraspace(L); }

static void watch(lua_State *L, lua_Debug *ar);

static bool time_is_up(sandbox *s)
{
    if (s->expired) {
        return true;
    }
    const double t = now();
    s->began = s->began < 0.0 ? t : s->began;
    s->stopped = s->stop != NULL && s->stop(s->stop_context);
    s->expired = s->stopped || s->instructions <= 0 || t - s->began > s->seconds;
    if (s->expired) {
        lua_sethook(s->L, watch, LUA_MASKCOUNT, 1);
    }
    return s->expired;
}

void rp_sandbox_tick(lua_State *L)
{
    sandbox *s = rp_sandbox_of(L);
    if (time_is_up(s)) {
        s->line = s->line == 0 ? rp_sandbox_line(L) : s->line;
        luaL_error(L, "out of time");
    }
}

static void watch(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    rp_sandbox_of(L)->instructions -= HOOK_EVERY;
    rp_sandbox_tick(L);
}

// Lua's allocator. Concatenation and the parser run long without a hook, but not without memory.
static void *allocate(void *context, void *memory, size_t old_size, size_t new_size)
{
    sandbox *s = context;
    const size_t old = memory != NULL ? old_size : 0;
    // Lua says in old_size what a new block is for. One instruction on a long text (a comparison, a
    // conversion) takes so long that the hook between instructions comes too late.
    if (memory == NULL && old_size == LUA_TSTRING && new_size > LONGEST_TEXT) {
        s->denied = true;
        return NULL;
    }
    if (new_size == 0) {
        free(memory);
        s->used -= old;
        return NULL;
    }
    if (new_size > old) {
        if (new_size - old > s->most - s->used) {
            s->denied = true;
            return NULL;
        }
        const bool look = new_size >= LARGE_BLOCK || ++s->allocations % LOOK_EVERY == 0;
        if (look && s->L != NULL && time_is_up(s)) {
            return NULL;
        }
    }
    void *grown = realloc(memory, new_size);
    if (grown != NULL) {
        s->used = s->used - old + new_size;
    }
    return grown;
}

// Limits
// ----------------------------------------------------------------------------------------------

static void start_watch(sandbox *s, double seconds)
{
    s->expired = s->stopped = false;
    s->denied = false;
    s->line = 0;
    s->seconds = seconds;
    s->began = -1.0;
    s->instructions = (int64_t)(seconds * INSTRUCTIONS_PER_SECOND);
    lua_sethook(s->L, watch, LUA_MASKCOUNT, HOOK_EVERY);
}

// Does a message begin with "file:"?
static bool starts_with_place(const sandbox *s, const char *text)
{
    char chunk[LUA_IDSIZE];
    const size_t length = strlen(rp_sandbox_chunk(s, chunk));
    return strncmp(text, chunk, length) == 0 && text[length] == ':';
}

static rp_result say_why(sandbox *s, int status)
{
    char chunk[LUA_IDSIZE];
    if (s->stopped) {
        return rp_fail(RP_ERR_STOPPED, "%s: stopped", s->name);
    }
    if (s->expired && s->line > 0) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s:%d: want an end within %g s, got none: a loop without end?",
                       rp_sandbox_chunk(s, chunk), s->line, s->seconds);
    }
    if (s->expired) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want an end within %g s, got none", s->name,
                       s->seconds);
    }
    if (status == LUA_ERRMEM && s->denied) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want at most %zu MiB of memory, got more", s->name,
                       s->most >> 20);
    }
    if (status == LUA_ERRMEM) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the script", s->name);
    }
    if (lua_type(s->L, -1) == LUA_TSTRING) {
        const char *text = lua_tostring(s->L, -1);
        const bool placed = starts_with_place(s, text);
        return rp_fail(RP_ERR_ARGUMENT, "%s%s%s", placed ? "" : s->name, placed ? "" : ": ", text);
    }
    return rp_fail(RP_ERR_ARGUMENT, "%s: error() was called with %s instead of a sentence", s->name,
                   lua_typename(s->L, lua_type(s->L, -1)));
}

// Errors that Lua raises inside of C functions say no place, and neither does error(text, 0).
static int add_place(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING) {
        char chunk[LUA_IDSIZE];
        const sandbox *s = rp_sandbox_of(L);
        const char *text = lua_tostring(L, 1);
        const int line = rp_sandbox_line(L);
        if (line > 0 && !starts_with_place(s, text)) {
            lua_pushfstring(L, "%s:%d: %s", rp_sandbox_chunk(s, chunk), line, text);
        }
    }
    return 1;
}

rp_result rp_sandbox_run(sandbox *s, lua_CFunction body, void *context, double seconds)
{
    const locale_t host = uselocale(s->plain);
    const int top = lua_gettop(s->L);
    rp_result result = RP_OK;
    if (!lua_checkstack(s->L, RUN_RESERVE)) {
        result = rp_fail(RP_ERR_MEMORY, "%s: no memory for the script", s->name);
    } else {
        start_watch(s, seconds);
        lua_pushcfunction(s->L, add_place);
        lua_pushcfunction(s->L, body);
        lua_pushlightuserdata(s->L, context);
        const int status = lua_pcall(s->L, 1, 0, top + 1);
        if (status != LUA_OK || s->expired) {
            result = say_why(s, status);
        }
        lua_sethook(s->L, NULL, 0, 0);
        lua_settop(s->L, top);
    }
    uselocale(host);
    return result;
}

// Opening and closing
// ----------------------------------------------------------------------------------

static int open_library(lua_State *L)
{
    rp_sandbox_open_library(L);
    return 0;
}

rp_result rp_sandbox_open(sandbox *s, const char *name, size_t memory)
{
    *s = (sandbox){.name = name, .most = memory, .loading = true};
    s->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    lua_State *L = s->plain != (locale_t)0 ? lua_newstate(allocate, s) : NULL;
    if (L == NULL) {
        rp_sandbox_close(s);
        return rp_fail(s->denied ? RP_ERR_ARGUMENT : RP_ERR_MEMORY,
                       "%s: want enough memory to start Lua, got %zu bytes", name, memory);
    }
    s->L = L;
    *(sandbox **)lua_getextraspace(L) = s;
    const rp_result result = rp_sandbox_run(s, open_library, NULL, 1.0);
    if (result != RP_OK) {
        rp_sandbox_close(s);
    }
    return result;
}

void rp_sandbox_close(sandbox *s)
{
    if (s->L != NULL) {
        lua_close(s->L);
        s->L = NULL;
    }
    if (s->plain != (locale_t)0) {
        freelocale(s->plain);
        s->plain = (locale_t)0;
    }
}

// Messages
// ----------------------------------------------------------------------------------------------

// The innermost function of the script on the call stack. A word that is called last in a function
// replaces that function, so the caller of the C function need not be it.
static bool find_script(lua_State *L, lua_Debug *ar)
{
    for (int level = 0; lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "Sl", ar);
        if (ar->currentline > 0) {
            return true;
        }
    }
    return false;
}

int rp_sandbox_line(lua_State *L)
{
    lua_Debug ar;
    return find_script(L, &ar) ? ar.currentline : 0;
}

int rp_sandbox_error(lua_State *L, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    // the handler of rp_sandbox_run adds the place
    lua_pushstring(L, text);
    return lua_error(L);
}

const char *rp_sandbox_chunk(const sandbox *s, char text[LUA_IDSIZE])
{
    // as Lua shortens it: the end of a path says more than its start
    const size_t length = strlen(s->name);
    if (length < LUA_IDSIZE) {
        snprintf(text, LUA_IDSIZE, "%s", s->name);
    } else {
        snprintf(text, LUA_IDSIZE, "...%s", s->name + length - (LUA_IDSIZE - sizeof "..."));
    }
    return text;
}

static const char *show_string(lua_State *L, int index)
{
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    char shown[SHOWN + 1];
    size_t n = 0;
    for (; n < length && n < SHOWN; n++) {
        const unsigned char c = (unsigned char)text[n];
        shown[n] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    // a character of several bytes is shown whole or not at all
    while (n < length && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
        n--;
    }
    shown[n] = '\0';
    return lua_pushfstring(L, n < length ? "'%s...'" : "'%s'", shown);
}

const char *rp_sandbox_show(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    char number[40];
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
        return lua_pushliteral(L, "nothing");
    case LUA_TBOOLEAN:
        return lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) {
            return lua_pushfstring(L, "%I", (LUAI_UACINT)lua_tointeger(L, index));
        }
        snprintf(number, sizeof number, "%.14g", lua_tonumber(L, index));
        return lua_pushstring(L, number);
    case LUA_TSTRING:
        return show_string(L, index);
    default:
        if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) {
            return lua_pushfstring(L, "a %s", lua_tostring(L, -1));
        }
        return lua_pushfstring(L, "a %s", luaL_typename(L, index));
    }
}

// The order of keys
// --------------------------------------------------------------------------------------

static int rank_of(lua_State *L, int key)
{
    switch (lua_type(L, key)) {
    case LUA_TNUMBER:
        return 0;
    case LUA_TSTRING:
        return 1;
    case LUA_TBOOLEAN:
        return 2;
    default:
        return 3;
    }
}

bool rp_sandbox_has_order(lua_State *L, int key) { return rank_of(L, key) < 3; }

static int compare_numbers(lua_State *L, int a, int b)
{
    const double x = lua_tonumber(L, a), y = lua_tonumber(L, b);
    if (x != y) {
        return x < y ? -1 : 1;
    }
    // large integers that are one number as doubles; a double comes after the integers it equals
    if (lua_isinteger(L, a) && lua_isinteger(L, b)) {
        const lua_Integer i = lua_tointeger(L, a), j = lua_tointeger(L, b);
        return (i > j) - (i < j);
    }
    return lua_isinteger(L, b) - lua_isinteger(L, a);
}

static int compare_strings(lua_State *L, int a, int b)
{
    size_t m, n;
    const char *x = lua_tolstring(L, a, &m), *y = lua_tolstring(L, b, &n);
    const int difference = memcmp(x, y, m < n ? m : n);
    return difference != 0 ? (difference > 0) - (difference < 0) : (m > n) - (m < n);
}

int rp_sandbox_compare_keys(lua_State *L, int a, int b)
{
    const int x = rank_of(L, a), y = rank_of(L, b);
    if (x != y) {
        return x < y ? -1 : 1;
    }
    switch (x) {
    case 0:
        return compare_numbers(L, a, b);
    case 1:
        return compare_strings(L, a, b);
    default:
        return lua_toboolean(L, a) - lua_toboolean(L, b);
    }
}

// Where a script runs: Lua without anything that reaches out, that could run for ever unwatched, or
// that differs from run to run.
//
// Three things bound a script. Its memory comes from an allocator with a cap. A hook looks at a
// count of instructions and at the thread's processor time every thousand instructions; once either
// is used up it fires on every instruction, so that a pcall can catch the error but has no time to
// enjoy it; the host's wish to stop ends it in the same way. And the long loops that library
// functions do in C are either left out (patterns), bounded by the cap (string.rep), or look at the
// clock themselves (table.sort).
//
// What a script computes is a function of its text: pairs goes by sorted keys, random numbers are
// hashes of the scene's seed, tostring shows no addresses, and the locale is C's.
#pragma once

#include <locale.h>
#include <lua.h>
#include <repose/base.h>

typedef struct sandbox {
    lua_State *L;
    const char *name;  // of the script, for messages
    size_t used, most; // bytes
    bool denied;       // the cap was hit

    // of the running call: processor time of its thread when somebody first looked, negative before
    // [s]; asking takes longer than most functions do
    double began;
    double seconds;        // that it was given
    int64_t instructions;  // that it may still do
    bool expired, stopped; // stopped: because the host wants no more
    int line;              // where it was when time was up
    unsigned allocations;

    bool (*stop)(void *context); // the host's; NULL: none
    void *stop_context;

    uint64_t seed, drawn; // of math.random
    bool loading;         // the script itself runs, not one of its functions

    locale_t plain; // the C locale
} sandbox;

// Nothing in the sandbox is set up before; on failure it needs no closing.
rp_result rp_sandbox_open(sandbox *s, const char *name, size_t memory);
void rp_sandbox_close(sandbox *s);

sandbox *rp_sandbox_of(lua_State *L);

// Call `body` with `context` as its light userdata argument, within limits. Errors of the script
// come back as a failure whose sentence is the script's, most often "file:line: …".
rp_result rp_sandbox_run(sandbox *s, lua_CFunction body, void *context, double seconds);

// For loops in C: raises an error when time is up.
void rp_sandbox_tick(lua_State *L);

// An error with the place in the script that led here.
int rp_sandbox_error(lua_State *L, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The innermost line of the script that is being executed; 0 when there is none.
int rp_sandbox_line(lua_State *L);
// What Lua calls the file in messages.
const char *rp_sandbox_chunk(const sandbox *s, char text[LUA_IDSIZE]);

// The value at an index for a message, short and without addresses. Leaves the text on the stack.
const char *rp_sandbox_show(lua_State *L, int index);

// -1, 0 or 1: the order of keys (numbers, then strings, then booleans). Other keys have none.
bool rp_sandbox_has_order(lua_State *L, int key);
int rp_sandbox_compare_keys(lua_State *L, int a, int b);

// Fill the globals; see library.c.
void rp_sandbox_open_library(lua_State *L);
// Reading a name that the table on top of the stack lacks becomes an error with the nearest one.
void rp_sandbox_guard_names(lua_State *L, const char *library);

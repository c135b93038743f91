// From Lua values to calls, checked against the table of words.
#pragma once

#include "scene/call.h"

// Read the table at `index` as fields of `word`. Leaves the call on the stack. Raises an error
// that names `path` and the key when anything is not as the table of words wants it.
scene_call *rp_read_call(lua_State *L, int index, const scene_word *word, const char *path);
// The same from arguments 1, 2, …
scene_call *rp_read_arguments(lua_State *L, const scene_word *word);

// Which of the choices the string at `index` is. Raises an error that says what was wanted, and
// names the nearest one, when it is none of them.
int rp_read_choice(lua_State *L, int index, const char *const *choices, const char *path,
                   const char *wanted);
// As many strings as a list for choosing may have, and bytes that each may have.
enum { RP_MOST_CHOICES = 16, RP_LONGEST_CHOICE = 32 };

// Numbers that a function of the script returned, count of them from `index` on, or one table of
// them; as many as the scene has dimensions.
void rp_read_returned_vector(lua_State *L, int index, int dimension, const char *path,
                             double out[3]);

// Push the function of the script.
void rp_push_function(lua_State *L, const scene_function *function);

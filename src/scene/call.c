#include "scene/call.h"

#include "scene/sandbox.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const scene_value *rp_call_value(const scene_call *call, const char *key)
{
    return &call->value[rp_scene_key_index(call->word, key)];
}

static const scene_value *value_of_kind(const scene_call *call, const char *key, unsigned kind)
{
    const scene_value *value = rp_call_value(call, key);
    if ((value->kind & kind) == 0) {
        rp_assert_failed(key, __FILE__, __LINE__);
    }
    return value;
}

double rp_call_number(const scene_call *call, const char *key)
{
    return value_of_kind(call, key, TAKES_NUMBER)->number;
}

int64_t rp_call_integer(const scene_call *call, const char *key)
{
    return value_of_kind(call, key, TAKES_INTEGER)->integer;
}

bool rp_call_boolean(const scene_call *call, const char *key)
{
    return value_of_kind(call, key, TAKES_BOOLEAN)->boolean;
}

int rp_call_choice(const scene_call *call, const char *key)
{
    return value_of_kind(call, key, TAKES_CHOICE)->choice;
}

const char *rp_call_text(const scene_call *call, const char *key)
{
    const scene_value *value = rp_call_value(call, key);
    return value->kind == TAKES_STRING ? value->text : NULL;
}

const double *rp_call_vector(const scene_call *call, const char *key)
{
    return value_of_kind(call, key, TAKES_VECTOR | TAKES_VECTOR3)->vector;
}

const scene_call *rp_call_find(const scene_call *call, const char *word)
{
    while (call != NULL && strcmp(call->word->name, word) != 0) {
        call = call->next;
    }
    return call;
}

rp_result rp_call_fail(const rp_scene *scene, const scene_call *call, const char *key,
                       const char *format, ...)
{
    char text[768], chunk[LUA_IDSIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rp_fail(RP_ERR_ARGUMENT, "%s:%d: %s%s%s: %s", rp_sandbox_chunk(scene->sandbox, chunk),
                   call->line, call->word->name, key != NULL ? "." : "", key != NULL ? key : "",
                   text);
}

rp_result rp_call_place(const rp_scene *scene, const scene_call *call, rp_result result)
{
    char chunk[LUA_IDSIZE];
    const size_t length = strlen(rp_sandbox_chunk(scene->sandbox, chunk));
    if (result == RP_OK || strncmp(rp_last_error(), chunk, length) == 0) {
        return result;
    }
    // what makes a shape names it already
    const char *word = call->word->name;
    const bool named =
        call->word->kind == WORD_SHAPE && strncmp(rp_last_error(), word, strlen(word)) == 0;
    return rp_fail(result, "%s:%d: %s%s%s", chunk, call->line, named ? "" : word, named ? "" : ": ",
                   rp_last_error());
}

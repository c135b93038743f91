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

// "file:line: word.key: …"
typedef struct sentence {
    char text[1024];
} sentence;

static sentence say(const rp_scene *scene, const scene_call *call, const char *key,
                    const char *format, va_list arguments)
{
    sentence s;
    char chunk[LUA_IDSIZE];
    const int length =
        snprintf(s.text, sizeof s.text, "%s:%d: %s%s%s: ", rp_sandbox_chunk(scene->sandbox, chunk),
                 call->line, call->word->name, key != NULL ? "." : "", key != NULL ? key : "");
    vsnprintf(s.text + length, sizeof s.text - (size_t)length, format, arguments);
    return s;
}

rp_result rp_call_fail(const rp_scene *scene, const scene_call *call, const char *key,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const sentence s = say(scene, call, key, format, arguments);
    va_end(arguments);
    return rp_fail(RP_ERR_ARGUMENT, "%s", s.text);
}

void rp_call_warn(const rp_scene *scene, const scene_call *call, const char *key,
                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const sentence s = say(scene, call, key, format, arguments);
    va_end(arguments);
    rp_log(RP_LOG_WARNING, "%s", s.text);
}

rp_result rp_call_place(const rp_scene *scene, const scene_call *call, rp_result result)
{
    char chunk[LUA_IDSIZE];
    const size_t length = strlen(rp_sandbox_chunk(scene->sandbox, chunk));
    if (result == RP_OK || strncmp(rp_last_error(), chunk, length) == 0) {
        return result;
    }
    // what makes a shape names it already, and so does a sentence about a field
    const char *word = call->word->name;
    const size_t letters = strlen(word);
    const bool named = strncmp(rp_last_error(), word, letters) == 0 &&
                       (call->word->kind == WORD_SHAPE || rp_last_error()[letters] == '.');
    return rp_fail(result, "%s:%d: %s%s%s", chunk, call->line, named ? "" : word, named ? "" : ": ",
                   rp_last_error());
}

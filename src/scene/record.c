#include "scene/record.h"

#include "scene/sandbox.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const scene_value *rp_record_value(const scene_record *record, const char *key)
{
    return &record->value[rp_scene_key_index(record->word, key)];
}

static const scene_value *value_of_kind(const scene_record *record, const char *key, unsigned kind)
{
    const scene_value *value = rp_record_value(record, key);
    if ((value->kind & kind) == 0) {
        rp_assert_failed(key, __FILE__, __LINE__);
    }
    return value;
}

double rp_record_number(const scene_record *record, const char *key)
{
    return value_of_kind(record, key, TAKES_NUMBER)->number;
}

int64_t rp_record_integer(const scene_record *record, const char *key)
{
    return value_of_kind(record, key, TAKES_INTEGER)->integer;
}

bool rp_record_boolean(const scene_record *record, const char *key)
{
    return value_of_kind(record, key, TAKES_BOOLEAN)->boolean;
}

int rp_record_choice(const scene_record *record, const char *key)
{
    return value_of_kind(record, key, TAKES_CHOICE)->choice;
}

const char *rp_record_text(const scene_record *record, const char *key)
{
    const scene_value *value = rp_record_value(record, key);
    return value->kind == TAKES_STRING ? value->text : NULL;
}

const double *rp_record_vector(const scene_record *record, const char *key)
{
    return value_of_kind(record, key, TAKES_VECTOR | TAKES_VECTOR3)->vector;
}

const scene_record *rp_record_find(const scene_record *record, const char *word)
{
    while (record != NULL && strcmp(record->word->name, word) != 0) {
        record = record->next;
    }
    return record;
}

rp_result rp_record_fail(const rp_scene *scene, const scene_record *record, const char *key,
                         const char *format, ...)
{
    char text[768], chunk[LUA_IDSIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rp_fail(RP_ERR_ARGUMENT, "%s:%d: %s%s%s: %s", rp_sandbox_chunk(scene->sandbox, chunk),
                   record->line, record->word->name, key != NULL ? "." : "", key != NULL ? key : "",
                   text);
}

rp_result rp_record_place(const rp_scene *scene, const scene_record *record, rp_result result)
{
    char chunk[LUA_IDSIZE];
    const size_t length = strlen(rp_sandbox_chunk(scene->sandbox, chunk));
    if (result == RP_OK || strncmp(rp_last_error(), chunk, length) == 0) {
        return result;
    }
    // what makes a shape names it already
    const char *word = record->word->name;
    const bool named =
        record->word->kind == WORD_SHAPE && strncmp(rp_last_error(), word, strlen(word)) == 0;
    return rp_fail(result, "%s:%d: %s%s%s", chunk, record->line, named ? "" : word,
                   named ? "" : ": ", rp_last_error());
}

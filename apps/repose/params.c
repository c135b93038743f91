#include "params.h"

#include "say.h"

#include <stdbool.h>
#include <stdio.h>

static void print_value(const json_t *value)
{
    if (json_is_string(value)) {
        say_print("%s", json_string_value(value));
    } else if (json_is_boolean(value)) {
        fputs(json_is_true(value) ? "true" : "false", stdout);
    } else {
        say_print("%.10g", json_number_value(value));
    }
}

// What else it may be, what it is when nobody sets it, and what it means.
static void print_remarks(const json_t *param)
{
    const json_t *choices = json_object_get(param, "choices");
    const json_t *otherwise = json_object_get(param, "default");
    const char *note = json_string_value(json_object_get(param, "note"));
    const size_t count = json_array_size(choices);
    const bool set = json_equal(json_object_get(param, "value"), otherwise) == 0;
    const char *before = " (";
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? before : i + 1 < count ? ", " : " or ", stdout);
        print_value(json_array_get(choices, i));
        before = "; ";
    }
    if (set) {
        say_print("%sotherwise ", before);
        print_value(otherwise);
        before = "; ";
    }
    if (note != NULL && note[0] != '\0') {
        say_print("%s%s", before, note);
        before = "; ";
    }
    puts(before[0] == ';' ? ")" : "");
}

void print_params(json_t *params, const char *before)
{
    const char *name;
    json_t *param;
    json_object_foreach(params, name, param)
    {
        say_print("%s%s = ", before, name);
        print_value(json_object_get(param, "value"));
        print_remarks(param);
    }
}

// The params of a scene, for people.
#pragma once

#include <jansson.h>

// A line for each: "size = quick (quick or paper; 1.2 million grains)".
// @param params of a resolved scene; @param before what each line begins with
void print_params(json_t *params, const char *before);

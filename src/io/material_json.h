// Materials and options of methods as JSON, by their properties: what run.json holds and record.c
// reads back.
#pragma once

#include "repose/material.h"

#include <jansson.h>

// Every property of a struct in its unit, added to `out`; null where one is absent. Gives `out`
// back.
json_t *rp_properties_to_json(const rp_property *property, int count, const void *base,
                              json_t *out);

// {"material": "sand", "name": …, "species": …, and every property in its unit}; null where one is
// absent. NULL when there is no memory.
json_t *rp_material_to_json(const rp_material_def *def);
// A kind or a property that is not known is an error, never taken for another.
rp_result rp_material_from_json(const json_t *json, rp_material_def *def);

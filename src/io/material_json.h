// Materials as JSON, by their properties: what run.json holds and record.c reads back.
#pragma once

#include "repose/material.h"

#include <jansson.h>

// {"material": "sand", "name": …, "species": …, and every property in its unit}; null where one is
// absent. NULL when there is no memory.
json_t *rp_material_to_json(const rp_material_def *def);
// A kind or a property that is not known is an error, never taken for another.
rp_result rp_material_from_json(const json_t *json, rp_material_def *def);

// Looking into a run folder from outside; nothing here writes or locks.
#pragma once

#include <jansson.h>
#include <stdint.h>

enum { RUN_PATH = 8192 };

// A file as JSON; NULL, and why, when it is none. A pipe or a device is not read.
json_t *load_json(const char *path, json_error_t *error);
// run.json. @return 0, or the exit status after the reason was said
int run_record(const char *folder, json_t **record);

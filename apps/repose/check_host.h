// A check of `repose validate`: a Lua file that simulates, measures and says what it expects. It
// sees Lua's own language, math, string and table, and what docs/validate.md lists; no files, no
// clock.
#pragma once

#include <repose/repose.h>

#include <jansson.h>
#include <stdbool.h>

typedef struct check_job {
    const char *file;            // the check
    const char *work;            // a folder for its runs, made when needed
    int threads;                 // for each simulation
    const rp_gradient *gradient; // for each simulation; NULL: as its scene says
} check_job;

// What a check says of itself, without running it: id, title, source, cost, why, minutes, file.
// @return NULL after the reason was said
json_t *check_declared(const char *file);

// Run it. The result holds what it declared, and expectations, plots, notes, runs, seconds; "error"
// when it did not come to its end. NULL: no memory.
json_t *check_run(const check_job *job);

// What `repose validate` leaves: a page that needs no other file, and a table.
#pragma once

#include <jansson.h>
#include <stdbool.h>

typedef enum check_state { CHECK_WAITING, CHECK_RUNNING, CHECK_PASSED, CHECK_FAILED } check_state;

// Of a result as check_run() gives it, or of one that has not come yet ("state" says so).
check_state state_of(const json_t *check);

typedef struct tally {
    int passed, failed, missing; // checks
    int met, missed;             // expectations
} tally;
tally count_checks(const json_t *checks);

// report.html and results.csv in the folder, each whole or as it was.
// @return 0, or the exit status after the reason was said
int report_write(const char *folder, const json_t *checks, double seconds, const char *command);

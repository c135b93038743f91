// Looking into a run folder from outside; nothing here writes or locks.
#pragma once

#include <jansson.h>
#include <stdint.h>

enum { RUN_PATH = 8192 };

// run.json. @return 0, or the exit status after the reason was said
int run_record(const char *folder, json_t **record);

// The highest number of a frame, or -1.
int64_t run_last_frame(const char *folder);
const char *run_frame_path(const char *folder, int64_t frame, char out[RUN_PATH]);

// From a command line to a scene and what it needs: shared by run and check.
#pragma once

#include "args.h"
#include "scenes.h"

#include <repose/repose.h>

#define OPTION_SET                                                                                 \
    {                                                                                              \
        .name = "--set", .value = "NAME=VALUE",                                                    \
        .help = "a value for one of the scene's params; may be given again", .many = true          \
    }
#define OPTION_METHOD                                                                              \
    {                                                                                              \
        .name = "--method", .value = "M",                                                          \
        .help = "how to solve, instead of what the scene says: docs/methods.md has the list",      \
        .words = "METHOD"                                                                          \
    }
#define OPTION_FRAMES                                                                              \
    {                                                                                              \
        .name = "--frames", .value = "N",                                                          \
        .help = "how many frames, instead of what the scene says"                                  \
    }
#define OPTION_THREADS                                                                             \
    {                                                                                              \
        .name = "--threads", .value = "N",                                                         \
        .help = "threads to use (all cores); the result does not depend on it"                     \
    }
#define OPTION_MEMORY                                                                              \
    {                                                                                              \
        .name = "--memory", .value = "GB", .help = "the most memory to use (what is free)"         \
    }

// The --set options, split at '='. @return the count, or -1 after an error was said
int params_of(const args *a, rp_scene_param out[VALUE_MOST]);

// Bytes for a process that does nothing yet, beside the world's own.
enum { BASE_BYTES = 19 << 20 };

// What a run would need at its peak before the first frame is written [bytes].
size_t first_frame_bytes(const rp_plan *plan);

// Say why a scene could not be read, and which one was perhaps meant. @return the exit status
int say_no_scene(rp_result result, const char *name);

enum { EACH_IN_FRAME = 110 }; // bytes of a particle that is poured
// What frames take on the disk [bytes].
typedef struct disk_use {
    double frame, all;
} disk_use;
disk_use disk_needed(const rp_plan *plan, int64_t poured, int64_t frames);
// Refuse what the disk could not hold if it were empty, and warn of what is not free.
// @param folder where frames will be; it need not be there yet
// @return 0, or the exit status after the reason was said
int check_disk(const char *folder, const disk_use *use);
// "72.1 TB"
void print_bytes(double bytes, char out[32]);

// Count what the scene would hold, and refuse what does not fit.
// @param memory the most to use [bytes]
// @param seconds how long it will run; poured: what emitters bring in that time
// @return 0, or the exit status after the reason was said
int plan_scene(rp_scene *scene, size_t memory, double seconds, rp_plan *plan, int64_t *poured);

// --memory in bytes, or what is free.
size_t memory_limit(const args *a, bool *wrong);

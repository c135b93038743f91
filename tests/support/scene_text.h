// Scenes from texts, for tests.
#pragma once

#include "repose/repose.h"

// What any scene needs; on line 1, so that what is under test is on line 2.
#define START "scene { dx = 0.1, frames = 10 }\n"
#define SAND                                                                                       \
    "particles { material = material.sand {}, shape = box { min = {0,0,0}, max = {1,1,1} } }\n"

rp_scene_def def_of(const char *text);
// A scene that is loaded only to see whether it can be.
rp_result load(const char *text);
rp_result load_set(const char *text, const char *name, const char *value);
// A scene that the test needs: without it there is nothing to test.
rp_scene *scene_of(const char *text);
// Loaded and counted. @param[out] particles may be NULL
rp_result plan(const char *text, int64_t *particles);
double now(void); // [s]

// A scene and its world, for tests that step it.
typedef struct test_run {
    rp_scene *scene;
    rp_world *world;
} test_run;
// The text is made as printf does. @param threads 0: as many as there are
__attribute__((format(printf, 2, 3))) test_run test_run_start(int threads, const char *format, ...);
void test_run_frames(const test_run *run, int frames);
void test_run_stop(test_run *run);

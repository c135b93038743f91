#include "scene_text.h"

#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

rp_scene_def def_of(const char *text)
{
    rp_scene_def def = rp_default_scene_def();
    def.path = "test.lua";
    def.text = text;
    def.text_size = strlen(text);
    return def;
}

rp_result load(const char *text)
{
    const rp_scene_def def = def_of(text);
    rp_scene *scene;
    const rp_result result = rp_scene_load(&def, &scene);
    rp_scene_free(scene);
    return result;
}

rp_result load_set(const char *text, const char *name, const char *value)
{
    rp_scene_def def = def_of(text);
    def.param = &(rp_scene_param){name, value};
    def.params = 1;
    rp_scene *scene;
    const rp_result result = rp_scene_load(&def, &scene);
    rp_scene_free(scene);
    return result;
}

rp_scene *scene_of(const char *text)
{
    const rp_scene_def def = def_of(text);
    rp_scene *scene;
    if (rp_scene_load(&def, &scene) != RP_OK) {
        check_record(__FILE__, __LINE__, "no scene: %s", rp_last_error());
        abort();
    }
    return scene;
}

rp_result plan(const char *text, int64_t *particles)
{
    const rp_scene_def def = def_of(text);
    rp_scene_world_def how = rp_default_scene_world_def();
    how.plan = true;
    how.threads = 1;
    rp_scene *scene;
    rp_world *world = NULL;
    rp_plan p = {0};
    rp_result result = rp_scene_load(&def, &scene);
    if (result == RP_OK) {
        result = rp_scene_create_world(scene, &how, &world);
    }
    if (result == RP_OK) {
        result = rp_world_plan(world, &p);
    }
    if (particles != NULL) {
        *particles = p.particles;
    }
    rp_world_destroy(world);
    rp_scene_free(scene);
    return result;
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

test_run test_run_start(int threads, const char *format, ...)
{
    char text[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    test_run run = {.scene = scene_of(text)};
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    if (rp_scene_create_world(run.scene, &def, &run.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
        abort();
    }
    return run;
}

void test_run_frames(const test_run *run, int frames)
{
    for (int i = 0; i < frames; i++) {
        CHECK_OK(rp_world_run_frame(run->world));
    }
}

void test_run_stop(test_run *run)
{
    rp_world_destroy(run->world);
    rp_scene_free(run->scene);
}

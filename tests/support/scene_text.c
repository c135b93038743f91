#include "scene_text.h"

#include "check.h"

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

// Any bytes as a scene: loading must end soon with a scene or a sentence.
#include "repose/repose.h"
#include "scene/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A plan looks at every particle; a million of them is a scene, not a fault.
enum { MOST_PARTICLES = 1000000 };

static bool is_small(const rp_scene *scene)
{
    double sites = 0.0;
    for (const scene_call *r = rp_call_find(scene->first, "particles"); r != NULL;
         r = rp_call_find(r->next, "particles")) {
        double lower[3], upper[3], n = 1.0;
        if (rp_shape_bounds(rp_call_value(r, "shape")->call->shape, scene->dimension, lower,
                            upper)) {
            for (int a = 0; a < scene->dimension; a++) {
                n *= fmax(1.0, (upper[a] - lower[a]) / rp_call_number(r, "spacing"));
            }
        }
        // beyond what a world holds it is refused at once
        sites += n < 2e9 ? n : 0.0;
    }
    return sites <= MOST_PARTICLES;
}

static void make_world(rp_scene *scene)
{
    rp_scene_world_def how = rp_default_scene_world_def();
    how.plan = true;
    how.threads = 1;
    rp_world *world = NULL;
    if (rp_scene_create_world(scene, &how, &world) == RP_OK) {
        rp_plan plan;
        rp_world_plan(world, &plan);
    }
    rp_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rp_scene_def def = rp_default_scene_def();
    def.path = "fuzz.lua";
    def.text = (const char *)data;
    def.text_size = size;
    def.memory = (size_t)16 << 20;
    def.load_seconds = 0.2;
    def.call_seconds = 0.05;
    rp_scene *scene;
    if (rp_scene_load(&def, &scene) == RP_OK) {
        if (is_small(scene)) {
            make_world(scene);
        }
    } else if (rp_last_error()[0] == '\0' || scene != NULL) {
        abort(); // every refusal has a sentence
    }
    rp_scene_free(scene);
    return 0;
}

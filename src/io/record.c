// Reads run.json and scene.resolved.json. A folder whose scene did not come from a file has only
// the first; then materials are unknown, and that is no error.
#include "repose/record.h"

#include "base/result.h"
#include "io/folder.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double DEGREE = 3.14159265358979323846 / 180.0;

struct rp_record {
    rp_folder folder; // not locked
    rp_record_info info;
    rp_material_def *material;
};

// ---- JSON ----

static rp_result load(const rp_record *r, const char *name, bool needed, json_t **out)
{
    char path[RP_PATH];
    json_error_t error;
    *out = NULL;
    rp_folder_path(&r->folder, name, path);
    if (access(path, R_OK) != 0) {
        return needed ? rp_fail(RP_ERR_FILE, "%s is no run folder: cannot read %s: %s",
                                r->folder.path, path, strerror(errno))
                      : RP_OK;
    }
    *out = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(*out)) {
        const rp_result result = rp_fail(RP_ERR_FILE, "%s:%d: %s", path, error.line,
                                         *out == NULL ? error.text : "want an object");
        json_decref(*out);
        *out = NULL;
        return result;
    }
    return RP_OK;
}

static double number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static void vector(const json_t *object, const char *key, double out[3])
{
    const json_t *list = json_object_get(object, key);
    for (size_t i = 0; i < 3; i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
}

// ---- what the scene said ----

static rp_yield_fit fit_named(const char *name)
{
    static const char *const fit[] = {"default", "compression", "plane_strain",
                                      "slope",   "inscribed",   "middle"};
    for (int i = 0; name != NULL && i < (int)(sizeof fit / sizeof fit[0]); i++) {
        if (strcmp(name, fit[i]) == 0) {
            return (rp_yield_fit)i;
        }
    }
    return RP_FIT_DEFAULT;
}

static rp_material_def material_of(const json_t *m)
{
    const char *word = json_string_value(json_object_get(m, "word"));
    const bool elastic = word != NULL && strcmp(word, "material.elastic") == 0;
    rp_material_def def = elastic ? rp_default_elastic_def() : rp_default_sand_def();
    const char *name = json_string_value(json_object_get(m, "name"));
    snprintf(def.name, sizeof def.name, "%s", name != NULL ? name : "");
    def.density = number(m, "density", def.density);
    def.young = number(m, "young", def.young);
    def.poisson = number(m, "poisson", def.poisson);
    def.friction_angle = DEGREE * number(m, "friction_angle", def.friction_angle / DEGREE);
    def.friction_coefficient = number(m, "friction_coefficient", -1.0);
    def.yield_fit = fit_named(json_string_value(json_object_get(m, "yield_fit")));
    def.cohesion = number(m, "cohesion", 0.0);
    def.volume_correction = json_is_true(json_object_get(m, "volume_correction"));
    const json_t *h = json_object_get(m, "hardening");
    def.hardening = json_is_object(h);
    if (def.hardening) {
        def.hardening_h[0] = DEGREE * number(h, "h0", def.hardening_h[0] / DEGREE);
        def.hardening_h[1] = DEGREE * number(h, "h1", def.hardening_h[1] / DEGREE);
        def.hardening_h[2] = number(h, "h2", def.hardening_h[2]);
        def.hardening_h[3] = DEGREE * number(h, "h3", def.hardening_h[3] / DEGREE);
    }
    return def;
}

static rp_result read_scene(rp_record *r, const json_t *scene)
{
    const json_t *said = json_object_get(scene, "scene");
    const json_t *camera = json_object_get(scene, "camera");
    const json_t *materials = json_object_get(scene, "materials");
    r->info.dimension = number(said, "dimension", 3.0) < 2.5 ? 2 : 3;
    r->info.fps = number(said, "fps", 24.0);
    if (json_is_object(camera)) {
        r->info.has_camera = true;
        vector(camera, "eye", r->info.eye);
        vector(camera, "look_at", r->info.look_at);
        r->info.fov = DEGREE * number(camera, "fov", 30.0);
    }
    r->material = calloc(json_array_size(materials) + 1, sizeof *r->material);
    if (r->material == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the materials of %s", r->folder.path);
    }
    for (size_t i = 0; i < json_array_size(materials); i++) {
        r->material[i] = material_of(json_array_get(materials, i));
    }
    r->info.materials = (int)json_array_size(materials);
    return RP_OK;
}

static rp_result read_all(rp_record *r)
{
    json_t *run, *scene;
    RP_TRY(load(r, "run.json", true, &run));
    const char *title = json_string_value(json_object_get(run, "title"));
    snprintf(r->info.title, sizeof r->info.title, "%s", title != NULL ? title : "");
    json_decref(run);
    RP_TRY(load(r, "scene.resolved.json", false, &scene));
    const rp_result result = scene != NULL ? read_scene(r, scene) : RP_OK;
    json_decref(scene);
    r->info.last = rp_folder_last_frame(&r->folder);
    return result;
}

// ---- the public side ----

rp_result rp_record_open(const char *folder, rp_record **out)
{
    *out = NULL;
    rp_record *r = calloc(1, sizeof *r);
    if (r == NULL || (r->folder.path = strdup(folder)) == NULL) {
        free(r);
        return rp_fail(RP_ERR_MEMORY, "no memory to look into %s", folder);
    }
    r->folder.lock = -1;
    r->info = (rp_record_info){.dimension = 3, .fps = 24.0, .last = -1};
    const rp_result result = read_all(r);
    if (result != RP_OK) {
        rp_record_close(r);
        return result;
    }
    *out = r;
    return RP_OK;
}

void rp_record_close(rp_record *r)
{
    if (r != NULL) {
        free(r->folder.path);
        free(r->material);
        free(r);
    }
}

void rp_record_get_info(const rp_record *r, rp_record_info *out) { *out = r->info; }

static bool frame_path(const rp_record *r, int64_t frame, char *path, size_t size)
{
    char whole[RP_PATH];
    rp_folder_frame(&r->folder, frame, whole);
    return snprintf(path, size, "%s", whole) < (int)size;
}

bool rp_record_frame(const rp_record *r, int64_t frame, char *path, size_t size)
{
    return frame >= 0 && frame_path(r, frame, path, size) && access(path, F_OK) == 0;
}

const rp_material_def *rp_record_material(const rp_record *r, int index)
{
    RP_ASSERT(index >= 0 && index < r->info.materials);
    return &r->material[index];
}

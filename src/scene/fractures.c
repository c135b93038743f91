// Bodies of a scene that break: what they are cut by, and their pieces.
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rp_scene_free_fractures(rp_scene *scene)
{
    for (int i = 0; i < scene->fractures; i++) {
        rp_cut_destroy(scene->fracture[i].cut);
        free(scene->fracture[i].name);
    }
    free(scene->fracture);
    scene->fracture = NULL;
    scene->fractures = 0;
}

// The shapes that a body is made of, and how far apart its particles are at most.
typedef struct made_of {
    const rp_shape **shape;
    int shapes;
    double spacing;
} made_of;

static bool fills(const scene_call *r, const char *body)
{
    return strcmp(r->word->name, "particles") == 0 && strcmp(rp_call_text(r, "body"), body) == 0;
}

// Materials that have no strength of their own hold nothing together.
static rp_result check_material(const rp_scene *scene, const scene_call *r, const char *body)
{
    static const char *const loose[] = {"material.water", "material.tracer"};
    const scene_call *material = rp_call_value(r, "material")->call;
    for (int i = 0; i < 2; i++) {
        if (strcmp(material->word->name, loose[i]) == 0) {
            return rp_call_fail(scene, r, "material",
                                "want a solid for '%s', which breaks (fracture), got %s", body,
                                loose[i]);
        }
    }
    return RP_OK;
}

static rp_result find_shapes(const rp_scene *scene, const scene_call *r, made_of *out)
{
    const char *body = rp_call_text(r, "body");
    int count = 0;
    for (const scene_call *c = scene->first; c != NULL; c = c->next) {
        const bool pours = strcmp(c->word->name, "emitter") == 0;
        if (pours && strcmp(rp_call_text(c, "body"), body) == 0) {
            return rp_call_fail(scene, r, "body",
                                "want one that particles alone make, got '%s', which an emitter of "
                                "line %d pours",
                                body, c->line);
        }
        count += fills(c, body);
    }
    if (count == 0 || strcmp(body, "rest") == 0) {
        rp_nearest nearest = rp_nearest_start(body);
        for (const scene_call *c = scene->first; c != NULL; c = c->next) {
            if (strcmp(c->word->name, "particles") == 0) {
                rp_nearest_try(&nearest, rp_call_text(c, "body"));
            }
        }
        const bool close = nearest.best != NULL && strcmp(nearest.best, body) != 0 &&
                           strcmp(nearest.best, "rest") != 0;
        return rp_call_fail(scene, r, "body", "want a body that particles name, got '%s'%s%s%s",
                            body, close ? "; did you mean '" : "", close ? nearest.best : "",
                            close ? "'?" : "");
    }
    *out = (made_of){.shape = calloc((size_t)count, sizeof *out->shape), .spacing = INFINITY};
    if (out->shape == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for bodies", scene->path);
    }
    rp_result result = RP_OK;
    for (const scene_call *c = scene->first; c != NULL && result == RP_OK; c = c->next) {
        if (fills(c, body)) {
            result = check_material(scene, c, body);
            out->shape[out->shapes++] = rp_call_value(c, "shape")->call->shape;
            out->spacing = fmin(out->spacing, rp_call_number(c, "spacing"));
        }
    }
    if (result != RP_OK) {
        free(out->shape);
    }
    return result;
}

// Planes of a list.
typedef struct planes {
    double (*point)[3], (*normal)[3];
} planes;

static rp_result read_planes(const rp_scene *scene, const scene_call *cut, const scene_value *list,
                             planes *out)
{
    out->point = calloc((size_t)list->count, sizeof *out->point);
    out->normal = calloc((size_t)list->count, sizeof *out->normal);
    if (out->point == NULL || out->normal == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for planes", scene->path);
    }
    if (list->count > 30) {
        return rp_call_fail(scene, cut, "list", "want at most 30 planes, got %d", list->count);
    }
    for (int i = 0; i < list->count; i++) {
        memcpy(out->point[i], rp_call_vector(list->tables[i], "point"), sizeof out->point[i]);
        memcpy(out->normal[i], rp_call_vector(list->tables[i], "normal"), sizeof out->normal[i]);
        if (rp_is_zero(out->normal[i])) {
            return rp_call_fail(scene, cut, "list",
                                "want normals that are not 0, got 0 in number %d", i + 1);
        }
    }
    return RP_OK;
}

// What a scene says of a cut, for rp_cut_create().
static rp_result describe_cut(const rp_scene *scene, const scene_value *by, rp_cut_def *def,
                              planes *made)
{
    const scene_call *cut = by->call;
    if (by->kind == TAKES_SHAPE) {
        def->kind = RP_CUT_SHAPE;
        def->cutter = cut->shape;
        return RP_OK;
    }
    if (strcmp(cut->word->name, "voronoi") == 0) {
        const scene_value *points = rp_call_value(cut, "points");
        def->kind = RP_CUT_VORONOI;
        if (points->kind != 0) {
            if (points->comps < scene->dimension) {
                return rp_call_fail(scene, cut, "points", "want 3 components in a 3D scene, got %d",
                                    points->comps);
            }
            def->point = (const double(*)[3])points->places;
            def->count = points->count;
        } else if (rp_call_value(cut, "count")->kind != 0) {
            def->point = NULL;
            def->count = (int)rp_call_integer(cut, "count");
            def->seed = (uint64_t)rp_call_integer(cut, "seed");
        } else {
            return rp_call_fail(scene, cut, NULL, "want a count or points, got neither");
        }
        return RP_OK;
    }
    if (strcmp(cut->word->name, "planes") == 0) {
        const scene_value *list = rp_call_value(cut, "list");
        const rp_result result = read_planes(scene, cut, list, made);
        def->point = (const double(*)[3])made->point;
        def->normal = (const double(*)[3])made->normal;
        def->count = list->count;
        return result;
    }
    def->point = (const double(*)[3])rp_call_vector(cut, "point");
    def->normal = (const double(*)[3])rp_call_vector(cut, "normal");
    if (rp_is_zero(def->normal[0])) {
        return rp_call_fail(scene, cut, "normal", "want a vector that is not 0, got 0");
    }
    if (strcmp(cut->word->name, "zigzag") == 0) {
        def->kind = RP_CUT_ZIGZAG;
        def->tooth = rp_call_number(cut, "tooth");
        memcpy(def->along, rp_call_vector(cut, "along"), sizeof def->along);
        const double *n = def->normal[0], *e = def->along;
        const double across[3] = {n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2],
                                  n[0] * e[1] - n[1] * e[0]};
        const double n2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        const double e2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        if (!(across[0] * across[0] + across[1] * across[1] + across[2] * across[2] >
              1e-12 * n2 * e2)) {
            return rp_call_fail(scene, cut, "along",
                                "want a direction that is not that of the normal, got {%g, %g, %g}",
                                e[0], e[1], e[2]);
        }
    }
    return RP_OK;
}

static rp_result check_fracture(const rp_scene *scene, const scene_call *r)
{
    static const char *const shapes[] = {"by", "open"};
    for (int i = 0; i < 2; i++) {
        const scene_value *shape = rp_call_value(r, shapes[i]);
        if (shape->kind == TAKES_SHAPE && strcmp(shape->call->word->name, "mesh_sequence") == 0) {
            return rp_call_fail(scene, r, shapes[i],
                                "want a shape that stays as it is, got a mesh_sequence, which only "
                                "a collider's shape can be");
        }
    }
    const double dx = rp_call_number(scene->said, "dx");
    const scene_value *spacing = rp_call_value(r, "spacing");
    if (spacing->kind != 0 &&
        !(spacing->number <= 0.5 * dx * (1.0 + 1e-9) && spacing->number >= 0.01 * dx)) {
        return rp_call_fail(scene, r, "spacing",
                            "want 0.01 to 0.5 dx, which are %g to %g m, got %g", 0.01 * dx,
                            0.5 * dx, spacing->number);
    }
    static const char *const tractions[] = {"shear", "friction", "softening"};
    for (int i = 0; i < 3 && rp_call_choice(r, "criterion") == RP_CRITERION_PAPER; i++) {
        if (rp_call_value(r, tractions[i])->given) {
            return rp_call_fail(scene, r, tractions[i],
                                "want none with criterion = \"paper\", which knows only forces, "
                                "got one");
        }
    }
    for (const scene_call *c = rp_call_find(scene->first, "fracture"); c != r;
         c = rp_call_find(c->next, "fracture")) {
        if (strcmp(rp_call_text(c, "body"), rp_call_text(r, "body")) == 0) {
            return rp_call_fail(scene, r, "body",
                                "want each body once, got '%s' again, as in line "
                                "%d; planes { list = ... } takes several cuts",
                                rp_call_text(r, "body"), c->line);
        }
    }
    return RP_OK;
}

static rp_result cut_body(const rp_scene *scene, const scene_call *r, scene_fracture *out)
{
    rp_cut_def def = rp_default_cut_def();
    planes made = {0};
    made_of body = {0};
    rp_result result = check_fracture(scene, r);
    result = result == RP_OK ? find_shapes(scene, r, &body) : result;
    if (result != RP_OK) {
        return result;
    }
    def.dimension = scene->dimension;
    def.shape = body.shape;
    def.shapes = body.shapes;
    def.spacing = body.spacing;
    *out = (scene_fracture){.call = r};
    result = describe_cut(scene, rp_call_value(r, "by"), &def, &made);
    if (result == RP_OK) {
        result = rp_cut_create(&def, &out->cut);
        result = result != RP_OK ? rp_call_fail(scene, r, "by", "%s", rp_last_error()) : result;
    }
    free(made.point);
    free(made.normal);
    free(body.shape);
    if (result != RP_OK) {
        return result;
    }
    const int pieces = rp_cut_pieces(out->cut);
    out->name = calloc((size_t)pieces, sizeof *out->name);
    if (out->name == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for bodies", scene->path);
    }
    for (int i = 0; i < pieces; i++) {
        const char *name = rp_call_text(r, "body");
        if (snprintf(out->name[i], sizeof out->name[i], "%s.%d", name, i + 1) >= RP_NAME_SIZE) {
            return rp_call_fail(scene, r, "body",
                                "want a name with room for the numbers of %d pieces within %d "
                                "bytes, got '%s'",
                                pieces, RP_NAME_SIZE - 1, name);
        }
    }
    return RP_OK;
}

rp_result rp_scene_cut_bodies(rp_scene *scene)
{
    int count = 0;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        count += strcmp(r->word->name, "fracture") == 0;
    }
    rp_scene_free_fractures(scene);
    scene->fracture = calloc((size_t)count + 1, sizeof *scene->fracture);
    if (scene->fracture == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for bodies", scene->path);
    }
    for (const scene_call *r = rp_call_find(scene->first, "fracture"); r != NULL;
         r = rp_call_find(r->next, "fracture")) {
        const rp_result result = cut_body(scene, r, &scene->fracture[scene->fractures]);
        scene->fractures++; // also what is half made must be freed
        if (result != RP_OK) {
            return result;
        }
    }
    return RP_OK;
}

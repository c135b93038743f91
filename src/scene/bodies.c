// Bodies that particles of a scene belong to: their numbers, their contacts, and whether they lie
// in each other.
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES_MOST = UINT16_MAX };

static int compare_bodies(const void *a, const void *b)
{
    return strcmp(((const scene_body *)a)->name, ((const scene_body *)b)->name);
}

const scene_body *rp_scene_find_body(const rp_scene *scene, const char *name)
{
    const scene_body key = {.name = name};
    return bsearch(&key, scene->body, (size_t)scene->bodies, sizeof key, compare_bodies);
}

// The name of the body that a call adds to; NULL: it adds no particles.
static const char *body_of(const scene_call *call)
{
    const bool adds =
        strcmp(call->word->name, "particles") == 0 || strcmp(call->word->name, "emitter") == 0;
    return adds ? rp_call_text(call, "body") : NULL;
}

// By name, and those of one name by when they were said.
static int compare_calls(const void *a, const void *b)
{
    const scene_body *one = a, *other = b;
    const int names = compare_bodies(one, other);
    return names != 0 ? names : (one->number > other->number) - (one->number < other->number);
}

static int compare_numbers(const void *a, const void *b)
{
    const scene_body *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

static const scene_fracture *fracture_of(const rp_scene *scene, const char *name)
{
    for (int i = 0; i < scene->fractures; i++) {
        if (strcmp(rp_call_text(scene->fracture[i].call, "body"), name) == 0) {
            return &scene->fracture[i];
        }
    }
    return NULL;
}

// Pieces are bodies of their own, behind those that are said.
static rp_result name_pieces(rp_scene *scene)
{
    int pieces = 0;
    for (int i = 0; i < scene->bodies; i++) {
        pieces += scene->body[i].pieces;
    }
    scene_body *list = realloc(scene->body, (size_t)(scene->bodies + pieces) * sizeof *list);
    if (list == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for bodies", scene->path);
    }
    scene->body = list;
    const int said = scene->bodies;
    for (int i = 0; i < said; i++) {
        for (int k = 0; k < list[i].pieces; k++) {
            list[scene->bodies++] =
                (scene_body){.name = list[i].fracture->name[k], .number = list[i].number + k};
        }
    }
    return RP_OK;
}

// No body may be called as a piece of another.
static rp_result check_names(const rp_scene *scene)
{
    for (int i = 1; i < scene->bodies; i++) {
        if (strcmp(scene->body[i].name, scene->body[i - 1].name) == 0) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "%s: particles.body: want another name than that of a piece of a body "
                           "that breaks, got '%s'",
                           scene->path, scene->body[i].name);
        }
    }
    return RP_OK;
}

bool rp_scene_names_all(const rp_scene *scene, const scene_call *contact)
{
    const scene_value *bodies = rp_call_value(contact, "bodies");
    for (int i = 0; i < 2; i++) {
        if (rp_scene_find_body(scene, bodies->texts[i])->pieces > 0) {
            return true;
        }
    }
    return false;
}

// First all names that are said, numbered as they come; then each once; then without gaps in the
// numbers.
static rp_result number_bodies(rp_scene *scene)
{
    int said = 1;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        said += body_of(r) != NULL;
    }
    scene_body *list = calloc((size_t)said, sizeof *list);
    if (list == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for bodies", scene->path);
    }
    list[0] = (scene_body){.name = "rest"};
    int count = 1;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        if (body_of(r) != NULL) {
            list[count] = (scene_body){.name = body_of(r), .number = count};
            count++;
        }
    }
    qsort(list, (size_t)count, sizeof *list, compare_calls);
    int kept = 1;
    for (int i = 1; i < count; i++) {
        if (strcmp(list[i].name, list[kept - 1].name) != 0) {
            list[kept++] = list[i];
        }
    }
    qsort(list, (size_t)kept, sizeof *list, compare_numbers);
    scene->fields = 0;
    for (int i = 0; i < kept; i++) {
        list[i].number = scene->fields;
        list[i].fracture = fracture_of(scene, list[i].name);
        list[i].pieces = list[i].fracture != NULL ? rp_cut_pieces(list[i].fracture->cut) : 0;
        scene->fields += list[i].pieces > 0 ? list[i].pieces : 1;
    }
    free(scene->body);
    scene->body = list;
    scene->bodies = kept;
    const rp_result result = name_pieces(scene);
    if (result != RP_OK) {
        return result;
    }
    qsort(scene->body, (size_t)scene->bodies, sizeof *list, compare_bodies);
    return scene->fields <= BODIES_MOST
               ? check_names(scene)
               : rp_fail(RP_ERR_LIMIT, "%s: want at most %d bodies, got %d", scene->path,
                         BODIES_MOST, scene->fields);
}

// ---- contacts ----

// What was said of a pair, or with -1 of all.
typedef struct said {
    int body[2];
    const scene_call *call;
} said;

static int compare_said(const void *a, const void *b)
{
    const said *one = a, *other = b;
    for (int i = 0; i < 2; i++) {
        if (one->body[i] != other->body[i]) {
            return one->body[i] < other->body[i] ? -1 : 1;
        }
    }
    return (one->call->line > other->call->line) - (one->call->line < other->call->line);
}

static rp_result check_contact(const rp_scene *scene, const scene_call *r, said *out)
{
    const scene_value *bodies = rp_call_value(r, "bodies");
    *out = (said){{-1, -1}, r};
    if (rp_call_choice(r, "contact") == 1 && rp_call_value(r, "friction")->given) {
        return rp_call_fail(scene, r, "friction",
                            "want none with sticky contact, where nothing slides, got %g",
                            rp_call_number(r, "friction"));
    }
    if (bodies->kind != 0 && bodies->count != 2) {
        return rp_call_fail(scene, r, "bodies", "want two, got %d", bodies->count);
    }
    for (int i = 0; i < 2 && bodies->kind != 0; i++) {
        const scene_body *body = rp_scene_find_body(scene, bodies->texts[i]);
        if (body == NULL) {
            rp_nearest nearest = rp_nearest_start(bodies->texts[i]);
            for (int k = 0; k < scene->bodies; k++) {
                rp_nearest_try(&nearest, scene->body[k].name);
            }
            return rp_call_fail(
                scene, r, "bodies", "want bodies that particles or emitters name, got '%s'%s%s%s",
                bodies->texts[i], nearest.best != NULL ? "; did you mean '" : "",
                nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'?" : "");
        }
        out->body[i] = (int)(body - scene->body);
    }
    if (out->body[0] > out->body[1]) {
        const int lower = out->body[1];
        out->body[1] = out->body[0];
        out->body[0] = lower;
    }
    return RP_OK;
}

static rp_result check_contacts(const rp_scene *scene)
{
    size_t count = 0;
    for (const scene_call *r = rp_call_find(scene->first, "contact"); r != NULL;
         r = rp_call_find(r->next, "contact")) {
        count++;
    }
    said *list = count > 0 ? malloc(count * sizeof *list) : NULL;
    if (count > 0 && list == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for contacts", scene->path);
    }
    rp_result result = RP_OK;
    const scene_call *r = rp_call_find(scene->first, "contact");
    for (size_t i = 0; i < count && result == RP_OK; i++) {
        result = check_contact(scene, r, &list[i]);
        r = rp_call_find(r->next, "contact");
    }
    if (result == RP_OK && count > 0) {
        qsort(list, count, sizeof *list, compare_said);
    }
    for (size_t i = 1; i < count && result == RP_OK; i++) {
        if (memcmp(list[i].body, list[i - 1].body, sizeof list[i].body) == 0) {
            const scene_value *bodies = rp_call_value(list[i].call, "bodies");
            result =
                bodies->kind != 0
                    ? rp_call_fail(scene, list[i].call, "bodies",
                                   "want each pair once, got '%s' and '%s' again, as in line %d",
                                   bodies->texts[0], bodies->texts[1], list[i - 1].call->line)
                    : rp_call_fail(scene, list[i].call, NULL,
                                   "want one for all pairs, got another one in line %d",
                                   list[i - 1].call->line);
        }
    }
    free(list);
    return result;
}

// ---- bodies that lie in each other ----

typedef struct filled {
    const scene_call *call;
    const rp_shape *shape;
    double lower[3], upper[3];
    int body;
} filled;

static int compare_lower(const void *a, const void *b)
{
    const filled *one = a, *other = b;
    if (one->lower[0] != other->lower[0]) {
        return one->lower[0] < other->lower[0] ? -1 : 1;
    }
    return (one->call->line > other->call->line) - (one->call->line < other->call->line);
}

// At the points of a lattice in what their bounds share.
double rp_scene_overlap(const rp_scene *scene, const rp_shape *a, const rp_shape *b,
                        double where[3])
{
    enum { MOST = 24 }; // along an axis
    const int dim = scene->dimension;
    const double dx = rp_call_number(scene->said, "dx");
    double low[2][3], high[2][3], lower[3] = {0}, step[3] = {0}, deepest = 0.0;
    int count[3] = {1, 1, 1};
    if (!rp_shape_bounds(a, dim, low[0], high[0]) || !rp_shape_bounds(b, dim, low[1], high[1])) {
        return 0.0;
    }
    for (int k = 0; k < dim; k++) {
        lower[k] = fmax(low[0][k], low[1][k]);
        const double side = fmin(high[0][k], high[1][k]) - lower[k];
        if (!(side > 0.0)) {
            return 0.0;
        }
        const double wanted = ceil(2.0 * side / dx);
        count[k] = wanted < MOST ? (int)wanted + 1 : MOST;
        step[k] = side / count[k];
    }
    for (int n = 0; n < count[0] * count[1] * count[2]; n++) {
        const int at[3] = {n / (count[1] * count[2]), n / count[2] % count[1], n % count[2]};
        double x[3] = {0};
        for (int k = 0; k < dim; k++) {
            x[k] = lower[k] + (at[k] + 0.5) * step[k];
        }
        const double depth = fmin(-rp_shape_distance(a, x, NULL), -rp_shape_distance(b, x, NULL));
        if (depth > deepest) {
            deepest = depth;
            memcpy(where, x, sizeof x);
        }
    }
    return deepest;
}

// Shapes of one body that lie in each other.
typedef struct crowd {
    const scene_call *later, *other;
    double depth, x[3]; // of the deepest
    int pairs;
} crowd;

// Marks lie in what they go with, and water in pores.
static bool takes_room(const filled *f)
{
    return strcmp(rp_call_value(f->call, "material")->call->word->name, "material.tracer") != 0 &&
           rp_call_value(f->call, "within")->kind == 0;
}

// A quarter of a cell of each is sampling; more would be pushed apart, with violence.
static rp_result check_overlap(const rp_scene *scene, const filled *a, const filled *b,
                               crowd *crowded)
{
    const double dx = rp_call_number(scene->said, "dx");
    const bool alike = a->body == b->body;
    const filled *later = a->call->index > b->call->index ? a : b, *other = later == a ? b : a;
    double x[3] = {0};
    const double depth = !alike || (takes_room(a) && takes_room(b))
                             ? rp_scene_overlap(scene, a->shape, b->shape, x)
                             : 0.0;
    if (depth > 0.25 * dx && !alike) {
        return rp_call_fail(scene, later->call, "shape",
                            "want bodies that do not lie in each other, got '%s' %.3g m deep in "
                            "'%s' of line %d near (%.3g, %.3g, %.3g); subtract one from the other",
                            rp_call_text(later->call, "body"), depth,
                            rp_call_text(other->call, "body"), other->call->line, x[0], x[1], x[2]);
    }
    crowded->pairs += depth > 0.25 * dx;
    if (depth > 0.25 * dx && depth > crowded->depth) {
        crowded->later = later->call;
        crowded->other = other->call;
        crowded->depth = depth;
        memcpy(crowded->x, x, sizeof x);
    }
    return RP_OK;
}

static void tell_crowd(const rp_scene *scene, const crowd *c)
{
    char others[48] = "";
    if (c->pairs > 1) {
        snprintf(others, sizeof others, " (and %d more that do so)", c->pairs - 1);
    }
    if (c->pairs > 0) {
        rp_call_warn(scene, c->later, "shape",
                     "it lies up to %.2g m deep in the particles of line %d%s, near (%.3g, %.3g, "
                     "%.3g): there will be twice as much as fits; subtract one from the other",
                     c->depth, c->other->line, others, c->x[0], c->x[1], c->x[2]);
    }
}

static rp_result check_overlaps(const rp_scene *scene)
{
    size_t count = 0;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        count += strcmp(r->word->name, "particles") == 0;
    }
    filled *list = calloc(count + 1, sizeof *list);
    if (list == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for bodies", scene->path);
    }
    count = 0;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        filled *f = &list[count];
        if (strcmp(r->word->name, "particles") != 0) {
            continue;
        }
        *f = (filled){.call = r,
                      .shape = rp_call_value(r, "shape")->call->shape,
                      .body = rp_scene_find_body(scene, rp_call_text(r, "body"))->number};
        // one that has no end is refused elsewhere
        count += rp_shape_bounds(f->shape, scene->dimension, f->lower, f->upper);
    }
    rp_result result = RP_OK;
    crowd crowded = {0};
    qsort(list, count, sizeof *list, compare_lower);
    for (size_t i = 0; i < count && result == RP_OK; i++) {
        for (size_t k = i + 1; k < count && list[k].lower[0] < list[i].upper[0]; k++) {
            result = result == RP_OK ? check_overlap(scene, &list[i], &list[k], &crowded) : result;
        }
    }
    free(list);
    if (result == RP_OK) {
        tell_crowd(scene, &crowded);
    }
    return result;
}

rp_result rp_scene_check_bodies(rp_scene *scene)
{
    rp_result result = rp_scene_cut_bodies(scene);
    result = result == RP_OK ? number_bodies(scene) : result;
    result = result == RP_OK ? check_contacts(scene) : result;
    return result == RP_OK ? check_overlaps(scene) : result;
}

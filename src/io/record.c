// Reads run.json, scene.resolved.json, shapes/ and forces.csv; pieces of bodies when asked for. A
// folder whose scene did not come from a file lacks the second, one of an older version the third;
// then materials or colliders are unknown, and that is no error.
#include "repose/record.h"

#include "base/result.h"
#include "io/folder.h"
#include "io/material_json.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_COLLIDERS = 1 << 16 }; // more than any run has

static const double DEGREE = 3.14159265358979323846 / 180.0;

struct rp_record {
    rp_folder folder; // not locked
    rp_record_info info;
    rp_material_def *material;
    double (*tint)[3]; // of each material's grains, sRGB; the first is -1 where there is none
    char (*body)[RP_NAME_SIZE]; // names
    rp_record_collider *collider;
    rp_record_sequence *sequence; // of each collider; without vertices where it does not deform
    int numbers;                  // more than the highest of a collider
    rp_pose *pose;                // [frame][number], frames 0 to poses - 1
    int64_t poses;
};

// ---- JSON ----

static rp_result load(const rp_record *r, const char *name, bool needed, json_t **out)
{
    char path[RP_PATH], *text;
    size_t size;
    json_error_t error;
    *out = NULL;
    rp_folder_path(&r->folder, name, path);
    if (access(path, R_OK) != 0) {
        return needed ? rp_fail(RP_ERR_FILE, "%s is no run folder: cannot read %s: %s",
                                r->folder.path, path, strerror(errno))
                      : RP_OK;
    }
    RP_TRY(rp_folder_read(&r->folder, name, &text, &size));
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    free(text);
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

static int up_of(const json_t *scene)
{
    const char *up = json_string_value(json_object_get(json_object_get(scene, "scene"), "up"));
    return up != NULL && strcmp(up, "z") == 0 ? 2 : 1;
}

static rp_result read_scene(rp_record *r, const json_t *scene)
{
    const json_t *said = json_object_get(scene, "scene");
    const json_t *camera = json_object_get(scene, "camera");
    r->info.dimension = number(said, "dimension", 3.0) < 2.5 ? 2 : 3;
    r->info.fps = number(said, "fps", 24.0);
    r->info.up = up_of(scene);
    if (json_is_object(camera)) {
        r->info.has_camera = true;
        vector(camera, "eye", r->info.eye);
        vector(camera, "look_at", r->info.look_at);
        r->info.fov = DEGREE * number(camera, "fov", 30.0);
    }
    return RP_OK;
}

// run.json has the materials as the world had them; the scene of an older run has them too, and
// their colours.
static rp_result read_materials(rp_record *r, const json_t *run, const json_t *scene)
{
    const json_t *said = json_object_get(scene, "materials");
    const json_t *known = json_object_get(run, "materials");
    const char *file = json_is_array(known) ? "run.json" : "scene.resolved.json";
    known = json_is_array(known) ? known : said;
    r->material = calloc(json_array_size(known) + 1, sizeof *r->material);
    r->tint = malloc((json_array_size(known) + 1) * sizeof *r->tint);
    if (r->material == NULL || r->tint == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the materials of %s", r->folder.path);
    }
    for (size_t i = 0; i < json_array_size(known); i++) {
        // one that is not known is of a newer version, and what it means cannot be guessed
        if (rp_material_from_json(json_array_get(known, i), &r->material[i]) != RP_OK) {
            char why[512];
            snprintf(why, sizeof why, "%s", rp_last_error());
            return rp_fail(RP_ERR_FILE, "%s/%s: materials[%zu]: %s", r->folder.path, file, i, why);
        }
        const json_t *color = json_object_get(json_array_get(said, i), "color");
        memcpy(r->tint[i], rp_material_info_of(r->material[i].kind)->color, sizeof r->tint[i]);
        if (json_array_size(color) == 3) {
            vector(json_array_get(said, i), "color", r->tint[i]);
        }
    }
    r->info.materials = (int)json_array_size(known);
    return RP_OK;
}

static rp_result read_bodies(rp_record *r, const json_t *run)
{
    const json_t *names = json_object_get(run, "bodies");
    const size_t count = json_array_size(names);
    if (count > UINT16_MAX) {
        return rp_fail(RP_ERR_FILE, "%s/run.json: bodies: want at most %d, got %zu", r->folder.path,
                       UINT16_MAX, count);
    }
    r->body = calloc(count + 1, sizeof *r->body);
    if (r->body == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the bodies of %s", r->folder.path);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        snprintf(r->body[i], sizeof r->body[i], "%s", name != NULL ? name : "");
    }
    r->info.bodies = (int)count;
    return RP_OK;
}

// ---- meshes ----

// A number from the header of our own kind of PLY: "element vertex 12".
static int64_t count_after(const char *header, const char *words)
{
    const char *at = strstr(header, words);
    return at != NULL ? strtoll(at + strlen(words), NULL, 10) : -1;
}

static rp_result parse_ply(const char *name, const char *data, size_t size, rp_surface *s)
{
    enum { VERTEX = 6 * sizeof(float), FACE = 1 + 3 * sizeof(uint32_t), MOST = 1 << 28 };
    const char *end = strstr(data, "end_header\n");
    const int64_t vertices = count_after(data, "element vertex ");
    const int64_t faces = count_after(data, "element face ");
    if (end == NULL || vertices < 0 || faces < 0 || vertices > MOST || faces > MOST) {
        return rp_fail(RP_ERR_FILE, "%s is no mesh of Repose", name);
    }
    const size_t header = (size_t)(end - data) + strlen("end_header\n");
    const size_t n = (size_t)vertices, m = (size_t)faces;
    if (size - header != n * VERTEX + m * FACE) {
        return rp_fail(RP_ERR_FILE, "%s is cut off or damaged", name);
    }
    s->vertex = malloc((n + 1) * sizeof *s->vertex);
    s->normal = malloc((n + 1) * sizeof *s->normal);
    s->triangle = malloc((m + 1) * sizeof *s->triangle);
    if (s->vertex == NULL || s->normal == NULL || s->triangle == NULL) {
        rp_surface_free(s);
        return rp_fail(RP_ERR_MEMORY, "no memory for %s", name);
    }
    const char *at = data + header;
    for (size_t i = 0; i < n; i++, at += VERTEX) {
        memcpy(s->vertex[i], at, VERTEX / 2);
        memcpy(s->normal[i], at + VERTEX / 2, VERTEX / 2);
    }
    for (size_t i = 0; i < m; i++, at += FACE) {
        memcpy(s->triangle[i], at + 1, FACE - 1);
        for (int k = 0; k < 3; k++) {
            if (s->triangle[i][k] >= n) {
                rp_surface_free(s);
                return rp_fail(RP_ERR_FILE, "%s has a triangle without vertices", name);
            }
        }
    }
    s->vertices = vertices;
    s->triangles = faces;
    return RP_OK;
}

static rp_result read_ply(const rp_record *r, const char *name, rp_surface *s)
{
    char *data, whole[RP_PATH];
    size_t size;
    RP_TRY(rp_folder_read(&r->folder, name, &data, &size));
    const rp_result result = parse_ply(rp_folder_path(&r->folder, name, whole), data, size, s);
    free(data);
    return result;
}

static rp_result read_collider(rp_record *r, const json_t *said, rp_record_collider *c)
{
    const char *name = json_string_value(json_object_get(said, "name"));
    const char *look = json_string_value(json_object_get(said, "look"));
    const char *file = json_string_value(json_object_get(said, "file"));
    char path[RP_PATH];
    snprintf(c->name, sizeof c->name, "%s", name != NULL ? name : "");
    c->look = look != NULL && strcmp(look, "glass") == 0    ? RP_LOOK_GLASS
              : look != NULL && strcmp(look, "hidden") == 0 ? RP_LOOK_HIDDEN
                                                            : RP_LOOK_SOLID;
    vector(said, "color", c->color);
    c->moves = json_is_true(json_object_get(said, "moves"));
    // those that cannot be drawn are not in the list
    const double which = number(said, "collider", -1.0);
    if (!(which >= 0.0 && which < MOST_COLLIDERS)) {
        return rp_fail(RP_ERR_FILE, "%s/shapes/shapes.json has a collider '%s' of number %g",
                       r->folder.path, c->name, which);
    }
    c->number = (int)which;
    r->numbers = c->number >= r->numbers ? c->number + 1 : r->numbers;
    if (file == NULL || strchr(file, '/') != NULL || strlen(file) > 255) {
        return rp_fail(RP_ERR_FILE, "%s/shapes/shapes.json names no file for '%s'", r->folder.path,
                       c->name);
    }
    snprintf(path, sizeof path, "shapes/%s", file);
    return read_ply(r, path, &c->surface);
}

// Where the vertices of one that deforms are: float[count][vertices][3].
static rp_result read_sequence(rp_record *r, const json_t *said, const rp_record_collider *c,
                               rp_record_sequence *out)
{
    const char *file = json_string_value(json_object_get(said, "file"));
    const double count = number(said, "count", 0.0), fps = number(said, "fps", 0.0);
    char path[RP_PATH], *data;
    size_t size;
    if (file == NULL || strchr(file, '/') != NULL || strlen(file) > 255 || !(count >= 1.0) ||
        !(count < 1e9) || !(fps > 0.0)) {
        return rp_fail(RP_ERR_FILE, "%s/shapes/shapes.json does not say how '%s' deforms",
                       r->folder.path, c->name);
    }
    snprintf(path, sizeof path, "shapes/%s", file);
    RP_TRY(rp_folder_read(&r->folder, path, &data, &size));
    *out = (rp_record_sequence){.count = (int64_t)count,
                                .fps = fps,
                                .start = number(said, "start", 0.0),
                                .loop = json_is_true(json_object_get(said, "loop")),
                                .vertex = (float(*)[3])(void *)data};
    if ((double)size != count * (double)c->surface.vertices * sizeof *out->vertex) {
        return rp_fail(RP_ERR_FILE, "%s/%s is cut off or damaged", r->folder.path, path);
    }
    return RP_OK;
}

static rp_result read_shapes(rp_record *r)
{
    char path[RP_PATH], *text;
    size_t size;
    rp_folder_path(&r->folder, "shapes/shapes.json", path);
    if (access(path, R_OK) != 0) {
        return RP_OK;
    }
    RP_TRY(rp_folder_read(&r->folder, "shapes/shapes.json", &text, &size));
    json_t *list = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    if (!json_is_array(list)) {
        json_decref(list);
        return rp_fail(RP_ERR_FILE, "%s: want a list of shapes", path);
    }
    const size_t count = json_array_size(list);
    rp_result result = RP_OK;
    r->collider = calloc(count + 1, sizeof *r->collider);
    r->sequence = calloc(count + 1, sizeof *r->sequence);
    if (r->collider == NULL || r->sequence == NULL) {
        result = rp_fail(RP_ERR_MEMORY, "no memory for the colliders of %s", r->folder.path);
    }
    for (size_t i = 0; i < count && result == RP_OK; i++) {
        const json_t *said = json_array_get(list, i);
        const json_t *sequence = json_object_get(said, "sequence");
        result = read_collider(r, said, &r->collider[i]);
        r->info.colliders++;
        r->collider[i].deforms = sequence != NULL;
        if (result == RP_OK && sequence != NULL) {
            result = read_sequence(r, sequence, &r->collider[i], &r->sequence[i]);
        }
    }
    json_decref(list);
    return result;
}

// ---- poses ----

// One line of forces.csv: frame,time,collider,"name",x,y,z,qx,qy,qz,qw,... false: it is torn.
static bool parse_pose(const char *line, int64_t *frame, int *collider, rp_pose *pose)
{
    double value[7];
    int used = 0;
    if (sscanf(line, "%" SCNd64 ",%*[^,],%d,\"%n", frame, collider, &used) != 2 || used == 0) {
        return false;
    }
    // the name: it may be empty, hold commas, and quotes are twice
    const char *at = line + used;
    while (*at != '\n' && *at != '\0' && (*at != '"' || at[1] == '"')) {
        at += *at == '"' ? 2 : 1;
    }
    if (at[0] != '"' || at[1] != ',') {
        return false;
    }
    at += 2;
    for (int k = 0; k < 7; k++) {
        char *rest;
        value[k] = strtod(at, &rest);
        if (rest == at || *rest != ',') {
            return false;
        }
        at = rest + 1;
    }
    memcpy(pose->position, value, sizeof pose->position);
    memcpy(pose->rotation, value + 3, sizeof pose->rotation);
    return true;
}

static const rp_pose AT_REST = {.rotation = {0.0, 0.0, 0.0, 1.0}};

static rp_result read_poses(rp_record *r)
{
    char *data, path[RP_PATH];
    size_t size;
    rp_folder_path(&r->folder, "forces.csv", path);
    if (r->info.colliders == 0 || access(path, R_OK) != 0) {
        return RP_OK;
    }
    RP_TRY(rp_folder_read(&r->folder, "forces.csv", &data, &size));
    // a frame has a line for each collider, and file names alone prove no frame
    int64_t lines = 0;
    for (const char *c = data; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    r->poses = r->info.last + 1 < lines ? r->info.last + 1 : lines;
    r->pose = malloc((size_t)(r->poses * r->numbers + 1) * sizeof *r->pose);
    if (r->pose == NULL) {
        free(data);
        return rp_fail(RP_ERR_MEMORY, "no memory for the poses of %s", r->folder.path);
    }
    for (int64_t i = 0; i < r->poses * r->numbers; i++) {
        r->pose[i] = AT_REST;
    }
    for (const char *line = data; line != NULL && *line != '\0';) {
        rp_pose pose;
        int64_t frame;
        int collider;
        if (parse_pose(line, &frame, &collider, &pose) && frame >= 0 && frame < r->poses &&
            collider >= 0 && collider < r->numbers) {
            r->pose[frame * r->numbers + collider] = pose;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    free(data);
    return RP_OK;
}

static rp_result read_all(rp_record *r)
{
    json_t *run, *scene;
    RP_TRY(load(r, "run.json", true, &run));
    const char *title = json_string_value(json_object_get(run, "title"));
    snprintf(r->info.title, sizeof r->info.title, "%s", title != NULL ? title : "");
    rp_result result = load(r, "scene.resolved.json", false, &scene);
    if (result == RP_OK) {
        result = scene != NULL ? read_scene(r, scene) : RP_OK;
        result = result == RP_OK ? read_materials(r, run, scene) : result;
        result = result == RP_OK ? read_bodies(r, run) : result;
        json_decref(scene);
    }
    json_decref(run);
    r->info.last = rp_folder_last_frame(&r->folder);
    RP_TRY(result);
    RP_TRY(read_shapes(r));
    return read_poses(r);
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
    r->info = (rp_record_info){.dimension = 3, .fps = 24.0, .last = -1, .up = 1};
    const rp_result result = read_all(r);
    if (result != RP_OK) {
        rp_record_close(r);
        return result;
    }
    *out = r;
    return RP_OK;
}

int rp_record_up(const char *path)
{
    static const char frames[] = "/frames";
    struct stat about;
    char folder[RP_PATH];
    snprintf(folder, sizeof folder, "%s%.4000s", path[0] == '/' ? "" : "./", path);
    if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) {
        // FOLDER/frames/NAME
        *strrchr(folder, '/') = '\0';
        const size_t length = strlen(folder), end = sizeof frames - 1;
        if (length <= end || strcmp(folder + length - end, frames) != 0) {
            return 1;
        }
        folder[length - end] = '\0';
    }
    const rp_record r = {.folder = {.path = folder, .lock = -1}};
    json_t *scene;
    const int up = load(&r, "scene.resolved.json", false, &scene) == RP_OK ? up_of(scene) : 1;
    json_decref(scene);
    return up;
}

void rp_record_close(rp_record *r)
{
    if (r != NULL) {
        for (int i = 0; i < r->info.colliders; i++) {
            rp_surface_free(&r->collider[i].surface);
            free(r->sequence[i].vertex);
        }
        free(r->sequence);
        free(r->folder.path);
        free(r->collider);
        free(r->pose);
        free(r->material);
        free(r->tint);
        free(r->body);
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

bool rp_record_material_color(const rp_record *r, int index, double rgb[3])
{
    if (index < 0 || index >= r->info.materials || r->tint[index][0] < 0.0) {
        return false;
    }
    memcpy(rgb, r->tint[index], sizeof r->tint[index]);
    return true;
}

const rp_material_def *rp_record_material(const rp_record *r, int index)
{
    RP_ASSERT(index >= 0 && index < r->info.materials);
    return &r->material[index];
}

const char *rp_record_body(const rp_record *r, int index)
{
    RP_ASSERT(index >= 0 && index < r->info.bodies);
    return r->body[index];
}

rp_result rp_record_piece(const rp_record *r, int body, rp_surface *out)
{
    char name[64], path[RP_PATH];
    *out = (rp_surface){0};
    snprintf(name, sizeof name, "shapes/piece-%d.ply", body);
    return access(rp_folder_path(&r->folder, name, path), R_OK) == 0 ? read_ply(r, name, out)
                                                                     : RP_OK;
}

const rp_record_collider *rp_record_collider_at(const rp_record *r, int index)
{
    RP_ASSERT(index >= 0 && index < r->info.colliders);
    return &r->collider[index];
}

bool rp_record_sequence_of(const rp_record *r, int collider, rp_record_sequence *out)
{
    RP_ASSERT(collider >= 0 && collider < r->info.colliders);
    *out = r->sequence[collider];
    return r->collider[collider].deforms;
}

// Vertices of one that deforms at a time.
static void deform(const rp_record_sequence *q, double t, int64_t vertices, float (*out)[3])
{
    double at = fmax((t - q->start) * q->fps, 0.0);
    at = q->loop ? fmod(at, (double)q->count) : fmin(at, (double)(q->count - 1));
    const int64_t first = (int64_t)at < q->count ? (int64_t)at : q->count - 1;
    const int64_t next = first + 1 < q->count ? first + 1 : q->loop ? 0 : first;
    const float share = (float)(at - (double)first);
    const float(*a)[3] = (const float(*)[3])q->vertex + first * vertices;
    const float(*b)[3] = (const float(*)[3])q->vertex + next * vertices;
    for (int64_t v = 0; v < vertices; v++) {
        for (int k = 0; k < 3; k++) {
            out[v][k] = a[v][k] + share * (b[v][k] - a[v][k]);
        }
    }
}

// The mean of the triangles around each vertex, larger ones more; creases have vertices twice.
static void find_normals(rp_surface *s)
{
    memset(s->normal, 0, (size_t)s->vertices * sizeof *s->normal);
    for (int64_t t = 0; t < s->triangles; t++) {
        const uint32_t *c = s->triangle[t];
        float e[2][3];
        for (int k = 0; k < 3; k++) {
            e[0][k] = s->vertex[c[1]][k] - s->vertex[c[0]][k];
            e[1][k] = s->vertex[c[2]][k] - s->vertex[c[0]][k];
        }
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            const float n = e[0][i] * e[1][j] - e[0][j] * e[1][i];
            for (int corner = 0; corner < 3; corner++) {
                s->normal[c[corner]][k] += n;
            }
        }
    }
    for (int64_t v = 0; v < s->vertices; v++) {
        float *n = s->normal[v];
        const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) {
            n[k] = length > 0.0F ? n[k] / length : k == 1;
        }
    }
}

rp_result rp_record_surface(const rp_record *r, int collider, double frame, rp_surface *out)
{
    RP_ASSERT(collider >= 0 && collider < r->info.colliders);
    const rp_surface *s = &r->collider[collider].surface;
    const size_t n = (size_t)s->vertices, m = (size_t)s->triangles;
    *out = (rp_surface){.vertex = malloc((n + 1) * sizeof *s->vertex),
                        .normal = malloc((n + 1) * sizeof *s->normal),
                        .triangle = malloc((m + 1) * sizeof *s->triangle),
                        .vertices = s->vertices,
                        .triangles = s->triangles};
    if (out->vertex == NULL || out->normal == NULL || out->triangle == NULL) {
        rp_surface_free(out);
        return rp_fail(RP_ERR_MEMORY, "no memory for a collider of %s", r->folder.path);
    }
    memcpy(out->vertex, s->vertex, n * sizeof *s->vertex);
    memcpy(out->normal, s->normal, n * sizeof *s->normal);
    memcpy(out->triangle, s->triangle, m * sizeof *s->triangle);
    if (r->collider[collider].deforms) {
        deform(&r->sequence[collider], fmax(frame, 0.0) / r->info.fps, s->vertices, out->vertex);
        find_normals(out);
    }
    return RP_OK;
}

rp_pose rp_record_pose(const rp_record *r, int collider, double frame)
{
    RP_ASSERT(collider >= 0 && collider < r->info.colliders);
    if (r->poses == 0) {
        return AT_REST;
    }
    const double last = (double)(r->poses - 1), at = fmax(0.0, fmin(frame, last));
    const int64_t first = (int64_t)at, second = first + 1 < r->poses ? first + 1 : first;
    const int number = r->collider[collider].number;
    const rp_pose *a = &r->pose[first * r->numbers + number];
    const rp_pose *b = &r->pose[second * r->numbers + number];
    const double t = at - (double)first;
    rp_pose out;
    double dot = 0.0;
    for (int k = 0; k < 4; k++) {
        dot += a->rotation[k] * b->rotation[k];
    }
    // along the shorter way round; evenly, but for what a chord differs from its arc
    for (int k = 0; k < 4; k++) {
        out.rotation[k] = (1.0 - t) * a->rotation[k] + (dot < 0.0 ? -t : t) * b->rotation[k];
        if (k < 3) {
            out.position[k] = (1.0 - t) * a->position[k] + t * b->position[k];
        }
    }
    return out;
}

// A direction, turned by a quaternion of about length 1.
static void turned(const double q[4], const float n[3], double out[3])
{
    const double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double tj = q[k] * (double)n[i] - q[i] * (double)n[k] + q[3] * (double)n[j];
        const double tk = q[i] * (double)n[j] - q[j] * (double)n[i] + q[3] * (double)n[k];
        out[i] = (double)n[i] + 2.0 / length2 * (q[j] * tk - q[k] * tj);
    }
}

rp_result rp_record_walls(const rp_record *record, int64_t frame, double over, rp_skin_wall **out,
                          int *walls)
{
    const int colliders = record != NULL ? record->info.colliders : 0;
    *walls = 0;
    *out = malloc(((size_t)colliders + 1) * sizeof **out);
    if (*out == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the walls of water");
    }
    for (int i = 0; i < colliders; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        if (c->surface.vertices != 4 || c->surface.triangles != 2) {
            continue;
        }
        rp_skin_wall *wall = &(*out)[(*walls)++];
        const rp_pose pose = rp_record_pose(record, i, (double)frame);
        turned(pose.rotation, c->surface.normal[0], wall->normal);
        turned(pose.rotation, c->surface.vertex[0], wall->point);
        for (int a = 0; a < 3; a++) {
            wall->point[a] += pose.position[a];
        }
        wall->over = c->look == RP_LOOK_HIDDEN ? 0.0 : over;
    }
    return RP_OK;
}

rp_result rp_record_faces(const rp_record *record, int64_t frame, rp_skin_face **out, int *faces)
{
    enum { BOX = 12 }; // triangles
    const int colliders = record != NULL ? record->info.colliders : 0;
    *faces = 0;
    *out = malloc(((size_t)colliders * BOX + 1) * sizeof **out);
    if (*out == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for what water lies against");
    }
    for (int i = 0; i < colliders; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        if (c->surface.triangles != BOX || c->deforms) {
            continue;
        }
        const rp_pose pose = rp_record_pose(record, i, (double)frame);
        for (int t = 0; t < BOX; t++) {
            rp_skin_face *face = &(*out)[(*faces)++];
            for (int k = 0; k < 3; k++) {
                turned(pose.rotation, c->surface.vertex[c->surface.triangle[t][k]],
                       face->corner[k]);
                for (int a = 0; a < 3; a++) {
                    face->corner[k][a] += pose.position[a];
                }
            }
        }
    }
    return RP_OK;
}

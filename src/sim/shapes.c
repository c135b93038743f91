// Colliders as meshes in the run's folder, for whoever shows it: shapes/NAME.ply as each stands at
// pose (0, 0, 0), shapes/NAME.vertices, where the vertices of one that deforms are at each of its
// times, and shapes/shapes.json, which says how it is to look. Written once, before the first
// frame; where colliders are at a frame is in forces.csv.
//
// And the pieces of bodies that may break, as they were cut: shapes/piece-N.ply, N the number of
// the body that each of them is. Where they went is read off their particles.
#include "sim/shapes.h"

#include "base/result.h"
#include "repose/file.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    FINENESS = 96,        // cells along the longest side of a shape, at most
    FINENESS_GLASS = 224, // its edges are looked at more closely
};

typedef struct bounds {
    double lower[3], upper[3];
} bounds;

static void grow(bounds *b, const double x[3])
{
    for (int a = 0; a < 3; a++) {
        b->lower[a] = fmin(b->lower[a], x[a]);
        b->upper[a] = fmax(b->upper[a], x[a]);
    }
}

static void grow_by_particles(bounds *b, const rp_world *world)
{
    for (int s = 0; s < world->species_count; s++) {
        const rp_set *set = &world->set[s];
        const rp_page *page = rp_set_page(set);
        for (rp_local p = 0; p < set->pages; p++) {
            for (rp_local slot = page[p].first; slot < page[p].first + page[p].count; slot++) {
                double x[3] = {0};
                for (int a = 0; a < set->layout.dim; a++) {
                    x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, &page[p]);
                }
                grow(b, x);
            }
        }
    }
}

// Ground and walls have no end, but what is above or beside them will come to them: the nearest
// point of each.
static void grow_by_endless(bounds *b, const rp_world *world)
{
    const bounds before = *b;
    for (int i = 0; i < world->colliders; i++) {
        double x[3], out[3], lower[3], upper[3];
        if (rp_shape_bounds(world->collider[i].shape, world->def.dimension, lower, upper)) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            x[a] = 0.5 * (before.lower[a] + before.upper[a]);
        }
        const double d = rp_collider_look(&world->collider[i], x, out);
        for (int a = 0; a < 3; a++) {
            x[a] -= d * out[a];
        }
        grow(b, x);
    }
}

// What there is to see, with some room around it.
static bounds scene_bounds(const rp_world *world)
{
    const int dim = world->def.dimension;
    const rp_domain *domain = &world->domain;
    bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    grow_by_particles(&b, world);
    for (int i = 0; i < world->emitters; i++) {
        for (int32_t k = 0; k < world->emitter[i].sites; k++) {
            double site[3];
            if (rp_emitter_site(world, &world->emitter[i], k, world->emitter[i].start, site) ==
                RP_OK) {
                grow(&b, site);
            }
        }
    }
    for (int i = 0; i < world->colliders; i++) {
        const rp_collider *c = &world->collider[i];
        double lower[3], upper[3];
        if (rp_collider_bounds(c, dim, lower, upper)) {
            grow(&b, lower);
            grow(&b, upper);
        }
    }
    for (int a = 0; a < 3; a++) {
        if (!(b.lower[a] <= b.upper[a])) {
            b.lower[a] = -0.5;
            b.upper[a] = 0.5;
        }
        if (domain->set && a < dim && isfinite(domain->lower[a]) && isfinite(domain->upper[a])) {
            b.lower[a] = domain->lower[a];
            b.upper[a] = domain->upper[a];
        }
    }
    grow_by_endless(&b, world);
    for (int a = 0; a < dim;
         a++) { // what has no size of its own, such as an emitter's mouth, gets some
        const double room = fmax(0.0, 4.0 * world->def.dx - 0.5 * (b.upper[a] - b.lower[a]));
        b.lower[a] -= room;
        b.upper[a] += room;
    }
    if (dim == 2) { // a slice, to look at
        const double depth = 0.04 * (b.upper[0] - b.lower[0]) + 2.0 * world->def.dx;
        b.lower[2] = -depth;
        b.upper[2] = depth;
    }
    return b;
}

static double most3(double a, double b, double c) { return fmax(a, fmax(b, c)); }

// z where gravity points along it at the start, else y.
static int up_of(const rp_world *world)
{
    double g[3] = {0};
    const bool known = rp_world_gravity(world, g) == RP_OK && world->def.dimension == 3;
    return known && fabs(g[2]) > fmax(fabs(g[0]), fabs(g[1])) ? 2 : 1;
}

// The box in which a collider is drawn, in its own frame.
static bounds box_of(const rp_world *world, const rp_collider *c, const bounds *scene)
{
    bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double lower[3], upper[3], g[3];
    // the scene as the collider sees it from where it stands
    for (int corner = 0; corner < 8; corner++) {
        double x[3] = {0};
        for (int k = 0; k < 3; k++) {
            const double to =
                (corner >> k & 1 ? scene->upper[k] : scene->lower[k]) - c->end.position[k];
            for (int a = 0; a < 3; a++) {
                x[a] += c->end.rotation[k][a] * to;
            }
        }
        grow(&b, x);
    }
    const double size =
        most3(b.upper[0] - b.lower[0], b.upper[1] - b.lower[1], b.upper[2] - b.lower[2]);
    const double middle[3] = {0.5 * (b.lower[0] + b.upper[0]), 0.5 * (b.lower[1] + b.upper[1]),
                              0.5 * (b.lower[2] + b.upper[2])};
    if (rp_shape_bounds(c->shape, world->def.dimension, lower, upper)) {
        for (int a = 0; a < world->def.dimension; a++) { // all of it, wherever it is
            b.lower[a] = fmin(b.lower[a], lower[a]);
            b.upper[a] = fmax(b.upper[a], upper[a]);
        }
        return b;
    }
    // ground goes on beyond what lies on it; walls are as large as what they hold
    rp_shape_distance(c->shape, middle, g);
    const int up = up_of(world);
    const bool ground = g[up] > 0.7;
    for (int a = 0; a < 3; a++) {
        const double room = ground && (a != up) ? size : a == up && !ground ? 0.1 * size : 0.0;
        b.lower[a] -= a == up && !ground ? 0.0 : room;
        b.upper[a] += room;
    }
    return b;
}

static rp_result collider_surface(const rp_world *world, const rp_collider *c, const bounds *scene,
                                  rp_surface *out)
{
    const bounds b = box_of(world, c, scene);
    double lower[3], upper[3], size = 0.0;
    const bool finite = rp_shape_bounds(c->shape, world->def.dimension, lower, upper);
    for (int a = 0; a < world->def.dimension; a++) {
        size = fmax(size, finite ? upper[a] - lower[a] : b.upper[a] - b.lower[a]);
    }
    const int fineness = c->look == RP_LOOK_GLASS ? FINENESS_GLASS : FINENESS;
    const double cell = fmax(0.5 * world->def.dx, size / fineness);
    return rp_shape_surface(c->shape, world->def.dimension, b.lower, b.upper, cell, out);
}

// ---- files ----

enum { FILE_NAME = RP_NAME_SIZE + 32 };

// Of letters, digits, - and _; with its number where another collider might have the same, which
// one that ends in a number has.
static void file_name(const rp_world *world, int index, char out[FILE_NAME])
{
    const char *own = world->collider[index].name, *dash = strrchr(own, '-');
    bool clash = dash != NULL && strspn(dash + 1, "0123456789") == strlen(dash + 1);
    for (int i = 0; i < world->colliders; i++) {
        clash |= i != index && strcasecmp(world->collider[i].name, own) == 0;
    }
    char name[RP_NAME_SIZE];
    snprintf(name, sizeof name, "%s", own);
    for (char *c = name; *c != '\0'; c++) {
        const bool plain = isalnum((unsigned char)*c) || *c == '-' || *c == '_';
        clash |= !plain;
        *c = plain ? *c : '_';
    }
    snprintf(out, FILE_NAME, clash ? "%s-%d.ply" : "%s.ply", name, index);
}

static rp_result write_ply(const char *path, const char *kind, const char *name, int up,
                           const rp_surface *s)
{
    char header[512];
    const int length =
        snprintf(header, sizeof header,
                 "ply\nformat binary_little_endian 1.0\ncomment %s %s, metres, %c up\n"
                 "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\n"
                 "property float nx\nproperty float ny\nproperty float nz\n"
                 "element face %lld\nproperty list uchar uint vertex_indices\nend_header\n",
                 kind, name, "xyz"[up], (long long)s -> vertices, (long long)s -> triangles);
    enum { VERTEX = 6 * sizeof(float), FACE = 1 + 3 * sizeof(uint32_t) };
    const size_t size = (size_t)length + (size_t)s->vertices * VERTEX + (size_t)s->triangles * FACE;
    unsigned char *bytes = malloc(size), *at = bytes;
    if (bytes == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory to write %s", path);
    }
    memcpy(at, header, (size_t)length);
    at += length;
    for (int64_t i = 0; i < s->vertices; i++, at += VERTEX) {
        memcpy(at, s->vertex[i], VERTEX / 2);
        memcpy(at + VERTEX / 2, s->normal[i], VERTEX / 2);
    }
    for (int64_t i = 0; i < s->triangles; i++, at += FACE) {
        at[0] = 3;
        memcpy(at + 1, s->triangle[i], FACE - 1);
    }
    const rp_result result = rp_file_write_all(path, bytes, size);
    free(bytes);
    return result;
}

// The vertices of the drawn surface at all times of a collider that deforms. Its triangles are
// those of the mesh, in their order; where there is a crease, a vertex is there twice.
static rp_result write_vertices(const char *path, const rp_collider *c, const rp_surface *s)
{
    const rp_sequence_info info = rp_sequence_info_of(c->shape);
    const size_t each = (size_t)s->vertices, size = (size_t)info.count * each * sizeof(float[3]);
    float(*vertex)[3] = calloc((size_t)info.count * each + 1, sizeof *vertex);
    rp_result result =
        vertex != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "no memory to write %s", path);
    for (int i = 0; i < info.count && result == RP_OK; i++) {
        rp_mesh mesh = {0};
        result = rp_sequence_surface(c->shape, i, &mesh);
        RP_ASSERT(result != RP_OK || mesh.triangles == s->triangles);
        for (int64_t k = 0; k < 3 * s->triangles && result == RP_OK; k++) {
            const double *x = rp_mesh_place(&mesh)[rp_mesh_triangle(&mesh)[k / 3][k % 3]];
            float *to = vertex[(size_t)i * each + s->triangle[k / 3][k % 3]];
            for (int a = 0; a < 3; a++) {
                to[a] = (float)x[a];
            }
        }
        rp_mesh_free(&mesh);
    }
    result = result == RP_OK ? rp_file_write_all(path, vertex, size) : result;
    free(vertex);
    return result;
}

static rp_result write_shape(const rp_world *world, int index, const bounds *scene,
                             const rp_folder *folder, json_t *list)
{
    static const char *const look[] = {"solid", "glass", "hidden"};
    const rp_collider *c = &world->collider[index];
    char file[FILE_NAME], moves[FILE_NAME + 16], name[FILE_NAME + 32], path[RP_PATH];
    rp_surface surface;
    const rp_result found = collider_surface(world, c, scene, &surface);
    if (found == RP_ERR_ARGUMENT) { // pictures will lack it, which is no reason not to run
        rp_log(RP_LOG_WARNING, "collider '%s' cannot be drawn: %s", c->name, rp_last_error());
        return RP_OK;
    }
    RP_TRY(found);
    file_name(world, index, file);
    snprintf(name, sizeof name, "shapes/%s", file);
    rp_result result =
        write_ply(rp_folder_path(folder, name, path), "collider", c->name, up_of(world), &surface);
    snprintf(moves, sizeof moves, "%.*s.vertices", (int)(strlen(file) - strlen(".ply")), file);
    if (result == RP_OK && c->morph != NULL) {
        snprintf(name, sizeof name, "shapes/%s", moves);
        result = write_vertices(rp_folder_path(folder, name, path), c, &surface);
    }
    rp_surface_free(&surface);
    json_t *said = json_pack("{s:i, s:s, s:s, s:s, s:[f,f,f], s:b}", "collider", index, "name",
                             c->name, "file", file, "look", look[c->look], "color", c->color[0],
                             c->color[1], c->color[2], "moves", (int)c->moves);
    if (c->morph != NULL) {
        const rp_sequence_info i = rp_sequence_info_of(c->shape);
        json_object_set_new(said, "sequence",
                            json_pack("{s:s, s:i, s:f, s:f, s:b}", "file", moves, "count", i.count,
                                      "fps", i.fps, "start", i.start, "loop", (int)i.loop));
    }
    if (json_array_append_new(list, said) != 0 && result == RP_OK) {
        return rp_fail(RP_ERR_MEMORY, "no memory to write shapes.json");
    }
    return result;
}

// ---- pieces ----

static rp_result write_piece(const rp_world *world, const rp_cut *cut, int piece, int field,
                             const bounds *scene, const rp_folder *folder)
{
    bounds b = *scene; // in 2D, how thick a slice is
    rp_shape *shape;
    rp_surface surface;
    RP_TRY(rp_cut_shape(cut, piece, &shape));
    double lower[3], upper[3], size = 0.0;
    rp_shape_bounds(shape, world->def.dimension, lower, upper);
    for (int a = 0; a < world->def.dimension; a++) {
        size = fmax(size, upper[a] - lower[a]);
    }
    const double cell = fmax(0.25 * world->def.dx, size / FINENESS_GLASS);
    for (int a = 0; a < world->def.dimension; a++) {
        b.lower[a] = lower[a] - 2.0 * cell;
        b.upper[a] = upper[a] + 2.0 * cell;
    }
    rp_result result =
        rp_shape_surface(shape, world->def.dimension, b.lower, b.upper, cell, &surface);
    rp_shape_release(shape);
    RP_TRY(result);
    char file[64], path[RP_PATH], name[RP_NAME_SIZE];
    snprintf(file, sizeof file, "shapes/piece-%d.ply", field);
    rp_world_body_name(world, field, name);
    result = write_ply(rp_folder_path(folder, file, path), "piece", name, up_of(world), &surface);
    rp_surface_free(&surface);
    return result;
}

static rp_result write_pieces(const rp_world *world, const bounds *scene, const rp_folder *folder)
{
    for (int i = 0; i < world->broken_count; i++) {
        const rp_cut *cut = world->broken[i].cut;
        for (int k = 0; k < rp_cut_pieces(cut); k++) {
            RP_TRY(write_piece(world, cut, k, world->broken[i].field + k, scene, folder));
        }
    }
    return RP_OK;
}

rp_result rp_world_write_shapes(const rp_world *world, const rp_folder *folder)
{
    char path[RP_PATH];
    rp_folder_path(folder, "shapes", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return rp_file_cannot("make", path, errno);
    }
    const bounds scene = scene_bounds(world);
    json_t *list = json_array();
    rp_result result = RP_OK;
    for (int i = 0; i < world->colliders && result == RP_OK; i++) {
        result = write_shape(world, i, &scene, folder, list);
    }
    result = result == RP_OK ? write_pieces(world, &scene, folder) : result;
    char *text = json_dumps(list, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    if (result == RP_OK && text == NULL) {
        result = rp_fail(RP_ERR_MEMORY, "no memory to write shapes.json");
    }
    if (result == RP_OK) {
        rp_folder_path(folder, "shapes/shapes.json", path);
        result = rp_file_write_all(path, text, strlen(text));
    }
    free(text);
    json_decref(list);
    return result;
}

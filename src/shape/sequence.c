#include "shape/sequence.h"

#include "base/result.h"
#include "base/three.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES_MOST = 100000 };
static const double BYTES_MOST = 0x1p34; // of all vertices

typedef double places[3]; // [place] of one time

typedef struct sequence {
    rp_shape shape;
    rp_mesh mesh;            // the first one, welded
    rp_buffer place;         // double[count][mesh.places][3]
    rp_buffer first, around; // triangles around place i: around[first[i]] to around[first[i + 1]]
    rp_sequence_info info;
    double thickness;
    double lower[3], upper[3]; // of all of them
    rp_morph *still;           // as it is at the start
} sequence;

struct rp_morph {
    const sequence *of;
    rp_buffer begin, end;      // double[places][3]
    rp_mesh_tree tree;         // at the start of the step
    double from;               // when that is [s]; NAN: not known
    double lower[3], upper[3]; // of both
    bool kept;                 // holds a reference to the sequence
};

static const places *places_at(const sequence *s, int index)
{
    return (const places *)s->place.data + (size_t)index * (size_t)s->mesh.places;
}

static const int32_t (*triangles_of(const sequence *s))[3]
{
    return (const int32_t(*)[3])rp_mesh_triangle(&s->mesh);
}

// ---- in time ----

// Where all vertices are at time t.
static void places_at_time(const sequence *s, double t, places *out)
{
    const rp_sequence_info *i = &s->info;
    double at = (t - i->start) * i->fps;
    at = fmax(at, 0.0);
    if (i->loop) {
        at -= i->count * floor(at / i->count);
    }
    at = fmin(at, i->loop ? i->count : i->count - 1);
    const int first = (int)at < i->count ? (int)at : i->count - 1;
    const int next = first + 1 < i->count ? first + 1 : i->loop ? 0 : first;
    const double share = at - first;
    const places *a = places_at(s, first), *b = places_at(s, next);
    for (int32_t p = 0; p < s->mesh.places; p++) {
        for (int k = 0; k < 3; k++) {
            out[p][k] = a[p][k] + share * (b[p][k] - a[p][k]);
        }
    }
}

static void grow(double lower[3], double upper[3], const places *place, int32_t count, double by)
{
    for (int32_t p = 0; p < count; p++) {
        for (int a = 0; a < 3; a++) {
            lower[a] = fmin(lower[a], place[p][a] - by);
            upper[a] = fmax(upper[a], place[p][a] + by);
        }
    }
}

static void find_bounds(rp_morph *m)
{
    for (int a = 0; a < 3; a++) {
        m->lower[a] = INFINITY;
        m->upper[a] = -INFINITY;
    }
    grow(m->lower, m->upper, m->begin.data, m->of->mesh.places, 0.5 * m->of->thickness);
    grow(m->lower, m->upper, m->end.data, m->of->mesh.places, 0.5 * m->of->thickness);
}

void rp_morph_move(rp_morph *m, double t, double dt)
{
    if (t != m->from) {
        places_at_time(m->of, t, m->begin.data);
        rp_mesh_tree_refit(&m->tree, triangles_of(m->of), m->begin.data);
        m->from = t;
    }
    places_at_time(m->of, t + dt, m->end.data);
    find_bounds(m);
}

void rp_morph_end_step(rp_morph *m)
{
    memcpy(m->begin.data, m->end.data, (size_t)m->of->mesh.places * sizeof(places));
    rp_mesh_tree_refit(&m->tree, triangles_of(m->of), m->begin.data);
    m->from = NAN;
}

// ---- distances ----

static void unit_normal(const places *place, const int32_t corner[3], double out[3])
{
    double side[2][3];
    for (int a = 0; a < 3; a++) {
        side[0][a] = place[corner[1]][a] - place[corner[0]][a];
        side[1][a] = place[corner[2]][a] - place[corner[0]][a];
    }
    rp_cross(side[0], side[1], out);
    const double length = sqrt(rp_dot(out, out));
    for (int a = 0; a < 3; a++) {
        out[a] = length > 0.0 ? out[a] / length : 0.0;
    }
}

// Of a triangle at one of its corners, 0 to pi.
static double angle_at(const places *place, const int32_t corner[3], int k)
{
    double side[2][3], cross[3];
    for (int i = 0; i < 2; i++) {
        for (int a = 0; a < 3; a++) {
            side[i][a] = place[corner[(k + 1 + i) % 3]][a] - place[corner[k]][a];
        }
    }
    rp_cross(side[0], side[1], cross);
    const double along = rp_dot(side[0], side[1]), across = sqrt(rp_dot(cross, cross));
    const double length = sqrt(along * along + across * across);
    return across > 0.0 && along > -0.999999 * length ? rp_angle_of(across / length, along / length)
           : along < 0.0                              ? 3.14159265358979323846
                                                      : 0.0;
}

// The way out at a spot: the normal of its triangle, or the sum of those that share its edge or its
// corner.
static void way_out(const sequence *s, const places *place, const rp_mesh_spot *spot, double out[3])
{
    const int32_t *corner = triangles_of(s)[spot->triangle];
    const int32_t *first = s->first.data, *around = s->around.data;
    int32_t shared[3];
    int count = 0;
    for (int k = 0; k < 3; k++) {
        if (spot->share[k] != 0.0) {
            shared[count++] = corner[k];
        }
    }
    if (count == 3) {
        unit_normal(place, corner, out);
        return;
    }
    double sum[3] = {0};
    for (int32_t i = first[shared[0]]; i < first[shared[0] + 1]; i++) {
        const int32_t *c = triangles_of(s)[around[i]];
        const int at = c[0] == shared[0] ? 0 : c[1] == shared[0] ? 1 : 2;
        if (count == 2 && c[0] != shared[1] && c[1] != shared[1] && c[2] != shared[1]) {
            continue;
        }
        double normal[3];
        unit_normal(place, c, normal);
        const double weight = count == 2 ? 1.0 : angle_at(place, c, at);
        for (int a = 0; a < 3; a++) {
            sum[a] += weight * normal[a];
        }
    }
    const double length = sqrt(rp_dot(sum, sum));
    for (int a = 0; a < 3; a++) {
        out[a] = length > 0.0 ? sum[a] / length : a == 1; // every way is as good: take up
    }
}

double rp_morph_look(const rp_morph *m, const double x[3], double normal[3], rp_mesh_spot *spot)
{
    const sequence *s = m->of;
    const places *place = m->begin.data;
    const double distance = rp_mesh_tree_nearest(&m->tree, x, spot);
    const int32_t *corner = triangles_of(s)[spot->triangle];
    double away[3], size = 0.0;
    for (int a = 0; a < 3; a++) {
        away[a] = x[a];
        for (int k = 0; k < 3; k++) {
            away[a] -= spot->share[k] * place[corner[k]][a];
        }
        size += fabs(x[a]) + fabs(place[corner[0]][a]);
    }
    way_out(s, place, spot, normal);
    const bool inside = s->thickness == 0.0 && rp_dot(away, normal) < 0.0;
    // nearer than this, the difference of two places is all rounding
    if (distance > 1e-9 * size) {
        for (int a = 0; a < 3; a++) {
            normal[a] = (inside ? -away[a] : away[a]) / distance;
        }
    }
    return inside ? -distance : distance - 0.5 * s->thickness;
}

void rp_morph_way(const rp_morph *m, const rp_mesh_spot *spot, double out[3])
{
    const int32_t *corner = triangles_of(m->of)[spot->triangle];
    const places *begin = m->begin.data, *end = m->end.data;
    for (int a = 0; a < 3; a++) {
        out[a] = 0.0;
        for (int k = 0; k < 3; k++) {
            out[a] += spot->share[k] * (end[corner[k]][a] - begin[corner[k]][a]);
        }
    }
}

void rp_morph_bounds(const rp_morph *m, double lower[3], double upper[3])
{
    memcpy(lower, m->lower, sizeof m->lower);
    memcpy(upper, m->upper, sizeof m->upper);
}

double rp_morph_longest_way(const rp_morph *m, const double lower[3], const double upper[3])
{
    const places *begin = m->begin.data, *end = m->end.data;
    const double by = 0.5 * m->of->thickness;
    double most2 = 0.0;
    for (int32_t t = 0; t < m->of->mesh.triangles; t++) {
        const int32_t *corner = triangles_of(m->of)[t];
        bool near = true;
        double way2 = 0.0;
        for (int a = 0; a < 3; a++) {
            double low = INFINITY, high = -INFINITY;
            for (int k = 0; k < 3; k++) {
                low = fmin(low, fmin(begin[corner[k]][a], end[corner[k]][a]) - by);
                high = fmax(high, fmax(begin[corner[k]][a], end[corner[k]][a]) + by);
            }
            near = near && low <= upper[a] && high >= lower[a];
        }
        for (int k = 0; k < 3 && near; k++) {
            double way[3];
            for (int a = 0; a < 3; a++) {
                way[a] = end[corner[k]][a] - begin[corner[k]][a];
            }
            way2 = fmax(way2, rp_dot(way, way));
        }
        most2 = fmax(most2, way2);
    }
    return sqrt(most2);
}

// ---- a morph ----

static rp_result make_morph(const sequence *s, rp_morph *m)
{
    const rp_allocator *a = rp_default_allocator();
    const size_t bytes = (size_t)s->mesh.places * sizeof(places);
    m->of = s;
    m->from = NAN;
    RP_TRY(rp_buffer_reserve(&m->begin, a, bytes, 0, "a mesh that deforms"));
    RP_TRY(rp_buffer_reserve(&m->end, a, bytes, 0, "a mesh that deforms"));
    RP_TRY(rp_mesh_tree_make(&s->mesh, &m->tree));
    memcpy(m->begin.data, places_at(s, 0), bytes);
    memcpy(m->end.data, places_at(s, 0), bytes);
    find_bounds(m);
    return RP_OK;
}

// Without a reference to the sequence.
static rp_result new_morph(const sequence *s, rp_morph **out)
{
    rp_morph *m = calloc(1, sizeof *m);
    *out = NULL;
    if (m == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a mesh that deforms");
    }
    const rp_result result = make_morph(s, m);
    if (result != RP_OK) {
        rp_morph_free(m);
        return result;
    }
    *out = m;
    return RP_OK;
}

rp_result rp_morph_make(const rp_shape *shape, rp_morph **out)
{
    RP_TRY(new_morph((const sequence *)shape, out));
    (*out)->kept = true;
    rp_shape_retain(shape);
    return RP_OK;
}

void rp_morph_free(rp_morph *m)
{
    if (m == NULL) {
        return;
    }
    rp_buffer_free(&m->begin, rp_default_allocator());
    rp_buffer_free(&m->end, rp_default_allocator());
    rp_mesh_tree_free(&m->tree);
    if (m->kept) {
        rp_shape_release((rp_shape *)(uintptr_t)&m->of->shape);
    }
    free(m);
}

// ---- the surface, to be looked at ----

// A sheet as a plate of its thickness: vertices to either side along the mean normal, triangles on
// both sides, and along every edge that only one triangle has, a rim.
static rp_result make_plate(const sequence *s, const places *place, rp_mesh *out)
{
    const int32_t n = s->mesh.places, m = s->mesh.triangles;
    const int32_t(*corner)[3] = triangles_of(s);
    const int32_t *first = s->first.data, *around = s->around.data;
    RP_TRY(rp_mesh_reserve(out, 2 * (int64_t)n, 8 * (int64_t)m));
    for (int32_t p = 0; p < n; p++) {
        double sum[3] = {0};
        for (int32_t i = first[p]; i < first[p + 1]; i++) {
            double normal[3];
            unit_normal(place, corner[around[i]], normal);
            for (int a = 0; a < 3; a++) {
                sum[a] += normal[a];
            }
        }
        const double length = sqrt(rp_dot(sum, sum));
        for (int a = 0; a < 3; a++) {
            const double out_by = length > 0.0 ? 0.5 * s->thickness * sum[a] / length : 0.0;
            rp_mesh_place(out)[p][a] = place[p][a] + out_by;
            rp_mesh_place(out)[n + p][a] = place[p][a] - out_by;
        }
    }
    out->places = 2 * n;
    for (int32_t t = 0; t < m; t++) {
        const int32_t *c = corner[t];
        const int32_t sides[2][3] = {{c[0], c[1], c[2]}, {n + c[0], n + c[2], n + c[1]}};
        memcpy(rp_mesh_triangle(out)[out->triangles], sides, sizeof sides);
        out->triangles += 2;
        for (int k = 0; k < 3; k++) {
            const int32_t p = c[k], q = c[(k + 1) % 3];
            int shared = 0;
            for (int32_t i = first[p]; i < first[p + 1]; i++) {
                const int32_t *o = corner[around[i]];
                shared += o[0] == q || o[1] == q || o[2] == q;
            }
            const int32_t rim[2][3] = {{p, n + p, q}, {n + p, n + q, q}};
            if (shared == 1) {
                memcpy(rp_mesh_triangle(out)[out->triangles], rim, sizeof rim);
                out->triangles += 2;
            }
        }
    }
    return RP_OK;
}

rp_result rp_sequence_surface(const rp_shape *shape, int index, rp_mesh *out)
{
    const sequence *s = (const sequence *)shape;
    const places *place = places_at(s, index);
    if (s->thickness > 0.0) {
        return make_plate(s, place, out);
    }
    RP_TRY(rp_mesh_reserve(out, s->mesh.places, s->mesh.triangles));
    out->places = s->mesh.places;
    out->triangles = s->mesh.triangles;
    memcpy(rp_mesh_place(out), place, (size_t)out->places * sizeof *place);
    memcpy(rp_mesh_triangle(out), triangles_of(s), (size_t)out->triangles * sizeof(int32_t[3]));
    return RP_OK;
}

// ---- the class: as it is at the start ----

static double sequence_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    rp_mesh_spot spot;
    return rp_morph_look(((const sequence *)shape)->still, x, gradient, &spot);
}

static void sequence_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const sequence *s = (const sequence *)shape;
    memcpy(lower, s->lower, sizeof s->lower);
    memcpy(upper, s->upper, sizeof s->upper);
}

static double sequence_volume(const rp_shape *shape, int dimension)
{
    const sequence *s = (const sequence *)shape;
    return dimension == 3 && s->thickness == 0.0 ? rp_mesh_volume(&s->mesh) : NAN;
}

static rp_result sequence_triangles(const rp_shape *shape, const rp_shape_slab *slab, rp_mesh *out)
{
    return slab == NULL ? rp_sequence_surface(shape, 0, out) : RP_OK;
}

static void sequence_free(rp_shape *shape)
{
    sequence *s = (sequence *)shape;
    const rp_allocator *a = rp_default_allocator();
    rp_morph_free(s->still);
    rp_mesh_free(&s->mesh);
    rp_buffer_free(&s->place, a);
    rp_buffer_free(&s->first, a);
    rp_buffer_free(&s->around, a);
}

static const rp_shape_class class = {.distance = sequence_distance,
                                     .bounds = sequence_bounds,
                                     .volume = sequence_volume,
                                     .free = sequence_free,
                                     .triangles = sequence_triangles};

bool rp_shape_deforms(const rp_shape *shape) { return shape->class == &class; }

rp_result rp_shape_check_still(const char *name, const rp_shape *shape)
{
    return !rp_shape_deforms(shape)
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT,
                         "%s: want one that stays as it is, got a mesh_sequence, which only a "
                         "collider's shape can be",
                         name);
}

rp_sequence_info rp_sequence_info_of(const rp_shape *shape)
{
    return ((const sequence *)shape)->info;
}

// ---- making one ----

rp_sequence_def rp_default_sequence_def(void)
{
    return (rp_sequence_def){.fps = 24.0, .scale = 1.0, .cookie = RP_DEF_COOKIE};
}

static rp_result check_def(const rp_sequence_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh_sequence: start from rp_default_sequence_def()");
    }
    if (def->count < 1 || def->count > TIMES_MOST) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh_sequence.count: want 1 to %d, got %d", TIMES_MOST,
                       def->count);
    }
    if (!(def->fps > 0.0 && isfinite(def->fps))) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh_sequence.fps: want > 0, got %g", def->fps);
    }
    if (!isfinite(def->start)) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh_sequence.start: want a time, got %g", def->start);
    }
    if (!(def->scale > 0.0 && isfinite(def->scale)) || def->turn < -1 || def->turn > 1) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "mesh_sequence.scale: want > 0, and turn -1 to 1, got %g and %d", def->scale,
                       def->turn);
    }
    if (!(def->thickness >= 0.0 && isfinite(def->thickness))) {
        return rp_fail(RP_ERR_ARGUMENT, "mesh_sequence.thickness: want > 0 m, got %g",
                       def->thickness);
    }
    return RP_OK;
}

// A glTF file that names others: they would have to be kept with every run, one by one.
static rp_result refuse_others(void *context, const char *name)
{
    (void)context;
    return rp_fail(RP_ERR_FILE, "want its numbers in the file itself, as in .glb, got them in '%s'",
                   name);
}

// One of the meshes, as it is in its file.
static rp_result take_one(const rp_sequence_def *def, int index, rp_mesh *out)
{
    rp_mesh_def one = rp_default_mesh_def();
    one.file = def->file != NULL ? def->file[index] : NULL;
    one.uses = refuse_others;
    one.vertices =
        def->vertices != NULL ? def->vertices + 3 * (int64_t)index * def->vertex_count : NULL;
    one.triangles = def->triangles;
    one.vertex_count = def->vertex_count;
    one.triangle_count = def->triangle_count;
    one.scale = def->scale;
    one.turn = def->turn;
    return rp_mesh_take(&one, out);
}

static void name_of(const rp_sequence_def *def, int index, char out[256])
{
    if (def->file != NULL) {
        snprintf(out, 256, "%s", def->file[index]);
    } else {
        snprintf(out, 256, "mesh_sequence[%d]", index);
    }
}

static rp_result list_around(sequence *s)
{
    const rp_allocator *a = rp_default_allocator();
    const int32_t n = s->mesh.places, m = s->mesh.triangles;
    RP_TRY(rp_buffer_reserve(&s->first, a, ((size_t)n + 2) * sizeof(int32_t), 0,
                             "triangles around vertices"));
    RP_TRY(rp_buffer_reserve(&s->around, a, 3 * (size_t)m * sizeof(int32_t), 0,
                             "triangles around vertices"));
    int32_t *first = s->first.data, *around = s->around.data;
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    // counted two places on, so that filling moves them to where they belong
    for (int32_t i = 0; i < 3 * m; i++) {
        first[triangles_of(s)[i / 3][i % 3] + 2]++;
    }
    for (int32_t p = 0; p < n; p++) {
        first[p + 2] += first[p + 1];
    }
    for (int32_t i = 0; i < 3 * m; i++) {
        around[first[triangles_of(s)[i / 3][i % 3] + 1]++] = i / 3;
    }
    return RP_OK;
}

// What has no area says nothing of where it looks.
static rp_result check_areas(const sequence *s, const places *place, const char *name)
{
    for (int32_t t = 0; t < s->mesh.triangles; t++) {
        double normal[3];
        unit_normal(place, triangles_of(s)[t], normal);
        if (!(rp_dot(normal, normal) > 0.0)) {
            const double *x = place[triangles_of(s)[t][0]];
            return rp_fail(RP_ERR_ARGUMENT, "%s: triangle %d, at (%.4g, %.4g, %.4g) m, has no area",
                           name, t, x[0], x[1], x[2]);
        }
    }
    return RP_OK;
}

// The vertices of a file in the order of the first one, once welded.
// @param named for each vertex of a file, its number once welded
static rp_result put_places(sequence *s, int index, const rp_mesh *raw, const int32_t *named,
                            const char *name)
{
    places *out = (places *)s->place.data + (size_t)index * (size_t)s->mesh.places;
    double lower[3], upper[3], size = 0.0;
    rp_mesh_bounds(raw, lower, upper);
    for (int a = 0; a < 3; a++) {
        size = fmax(size, upper[a] - lower[a]);
    }
    if (!isfinite(size)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: the mesh has a size of %g m", name, size);
    }
    // vertices of no triangle are where one of a triangle is, so that they are in nobody's way
    for (int32_t p = 0; p < s->mesh.places; p++) {
        memcpy(out[p], rp_mesh_place(raw)[rp_mesh_triangle(raw)[0][0]], sizeof *out);
    }
    for (int32_t i = 0; i < raw->places; i++) {
        if (named[i] >= 0) {
            memcpy(out[named[i]], rp_mesh_place(raw)[i], sizeof *out);
        }
    }
    for (int32_t i = 0; i < raw->places; i++) {
        const double *x = rp_mesh_place(raw)[i], *y = named[i] >= 0 ? out[named[i]] : x;
        const double off = fabs(x[0] - y[0]) + fabs(x[1] - y[1]) + fabs(x[2] - y[2]);
        if (!(off <= 1e-6 * size)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "%s: vertex %d is at (%.4g, %.4g, %.4g) m, %.2g m away from one that it "
                           "is the same as in the first file",
                           name, i, x[0], x[1], x[2], off);
        }
    }
    grow(s->lower, s->upper, out, s->mesh.places, 0.5 * s->thickness);
    RP_TRY(check_areas(s, out, name));
    rp_mesh now = s->mesh; // the triangles with these places
    now.place_buffer.data = out;
    if (s->thickness == 0.0 && !(rp_mesh_volume(&now) > 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: the surface is inside out, or encloses nothing", name);
    }
    return RP_OK;
}

static rp_result check_same(const rp_mesh *first, const rp_mesh *other, const char *first_name,
                            const char *name)
{
    if (first->places != other->places || first->triangles != other->triangles) {
        return rp_fail(
            RP_ERR_ARGUMENT, "%s: want %d vertices and %d triangles, as in %s, got %d and %d", name,
            first->places, first->triangles, first_name, other->places, other->triangles);
    }
    for (int32_t t = 0; t < first->triangles; t++) {
        const int32_t *a = rp_mesh_triangle(first)[t], *b = rp_mesh_triangle(other)[t];
        if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2]) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "%s: triangle %d joins vertices %d, %d and %d, and in %s %d, %d and %d: "
                           "want the same triangles in all files (faces of more corners may be cut "
                           "in other ways)",
                           name, t, b[0], b[1], b[2], first_name, a[0], a[1], a[2]);
        }
    }
    return RP_OK;
}

// The first file: what all others are like.
static rp_result take_first(const rp_sequence_def *def, sequence *s, const rp_mesh *raw,
                            rp_buffer *named, const char *name)
{
    const rp_allocator *a = rp_default_allocator();
    RP_TRY(rp_mesh_reserve(&s->mesh, raw->places, raw->triangles));
    s->mesh.places = raw->places;
    s->mesh.triangles = raw->triangles;
    memcpy(rp_mesh_place(&s->mesh), rp_mesh_place(raw), (size_t)raw->places * sizeof(places));
    memcpy(rp_mesh_triangle(&s->mesh), rp_mesh_triangle(raw),
           (size_t)raw->triangles * sizeof(int32_t[3]));
    if (def->thickness == 0.0) {
        RP_TRY(rp_mesh_close(&s->mesh, name, false));
    }
    const double bytes = (double)def->count * (double)s->mesh.places * sizeof(places);
    if (!(bytes <= BYTES_MOST)) {
        return rp_fail(RP_ERR_LIMIT,
                       "mesh_sequence: %d files of %d vertices take %.3g GB, want at most %.3g",
                       def->count, s->mesh.places, 1e-9 * bytes, 1e-9 * BYTES_MOST);
    }
    RP_TRY(rp_buffer_reserve(&s->place, a, (size_t)bytes, 0, "vertices of a mesh sequence"));
    RP_TRY(rp_buffer_reserve(named, a, (size_t)raw->places * sizeof(int32_t), 0,
                             "vertices of a mesh sequence"));
    // welding keeps the order of triangles
    int32_t *number = named->data;
    memset(number, 0xff, (size_t)raw->places * sizeof *number);
    for (int32_t i = 0; i < 3 * raw->triangles; i++) {
        number[rp_mesh_triangle(raw)[i / 3][i % 3]] = triangles_of(s)[i / 3][i % 3];
    }
    return list_around(s);
}

static rp_result take_all(const rp_sequence_def *def, sequence *s, rp_mesh raw[2], rp_buffer *named)
{
    char first[256], name[256];
    name_of(def, 0, first);
    RP_TRY(take_one(def, 0, &raw[0]));
    RP_TRY(take_first(def, s, &raw[0], named, first));
    RP_TRY(put_places(s, 0, &raw[0], named->data, first));
    for (int i = 1; i < def->count; i++) {
        name_of(def, i, name);
        raw[1].places = raw[1].triangles = 0;
        RP_TRY(take_one(def, i, &raw[1]));
        RP_TRY(check_same(&raw[0], &raw[1], first, name));
        RP_TRY(put_places(s, i, &raw[1], named->data, name));
    }
    return new_morph(s, &s->still);
}

rp_result rp_shape_sequence(const rp_sequence_def *def, rp_shape **shape)
{
    *shape = NULL;
    rp_shape *made;
    RP_TRY(check_def(def));
    RP_TRY(rp_shape_new(&class, sizeof(sequence), &made));
    sequence *s = (sequence *)made;
    s->info = (rp_sequence_info){def->count, def->fps, def->start, def->loop};
    s->thickness = def->thickness;
    for (int a = 0; a < 3; a++) {
        s->lower[a] = INFINITY;
        s->upper[a] = -INFINITY;
    }
    rp_mesh raw[2] = {0};
    rp_buffer named = {0};
    const rp_result result = take_all(def, s, raw, &named);
    rp_mesh_free(&raw[0]);
    rp_mesh_free(&raw[1]);
    rp_buffer_free(&named, rp_default_allocator());
    if (result != RP_OK) {
        rp_shape_release(made);
        return result;
    }
    *shape = made;
    return RP_OK;
}

#include "shape/mesh_file.h"

#include "base/number.h"
#include "base/result.h"
#include "repose/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- what readers append ----

// Twice as much when it is full, so that appending takes a constant time.
static rp_result make_room(rp_mesh *mesh, int64_t places, int64_t triangles)
{
    const int64_t has_places = (int64_t)(mesh->place_buffer.bytes / sizeof(double[3]));
    const int64_t has_triangles = (int64_t)(mesh->triangle_buffer.bytes / sizeof(int32_t[3]));
    if (places > has_places) {
        places = places > RP_MESH_LIMIT       ? places
                 : 2 * places < RP_MESH_LIMIT ? 2 * places
                                              : RP_MESH_LIMIT;
    }
    if (triangles > has_triangles) {
        triangles = triangles > RP_MESH_LIMIT       ? triangles
                    : 2 * triangles < RP_MESH_LIMIT ? 2 * triangles
                                                    : RP_MESH_LIMIT;
    }
    return rp_mesh_reserve(mesh, places, triangles);
}

rp_result rp_mesh_add_place(const char *path, rp_mesh *mesh, const double x[3])
{
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) {
        return rp_fail(RP_ERR_FILE, "%s: vertex %d is not finite: (%g, %g, %g)", path, mesh->places,
                       x[0], x[1], x[2]);
    }
    RP_TRY(make_room(mesh, (int64_t)mesh->places + 1, mesh->triangles));
    memcpy(rp_mesh_place(mesh)[mesh->places++], x, sizeof(double[3]));
    return RP_OK;
}

// ---- polygons ----

enum { MOST_CORNERS = 4096 }; // of a polygon that is not convex: cutting it takes their square

// A polygon in the plane that it covers most of, counter-clockwise.
typedef struct polygon {
    double (*at)[2];
    int32_t *next, *before; // of those corners that are left
    bool *ear;
} polygon;

static double area2(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool is_convex(const polygon *p, int32_t i)
{
    return area2(p->at[p->before[i]], p->at[i], p->at[p->next[i]]) > 0.0;
}

// A corner that can be cut off: no other one lies in the triangle that it makes.
static bool is_ear(const polygon *p, int32_t i)
{
    const double *a = p->at[p->before[i]], *b = p->at[i], *c = p->at[p->next[i]];
    if (!is_convex(p, i)) {
        return false;
    }
    for (int32_t k = p->next[p->next[i]]; k != p->before[i]; k = p->next[k]) {
        const double *x = p->at[k];
        // corners at the same place are seams, which many programs cut to make holes
        const bool corner = memcmp(x, a, sizeof(double[2])) == 0 ||
                            memcmp(x, b, sizeof(double[2])) == 0 ||
                            memcmp(x, c, sizeof(double[2])) == 0;
        if (!corner && area2(a, b, x) >= 0.0 && area2(b, c, x) >= 0.0 && area2(c, a, x) >= 0.0) {
            return false;
        }
    }
    return true;
}

// Newell's normal is that of the mean plane, whatever the corners do.
static void flatten(const rp_mesh *mesh, const int32_t *corner, int32_t corners, polygon *p)
{
    const double(*place)[3] = (const double(*)[3])rp_mesh_place(mesh);
    double normal[3] = {0};
    for (int32_t i = 0; i < corners; i++) {
        const double *u = place[corner[i]], *v = place[corner[(i + 1) % corners]];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            normal[a] += (u[b] - v[b]) * (u[c] + v[c]);
        }
    }
    int along = 0;
    for (int a = 1; a < 3; a++) {
        along = fabs(normal[a]) > fabs(normal[along]) ? a : along;
    }
    // seen from where the normal points to
    const int axis[2] = {normal[along] < 0.0 ? (along + 2) % 3 : (along + 1) % 3,
                         normal[along] < 0.0 ? (along + 1) % 3 : (along + 2) % 3};
    for (int32_t i = 0; i < corners; i++) {
        for (int a = 0; a < 2; a++) {
            p->at[i][a] = place[corner[i]][axis[a]] + 0.0; // -0 is 0
        }
        p->next[i] = (i + 1) % corners;
        p->before[i] = (i + corners - 1) % corners;
    }
}

static void put_triangle(rp_mesh *mesh, int32_t a, int32_t b, int32_t c)
{
    int32_t *triangle = rp_mesh_triangle(mesh)[mesh->triangles++];
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
}

// What winds round more than once may come to have no ear; then any corner will do: the rim, and so
// whether the surface is closed, is the same.
static void cut_ears(rp_mesh *mesh, const int32_t *corner, int32_t corners, const polygon *p)
{
    for (int32_t i = 0; i < corners; i++) {
        p->ear[i] = is_ear(p, i);
    }
    int32_t at = 0;
    for (int32_t left = corners; left > 3; left--) {
        for (int32_t tried = 0; tried < left && !p->ear[at]; tried++) {
            at = p->next[at];
        }
        const int32_t before = p->before[at], next = p->next[at];
        put_triangle(mesh, corner[before], corner[at], corner[next]);
        p->next[before] = next;
        p->before[next] = before;
        p->ear[before] = is_ear(p, before);
        p->ear[next] = is_ear(p, next);
        at = next;
    }
    put_triangle(mesh, corner[p->before[at]], corner[at], corner[p->next[at]]);
}

static bool all_convex(const polygon *p, int32_t corners)
{
    for (int32_t i = 0; i < corners; i++) {
        if (!is_convex(p, i)) {
            return false;
        }
    }
    return true;
}

static rp_result cut_polygon(const char *path, rp_mesh *mesh, const int32_t *corner,
                             int32_t corners)
{
    const size_t n = (size_t)corners, row = sizeof(double[2]) + 2 * sizeof(int32_t) + sizeof(bool);
    rp_buffer scratch = {0};
    RP_TRY(rp_buffer_reserve(&scratch, rp_default_allocator(), n * row, 0, "a polygon"));
    polygon p = {.at = scratch.data};
    p.next = (int32_t *)(p.at + n);
    p.before = p.next + n;
    p.ear = (bool *)(p.before + n);
    flatten(mesh, corner, corners, &p);
    rp_result result = RP_OK;
    if (all_convex(&p, corners)) {
        for (int32_t i = 2; i < corners; i++) {
            put_triangle(mesh, corner[0], corner[i - 1], corner[i]);
        }
    } else if (corners > MOST_CORNERS) {
        result =
            rp_fail(RP_ERR_FILE, "%s: a polygon has %d corners and is not convex; want at most %d",
                    path, corners, MOST_CORNERS);
    } else {
        cut_ears(mesh, corner, corners, &p);
    }
    rp_buffer_free(&scratch, rp_default_allocator());
    return result;
}

rp_result rp_mesh_add_polygon(const char *path, rp_mesh *mesh, const int32_t *corner,
                              int64_t corners)
{
    if (corners < 3) {
        return RP_OK;
    }
    RP_TRY(make_room(mesh, mesh->places, mesh->triangles + corners - 2));
    if (corners == 3) {
        put_triangle(mesh, corner[0], corner[1], corner[2]);
        return RP_OK;
    }
    return cut_polygon(path, mesh, corner, (int32_t)corners);
}

// ---- words of a text ----

rp_mesh_text rp_mesh_text_of(const rp_mesh_bytes *from)
{
    return (rp_mesh_text){from->path, from->data, from->data + from->size, 1};
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool take_word(rp_mesh_text *t, char word[RP_MESH_WORD])
{
    size_t length = 0;
    for (; t->at < t->end && !is_blank(*t->at) && *t->at != '\n'; t->at++) {
        if (length < RP_MESH_WORD - 1) {
            word[length++] = (char)*t->at;
        }
    }
    word[length] = '\0';
    return length > 0;
}

bool rp_mesh_word(rp_mesh_text *t, char word[RP_MESH_WORD])
{
    for (; t->at < t->end && (is_blank(*t->at) || *t->at == '\n'); t->at++) {
        t->line += *t->at == '\n';
    }
    return take_word(t, word);
}

// A backslash at the end of a line, and where the next one begins.
static bool goes_on(const rp_mesh_text *t, const uint8_t **below)
{
    const uint8_t *at = t->at;
    if (at == t->end || *at++ != '\\') {
        return false;
    }
    at += at < t->end && *at == '\r';
    *below = at + 1;
    return at < t->end && *at == '\n';
}

bool rp_mesh_word_of_line(rp_mesh_text *t, char word[RP_MESH_WORD])
{
    const uint8_t *below;
    for (;;) {
        if (t->at < t->end && is_blank(*t->at)) {
            t->at++;
        } else if (goes_on(t, &below)) {
            t->at = below;
            t->line++;
        } else {
            return take_word(t, word);
        }
    }
}

void rp_mesh_next_line(rp_mesh_text *t)
{
    const uint8_t *end = memchr(t->at, '\n', (size_t)(t->end - t->at));
    t->at = end != NULL ? end + 1 : t->end;
    t->line++;
}

rp_result rp_mesh_number(rp_mesh_text *t, bool (*next)(rp_mesh_text *, char *), const char *what,
                         double *value)
{
    char word[RP_MESH_WORD];
    if (!next(t, word)) {
        return rp_fail(RP_ERR_FILE, "%s:%lld: %s: want a number, got the end of the %s", t->path,
                       (long long)t->line, what, t->at == t->end ? "file" : "line");
    }
    if (!rp_parse_number(word, value)) {
        return rp_fail(RP_ERR_FILE, "%s:%lld: %s: want a number, got '%s'", t->path,
                       (long long)t->line, what, word);
    }
    return RP_OK;
}

// ---- files ----

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), n = strlen(ending);
    return length > n && strcasecmp(path + length - n, ending) == 0;
}

static rp_result read_by_ending(const rp_mesh_bytes *from, rp_mesh_uses uses, void *context,
                                rp_mesh *out)
{
    return ends_in(from->path, ".obj")   ? rp_mesh_read_obj(from, out)
           : ends_in(from->path, ".stl") ? rp_mesh_read_stl(from, out)
           : ends_in(from->path, ".ply") ? rp_mesh_read_ply(from, out)
                                         : rp_mesh_read_gltf(from, uses, context, out);
}

rp_result rp_mesh_read_bytes(const rp_mesh_bytes *from, rp_mesh_uses uses, void *context,
                             rp_mesh *out)
{
    if (from->size == 0) {
        return rp_fail(RP_ERR_FILE, "%s: cannot be read: it is empty", from->path);
    }
    RP_TRY(read_by_ending(from, uses, context, out));
    if (out->triangles == 0) {
        return rp_fail(RP_ERR_FILE, "%s: there is no triangle in it", from->path);
    }
    return RP_OK;
}

rp_result rp_mesh_read(const rp_mesh_def *def, rp_mesh *out)
{
    static const char *const endings[] = {".obj", ".stl", ".ply", ".gltf", ".glb"};
    bool known = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        known = known || ends_in(def->file, endings[i]);
    }
    if (!known) {
        return rp_fail(RP_ERR_FILE, "%s: want a mesh that ends in .obj, .stl, .ply, .gltf or .glb",
                       def->file);
    }
    char *data;
    size_t size;
    RP_TRY(rp_file_read_all(def->file, RP_MESH_MOST_BYTES, &data, &size));
    const rp_mesh_bytes bytes = {def->file, (const uint8_t *)data, size};
    const rp_result result = rp_mesh_read_bytes(&bytes, def->uses, def->context, out);
    free(data);
    return result;
}

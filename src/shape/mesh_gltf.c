// glTF 2.0, as JSON or in a GLB file: nodes place meshes, whose primitives name accessors, which
// look at bytes of buffers. Of all that is in such a file, only triangles and where they are.
#include "base/result.h"
#include "repose/file.h"
#include "shape/mesh_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BUFFERS = 1000,
    MOST_STRIDE = 4096,
    // meshes may be placed many times, so that a small file can ask for a great many triangles
    MOST_REPEATED = 1 << 22,
};

typedef struct bytes {
    const uint8_t *data; // NULL: not read yet
    size_t size;
    void *owned;
} bytes;

typedef struct gltf {
    const rp_mesh_bytes *from;
    rp_mesh_uses uses;
    void *context;
    json_t *root;
    bytes rest;                 // of a GLB file, behind its JSON: its first buffer
    bytes buffer[MOST_BUFFERS]; // that have been read
    size_t total;               // bytes of them
    rp_mesh *out;
} gltf;

static rp_result wrong(const gltf *g, const char *what, int64_t index, const char *why)
{
    return rp_fail(RP_ERR_FILE, "%s: %s %lld %s", g->from->path, what, (long long)index, why);
}

static json_t *item(const gltf *g, const char *list, int64_t index)
{
    return json_array_get(json_object_get(g->root, list), (size_t)index);
}

// A count or an index. @return false when there is one that is none
static bool get_count(const json_t *object, const char *name, int64_t otherwise, int64_t *out)
{
    static const int64_t most = (int64_t)1 << 40; // so that nothing below overflows
    const json_t *value = json_object_get(object, name);
    *out = json_is_integer(value) ? json_integer_value(value) : otherwise;
    return (value == NULL || json_is_integer(value)) && *out >= otherwise && *out <= most;
}

// ---- bytes ----

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

static rp_result read_base64(const gltf *g, int64_t index, const char *text, bytes *out)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '=') {
        length--;
    }
    uint8_t *data = malloc(length / 4 * 3 + 3);
    if (data == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for buffer %lld", g->from->path,
                       (long long)index);
    }
    *out = (bytes){.data = data, .owned = data};
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        const int digit = digit_of(text[i]);
        if (digit < 0) {
            return wrong(g, "buffer", index, "is not in base 64");
        }
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0) {
            data[out->size++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
        }
    }
    return RP_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

// "%20" is a blank.
static void put_unescaped(char *out, const char *uri)
{
    while (*uri != '\0') {
        const int high = uri[0] == '%' ? hex_digit(uri[1]) : -1;
        const int low = high >= 0 ? hex_digit(uri[2]) : -1;
        const int value = 16 * high + low;
        *out++ = low >= 0 && value > 0 ? (char)value : *uri;
        uri += low >= 0 && value > 0 ? 3 : 1;
    }
    *out = '\0';
}

static rp_result read_beside(const gltf *g, const char *uri, bytes *out)
{
    const char *path = g->from->path, *slash = strrchr(path, '/');
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    char *beside = malloc(folder + strlen(uri) + 1), *data;
    if (beside == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the name of a buffer", path);
    }
    memcpy(beside, path, folder);
    put_unescaped(beside + folder, uri);
    rp_result result;
    if (beside[folder] == '/' || strstr(beside + folder, "..") != NULL) {
        result =
            rp_fail(RP_ERR_FILE, "%s: want buffers in its own folder, got '%.100s'", path, uri);
    } else {
        result = rp_file_read_all(beside, RP_MESH_MOST_BYTES, &data, &out->size);
        if (result == RP_OK) {
            out->data = out->owned = data;
        }
    }
    if (result == RP_OK && g->uses != NULL) {
        result = g->uses(g->context, beside + folder);
    }
    free(beside);
    return result;
}

static rp_result read_buffer(const gltf *g, int64_t index, bytes *out)
{
    const json_t *buffer = item(g, "buffers", index);
    const char *uri = json_string_value(json_object_get(buffer, "uri"));
    if (uri == NULL) {
        *out = g->rest;
        return index == 0 && g->rest.data != NULL ? RP_OK
                                                  : wrong(g, "buffer", index, "has no bytes");
    }
    if (strncmp(uri, "data:", 5) != 0) {
        return read_beside(g, uri, out);
    }
    const char *text = strstr(uri, ";base64,");
    return text != NULL ? read_base64(g, index, text + 8, out)
                        : wrong(g, "buffer", index, "is not in base 64");
}

static rp_result get_buffer(gltf *g, int64_t index, const bytes **out)
{
    if (index >= MOST_BUFFERS || item(g, "buffers", index) == NULL) {
        return wrong(g, "buffer", index, index >= MOST_BUFFERS ? "is one too many" : "is missing");
    }
    bytes *b = &g->buffer[index];
    if (b->data == NULL) {
        RP_TRY(read_buffer(g, index, b));
        g->total += b->size;
        if (g->total > RP_MESH_MOST_BYTES) {
            return wrong(g, "buffer", index, "makes them too large");
        }
    }
    *out = b;
    return RP_OK;
}

// ---- accessors: numbers in bytes ----

typedef struct numbers {
    const uint8_t *data;
    int64_t count, stride;
    int type; // glTF's number of it
    bool normalized;
} numbers;

enum { INT8 = 5120, UINT8, INT16, UINT16, UINT32 = 5125, FLOAT32 };

static int64_t size_of(int64_t type)
{
    return type == INT8 || type == UINT8       ? 1
           : type == INT16 || type == UINT16   ? 2
           : type == UINT32 || type == FLOAT32 ? 4
                                               : 0;
}

static rp_result get_numbers(gltf *g, int64_t index, const char *shape, int components,
                             numbers *out)
{
    const json_t *a = item(g, "accessors", index);
    int64_t view, type, offset, view_buffer, view_offset, view_length;
    if (a == NULL) {
        return wrong(g, "accessor", index, "is missing");
    }
    if (!get_count(a, "bufferView", -1, &view) || view < 0 || json_object_get(a, "sparse")) {
        return wrong(g, "accessor", index,
                     "has no bufferView of its own: compressed and sparse meshes are not read");
    }
    const char *said = json_string_value(json_object_get(a, "type"));
    if (!get_count(a, "componentType", 0, &type) || size_of(type) == 0 || said == NULL ||
        strcmp(said, shape) != 0) {
        return wrong(g, "accessor", index, "has numbers of another type than is wanted");
    }
    const int64_t bytes_each = components * size_of(type);
    const json_t *v = item(g, "bufferViews", view);
    if (v == NULL || !get_count(v, "buffer", -1, &view_buffer) || view_buffer < 0 ||
        !get_count(v, "byteOffset", 0, &view_offset) ||
        !get_count(v, "byteLength", 0, &view_length) ||
        !get_count(v, "byteStride", 0, &out->stride)) {
        return wrong(g, "bufferView", view, "is missing or broken");
    }
    out->stride = out->stride == 0 ? bytes_each : out->stride;
    if (!get_count(a, "count", 0, &out->count) || !get_count(a, "byteOffset", 0, &offset) ||
        out->stride < bytes_each || out->stride > MOST_STRIDE ||
        (out->count > 0 && offset + (out->count - 1) * out->stride + bytes_each > view_length)) {
        return wrong(g, "accessor", index, "does not fit into its bufferView");
    }
    const bytes *buffer = NULL;
    RP_TRY(get_buffer(g, view_buffer, &buffer));
    if ((uint64_t)(view_offset + view_length) > buffer->size) {
        return wrong(g, "bufferView", view, "does not fit into its buffer; is that cut?");
    }
    out->data = buffer->data + view_offset + offset;
    out->type = (int)type;
    out->normalized = json_is_true(json_object_get(a, "normalized"));
    return RP_OK;
}

static double number_at(const numbers *n, int64_t index, int component)
{
    const uint8_t *at = n->data + index * n->stride + component * size_of(n->type);
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    uint32_t u32;
    float f32;
    switch (n->type) {
    case INT8:
        memcpy(&i8, at, sizeof i8);
        return n->normalized ? fmax(i8 / 127.0, -1.0) : i8;
    case UINT8:
        return n->normalized ? *at / 255.0 : *at;
    case INT16:
        memcpy(&i16, at, sizeof i16);
        return n->normalized ? fmax(i16 / 32767.0, -1.0) : i16;
    case UINT16:
        memcpy(&u16, at, sizeof u16);
        return n->normalized ? u16 / 65535.0 : u16;
    case UINT32:
        memcpy(&u32, at, sizeof u32);
        return u32;
    default:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    }
}

// ---- meshes ----

typedef double pose[3][4]; // x becomes M (x, 1)

static double determinant(const pose m)
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// Which of its corners are a triangle's: of a list, a strip or a fan.
static void corners_of(int64_t mode, int64_t triangle, int64_t out[3])
{
    const int64_t turned = triangle % 2;
    out[0] = mode == 4 ? 3 * triangle : mode == 5 ? triangle + turned : 0;
    out[1] = mode == 4 ? 3 * triangle + 1 : mode == 5 ? triangle + 1 - turned : triangle + 1;
    out[2] = mode == 4 ? 3 * triangle + 2 : triangle + 2;
}

// More than the bytes of the file are worth.
static rp_result check_repeated(const gltf *g, int64_t count, const char *what)
{
    if (count > MOST_REPEATED && (uint64_t)count > g->from->size + g->total) {
        return rp_fail(RP_ERR_LIMIT, "%s: it repeats its meshes into %lld %s; want at most %d",
                       g->from->path, (long long)count, what, MOST_REPEATED);
    }
    return RP_OK;
}

static rp_result add_triangles(gltf *g, int64_t mode, const numbers *index, int64_t corners,
                               int32_t first, bool mirrored)
{
    const int64_t triangles = mode == 4 ? corners / 3 : corners - 2;
    const int32_t places = g->out->places - first;
    RP_TRY(check_repeated(g, g->out->triangles + triangles, "triangles"));
    for (int64_t t = 0; t < triangles; t++) {
        int64_t corner[3];
        corners_of(mode, t, corner);
        for (int k = 0; k < 3 && index != NULL; k++) {
            corner[k] = (int64_t)number_at(index, corner[k], 0);
        }
        for (int k = 0; k < 3; k++) {
            if (corner[k] >= places) {
                return rp_fail(RP_ERR_FILE, "%s: triangle %lld wants vertex %lld of %d",
                               g->from->path, (long long)t, (long long)corner[k], places);
            }
        }
        RP_TRY(rp_mesh_add_triangle(g->from->path, g->out, first + (int32_t)corner[0],
                                    first + (int32_t)corner[mirrored ? 2 : 1],
                                    first + (int32_t)corner[mirrored ? 1 : 2]));
    }
    return RP_OK;
}

static rp_result add_places(gltf *g, int64_t accessor, const pose at)
{
    numbers place;
    RP_TRY(get_numbers(g, accessor, "VEC3", 3, &place));
    if (place.type == UINT32) {
        return wrong(g, "accessor", accessor, "has numbers of another type than is wanted");
    }
    RP_TRY(check_repeated(g, g->out->places + place.count, "vertices"));
    for (int64_t i = 0; i < place.count; i++) {
        double x[3];
        for (int a = 0; a < 3; a++) {
            x[a] = at[a][3];
            for (int b = 0; b < 3; b++) {
                x[a] += at[a][b] * number_at(&place, i, b);
            }
        }
        RP_TRY(rp_mesh_add_place(g->from->path, g->out, x));
    }
    return RP_OK;
}

// The vertices that were added last. Primitives of a mesh, one for each material, often share them.
typedef struct vertices {
    int64_t accessor; // -1: none
    int32_t first;
} vertices;

static rp_result add_primitive(gltf *g, const json_t *primitive, const pose at, vertices *last)
{
    const json_t *attributes = json_object_get(primitive, "attributes");
    int64_t mode, position, indices;
    numbers index;
    if (!get_count(primitive, "mode", 0, &mode) || !get_count(primitive, "indices", -1, &indices) ||
        !get_count(attributes, "POSITION", -1, &position)) {
        return rp_fail(RP_ERR_FILE, "%s: a primitive has a broken mode, indices or POSITION",
                       g->from->path);
    }
    mode = json_object_get(primitive, "mode") == NULL ? 4 : mode;
    if (mode < 4 || mode > 6 || position < 0) {
        return RP_OK; // points and lines
    }
    if (position != last->accessor) {
        *last = (vertices){position, g->out->places};
        RP_TRY(add_places(g, position, at));
    }
    if (indices >= 0) {
        RP_TRY(get_numbers(g, indices, "SCALAR", 1, &index));
        if (index.type != UINT8 && index.type != UINT16 && index.type != UINT32) {
            return wrong(g, "accessor", indices, "has numbers of another type than is wanted");
        }
        index.normalized = false;
    }
    return add_triangles(g, mode, indices >= 0 ? &index : NULL,
                         indices >= 0 ? index.count : g->out->places - last->first, last->first,
                         determinant(at) < 0.0);
}

static rp_result add_mesh(gltf *g, int64_t index, const pose at)
{
    const json_t *mesh = item(g, "meshes", index), *primitive;
    vertices last = {.accessor = -1};
    size_t i;
    if (mesh == NULL) {
        return wrong(g, "mesh", index, "is missing");
    }
    json_array_foreach(json_object_get(mesh, "primitives"), i, primitive)
    {
        RP_TRY(add_primitive(g, primitive, at, &last));
    }
    return RP_OK;
}

// ---- nodes ----

// `count` numbers, or those that are there already. @return false when they are none
static bool get_array(const json_t *node, const char *name, size_t count, double *out)
{
    const json_t *list = json_object_get(node, name);
    for (size_t i = 0; i < count && list != NULL; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value)) {
            return false;
        }
        out[i] = json_number_value(value);
    }
    return list == NULL || json_array_size(list) == count;
}

static bool get_pose(const json_t *node, pose out)
{
    double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    double move[3] = {0}, q[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
    if (!get_array(node, "matrix", 16, m) || !get_array(node, "translation", 3, move) ||
        !get_array(node, "rotation", 4, q) || !get_array(node, "scale", 3, scale)) {
        return false;
    }
    if (json_object_get(node, "matrix") != NULL) {
        for (int i = 0; i < 12; i++) {
            out[i / 4][i % 4] = m[i % 4 * 4 + i / 4]; // by columns
        }
        return true;
    }
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double turn[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                               {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                               {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            out[a][b] = turn[a][b] * scale[b];
        }
        out[a][3] = move[a];
    }
    return true;
}

static void multiply(const pose a, const pose b, pose out)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            out[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k] +
                        (k == 3 ? a[i][3] : 0.0);
        }
    }
}

static const pose here = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};

// Nodes that wait for their turn. Each comes once: they are trees, however deep.
typedef struct walk {
    struct {
        pose at; // of its parent
        int64_t node;
    } * waiting;
    size_t count, nodes;
    bool *seen;
} walk;

static rp_result push(const gltf *g, walk *w, const json_t *index, const pose at)
{
    const json_int_t node = json_is_integer(index) ? json_integer_value(index) : -1;
    if (node < 0 || (size_t)node >= w->nodes) {
        return wrong(g, "node", node, "is named as a child or a root, but missing");
    }
    if (w->seen[node]) {
        return wrong(g, "node", node, "has more than one parent");
    }
    w->seen[node] = true;
    w->waiting[w->count].node = node;
    memcpy(w->waiting[w->count++].at, at, sizeof(pose));
    return RP_OK;
}

static rp_result push_list(const gltf *g, walk *w, const json_t *list, const pose at)
{
    const json_t *index;
    size_t i;
    json_array_foreach(list, i, index) { RP_TRY(push(g, w, index, at)); }
    return RP_OK;
}

static rp_result visit(gltf *g, walk *w)
{
    const int64_t index = w->waiting[--w->count].node;
    const json_t *node = item(g, "nodes", index);
    pose own, at;
    int64_t mesh;
    if (!get_pose(node, own) || !get_count(node, "mesh", -1, &mesh)) {
        return wrong(g, "node", index, "has a broken place or mesh");
    }
    multiply(w->waiting[w->count].at, own, at);
    if (mesh >= 0) {
        RP_TRY(add_mesh(g, mesh, at));
    }
    return push_list(g, w, json_object_get(node, "children"), at);
}

// Nodes of the scene; without one, those that are nobody's child.
static rp_result push_roots(const gltf *g, walk *w)
{
    const json_t *node, *child;
    size_t i, k;
    int64_t scene;
    if (json_object_get(g->root, "scenes") != NULL) {
        if (!get_count(g->root, "scene", 0, &scene) || item(g, "scenes", scene) == NULL) {
            return wrong(g, "scene", scene, "is missing");
        }
        return push_list(g, w, json_object_get(item(g, "scenes", scene), "nodes"), here);
    }
    json_array_foreach(json_object_get(g->root, "nodes"), i, node)
    {
        json_array_foreach(json_object_get(node, "children"), k, child)
        {
            const json_int_t index = json_is_integer(child) ? json_integer_value(child) : -1;
            if (index >= 0 && (size_t)index < w->nodes) {
                w->seen[index] = true;
            }
        }
    }
    for (i = 0; i < w->nodes; i++) {
        if (!w->seen[i]) {
            w->waiting[w->count].node = (int64_t)i;
            memcpy(w->waiting[w->count++].at, here, sizeof(pose));
        }
    }
    memset(w->seen, 0, w->nodes * sizeof *w->seen);
    for (i = 0; i < w->count; i++) {
        w->seen[w->waiting[i].node] = true;
    }
    return RP_OK;
}

static rp_result walk_nodes(gltf *g)
{
    walk w = {.nodes = json_array_size(json_object_get(g->root, "nodes"))};
    rp_result result = RP_OK;
    if (w.nodes == 0) {
        for (size_t i = 0; i < json_array_size(json_object_get(g->root, "meshes")); i++) {
            RP_TRY(add_mesh(g, (int64_t)i, here));
        }
        return RP_OK;
    }
    w.waiting = malloc(w.nodes * sizeof *w.waiting);
    w.seen = calloc(w.nodes, sizeof *w.seen);
    if (w.waiting == NULL || w.seen == NULL) {
        result = rp_fail(RP_ERR_MEMORY, "%s: no memory for its nodes", g->from->path);
    }
    result = result == RP_OK ? push_roots(g, &w) : result;
    while (result == RP_OK && w.count > 0) {
        result = visit(g, &w);
    }
    free(w.waiting);
    free(w.seen);
    return result;
}

// ---- the file ----

static uint32_t word_at(const gltf *g, size_t at)
{
    uint32_t word;
    memcpy(&word, g->from->data + at, sizeof word);
    return word;
}

// Magic, version and length of all; then of each chunk its length and kind, and the chunk.
static rp_result open_glb(gltf *g, const uint8_t **json, size_t *size)
{
    enum { VERSION = 2, JSON = 0x4e4f534a, BIN = 0x004e4942 };
    const size_t all = g->from->size;
    if (all < 20 || word_at(g, 4) != VERSION || word_at(g, 16) != JSON ||
        word_at(g, 12) > all - 20) {
        return rp_fail(RP_ERR_FILE,
                       "%s: cannot be read as GLB: want version 2 and a whole chunk of JSON",
                       g->from->path);
    }
    *json = g->from->data + 20;
    *size = word_at(g, 12);
    const size_t next = 20 + *size;
    if (all - next >= 8 && word_at(g, next + 4) == BIN) {
        if (word_at(g, next) > all - next - 8) {
            return rp_fail(RP_ERR_FILE, "%s: its buffer has %u bytes, of which %zu are there",
                           g->from->path, word_at(g, next), all - next - 8);
        }
        g->rest = (bytes){.data = g->from->data + next + 8, .size = word_at(g, next)};
    }
    return RP_OK;
}

static rp_result read_all(gltf *g)
{
    const uint8_t *json = g->from->data;
    size_t size = g->from->size;
    json_error_t error;
    if (size >= 4 && memcmp(json, "glTF", 4) == 0) {
        RP_TRY(open_glb(g, &json, &size));
    }
    g->root = json_loadb((const char *)json, size, 0, &error);
    if (g->root == NULL) {
        return rp_fail(
            json_error_code(&error) == json_error_out_of_memory ? RP_ERR_MEMORY : RP_ERR_FILE,
            "%s: cannot be read as glTF: line %d: %s", g->from->path, error.line, error.text);
    }
    const char *version =
        json_string_value(json_object_get(json_object_get(g->root, "asset"), "version"));
    if (version == NULL || version[0] != '2') {
        return rp_fail(RP_ERR_FILE, "%s: want glTF of version 2, got '%.20s'", g->from->path,
                       version != NULL ? version : "none");
    }
    return walk_nodes(g);
}

rp_result rp_mesh_read_gltf(const rp_mesh_bytes *from, rp_mesh_uses uses, void *context,
                            rp_mesh *out)
{
    gltf *g = rp_new(rp_default_allocator(), sizeof *g, "reading a mesh");
    if (g == NULL) {
        return RP_ERR_MEMORY;
    }
    g->from = from;
    g->uses = uses;
    g->context = context;
    g->out = out;
    const rp_result result = read_all(g);
    for (int i = 0; i < MOST_BUFFERS; i++) {
        free(g->buffer[i].owned);
    }
    json_decref(g->root);
    rp_delete(rp_default_allocator(), g, sizeof *g);
    return result;
}

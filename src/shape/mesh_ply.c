// PLY: a header that lists elements and their properties, then all of them in that order, as text
// or as bytes of either order. Vertices have x, y and z; faces and strips lists of vertices; all
// else is passed over.
#include "base/result.h"
#include "shape/mesh_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum number_kind {
    NO_KIND,
    INT8,
    UINT8,
    INT16,
    UINT16,
    INT32,
    UINT32,
    FLOAT32,
    FLOAT64
} number_kind;

static const struct {
    const char *name[2];
    size_t bytes;
} kinds[] = {
    [INT8] = {{"char", "int8"}, 1},        [UINT8] = {{"uchar", "uint8"}, 1},
    [INT16] = {{"short", "int16"}, 2},     [UINT16] = {{"ushort", "uint16"}, 2},
    [INT32] = {{"int", "int32"}, 4},       [UINT32] = {{"uint", "uint32"}, 4},
    [FLOAT32] = {{"float", "float32"}, 4}, [FLOAT64] = {{"double", "float64"}, 8},
};

typedef enum meaning { NO_MEANING, X, Y, Z, CORNERS } meaning;

typedef struct property {
    number_kind kind, count; // `count` is of a list
    meaning meaning;
} property;

enum { MOST_ELEMENTS = 16, MOST_PROPERTIES = 256 };

typedef struct element {
    char name[RP_MESH_WORD];
    int64_t count;
    int properties;
    property property[MOST_PROPERTIES];
} element;

typedef struct ply {
    rp_mesh_text text; // what is left of the file, whatever it is
    enum { TEXT, LITTLE, BIG } format;
    int elements;
    element element[MOST_ELEMENTS];
    rp_buffer list; // int32_t: corners of the face that is being read
    rp_mesh *out;
} ply;

// ---- the header ----

static rp_result no_header(const ply *p, const char *wanted, const char *word)
{
    return rp_fail(RP_ERR_FILE, "%s:%lld: want %s, got '%s'", p->text.path, (long long)p->text.line,
                   wanted, word);
}

static rp_result read_format(ply *p)
{
    char word[RP_MESH_WORD] = "";
    rp_mesh_word_of_line(&p->text, word);
    if (strcmp(word, "ascii") != 0 && strcmp(word, "binary_little_endian") != 0 &&
        strcmp(word, "binary_big_endian") != 0) {
        return no_header(p, "format ascii, binary_little_endian or binary_big_endian", word);
    }
    p->format = word[0] == 'a' ? TEXT : word[7] == 'l' ? LITTLE : BIG;
    return RP_OK;
}

static rp_result read_element(ply *p)
{
    char word[RP_MESH_WORD] = "", *end;
    if (p->elements == MOST_ELEMENTS) {
        return rp_fail(RP_ERR_FILE, "%s: want at most %d elements, got more", p->text.path,
                       MOST_ELEMENTS);
    }
    element *e = &p->element[p->elements++];
    if (!rp_mesh_word_of_line(&p->text, e->name)) {
        return no_header(p, "the name of an element", "");
    }
    for (int i = 0; i + 1 < p->elements; i++) {
        if (strcmp(p->element[i].name, e->name) == 0) {
            return no_header(p, "every element once", e->name);
        }
    }
    rp_mesh_word_of_line(&p->text, word);
    errno = 0;
    e->count = strtoll(word, &end, 10);
    if (end == word || *end != '\0' || errno != 0 || e->count < 0) {
        return no_header(p, "how many there are of an element", word);
    }
    return RP_OK;
}

static rp_result read_kind(ply *p, const char *word, number_kind *out)
{
    for (*out = INT8; *out <= FLOAT64; (*out)++) {
        if (strcmp(word, kinds[*out].name[0]) == 0 || strcmp(word, kinds[*out].name[1]) == 0) {
            return RP_OK;
        }
    }
    return no_header(p, "a type of numbers", word);
}

static bool is_vertex(const element *e) { return strcmp(e->name, "vertex") == 0; }
static bool is_strip(const element *e) { return strcmp(e->name, "tristrips") == 0; }
static bool is_face(const element *e) { return strcmp(e->name, "face") == 0 || is_strip(e); }

static meaning meaning_of(const element *e, bool list, const char *name)
{
    if (is_vertex(e) && !list && name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0') {
        return X + (meaning)(name[0] - 'x');
    }
    const bool corners = strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0;
    return is_face(e) && list && corners ? CORNERS : NO_MEANING;
}

static rp_result read_property(ply *p)
{
    char word[RP_MESH_WORD] = "";
    property new = {0};
    element *e = p->elements > 0 ? &p->element[p->elements - 1] : NULL;
    if (e == NULL || e->properties == MOST_PROPERTIES) {
        return no_header(p, "an element with at most 256 properties", "property");
    }
    rp_mesh_word_of_line(&p->text, word);
    if (strcmp(word, "list") == 0) {
        rp_mesh_word_of_line(&p->text, word);
        RP_TRY(read_kind(p, word, &new.count));
        rp_mesh_word_of_line(&p->text, word);
    }
    RP_TRY(read_kind(p, word, &new.kind));
    if (!rp_mesh_word_of_line(&p->text, word)) {
        return no_header(p, "the name of a property", "");
    }
    new.meaning = meaning_of(e, new.count != NO_KIND, word);
    e->property[e->properties++] = new;
    return RP_OK;
}

static rp_result read_header(ply *p)
{
    char word[RP_MESH_WORD] = "";
    bool format = false;
    if (!rp_mesh_word_of_line(&p->text, word) || strcmp(word, "ply") != 0) {
        return no_header(p, "ply", word);
    }
    for (;;) {
        rp_mesh_next_line(&p->text);
        if (p->text.at == p->text.end) {
            return rp_fail(RP_ERR_FILE, "%s: it ends before end_header; is it cut?", p->text.path);
        }
        if (!rp_mesh_word_of_line(&p->text, word) || strcmp(word, "comment") == 0 ||
            strcmp(word, "obj_info") == 0) {
            continue;
        }
        if (strcmp(word, "end_header") == 0) {
            break;
        }
        if (strcmp(word, "format") == 0) {
            format = true;
            RP_TRY(read_format(p));
        } else if (strcmp(word, "element") == 0) {
            RP_TRY(read_element(p));
        } else if (strcmp(word, "property") == 0) {
            RP_TRY(read_property(p));
        } else {
            return no_header(p, "format, element, property, comment or end_header", word);
        }
    }
    rp_mesh_next_line(&p->text);
    return format ? RP_OK : no_header(p, "a format", "none");
}

// ---- numbers ----

static rp_result cut(const ply *p, const element *e, int64_t index)
{
    return rp_fail(RP_ERR_FILE, "%s: it ends in %s %lld of %lld; is it cut?", p->text.path, e->name,
                   (long long)index, (long long)e->count);
}

static double number_of(const uint8_t *bytes, number_kind kind)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        float f32;
        double f64;
    } u;
    memcpy(&u, bytes, kinds[kind].bytes);
    switch (kind) {
    case INT8:
        return u.i8;
    case UINT8:
        return u.u8;
    case INT16:
        return u.i16;
    case UINT16:
        return u.u16;
    case INT32:
        return u.i32;
    case UINT32:
        return u.u32;
    case FLOAT32:
        return (double)u.f32;
    default:
        return u.f64;
    }
}

static rp_result read_number(ply *p, const element *e, int64_t index, number_kind kind,
                             double *value)
{
    if (p->format == TEXT) {
        return rp_mesh_number(&p->text, rp_mesh_word, e->name, value);
    }
    uint8_t bytes[8];
    const size_t size = kinds[kind].bytes;
    if ((size_t)(p->text.end - p->text.at) < size) {
        return cut(p, e, index);
    }
    for (size_t i = 0; i < size; i++) {
        bytes[p->format == LITTLE ? i : size - 1 - i] = p->text.at[i];
    }
    p->text.at += size;
    *value = number_of(bytes, kind);
    return RP_OK;
}

// How long a list is. Its numbers must be there before anybody makes room for them.
static rp_result read_length(ply *p, const element *e, int64_t index, const property *of,
                             int64_t *length)
{
    double value;
    const size_t least = p->format == TEXT ? 1 : kinds[of->kind].bytes;
    RP_TRY(read_number(p, e, index, of->count, &value));
    if (!(value >= 0.0 && value == floor(value))) {
        return rp_fail(RP_ERR_FILE, "%s: %s %lld: want the length of a list, got %g", p->text.path,
                       e->name, (long long)index, value);
    }
    if (value > (double)((size_t)(p->text.end - p->text.at) / least)) {
        return cut(p, e, index);
    }
    *length = (int64_t)value;
    return RP_OK;
}

static rp_result read_corners(ply *p, const element *e, int64_t index, number_kind kind,
                              int64_t length)
{
    RP_TRY(rp_buffer_reserve(&p->list, rp_default_allocator(), (size_t)length * sizeof(int32_t), 0,
                             "a face of a mesh"));
    const double first = is_strip(e) ? -1.0 : 0.0; // -1 ends a strip
    for (int64_t i = 0; i < length; i++) {
        double value;
        RP_TRY(read_number(p, e, index, kind, &value));
        if (!(value >= first && value < (double)p->out->places && value == floor(value))) {
            return rp_fail(RP_ERR_FILE, "%s: %s %lld: want one of %d vertices, got %.17g",
                           p->text.path, e->name, (long long)index, p->out->places, value);
        }
        ((int32_t *)p->list.data)[i] = (int32_t)value;
    }
    return RP_OK;
}

static rp_result add_strips(const ply *p, int64_t length)
{
    const int32_t *corner = p->list.data;
    int64_t begin = 0;
    for (int64_t i = 0; i < length; i++) {
        if (corner[i] < 0) {
            begin = i + 1;
        } else if (i >= begin + 2) {
            const int64_t turned = (i - begin) % 2;
            RP_TRY(rp_mesh_add_triangle(p->text.path, p->out, corner[i - 2 + turned],
                                        corner[i - 1 - turned], corner[i]));
        }
    }
    return RP_OK;
}

static rp_result read_list(ply *p, const element *e, int64_t index, const property *of)
{
    int64_t length = 0;
    double value;
    RP_TRY(read_length(p, e, index, of, &length));
    if (of->meaning == CORNERS) {
        RP_TRY(read_corners(p, e, index, of->kind, length));
        return is_strip(e) ? add_strips(p, length)
                           : rp_mesh_add_polygon(p->text.path, p->out, p->list.data, length);
    }
    for (int64_t i = 0; i < length; i++) {
        RP_TRY(read_number(p, e, index, of->kind, &value));
    }
    return RP_OK;
}

// ---- elements ----

static rp_result read_elements(ply *p, const element *e)
{
    for (int64_t i = 0; i < e->count && e->properties > 0; i++) {
        double x[3] = {0}, value;
        for (int k = 0; k < e->properties; k++) {
            const property *of = &e->property[k];
            if (of->count != NO_KIND) {
                RP_TRY(read_list(p, e, i, of));
                continue;
            }
            RP_TRY(read_number(p, e, i, of->kind, &value));
            if (of->meaning != NO_MEANING) {
                x[of->meaning - X] = value;
            }
        }
        if (is_vertex(e)) {
            RP_TRY(rp_mesh_add_place(p->text.path, p->out, x));
        }
    }
    return RP_OK;
}

static int count_meaning(const element *e, meaning wanted)
{
    int count = 0;
    for (int k = 0; k < e->properties; k++) {
        count += e->property[k].meaning == wanted;
    }
    return count;
}

static rp_result check_header(const ply *p)
{
    bool vertices = false;
    for (int i = 0; i < p->elements; i++) {
        const element *e = &p->element[i];
        vertices = vertices || is_vertex(e);
        if (is_vertex(e) &&
            (count_meaning(e, X) != 1 || count_meaning(e, Y) != 1 || count_meaning(e, Z) != 1)) {
            return rp_fail(RP_ERR_FILE, "%s: element vertex: want x, y and z once each",
                           p->text.path);
        }
        if (is_face(e) && (!vertices || count_meaning(e, CORNERS) != 1)) {
            return rp_fail(RP_ERR_FILE, "%s: element %s: want one list of vertex_indices, %s",
                           p->text.path, e->name, "and the vertices before it");
        }
    }
    return RP_OK;
}

static rp_result read_all(ply *p)
{
    RP_TRY(read_header(p));
    RP_TRY(check_header(p));
    for (int i = 0; i < p->elements; i++) {
        RP_TRY(read_elements(p, &p->element[i]));
    }
    return RP_OK;
}

rp_result rp_mesh_read_ply(const rp_mesh_bytes *from, rp_mesh *out)
{
    ply *p = rp_new(rp_default_allocator(), sizeof *p, "reading a mesh");
    if (p == NULL) {
        return RP_ERR_MEMORY;
    }
    p->text = rp_mesh_text_of(from);
    p->out = out;
    const rp_result result = read_all(p);
    rp_buffer_free(&p->list, rp_default_allocator());
    rp_delete(rp_default_allocator(), p, sizeof *p);
    return result;
}

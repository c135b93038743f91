// Wavefront OBJ: "v x y z" and "f a b c", where a corner is a vertex, counted from 1 or from the
// end as -1, with what else it has behind slashes. All other lines are of no concern here.
#include "base/result.h"
#include "shape/mesh_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static rp_result read_vertex(rp_mesh_text *text, rp_mesh *out)
{
    double x[3];
    for (int a = 0; a < 3; a++) {
        RP_TRY(rp_mesh_number(text, rp_mesh_word_of_line, "vertex", &x[a]));
    }
    return rp_mesh_add_place(text->path, out, x);
}

static rp_result read_corner(const rp_mesh_text *text, const char *word, int32_t places,
                             int32_t *corner)
{
    char *end;
    errno = 0;
    const long long number = strtoll(word, &end, 10);
    const long long index = number < 0 ? places + number : number - 1;
    if (end == word || (*end != '\0' && *end != '/') || errno != 0 || index < 0 ||
        index >= places) {
        return rp_fail(RP_ERR_FILE, "%s:%lld: face: want vertices of the %d so far, got '%s'",
                       text->path, (long long)text->line, places, word);
    }
    *corner = (int32_t)index;
    return RP_OK;
}

static rp_result read_face(rp_mesh_text *text, rp_buffer *corner, rp_mesh *out)
{
    char word[RP_MESH_WORD];
    size_t corners = 0;
    while (rp_mesh_word_of_line(text, word)) {
        if ((corners + 1) * sizeof(int32_t) > corner->bytes) {
            RP_TRY(rp_buffer_reserve(corner, rp_default_allocator(),
                                     (2 * corners + 64) * sizeof(int32_t),
                                     corners * sizeof(int32_t), "a face of a mesh"));
        }
        RP_TRY(read_corner(text, word, out->places, (int32_t *)corner->data + corners));
        corners++;
    }
    return rp_mesh_add_polygon(text->path, out, corner->data, (int64_t)corners);
}

static rp_result read_lines(rp_mesh_text *text, rp_buffer *corner, rp_mesh *out)
{
    char word[RP_MESH_WORD];
    while (text->at < text->end) {
        if (rp_mesh_word_of_line(text, word) && strcmp(word, "v") == 0) {
            RP_TRY(read_vertex(text, out));
        } else if (strcmp(word, "f") == 0) {
            RP_TRY(read_face(text, corner, out));
        }
        rp_mesh_next_line(text);
    }
    return RP_OK;
}

rp_result rp_mesh_read_obj(const rp_mesh_bytes *from, rp_mesh *out)
{
    rp_mesh_text text = rp_mesh_text_of(from);
    rp_buffer corner = {0};
    const rp_result result = read_lines(&text, &corner, out);
    rp_buffer_free(&corner, rp_default_allocator());
    return result;
}

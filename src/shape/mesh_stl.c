// STL: triangles one by one, as text or as records of 50 bytes.
#include "base/result.h"
#include "shape/mesh_file.h"

#include <string.h>
#include <strings.h>

enum {
    HEAD = 84,   // what anybody likes in 80 bytes, then how many records follow
    RECORD = 50, // normal and three corners as floats, and two bytes of no meaning
};

static rp_result read_binary(const rp_mesh_bytes *from, uint32_t count, rp_mesh *out)
{
    const uint64_t there = (from->size - HEAD) / RECORD;
    if (count > there) {
        return rp_fail(RP_ERR_FILE, "%s: it promises %u triangles and holds %llu; is it cut?",
                       from->path, count, (unsigned long long)there);
    }
    for (uint32_t i = 0; i < count; i++) {
        float corner[3][3];
        memcpy(corner, from->data + HEAD + (size_t)RECORD * i + 12, sizeof corner);
        for (int k = 0; k < 3; k++) {
            const double x[3] = {(double)corner[k][0], (double)corner[k][1], (double)corner[k][2]};
            RP_TRY(rp_mesh_add_place(from->path, out, x));
        }
        RP_TRY(rp_mesh_add_triangle(from->path, out, out->places - 3, out->places - 2,
                                    out->places - 1));
    }
    return RP_OK;
}

// Solids may follow one another. Names are any words, so that they go up to the end of their line.
static rp_result read_text(const rp_mesh_bytes *from, rp_mesh *out)
{
    rp_mesh_text text = rp_mesh_text_of(from);
    char word[RP_MESH_WORD];
    bool open = false; // within a solid
    int corners = 0;   // of this triangle
    while (rp_mesh_word(&text, word)) {
        if (strcasecmp(word, "solid") == 0 || strcasecmp(word, "endsolid") == 0) {
            open = strcasecmp(word, "solid") == 0;
            rp_mesh_next_line(&text);
        } else if (strcasecmp(word, "vertex") == 0) {
            double x[3];
            for (int a = 0; a < 3; a++) {
                RP_TRY(rp_mesh_number(&text, rp_mesh_word, "vertex", &x[a]));
            }
            RP_TRY(rp_mesh_add_place(from->path, out, x));
            corners++;
        } else if (strcasecmp(word, "endloop") == 0) {
            if (corners != 3) {
                return rp_fail(RP_ERR_FILE, "%s:%lld: loop: want 3 vertices, got %d", from->path,
                               (long long)text.line, corners);
            }
            RP_TRY(rp_mesh_add_triangle(from->path, out, out->places - 3, out->places - 2,
                                        out->places - 1));
            corners = 0;
        }
    }
    if (open || corners != 0) {
        return rp_fail(RP_ERR_FILE, "%s: it ends before endsolid; is it cut?", from->path);
    }
    return RP_OK;
}

// Files of records that begin with "solid", too, exist; then their length tells.
rp_result rp_mesh_read_stl(const rp_mesh_bytes *from, rp_mesh *out)
{
    uint32_t count = 0;
    if (from->size >= HEAD) {
        memcpy(&count, from->data + HEAD - sizeof count, sizeof count);
    }
    const bool exact = from->size == HEAD + (uint64_t)RECORD * count;
    const bool solid = from->size >= 5 && strncasecmp((const char *)from->data, "solid", 5) == 0;
    if (solid && !exact) {
        return read_text(from, out);
    }
    if (from->size < HEAD) {
        return rp_fail(RP_ERR_FILE, "%s: cannot be read as STL: want solid, or %d bytes, got %zu",
                       from->path, HEAD, from->size);
    }
    return read_binary(from, count, out);
}

// Mesh files, believed in nothing: every reader takes bytes that may say anything, checks what it
// is about to use, and makes no more room than the bytes pay for. What it costs is in proportion to
// the file.
#pragma once

#include "shape/mesh.h"

typedef struct rp_mesh_bytes {
    const char *path; // stands in messages; what a glTF file names lies beside it
    const uint8_t *data;
    size_t size;
} rp_mesh_bytes;

rp_result rp_mesh_read_obj(const rp_mesh_bytes *from, rp_mesh *out);
rp_result rp_mesh_read_stl(const rp_mesh_bytes *from, rp_mesh *out);
rp_result rp_mesh_read_ply(const rp_mesh_bytes *from, rp_mesh *out);
// `uses` is called for every other file that is read; may be NULL
rp_result rp_mesh_read_gltf(const rp_mesh_bytes *from, rp_mesh_uses uses, void *context,
                            rp_mesh *out);

// By the ending of the path. All indices are below `places`, and all places finite.
rp_result rp_mesh_read_bytes(const rp_mesh_bytes *from, rp_mesh_uses uses, void *context,
                             rp_mesh *out);

// Append; a place that is not finite is refused.
rp_result rp_mesh_add_place(const char *path, rp_mesh *mesh, const double x[3]);
// Fewer than three corners make nothing. What has more and is not convex is cut ear by ear.
// @param corner places that are there
rp_result rp_mesh_add_polygon(const char *path, rp_mesh *mesh, const int32_t *corner,
                              int64_t corners);
static inline rp_result rp_mesh_add_triangle(const char *path, rp_mesh *mesh, int32_t a, int32_t b,
                                             int32_t c)
{
    return rp_mesh_add_polygon(path, mesh, (const int32_t[3]){a, b, c}, 3);
}

// ---- words of a text ----

typedef struct rp_mesh_text {
    const char *path;
    const uint8_t *at, *end;
    int64_t line; // counted from 1
} rp_mesh_text;

enum { RP_MESH_WORD = 64 };

rp_mesh_text rp_mesh_text_of(const rp_mesh_bytes *from);
// The next word, cut to RP_MESH_WORD - 1 characters. @return false at the end of the text
bool rp_mesh_word(rp_mesh_text *text, char word[RP_MESH_WORD]);
// The same, but false at the end of the line too; one that ends in a backslash goes on below.
bool rp_mesh_word_of_line(rp_mesh_text *text, char word[RP_MESH_WORD]);
void rp_mesh_next_line(rp_mesh_text *text);
// The next word as a number. @param next rp_mesh_word or rp_mesh_word_of_line
// @param what "vertex", for the sentence
rp_result rp_mesh_number(rp_mesh_text *text, bool (*next)(rp_mesh_text *, char *), const char *what,
                         double *value);

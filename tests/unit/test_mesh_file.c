// Tests src/shape/mesh_file.h: a cube in every format that is read, and files that are none.
#include "repose/shape.h"

#include "check.h"
#include "folder.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- a cube from -1 to 1 ----

static const float corner[8][3] = {{-1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {-1, 1, 1},
                                   {1, -1, -1},  {1, -1, 1},  {1, 1, -1},  {1, 1, 1}};
static const int32_t quad[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                   {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
enum { TRIANGLES = 12 };

static int32_t triangle_corner(int triangle, int k)
{
    static const int of[2][3] = {{0, 1, 2}, {0, 2, 3}};
    return quad[triangle / 2][of[triangle % 2][k]];
}

// ---- bytes of a file ----

typedef struct text {
    char *data;
    size_t size;
    FILE *out;
} text;

static text *begin(void)
{
    text *t = calloc(1, sizeof *t);
    t->out = open_memstream(&t->data, &t->size);
    return t;
}

static void end(text *t) { fclose(t->out); }

static void release(text *t)
{
    free(t->data);
    free(t);
}

static void put_number(FILE *out, const void *number, size_t size, bool big)
{
    for (size_t i = 0; i < size; i++) {
        fputc(((const uint8_t *)number)[big ? size - 1 - i : i], out);
    }
}

static void write_obj(FILE *out)
{
    for (int i = 0; i < 8; i++) {
        fprintf(out, "v %g %g %g\n", (double)corner[i][0], (double)corner[i][1],
                (double)corner[i][2]);
    }
    for (int i = 0; i < TRIANGLES; i++) {
        fprintf(out, "f %d %d %d\n", triangle_corner(i, 0) + 1, triangle_corner(i, 1) + 1,
                triangle_corner(i, 2) + 1);
    }
}

// What a modelling program adds, squares, and corners counted from the end.
static void write_wordy_obj(FILE *out)
{
    fprintf(out, "# a cube\nmtllib cube.mtl\no cube\n");
    for (int i = 0; i < 8; i++) {
        fprintf(out, "v %g %g \\\n %g 0.5 0.5 0.5\r\n", (double)corner[i][0], (double)corner[i][1],
                (double)corner[i][2]);
    }
    fprintf(out, "vn 0 0 1\nvt 0 0\ng faces\nusemtl grey\ns off\n");
    for (int i = 0; i < 6; i++) {
        fprintf(out, "f %d/1/1 %d//1 \\\r\n %d/1 %d\n", quad[i][0] - 8, quad[i][1] - 8,
                quad[i][2] - 8, quad[i][3] + 1);
    }
    fprintf(out, "l 1 2\np 1\n");
}

static void write_stl(FILE *out)
{
    fprintf(out, "solid vertex of a cube\n");
    for (int i = 0; i < TRIANGLES; i++) {
        fprintf(out, " facet normal 0 0 0\n  outer loop\n");
        for (int k = 0; k < 3; k++) {
            const float *x = corner[triangle_corner(i, k)];
            fprintf(out, "   vertex %g %g %g\n", (double)x[0], (double)x[1], (double)x[2]);
        }
        fprintf(out, "  endloop\n endfacet\n");
    }
    fprintf(out, "endsolid vertex of a cube\n");
}

// Many programs begin the header with "solid", as the text does.
static void write_binary_stl(FILE *out)
{
    const char header[80] = "solid in bytes";
    const uint32_t count = TRIANGLES;
    fwrite(header, 1, sizeof header, out);
    fwrite(&count, sizeof count, 1, out);
    for (int i = 0; i < TRIANGLES; i++) {
        const float normal[3] = {0};
        fwrite(normal, sizeof normal, 1, out);
        for (int k = 0; k < 3; k++) {
            fwrite(corner[triangle_corner(i, k)], sizeof corner[0], 1, out);
        }
        fwrite(&(uint16_t){0}, 2, 1, out);
    }
}

static void write_ply(FILE *out)
{
    fprintf(out, "ply\nformat ascii 1.0\ncomment a cube\nelement vertex 8\nproperty float x\n"
                 "property float y\nproperty float z\nelement face 12\n"
                 "property list uchar int vertex_indices\nend_header\n");
    for (int i = 0; i < 8; i++) {
        fprintf(out, "%g %g %g\n", (double)corner[i][0], (double)corner[i][1],
                (double)corner[i][2]);
    }
    for (int i = 0; i < TRIANGLES; i++) {
        fprintf(out, "3 %d %d %d\n", triangle_corner(i, 0), triangle_corner(i, 1),
                triangle_corner(i, 2));
    }
}

// Doubles that are out of order, and lists of other things before and behind what matters.
static void write_binary_ply(FILE *out, bool big)
{
    fprintf(out,
            "ply\r\nformat binary_%s_endian 1.0\r\nobj_info x\r\nelement extra 1\r\n"
            "property list ushort short bits\r\nelement vertex 8\r\nproperty uchar red\r\n"
            "property double z\r\nproperty double y\r\nproperty double x\r\nelement face 6\r\n"
            "property list uint8 float32 texcoord\r\nproperty list uint8 uint32 vertex_index\r\n"
            "property int8 flag\r\nend_header\r\n",
            big ? "big" : "little");
    put_number(out, &(uint16_t){2}, 2, big);
    put_number(out, &(int16_t){-7}, 2, big);
    put_number(out, &(int16_t){7}, 2, big);
    for (int i = 0; i < 8; i++) {
        fputc(255, out);
        for (int a = 2; a >= 0; a--) {
            put_number(out, &(double){(double)corner[i][a]}, 8, big);
        }
    }
    for (int i = 0; i < 6; i++) {
        fputc(1, out);
        put_number(out, &(float){0.5F}, 4, big);
        fputc(4, out);
        for (int k = 0; k < 4; k++) {
            put_number(out, &quad[i][k], 4, big);
        }
        fputc(0, out);
    }
}
static void write_little_ply(FILE *out) { write_binary_ply(out, false); }
static void write_big_ply(FILE *out) { write_binary_ply(out, true); }

static void write_strips_ply(FILE *out)
{
    fprintf(out, "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\n"
                 "property float z\nelement tristrips 1\n"
                 "property list int int vertex_indices\nend_header\n");
    for (int i = 0; i < 8; i++) {
        fprintf(out, "%g %g %g\n", (double)corner[i][0], (double)corner[i][1],
                (double)corner[i][2]);
    }
    fprintf(out, "29\n");
    for (int i = 0; i < 6; i++) {
        fprintf(out, "%s %d %d %d %d", i > 0 ? " -1" : "", quad[i][0], quad[i][1], quad[i][3],
                quad[i][2]);
    }
}

// ---- glTF ----

static void write_base64(FILE *out, const uint8_t *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = 0;
        for (size_t k = 0; k < 3; k++) {
            three = three << 8 | (i + k < size ? bytes[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            fputc(i + k <= size ? digit[three >> (18 - 6 * k) & 63] : '=', out);
        }
    }
}

typedef struct cube_bytes {
    float place[8][3];
    uint16_t corner[TRIANGLES][3];
    uint8_t strip[6][4], fan[6][4];
    int16_t small[8][4]; // normalized, three and a hole
} cube_bytes;

static cube_bytes make_bytes(void)
{
    cube_bytes b = {0};
    memcpy(b.place, corner, sizeof corner);
    for (int i = 0; i < TRIANGLES * 3; i++) {
        b.corner[i / 3][i % 3] = (uint16_t)triangle_corner(i / 3, i % 3);
    }
    for (int i = 0; i < 24; i++) {
        static const int order[4] = {0, 1, 3, 2};
        b.fan[i / 4][i % 4] = (uint8_t)quad[i / 4][i % 4];
        b.strip[i / 4][i % 4] = (uint8_t)quad[i / 4][order[i % 4]];
        b.small[i / 3][i % 3] = corner[i / 3][i % 3] > 0.0F ? 32767 : -32767;
    }
    return b;
}

// All but the buffer, which is what `buffer` says.
static void write_json(FILE *out, const char *nodes, const char *primitives, const char *buffer)
{
    fprintf(out, "{\"asset\":{\"version\":\"2.0\"},%s,\"meshes\":[{\"primitives\":[%s]}],", nodes,
            primitives);
    fprintf(
        out,
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"},"
        "{\"bufferView\":4,\"componentType\":5122,\"normalized\":true,\"count\":8,\"type\":"
        "\"VEC3\"}");
    for (int i = 0; i < 12; i++) {
        fprintf(out,
                ",{\"bufferView\":%d,\"byteOffset\":%d,\"componentType\":5121,\"count\":4,\"type\":"
                "\"SCALAR\"}",
                2 + i / 6, 4 * (i % 6));
    }
    fprintf(out,
            "],\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},"
            "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":72},"
            "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":24},"
            "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":24},"
            "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":64,\"byteStride\":8}],"
            "\"buffers\":[{\"byteLength\":%zu%s",
            offsetof(cube_bytes, corner), offsetof(cube_bytes, strip), offsetof(cube_bytes, fan),
            offsetof(cube_bytes, small), sizeof(cube_bytes), buffer);
    if (strstr(buffer, "base64,") != NULL) {
        const cube_bytes b = make_bytes();
        write_base64(out, (const uint8_t *)&b, sizeof b);
        fprintf(out, "\"");
    }
    fprintf(out, "}]}");
}

#define INSIDE  ",\"uri\":\"data:application/octet-stream;base64,"
#define ONE     "{\"attributes\":{\"POSITION\":0},\"indices\":1}"
#define AT_ROOT "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}]"

static void write_gltf(FILE *out) { write_json(out, AT_ROOT, ONE, INSIDE); }

// Turned by a quarter about z, twice as long and mirrored along x and half of it again, and moved
// there and back: it is the cube again, by way of a strip for each face.
static void write_placed_gltf(FILE *out)
{
    text *strips = begin();
    for (int i = 0; i < 6; i++) {
        fprintf(strips->out,
                "%s{\"attributes\":{\"POSITION\":0},\"indices\":%d,\"mode\":5},"
                "{\"attributes\":{\"POSITION\":0},\"mode\":1}",
                i > 0 ? "," : "", 3 + i);
    }
    end(strips);
    write_json(out,
               "\"nodes\":[{\"mesh\":0,\"scale\":[-2,1,1]},"
               "{\"children\":[0],\"rotation\":[0,0,0.70710678118654752,0.70710678118654752],"
               "\"translation\":[0,0,5]},"
               "{\"children\":[1],\"matrix\":[1,0,0,0,0,0.5,0,0,0,0,1,0,0,0,-5,1]}]",
               strips->data, INSIDE);
    release(strips);
}

// A fan for each face, of places that are normalized integers; no node at all.
static void write_fan_gltf(FILE *out)
{
    text *fans = begin();
    for (int i = 0; i < 6; i++) {
        fprintf(fans->out, "%s{\"attributes\":{\"POSITION\":2},\"indices\":%d,\"mode\":6}",
                i > 0 ? "," : "", 9 + i);
    }
    end(fans);
    write_json(out, "\"cameras\":[]", fans->data, INSIDE);
    release(fans);
}

static void write_beside_gltf(FILE *out)
{
    write_json(out, AT_ROOT, ONE, ",\"uri\":\"the%20cube%2Ebin\"");
}

static void write_deep_gltf(FILE *out)
{
    enum { DEPTH = 20000 };
    text *nodes = begin();
    fprintf(nodes->out, "\"scenes\":[{\"nodes\":[%d]}],\"nodes\":[{\"mesh\":0}", DEPTH);
    for (int i = 0; i < DEPTH; i++) {
        fprintf(nodes->out, ",{\"children\":[%d]}", i);
    }
    fputc(']', nodes->out);
    end(nodes);
    write_json(out, nodes->data, ONE, INSIDE);
    release(nodes);
}

static void write_glb(FILE *out)
{
    const cube_bytes b = make_bytes();
    text *json = begin();
    write_json(json->out, AT_ROOT, ONE, "");
    fflush(json->out);
    while (json->size % 4 != 0) {
        fputc(' ', json->out);
        fflush(json->out);
    }
    end(json);
    const uint32_t head[5] = {0x46546c67, 2, (uint32_t)(28 + json->size + sizeof b),
                              (uint32_t)json->size, 0x4e4f534a};
    const uint32_t chunk[2] = {sizeof b, 0x004e4942};
    fwrite(head, sizeof head, 1, out);
    fwrite(json->data, 1, json->size, out);
    fwrite(chunk, sizeof chunk, 1, out);
    fwrite(&b, sizeof b, 1, out);
    release(json);
}

static const struct {
    const char *name;
    void (*write)(FILE *out);
} kinds[] = {{"cube.obj", write_obj},        {"wordy.obj", write_wordy_obj},
             {"cube.stl", write_stl},        {"binary.STL", write_binary_stl},
             {"cube.ply", write_ply},        {"little.ply", write_little_ply},
             {"big.ply", write_big_ply},     {"strips.ply", write_strips_ply},
             {"cube.gltf", write_gltf},      {"placed.gltf", write_placed_gltf},
             {"fan.gltf", write_fan_gltf},   {"beside.gltf", write_beside_gltf},
             {"deep.gltf", write_deep_gltf}, {"cube.glb", write_glb}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// ---- reading ----

static rp_result read_mesh(const char *path, rp_shape **shape)
{
    rp_mesh_def def = rp_default_mesh_def();
    def.file = path;
    def.resolution = 0.1;
    def.scale = 0.5;
    def.threads = 1;
    return rp_shape_mesh(&def, shape);
}

static const double origin[3] = {0.0, 0.0, 0.0};

static void files_of_all_kinds_are_read(void)
{
    test_folder folder = test_folder_make();
    const cube_bytes b = make_bytes();
    test_write_file(test_path(&folder, "the cube.bin"), &b, sizeof b);
    for (int i = 0; i < KINDS; i++) {
        const char *path = test_path(&folder, kinds[i].name);
        text *t = begin();
        rp_shape *shape;
        kinds[i].write(t->out);
        end(t);
        test_write_file(path, t->data, (long)t->size);
        release(t);
        check_context("%s", kinds[i].name);
        CHECK_OK(read_mesh(path, &shape));
        const double x[3] = {0.1, 0.2, 0.6};
        CHECK_NEAR(rp_shape_volume(shape, 3), 1.0, 1e-12);
        CHECK_NEAR(rp_shape_distance(shape, x, NULL), 0.1, 1e-6);
        CHECK(rp_shape_distance(shape, origin, NULL) < 0.0);
        rp_shape_release(shape);
    }
    test_folder_remove(&folder);
}

// A prism over an outline; its two ends are one polygon each.
static void write_prism(FILE *out, const double (*at)[2], int corners)
{
    for (int i = 0; i < 2 * corners; i++) {
        fprintf(out, "v %.17g %.17g %d\n", at[i % corners][0], at[i % corners][1], i / corners);
    }
    for (int top = 0; top < 2; top++) {
        fprintf(out, "f");
        for (int i = 0; i < corners; i++) {
            fprintf(out, " %d", top ? corners + i + 1 : corners - i);
        }
        fprintf(out, "\n");
    }
    for (int i = 0; i < corners; i++) {
        const int next = (i + 1) % corners;
        fprintf(out, "f %d %d %d %d\n", i + 1, next + 1, corners + next + 1, corners + i + 1);
    }
}

// A fan of triangles would have put a sheet across the corner that is missing, and across the
// spiral.
static void polygons_need_not_be_convex(void)
{
    static const double angle[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    enum { TURN = 64 };
    double spiral[2 * TURN][2], area = 0.0;
    for (int i = 0; i < TURN; i++) {
        const double way = 0.3 * i, r = 1.0 + 0.1 * i;
        for (int side = 0; side < 2; side++) {
            double *x = spiral[side == 0 ? i : 2 * TURN - 1 - i];
            x[0] = (r + 0.8 * (1 - side)) * cos(way);
            x[1] = (r + 0.8 * (1 - side)) * sin(way);
        }
    }
    for (int i = 0; i < 2 * TURN; i++) {
        const double *u = spiral[i], *v = spiral[(i + 1) % (2 * TURN)];
        area += 0.5 * (u[0] * v[1] - u[1] * v[0]);
    }
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "prism.obj");
    const double(*outline[2])[2] = {angle, (const double(*)[2])spiral};
    for (int k = 0; k < 2; k++) {
        text *t = begin();
        rp_shape *shape;
        write_prism(t->out, outline[k], k == 0 ? 6 : 2 * TURN);
        end(t);
        test_write_file(path, t->data, (long)t->size);
        release(t);
        CHECK_OK(read_mesh(path, &shape));
        CHECK_NEAR(rp_shape_volume(shape, 3), (k == 0 ? 3.0 : area) / 8.0, 1e-12);
        // in the gap, at the height of an end: the next wall is as far as it looks
        const double gap[2][3] = {{0.75, 0.75, 0.5}, {0.0, -0.5 * (1.0 + 0.1 * 36.65 - 0.6), 0.5}};
        CHECK_NEAR(rp_shape_distance(shape, gap[k], NULL), k == 0 ? 0.25 : 0.29, 0.03);
        rp_shape_release(shape);
    }
    test_folder_remove(&folder);
}

// ---- what is no mesh ----

static void check_refused(const test_folder *folder, const char *name, const void *bytes,
                          size_t size, rp_result code)
{
    const char *path = test_path(folder, name);
    rp_shape *shape;
    test_write_file(path, bytes, (long)size);
    check_context("%s of %zu bytes", name, size);
    CHECK_ERROR(read_mesh(path, &shape), code, path);
    CHECK(shape == NULL);
}

// A sentence with the name of the file.
static void hostile_files_are_refused(void)
{
    static const struct {
        const char *name, *text;
        rp_result code;
    } files[] = {
        {"empty.obj", "", RP_ERR_FILE},
        {"empty.stl", "", RP_ERR_FILE},
        {"empty.ply", "", RP_ERR_FILE},
        {"empty.gltf", "", RP_ERR_FILE},
        {"words.obj", "this is not a mesh\n", RP_ERR_FILE},
        {"words.stl", "this is not a mesh\n", RP_ERR_FILE},
        {"words.ply", "this is not a mesh\n", RP_ERR_FILE},
        {"words.gltf", "this is not a mesh\n", RP_ERR_FILE},
        {"words.glb", "this is not a mesh\n", RP_ERR_FILE},
        {"points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", RP_ERR_FILE},
        {"line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", RP_ERR_FILE},
        {"huge.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2000000000\n", RP_ERR_FILE},
        {"minus.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -2000000000\n", RP_ERR_FILE},
        {"nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", RP_ERR_FILE},
        {"inf.obj", "v 0 0 inf\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", RP_ERR_FILE},
        {"open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", RP_ERR_ARGUMENT},
        {"none.stl", "solid nothing\nendsolid nothing\n", RP_ERR_FILE},
        {"cut.stl", "solid cut\n facet normal 0 0 1\n  outer loop\n   vertex 0 0", RP_ERR_FILE},
        {"many.ply",
         "ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0\n",
         RP_ERR_FILE},
        {"index.ply",
         "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0\n1 0 0\n0 1 0\n3 0 1 77777777\n",
         RP_ERR_FILE},
        {"bare.gltf", "{\"asset\":{\"version\":\"2.0\"}}", RP_ERR_FILE},
        {"away.gltf",
         "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
         "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]"
         "}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":99999,\"type\":"
         "\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}],"
         "\"buffers\":[{\"byteLength\":12,\"uri\":\"data:application/octet-stream;base64,"
         "AAAAAAAAAAAAAAAA\"}]}",
         RP_ERR_FILE},
        {"quad.ply",
         "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0\n1 0 0\n0 1 0\n1 1 0\n4 0 1 2 2000000000\n",
         RP_ERR_FILE},
        {"list.ply",
         "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
         "property float z\nelement face 1\nproperty list int int vertex_indices\nend_header\n"
         "0 0 0\n1 0 0\n0 1 0\n2000000000 0 1 2\n",
         RP_ERR_FILE},
        {"flat.ply",
         "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
         "element face 1\nproperty list int int vertex_indices\nend_header\n0 0\n1 0\n0 1\n"
         "3 0 1 2\n",
         RP_ERR_FILE},
        {"bare.ply",
         "ply\nformat ascii 1.0\nelement vertex 2000000000\nelement face 2000000000\n"
         "property list int int vertex_indices\nend_header\n",
         RP_ERR_FILE},
        {"circle.gltf",
         "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":"
         "[1]},{\"children\":[0]}]}",
         RP_ERR_FILE},
        {"outside.gltf",
         "{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{\"primitives\":[{\"attributes\":"
         "{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,"
         "\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
         "\"buffers\":[{\"byteLength\":36,\"uri\":\"../../../../../../dev/zero\"}]}",
         RP_ERR_FILE},
    };
    static const char tiny[22] = "glTF\x02\0\0\0\x16\0\0\0\xf0\xff\xff\xffJSON{";
    test_folder folder = test_folder_make();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CHECK_HELPER(check_refused(&folder, files[i].name, files[i].text, strlen(files[i].text),
                                   files[i].code));
    }
    CHECK_HELPER(check_refused(&folder, "tiny.glb", tiny, sizeof tiny, RP_ERR_FILE));
    rp_shape *shape;
    CHECK_ERROR(read_mesh("mesh.lua", &shape), RP_ERR_FILE, "want a mesh that ends in .obj");
    CHECK_ERROR(read_mesh("/nowhere/rock.obj", &shape), RP_ERR_FILE,
                "/nowhere/rock.obj: cannot be read: No");
    // neither waited for nor read for ever
    const char *pipe = test_path(&folder, "pipe.obj"), *device = test_path(&folder, "zero.obj");
    CHECK(mkfifo(pipe, 0600) == 0 && symlink("/dev/zero", device) == 0);
    CHECK_ERROR(read_mesh(pipe, &shape), RP_ERR_FILE, "it is a pipe");
    CHECK_ERROR(read_mesh(device, &shape), RP_ERR_FILE, "it is a device");
    CHECK_ERROR(read_mesh(folder.path, &shape), RP_ERR_FILE, "want a mesh");
    test_folder_remove(&folder);
}

// Wherever it was cut. Of an OBJ file a part may be whole, but then it is open.
static void a_file_that_is_cut_is_refused(void)
{
    test_folder folder = test_folder_make();
    for (int i = 0; i < KINDS; i++) {
        text *t = begin();
        kinds[i].write(t->out);
        end(t);
        if (strcmp(kinds[i].name, "deep.gltf") != 0) {
            const bool obj = strstr(kinds[i].name, ".obj") != NULL;
            // without what ends it and means nothing
            const size_t rest = strcmp(kinds[i].name, "wordy.obj") == 0 ? 16
                                : strstr(kinds[i].name, ".stl") != NULL ? 17
                                                                        : 1;
            for (size_t size = 0; size + rest < t->size; size += 1 + size / 50) {
                const char *path = test_path(&folder, kinds[i].name);
                rp_shape *shape;
                test_write_file(path, t->data, (long)size);
                check_context("%s of %zu bytes", kinds[i].name, size);
                const rp_result result = read_mesh(path, &shape);
                CHECK(result == RP_ERR_FILE || (obj && result == RP_ERR_ARGUMENT));
                CHECK(strstr(rp_last_error(), path) != NULL);
            }
        }
        release(t);
    }
    test_folder_remove(&folder);
}

// A small file that says the same again and again would fill the memory.
static void repeated_meshes_are_counted(void)
{
    text *nodes = begin(), *primitives = begin(), *all = begin();
    fprintf(nodes->out, "\"nodes\":[{\"mesh\":0}");
    for (int i = 1; i < 3000; i++) {
        fprintf(nodes->out, ",{\"mesh\":0}");
    }
    fputc(']', nodes->out);
    end(nodes);
    fprintf(primitives->out, ONE);
    for (int i = 1; i < 200; i++) {
        fprintf(primitives->out, "," ONE);
    }
    end(primitives);
    write_json(all->out, nodes->data, primitives->data, INSIDE);
    end(all);
    test_folder folder = test_folder_make();
    check_refused(&folder, "bomb.gltf", all->data, all->size, RP_ERR_LIMIT);
    release(nodes);
    release(primitives);
    release(all);
    test_folder_remove(&folder);
}

TEST_MAIN(TEST(files_of_all_kinds_are_read), TEST(polygons_need_not_be_convex),
          TEST(hostile_files_are_refused), TEST(a_file_that_is_cut_is_refused),
          TEST(repeated_meshes_are_counted))

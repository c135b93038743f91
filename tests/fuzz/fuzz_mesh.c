// Any bytes as a mesh file: reading must end soon with triangles or a sentence, and triangles must
// become a closed shape or a sentence. The first byte chooses the format.
#include "repose/shape.h"
#include "shape/mesh_file.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// This is about the readers and what mends surfaces: the field of distances, which takes nearly all
// of the time, is made of some only.
enum { MOST_TRIANGLES = 20000, CELLS = 8, FIELD_OF = 16 };

static void check(rp_result result)
{
    if (result != RP_OK && rp_last_error()[0] == '\0') {
        abort(); // every refusal has a sentence
    }
}

static void make_shape(const rp_mesh *mesh, double size, bool repair)
{
    rp_mesh_def def = rp_default_mesh_def();
    def.vertices = rp_mesh_place(mesh)[0];
    def.vertex_count = mesh->places;
    def.triangles = rp_mesh_triangle(mesh)[0];
    def.triangle_count = mesh->triangles;
    def.resolution = size / CELLS;
    def.repair = repair;
    def.threads = 1;
    rp_shape *shape;
    const rp_result result = rp_shape_mesh(&def, &shape);
    check(result);
    if (result == RP_OK && !(rp_shape_volume(shape, 3) > 0.0)) {
        abort();
    }
    rp_shape_release(shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"fuzz.obj", "fuzz.stl", "fuzz.ply", "fuzz.gltf",
                                        "fuzz.glb"};
    if (size == 0) {
        return 0;
    }
    const rp_mesh_bytes bytes = {paths[data[0] % 5], data + 1, size - 1};
    rp_mesh mesh = {0};
    const rp_result result = rp_mesh_read_bytes(&bytes, NULL, NULL, &mesh);
    check(result);
    for (int32_t i = 0; i < 3 * mesh.triangles && result == RP_OK; i++) {
        const int32_t corner = rp_mesh_triangle(&mesh)[i / 3][i % 3];
        if (corner < 0 || corner >= mesh.places) {
            abort();
        }
    }
    if (result == RP_OK && mesh.triangles <= MOST_TRIANGLES) {
        double lower[3], upper[3], largest = 0.0;
        rp_mesh_bounds(&mesh, lower, upper);
        for (int a = 0; a < 3; a++) {
            largest = fmax(largest, upper[a] - lower[a]);
        }
        if (size % FIELD_OF == 0) {
            make_shape(&mesh, largest, true);
        }
        check(rp_mesh_close(&mesh, "fuzz", false));
        check(rp_mesh_close(&mesh, "fuzz", true));
    }
    rp_mesh_free(&mesh);
    return 0;
}

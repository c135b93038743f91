#include "frame_world.h"

#include "io/seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(rp_result result)
{
    if (result != RP_OK) {
        printf("no world for a frame: %s\n", rp_last_error());
        abort();
    }
}

static void add_sand_and_rubber(rp_world *world, double dx, double size)
{
    const rp_material_def sand = rp_default_sand_def(), rubber = rp_default_elastic_def();
    for (int i = 0; i < 2; i++) {
        rp_box_def box = rp_default_box_def();
        must(rp_world_add_material(world, i == 0 ? &sand : &rubber, &box.material));
        box.jitter = 0.7;
        for (int a = 0; a < 3; a++) {
            box.lower[a] = i == 0 ? -0.5 * size * dx : (0.5 * size + 1.0) * dx;
            box.upper[a] = box.lower[a] + size * dx;
            box.velocity[a] = (i == 0 ? 1.0 : -1.5) * (a + 1);
        }
        must(rp_world_add_box(world, &box, NULL));
    }
}

static void leave_pending(rp_world *world)
{
    const double x[6] = {0.1, 1.5, 0.3, 1.3, -1.2, 0.9}, v[6] = {0.5, -2.0, 0.25};
    const uint64_t ids[] = {1, 3};
    rp_points_def points = rp_default_points_def();
    points.count = 2;
    points.position = x;
    points.velocity = v;
    points.volume = 1e-4;
    must(rp_world_add_points(world, &points, NULL));
    must(rp_world_remove(world, ids, 2, NULL));
}

rp_world *frame_world(int dimension, rp_precision precision, int order, frame_world_kind kind,
                      double size)
{
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    def.dimension = dimension;
    def.precision = precision;
    def.order = order;
    def.dx = 0.07;
    def.fps = 48.0;
    def.seed = 0xfedcba9876543210ull;
    def.threads = 1;
    must(rp_world_create(&def, &world));
    if (kind != FRAME_EMPTY) {
        add_sand_and_rubber(world, def.dx, size);
    } else {
        // a species, and nobody of it
        const rp_material_def sand = rp_default_sand_def();
        rp_material material;
        must(rp_world_add_material(world, &sand, &material));
    }
    if (kind == FRAME_CALM || kind == FRAME_PENDING) {
        must(rp_world_run_frame(world));
        must(rp_world_step(world));
    }
    if (kind == FRAME_PENDING) {
        leave_pending(world);
    }
    return world;
}

frame_state frame_world_save(const rp_world *world)
{
    frame_state state;
    must(rp_world_save(world, &state.data, &state.size));
    return state;
}

static hid_t without_column(const char *path, const char *name, char at[128])
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    snprintf(at, 128, "VTKHDF/PointData/%s", name);
    if (H5Lexists(file, at, H5P_DEFAULT) > 0) {
        H5Ldelete(file, at, H5P_DEFAULT);
    }
    return file;
}

// Closing cuts the old seal off.
static void seal_again(hid_t file, const char *path)
{
    H5Fclose(file);
    const int fd = open(path, O_RDWR);
    must(rp_seal(fd, path));
    close(fd);
}

void frame_drop_column(const char *path, const char *name)
{
    char at[128];
    seal_again(without_column(path, name, at), path);
}

void frame_put_column(const char *path, const char *name, hid_t type, int comps, const void *rows)
{
    char at[128];
    const hid_t file = without_column(path, name, at);
    const hid_t points = H5Dopen2(file, "VTKHDF/Points", H5P_DEFAULT), old = H5Dget_space(points);
    hsize_t extent[2];
    H5Sget_simple_extent_dims(old, extent, NULL);
    extent[1] = (hsize_t)comps;
    const hid_t space = H5Screate_simple(comps > 1 ? 2 : 1, extent, NULL);
    const hid_t set = H5Dcreate2(file, at, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0) {
        printf("%s did not take the column %s\n", path, name);
        abort();
    }
    H5Dclose(set);
    H5Sclose(space);
    H5Sclose(old);
    H5Dclose(points);
    seal_again(file, path);
}

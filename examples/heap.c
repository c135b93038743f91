// Pours a heap: a block of sand is let go on the ground and comes to rest. Writes the particles of
// the last frame as lines of x,y,z [m] to the file named on the command line, for repose-splat.
#include <repose/repose.h>

#include <stdio.h>
#include <stdlib.h>

static rp_result pour_heap(rp_world **world)
{
    rp_world_def def = rp_default_world_def();    // 3D, single precision, gravity down
    rp_material_def sand = rp_default_sand_def(); // 2200 kg/m^3, 35 degrees
    rp_plane_def ground = rp_default_plane_def(); // y = 0, sticky
    rp_box_def box = rp_default_box_def();        // 8 particles per cell
    def.dx = 0.01;                                // grid spacing [m]
    box.lower[0] = box.lower[2] = -0.1;
    box.upper[0] = box.upper[2] = 0.1;
    box.upper[1] = 0.3;

    rp_result result = rp_world_create(&def, world);
    if (result == RP_OK) result = rp_world_add_material(*world, &sand, &box.material);
    if (result == RP_OK) result = rp_world_add_box(*world, &box, NULL);
    if (result == RP_OK) result = rp_world_add_plane(*world, &ground);
    for (int frame = 0; frame < 24 && result == RP_OK; frame++) result = rp_world_run_frame(*world);
    return result;
}

static int write_points(const rp_world *world, const char *path)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    double *x = malloc((size_t)stats.particles * 3 * sizeof *x);
    FILE *file = fopen(path, "w");
    bool good = x != NULL && file != NULL && rp_world_read(world, RP_COL_POSITION, x) == RP_OK;
    for (int64_t i = 0; i < stats.particles && good; i++) {
        good = fprintf(file, "%.9g,%.9g,%.9g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]) > 0;
    }
    good = (file == NULL || fclose(file) == 0) && good;
    free(x);
    if (!good) perror(path);
    return good ? 0 : 4;
}

int main(int argc, char **argv)
{
    rp_world *world = NULL;
    int status = 0;
    if (pour_heap(&world) != RP_OK) {
        fprintf(stderr, "heap: %s\n", rp_last_error());
        status = 3;
    } else if (argc > 1) {
        status = write_points(world, argv[1]);
    }
    rp_world_destroy(world);
    return status;
}

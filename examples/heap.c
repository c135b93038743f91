// Twenty lines that pour a heap of sand: a block is let go on the ground and comes to rest as a heap.
// Writes the particles of the last frame as lines of x,y,z (in metres) to the file named on the command line.
#include <repose/repose.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand_def = rp_default_sand_def();
    rp_plane_def ground = rp_default_plane_def();
    rp_box_def box = rp_default_box_def();
    def.dx = 0.01;
    box.lower[0] = box.lower[2] = -0.1;
    box.upper[0] = box.upper[2] = 0.1;
    box.upper[1] = 0.3;

    rp_world *world;
    rp_result result = rp_world_create(&def, &world);
    if (result == RP_OK) result = rp_world_add_material(world, &sand_def, &box.material);
    if (result == RP_OK) result = rp_world_add_box(world, &box, NULL);
    if (result == RP_OK) result = rp_world_add_plane(world, &ground);
    for (int frame = 0; frame < 24 && result == RP_OK; frame++) result = rp_world_run_frame(world);

    if (result == RP_OK && argc > 1) {
        rp_stats stats;
        rp_world_stats(world, &stats);
        double *x = malloc((size_t)stats.particles * 3 * sizeof *x);
        FILE *file = fopen(argv[1], "w");
        rp_world_read(world, RP_COL_POSITION, x);
        for (int64_t i = 0; i < stats.particles && file != NULL; i++) {
            fprintf(file, "%.9g,%.9g,%.9g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
        }
        if (file == NULL || fclose(file) != 0) perror(argv[1]);
        free(x);
    }
    if (result != RP_OK) fprintf(stderr, "%s\n", rp_last_error());
    rp_world_destroy(world);
    return result;
}

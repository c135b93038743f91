// make_frames DIR: frames of small worlds, 2D and 3D, single and double, and beside each a text
// with what the world itself says is in it:
//
//   time SECONDS
//   column NAME COMPONENTS PARTICLES
//   ... one particle a line ...
#include "frame_world.h"

#include <stdio.h>
#include <stdlib.h>

static void write_column(FILE *out, const rp_world *world, rp_column_id column)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    const int comps = rp_world_column_comps(world, column);
    double *values = calloc((size_t)(stats.particles * comps) + 1, sizeof *values);
    if (values == NULL || rp_world_read(world, column, values) != RP_OK) {
        abort();
    }
    fprintf(out, "column %s %d %lld\n", rp_column_name(column), comps, (long long)stats.particles);
    for (int64_t i = 0; i < stats.particles * comps; i++) {
        fprintf(out, "%.17g%c", values[i], (i + 1) % comps == 0 ? '\n' : ' ');
    }
    free(values);
}

static rp_result write_text(const char *path, const rp_world *world)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return rp_fail(RP_ERR_FILE, "cannot write %s", path);
    }
    rp_stats stats;
    rp_world_stats(world, &stats);
    fprintf(out, "time %.17g\n", stats.time);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (rp_world_column_comps(world, c) > 0) {
            write_column(out, world, c);
        }
    }
    return fclose(out) == 0 ? RP_OK : rp_fail(RP_ERR_FILE, "cannot write %s", path);
}

static rp_result write_both(const char *folder, const char *name, rp_world *world)
{
    char path[4096];
    const uint64_t guilty[] = {2, 4};
    const rp_frame_words words = {.title = name, .guilty = guilty, .guilty_count = 2};
    frame_state state = frame_world_save(world);
    snprintf(path, sizeof path, "%s/%s.hdf", folder, name);
    rp_result result = rp_frame_write(path, state.data, state.size, &words);
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    if (result == RP_OK) {
        result = write_text(path, world);
    }
    rp_state_free(state.data);
    return result;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int dimension;
        rp_precision precision;
        frame_world_kind kind;
        double size;
    } frames[] = {
        {"2d_single", 2, RP_SINGLE, FRAME_CALM, 20.0},
        {"2d_double", 2, RP_DOUBLE, FRAME_CALM, 3.0},
        {"3d_single", 3, RP_SINGLE, FRAME_CALM, 12.0},
        {"3d_double", 3, RP_DOUBLE, FRAME_CALM, 3.0},
        {"3d_unborn", 3, RP_SINGLE, FRAME_UNBORN, 3.0},
        {"3d_empty", 3, RP_SINGLE, FRAME_EMPTY, 0.0},
    };
    for (size_t i = 0; argc == 2 && i < sizeof frames / sizeof frames[0]; i++) {
        rp_world *world = frame_world(frames[i].dimension, frames[i].precision, 2, frames[i].kind,
                                      frames[i].size);
        const rp_result result = write_both(argv[1], frames[i].name, world);
        rp_world_destroy(world);
        if (result != RP_OK) {
            fprintf(stderr, "make_frames: %s\n", rp_last_error());
            return 1;
        }
    }
    return argc == 2 ? 0 : 2;
}

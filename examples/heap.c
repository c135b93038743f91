// Pours a heap: a block of sand is let go on the ground and comes to rest. Writes the last frame
// and a picture of it to the files named on the command line:
//
//     heap heap.hdf heap.png
#include <repose/repose.h>

#include <stdio.h>

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

static rp_result write_frame(const rp_world *world, const char *path)
{
    void *state = NULL;
    size_t size = 0;
    rp_result result = rp_world_save(world, &state, &size);
    if (result == RP_OK) result = rp_frame_write(path, state, size, NULL);
    rp_state_free(state);
    return result;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "Usage: heap FRAME.hdf PICTURE.png\n");
        return 2;
    }
    const rp_render_def def = rp_default_render_def();
    rp_render *render = NULL;
    rp_world *world = NULL;
    rp_result result = pour_heap(&world);
    if (result == RP_OK) result = write_frame(world, argv[1]);
    if (result == RP_OK) result = rp_render_open(argv[1], &def, &render);
    if (result == RP_OK) result = rp_render_frame(render, -1, argv[2]);
    if (result != RP_OK) fprintf(stderr, "heap: %s\n", rp_last_error());
    rp_render_close(render);
    rp_world_destroy(world);
    return result == RP_OK ? 0 : result == RP_ERR_FILE ? 4 : 3;
}

// How long a picture takes: of a frame with a million particles, reading included, and how much
// memory ten million need.
#include "bench_case.h"

#include <repose/repose.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct stopwatch {
    double wall, processor;
} stopwatch;

static stopwatch now(void)
{
    struct timespec t;
    struct rusage used;
    clock_gettime(CLOCK_MONOTONIC, &t);
    getrusage(RUSAGE_SELF, &used);
    return (stopwatch){(double)t.tv_sec + 1e-9 * (double)t.tv_nsec,
                       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec)};
}

static void stop(rp_result result)
{
    if (result != RP_OK) {
        fprintf(stderr, "repose bench: %s\n", rp_last_error());
        exit(1);
    }
}

// A flat block of sand, twice as wide as high.
static void write_frame(const char *path, double particles)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_world *world;
    void *state;
    size_t size;
    def.dx = 2.0 * cbrt(0.5 / particles);
    box.upper[0] = box.upper[2] = 1.0;
    box.upper[1] = 0.5;
    stop(rp_world_create(&def, &world));
    stop(rp_world_add_material(world, &sand, &box.material));
    stop(rp_world_add_box(world, &box, NULL));
    stop(rp_world_prepare(world));
    stop(rp_world_save(world, &state, &size));
    stop(rp_frame_write(path, state, size, NULL));
    rp_state_free(state);
    rp_world_destroy(world);
}

static void time_picture(const char *frame, const rp_render_def *def, const char *name)
{
    char png[64];
    rp_render *render;
    snprintf(png, sizeof png, "%s.png", frame);
    const stopwatch before = now();
    stop(rp_render_open(frame, def, &render));
    stop(rp_render_frame(render, -1, png));
    rp_render_close(render);
    const stopwatch after = now();
    printf("%-28s %6.2f s, %6.2f s of processors\n", name, after.wall - before.wall,
           after.processor - before.processor);
    fflush(stdout);
    remove(png);
}

// Ten million points in a box: what a picture of them adds to their own memory.
static void measure_memory(void)
{
    enum { COUNT = 10000000 };
    double(*x)[3] = malloc(COUNT * sizeof *x);
    rp_render_def def = rp_default_render_def();
    unsigned char *rgb = malloc((size_t)def.width * (size_t)def.height * 3);
    if (x == NULL || rgb == NULL) {
        fputs("repose bench: no memory for ten million points\n", stderr);
        exit(1);
    }
    uint64_t h = 1;
    for (int i = 0; i < COUNT; i++) {
        for (int a = 0; a < 3; a++) {
            h = h * 6364136223846793005u + 1442695040888963407u;
            x[i][a] = (double)(h >> 11) * 0x1p-53 * (a == 1 ? 0.5 : 1.0);
        }
    }
    def.preview = true;
    def.radius = 0.003;
    const stopwatch before = now();
    stop(rp_render_points(x[0], NULL, COUNT, 3, &def, rgb));
    const stopwatch after = now();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%-28s %6.2f s, %6.2f s of processors, peak %.2f GB\n", "preview of 10 M particles",
           after.wall - before.wall, after.processor - before.processor,
           1.024e-6 * (double)used.ru_maxrss);
    free(x);
    free(rgb);
}

void bench_render(void)
{
    char frame[] = "/tmp/repose-bench-XXXXXX";
    const int fd = mkstemp(frame);
    if (fd < 0) {
        perror("repose bench");
        exit(1);
    }
    close(fd);
    write_frame(frame, 1e6);
    rp_render_def def = rp_default_render_def();
    printf("pictures of 1 M particles, %d x %d, %d threads\n", def.width, def.height,
           rp_default_threads());
    def.samples = 16;
    time_picture(frame, &def, "16 samples per pixel");
    def.samples = 0;
    def.preview = true;
    time_picture(frame, &def, "preview");
    remove(frame);
    measure_memory();
}

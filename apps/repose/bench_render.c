// How long a picture takes: of a million particles, reading included, with and without glass around
// them, and how much memory ten million need.
#define _GNU_SOURCE // nftw
#include "bench_case.h"
#include "host.h"

#include <repose/repose.h>

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// A block of sand, twice as wide as high, in a box that is glass or hidden.
static const char script[] =
    "scene { title = 'Pictures', dx = 2 * (0.5 / 1e6) ^ (1 / 3), fps = 24, frames = 1 }\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {1, 0.5, 1} } "
    "}\n"
    "local function room(d) return box { min = {-d, -d, -d}, max = {1 + d, 0.6 + d, 1 + d} } end\n"
    "collider { name = 'box', look = param('look', 'glass'),\n"
    "           shape = subtract(room(0.06), room(0.03)) }\n";

static void write_run(const char *folder, const char *look)
{
    rp_scene_def def = rp_default_scene_def();
    const rp_scene_param param = {.name = "look", .value = look};
    rp_scene_world_def world_def = rp_default_scene_world_def();
    rp_run_def run_def = rp_default_run_def();
    rp_scene *scene;
    rp_run_end end;
    rp_run *run;
    def.path = "pictures.lua";
    def.text = script;
    def.text_size = sizeof script - 1;
    def.param = &param;
    def.params = 1;
    stop(rp_scene_load(&def, &scene));
    stop(rp_scene_create_world(scene, &world_def, &run_def.world));
    const char *resolved = rp_scene_resolved(scene);
    const rp_run_file file = {
        .name = "scene.resolved.json", .data = resolved, .size = strlen(resolved)};
    run_def.about = "{}";
    run_def.file = &file;
    run_def.files = 1;
    stop(rp_run_open(folder, RP_RUN_OVERWRITE, &run));
    stop(rp_run_go(run, &run_def, &end));
    rp_run_close(run);
    rp_world_destroy(run_def.world);
    rp_scene_free(scene);
}

// The best of several. @return of processors [s]
static double time_picture(const char *folder, const rp_render_def *def, const char *name,
                           int repeats)
{
    char png[64];
    double wall = INFINITY, processor = INFINITY;
    snprintf(png, sizeof png, "%s/picture.png", folder);
    for (int i = 0; i < repeats; i++) {
        rp_render *render;
        const stopwatch before = now();
        stop(rp_render_open(folder, def, &render));
        stop(rp_render_frame(render, -1, png));
        rp_render_close(render);
        const stopwatch after = now();
        wall = fmin(wall, after.wall - before.wall);
        processor = fmin(processor, after.processor - before.processor);
    }
    printf("%-28s %6.2f s, %6.2f s of processors\n", name, wall, processor);
    fflush(stdout);
    return processor;
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
    def.samples = 1; // memory does not depend on it
    forget_peak();
    def.radius = 0.003;
    const stopwatch before = now();
    stop(rp_render_points(x[0], NULL, COUNT, 3, &def, rgb));
    const stopwatch after = now();
    printf("%-28s %6.2f s, %6.2f s of processors, peak %.2f GB\n", "10 M particles, 1 sample",
           after.wall - before.wall, after.processor - before.processor,
           1e-9 * (double)peak_memory());
    free(x);
    free(rgb);
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

void bench_render(void)
{
    char folder[] = "/tmp/repose-bench-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        perror("repose bench");
        exit(1);
    }
    rp_render_def def = rp_default_render_def(), quick = def;
    printf("pictures of 1 M particles, %d x %d, %d threads, reading included\n", def.width,
           def.height, rp_default_threads());
    def.samples = 16;
    quick.preview = true;
    write_run(folder, "hidden");
    const double full = time_picture(folder, &def, "16 samples per pixel", 2);
    const double preview = time_picture(folder, &quick, "preview", 4);
    printf("%-28s %6.3f of that\n", "", preview / full);
    write_run(folder, "glass");
    time_picture(folder, &def, "16 samples, behind glass", 2);
    time_picture(folder, &quick, "preview, behind glass", 4);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    measure_memory();
}

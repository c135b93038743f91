// repose check: everything but the steps.
#include "commands.h"
#include "params.h"
#include "progress.h"
#include "say.h"
#include "setup.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option check_options[] = {
    OPTION_SET,    OPTION_FRAMES, OPTION_THREADS,
    OPTION_MEMORY, OPTION_METHOD, {.name = "--json", .help = "the same as one JSON object"},
    {0},
};

// What will come of a scene, as far as that can be known.
typedef struct forecast {
    rp_scene_info info;
    rp_plan plan;
    int64_t frames, poured;     // poured: by emitters, to the end
    size_t memory, most_memory; // first frame, and an upper estimate [bytes]
    disk_use disk;
    json_t *params; // of the scene
    double steps;   // per frame
    double seconds; // per frame
} forecast;

// Particle-steps per second of this machine: a block of sand is stepped a few times, in the way
// that the scene asks for.
static double measure_rate(const rp_scene_info *info, int threads)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_world *world = NULL;
    rp_stats stats = {0};
    def.dimension = info->dimension;
    def.precision = info->precision;
    def.order = info->order;
    def.gradient = info->gradient;
    def.energy = info->energy;
    def.dx = 0.01;
    def.threads = threads;
    for (int a = 0; a < 3; a++) {
        box.upper[a] = info->dimension == 2 ? 0.64 : 0.16;
    }
    rp_result result = rp_world_create(&def, &world);
    result = result == RP_OK ? rp_world_add_material(world, &sand, &box.material) : result;
    result = result == RP_OK ? rp_world_add_box(world, &box, NULL) : result;
    result = result == RP_OK ? rp_world_step(world) : result;
    double best = INFINITY;
    for (int i = 0; i < 8 && result == RP_OK; i++) {
        const double began = wall_clock();
        result = rp_world_step(world);
        best = fmin(best, wall_clock() - began);
    }
    if (result == RP_OK) {
        rp_world_stats(world, &stats);
    }
    rp_world_destroy(world);
    return result == RP_OK ? (double)stats.particles / best : NAN;
}

static void look_ahead(forecast *f, int threads)
{
    const rp_plan *p = &f->plan;
    const double poured = (double)f->poured, n = (double)p->particles + poured;
    f->memory = first_frame_bytes(p);
    // sand that has spread lies in up to twice as many pages, and arrays have a quarter to spare;
    // what is poured takes about as much as what is there, and a frame is in memory once more
    enum { EACH = 150 };
    f->most_memory =
        f->memory + (size_t)(1.25 * (double)p->bytes + poured * (2.25 * EACH + EACH_IN_FRAME));
    f->disk = disk_needed(p, f->poured, f->frames);
    f->steps = ceil(1.0 / (f->info.fps * p->dt));
    f->seconds = n * f->steps / measure_rate(&f->info, threads);
}

static void print_slopes(rp_scene *scene)
{
    rp_scene_world_def def = rp_default_scene_world_def();
    rp_world *world;
    def.empty = true;
    def.threads = 1;
    if (rp_scene_create_world(scene, &def, &world) != RP_OK) {
        return;
    }
    for (int i = 0; i < rp_world_materials(world); i++) {
        const rp_material_def *m = rp_world_material(world, i);
        const double friction = rp_material_friction(m, rp_world_dimension(world));
        const double slope = atan(friction) * (180.0 / M_PI);
        if (friction > 0.0) {
            printf("slope          %s has friction %.4f (shear over normal stress at yield): it "
                   "stays in "
                   "motion above about %.0f degrees and rests below; a heap that collapsed ends "
                   "flatter%s\n",
                   m->name, friction, slope,
                   slope >= 45.0 ? "; so steep that a slope may never fail: see yield_fit" : "");
        }
    }
    rp_world_destroy(world);
}

static void print_text(const forecast *f, const char *path, rp_scene *scene)
{
    const rp_plan *p = &f->plan;
    char a[32], b[32];
    say_print("scene          %s%s%s\n", path, f->info.title[0] != '\0' ? ": " : "", f->info.title);
    print_params(f->params, "param          ");
    printf("method         %s\n", f->info.method);
    printf("particles      %lld", (long long)p->particles);
    if (f->poured > 0) {
        printf(" at the start, and %lld are poured; what follows is with all of them",
               (long long)f->poured);
    }
    putchar('\n');
    if (p->particles > 0) {
        const bool flat = f->info.dimension == 2;
        printf("size           %.3g x %.3g", p->upper[0] - p->lower[0], p->upper[1] - p->lower[1]);
        printf(flat ? " m" : " x %.3g m", p->upper[2] - p->lower[2]);
        printf(", %.3g kg%s\n", p->mass, flat ? " per metre" : "");
    }
    print_bytes((double)f->memory, a);
    print_bytes((double)f->most_memory, b);
    printf("memory         %s up to the first frame, up to about %s later\n", a, b);
    print_bytes(f->disk.frame, a);
    print_bytes(f->disk.all, b);
    printf("frames         %lld of about %s, %s in all\n", (long long)f->frames + 1, a, b);
    printf("time step      %.3g s, bounded by %s; %.0f per frame\n", p->dt, p->limiter, f->steps);
    print_slopes(scene);
    print_duration(f->seconds, a);
    print_duration(f->seconds * (double)f->frames, b);
    printf("computing      about %s per frame, %s in all\n", a, b);
}

static void print_json(const forecast *f)
{
    const rp_plan *p = &f->plan;
    json_t *warnings = json_array();
    for (int i = 0; said_warning(i) != NULL; i++) {
        json_array_append_new(warnings, json_string(said_warning(i)));
    }
    json_t *words = json_pack("{s:O?, s:o}", "params", f->params, "warnings", warnings);
    char *text = json_dumps(words, JSON_COMPACT | JSON_REAL_PRECISION(17));
    printf("{\"particles\":%lld,\"poured\":%lld,\"memory_bytes\":%zu,\"memory_most_bytes\":%zu,"
           "\"frames\":%lld,"
           "\"frame_bytes\":%.0f,\"total_bytes\":%.0f,\"dt\":%.17g,\"limiter\":\"%s\","
           "\"steps_per_frame\":%.0f,\"seconds_per_frame\":%.3g,\"mass_kg\":%.9g,"
           "\"lower\":[%.9g,%.9g,%.9g],\"upper\":[%.9g,%.9g,%.9g],%s\n",
           (long long)p->particles, (long long)f->poured, f->memory, f->most_memory,
           (long long)f->frames + 1, f->disk.frame, f->disk.all, p->dt, p->limiter, f->steps,
           f->seconds, p->mass, p->lower[0], p->lower[1], p->lower[2], p->upper[0], p->upper[1],
           p->upper[2], text != NULL ? text + 1 : "}");
    free(text);
    json_decref(words);
}

static int check_main(const args *a)
{
    rp_scene_param param[VALUE_MOST];
    char path[PATH_SIZE];
    bool wrong = false;
    forecast f = {0};
    const int64_t frames = args_integer(a, "--frames", 1, 1000000, -1, &wrong);
    const int threads = (int)args_integer(a, "--threads", 1, 1024, 0, &wrong);
    const size_t memory = memory_limit(a, &wrong);
    rp_scene_def def = rp_default_scene_def();
    def.params = params_of(a, param);
    if (wrong || def.params < 0) {
        return EXIT_USAGE;
    }
    scene_path(a->operand[0], path);
    def.path = path;
    def.param = param;
    def.method = args_value(a, "--method");
    rp_scene *scene;
    const rp_result result = rp_scene_load(&def, &scene);
    if (result != RP_OK) {
        return say_no_scene(result, a->operand[0]);
    }
    rp_scene_get_info(scene, &f.info);
    f.frames = frames >= 0 ? frames : f.info.frames;
    int status = plan_scene(scene, memory, (double)f.frames / f.info.fps, &f.plan, &f.poured);
    if (status == 0) {
        json_t *resolved = json_loads(rp_scene_resolved(scene), 0, NULL);
        f.params = json_object_get(resolved, "params");
        look_ahead(&f, threads);
        if (args_has(a, "--json")) {
            print_json(&f);
        } else {
            print_text(&f, path, scene);
        }
        json_decref(resolved);
        status = check_disk(".", &f.disk);
    }
    rp_scene_free(scene);
    return status;
}

const command command_check = {
    .name = "check",
    .operands = "SCENE",
    .least = 1,
    .most = 1,
    .operand_words = "SCENE",
    .summary = "check a scene and say what it will need, without running it",
    .text =
        "Does everything but the steps: reads and checks SCENE, counts its particles, and says "
        "how\n"
        "much memory, disk and time it will take, how long a time step is and what bounds it, the\n"
        "slope to expect, and which params it has. A scene that cannot be run, or does not fit "
        "into memory, is refused\n"
        "with the reason.",
    .option = check_options,
    .main = check_main,
};

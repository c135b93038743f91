// repose check: everything but the steps.
#include "commands.h"
#include "limits.h"
#include "params.h"
#include "progress.h"
#include "say.h"
#include "setup.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option check_options[] = {
    OPTION_SET,
    OPTION_FRAMES,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_METHOD,
    {.name = "--json", .help = "the same as one JSON object"},
    {.name = "--compare", .help = "step it by the other of explicit and implicit, too: minutes"},
    {0},
};

// What will come of a scene, as far as that can be known.
typedef struct forecast {
    rp_scene_info info;
    rp_plan plan;
    int64_t frames, poured;     // poured: by emitters, to the end
    size_t memory, most_memory; // first frame, and an upper estimate [bytes]
    size_t limit;               // that may be used [bytes]
    disk_use disk;
    json_t *params; // of the scene
    double dx;      // of the grid [m]
    double steps;   // per frame
    double seconds; // per frame
    // before the first one: reading the scene, counting and making what is in it; and settling
    double loading, settling;
    double own_rate;   // seconds of computing for a second of the scene, as it was tried
    double stiffness;  // speed of waves over that of what falls; 0: not known
    const char *other; // explicit for implicit and the other way round; NULL: it cannot
    double other_dt;   // its steps [s]
    double other_rate; // seconds of computing for a second of the scene
} forecast;

static double all_seconds(const forecast *f)
{
    // a frame is made and written beside the steps, at about this rate
    static const double BYTES = 4e8; // [1/s]
    return f->loading + f->settling + (double)f->frames * (f->seconds + f->disk.frame / BYTES);
}

// How long a second of the scene takes, as far as that is known after a while of stepping it.
typedef struct trial {
    double seconds; // for a second of simulated time, with so many particles [s]
    double steps;   // in a second of simulated time
    double particles;
} trial;

static const double PATIENCE = 0.4; // for which a scene is tried [s]

// By the clock on the wall, less what others take: no more than the processor has worked.
typedef struct stopwatch {
    double wall, cpu;
} stopwatch;

static stopwatch start_watch(void) { return (stopwatch){wall_clock(), cpu_seconds()}; }

static double since(const stopwatch *w)
{
    return fmin(wall_clock() - w->wall, cpu_seconds() - w->cpu);
}

// Step a world for a while. All is 0 when a step fails, and the run will say why.
static trial try_world(rp_world *world, double most)
{
    enum { LEAST = 2 };
    rp_stats stats;
    trial t = {0};
    const stopwatch all = start_watch();
    rp_result result = rp_world_step(world); // the first one makes room for what the others need
    rp_world_stats(world, &stats);
    const double from = stats.time;
    const int64_t step = stats.step;
    const stopwatch rest = start_watch();
    while (result == RP_OK && stats.time < most &&
           (stats.step < step + LEAST || since(&all) < PATIENCE) &&
           wall_clock() - all.wall < 4.0 * PATIENCE) {
        result = rp_world_step(world);
        rp_world_stats(world, &stats);
    }
    const double past = stats.time - from;
    if (result == RP_OK) {
        // where one step takes all of our patience, it is all that there is to go by
        t.seconds = past > 0.0 ? since(&rest) / past : since(&all) / from;
        t.steps = past > 0.0 ? (double)(stats.step - step) / past : 1.0 / from;
        t.particles = (double)stats.particles;
    }
    return t;
}

// The scene as it is, for a while. What is too large to be made twice is not tried.
static trial try_scene(const forecast *f, rp_scene *scene, int threads)
{
    enum { MOST = 1000000 };
    rp_scene_world_def def = rp_default_scene_world_def();
    rp_world *world;
    trial t = {0};
    def.threads = threads;
    def.memory = f->limit;
    if (f->plan.particles == 0 || f->plan.particles > MOST ||
        rp_scene_create_world(scene, &def, &world) != RP_OK) {
        return t;
    }
    if (rp_world_prepare(world) == RP_OK) {
        t = try_world(world, (double)f->frames / f->info.fps);
    }
    rp_world_destroy(world);
    return t;
}

// A block of sand in a world of its own, stepped in the way that the scene asks for.
static trial try_block(const forecast *f, int threads)
{
    rp_world_def def = rp_default_world_def();
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    rp_world *world = NULL;
    trial t = {0};
    def.dimension = f->info.dimension;
    def.method = f->info.method;
    def.precision = f->info.precision;
    def.order = f->info.order;
    def.gradient = f->info.gradient;
    def.energy = f->info.energy;
    def.dx = f->dx;
    def.fps = f->info.fps;
    def.threads = threads;
    for (int a = 0; a < 3; a++) {
        box.upper[a] = (f->info.dimension == 2 ? 64.0 : 16.0) * f->dx;
    }
    rp_result result = rp_world_create(&def, &world);
    result = result == RP_OK ? rp_world_add_material(world, &sand, &box.material) : result;
    result = result == RP_OK ? rp_world_add_box(world, &box, NULL) : result;
    result = result == RP_OK ? rp_world_prepare(world) : result;
    if (result == RP_OK) {
        t = try_world(world, (double)f->frames / f->info.fps);
    }
    rp_world_destroy(world);
    return t;
}

// What falls is faster later: steps in which the fastest grain may go so far.
static double steps_of_a_fall(const forecast *f)
{
    const rp_plan *p = &f->plan;
    const double high = f->info.dimension == 2 || f->info.up == 1 ? p->upper[1] - p->lower[1]
                                                                  : p->upper[2] - p->lower[2];
    const double speed = p->particles > 0 ? sqrt(2.0 * 9.81 * fmax(high, 0.0)) : 0.0;
    return speed / f->dx;
}

// The fastest wave of the scene's sand and elastic bodies over the speed of what falls through all
// of its height.
static double stiffness_of(const forecast *f, rp_scene *scene)
{
    rp_scene_world_def def = rp_default_scene_world_def();
    rp_world *world;
    double fastest = 0.0;
    def.empty = true;
    def.threads = 1;
    if (rp_scene_create_world(scene, &def, &world) != RP_OK) {
        return 0.0;
    }
    for (int i = 0; i < rp_world_materials(world); i++) {
        const rp_material_def *m = rp_world_material(world, i);
        const double nu = m->poisson;
        const double modulus = m->young * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu));
        if (m->kind == RP_SAND || m->kind == RP_ELASTIC) {
            fastest = fmax(fastest, sqrt(modulus / m->density));
        }
    }
    rp_world_destroy(world);
    const double falling = steps_of_a_fall(f) * f->dx;
    return falling > 0.0 ? fastest / falling : 0.0;
}

// The same scene by the other of the two methods that differ in their steps alone. One implicit
// step of 160 000 particles that meets a jump may take minutes: only for those who ask.
static void try_other(forecast *f, const rp_scene_def *scene_def, int threads)
{
    rp_scene_def def = *scene_def;
    rp_scene *scene;
    def.method = strcmp(f->info.method, "explicit") == 0   ? "implicit"
                 : strcmp(f->info.method, "implicit") == 0 ? "explicit"
                                                           : NULL;
    if (def.method == NULL || !(f->own_rate > 0.0) || rp_scene_load(&def, &scene) != RP_OK) {
        return;
    }
    const trial t = try_scene(f, scene, threads);
    if (t.seconds > 0.0 && t.steps > 0.0) {
        f->other = def.method;
        f->other_dt = 1.0 / t.steps;
        f->other_rate = t.seconds;
    }
    rp_scene_free(scene);
}

// @param[in] compare NULL: with no other method
static void look_ahead(forecast *f, const rp_scene_def *compare, rp_scene *scene, int threads)
{
    const rp_plan *p = &f->plan;
    const double poured = (double)f->poured;
    f->memory = first_frame_bytes(p);
    // sand that has spread lies in up to twice as many pages, and arrays have a quarter to spare;
    // what is poured takes about as much as what is there, and a frame is in memory once more
    enum { EACH = 150 };
    f->most_memory =
        f->memory + (size_t)(1.25 * (double)p->bytes + poured * (2.25 * EACH + EACH_IN_FRAME));
    f->disk = disk_needed(p, f->poured, f->frames);
    say_nothing(true); // what a trial meets the run will say
    trial t = try_scene(f, scene, threads);
    f->own_rate = t.seconds;
    if (strcmp(f->info.method, "explicit") == 0 || strcmp(f->info.method, "implicit") == 0) {
        f->stiffness = stiffness_of(f, scene);
    }
    if (compare != NULL) {
        try_other(f, compare, threads);
    }
    if (!(t.seconds > 0.0)) {
        t = try_block(f, threads);
        // its steps are as long as they are; where waves bound them, the plan knows those of the
        // scene
        if (strcmp(p->limiter, "elastic") == 0) {
            t.seconds *= 1.0 / (p->dt * t.steps);
            t.steps = 1.0 / p->dt;
        }
    }
    say_nothing(false);
    // on the way down and after it, a grain may go at most a cell in a step
    const double more = fmax(1.0, 0.5 + 0.5 * steps_of_a_fall(f) / t.steps);
    const double mean = (double)p->particles + 0.5 * poured; // what is poured comes evenly
    f->steps = ceil(1.0 / (f->info.fps * p->dt));
    f->seconds = t.seconds * more * fmax(1.0, mean) / t.particles / f->info.fps;
    f->settling = f->seconds * f->info.settle * f->info.fps;
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
    if (f->stiffness > 0.0) {
        printf("stiffness      waves are %.3g times as fast as what falls (c / v_max)\n",
               f->stiffness);
    }
    if (f->other != NULL) {
        const double more = f->other_rate / f->own_rate;
        printf("compared       method %s would take steps of %.3g s and %.2g times as long: %s is "
               "expected to be faster\n",
               f->other, f->other_dt, more, more < 1.0 ? f->other : f->info.method);
    }
    print_slopes(scene);
    print_duration(f->seconds, a);
    print_duration(all_seconds(f), b);
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
           "\"steps_per_frame\":%.0f,\"seconds_per_frame\":%.3g,\"seconds\":%.3g,\"mass_kg\":%.9g,"
           "\"lower\":[%.9g,%.9g,%.9g],\"upper\":[%.9g,%.9g,%.9g],%s\n",
           (long long)p->particles, (long long)f->poured, f->memory, f->most_memory,
           (long long)f->frames + 1, f->disk.frame, f->disk.all, p->dt, p->limiter, f->steps,
           f->seconds, all_seconds(f), p->mass, p->lower[0], p->lower[1], p->lower[2], p->upper[0],
           p->upper[1], p->upper[2], text != NULL ? text + 1 : "}");
    free(text);
    json_decref(words);
}

static int check_main(const args *a)
{
    rp_scene_param param[VALUE_MOST];
    char path[PATH_SIZE];
    bool wrong = false;
    forecast f = {0};
    const double began = wall_clock();
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
        f.dx = json_number_value(json_object_get(json_object_get(resolved, "scene"), "dx"));
        f.loading = wall_clock() - began;
        f.limit = memory;
        look_ahead(&f, args_has(a, "--compare") ? &def : NULL, scene, threads);
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

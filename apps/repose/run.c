// repose run: a scene in, a folder of frames out.
#include "commands.h"
#include "host.h"
#include "progress.h"
#include "say.h"
#include "setup.h"

#include <repose/file.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option run_options[] = {
    {.name = "-o", .value = "DIR", .help = "the folder to write to (NAME-out)", .words = "DIR"},
    OPTION_SET,
    OPTION_FRAMES,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_METHOD,
    {.name = "--resume",
     .help = "go on with the run that DIR holds; the result is the same\nas without the break"},
    {.name = "--overwrite", .help = "remove the run that DIR holds first"},
    {.name = "--every",
     .value = "SECONDS",
     .help = "also save the state in mid-frame, every so many seconds\nof computing (60); 0: only "
             "at the end of a frame"},
    {.name = "--json", .help = "one JSON object per frame on standard output"},
    {.name = "--quiet", .help = "no progress, only warnings and errors"},
    {.name = "--control-fd",
     .value = "N",
     .help = "obey the words pause, resume and stop, one a line, that\ncome on file descriptor N"},
    {0},
};

// What the command line and, for a resumed run, the folder's record say.
typedef struct job {
    const args *a;
    const char *scene; // as the user wrote it; NULL: resumed without one
    char script[PATH_SIZE], folder[PATH_SIZE];
    char given[PATH_SIZE];  // the user's script, where `script` is the copy of a resumed run
    char beside[PATH_SIZE]; // the folder of the user's script, where files that it names are
    rp_run_mode mode;
    rp_scene_param param[VALUE_MOST];
    int params;
    const char *method;
    int64_t frames; // -1: as the scene says
    int threads;
    size_t memory;
    double save_seconds;
    json_t *about; // of the run that is resumed

    rp_run *run;
    rp_scene *scene_loaded;
    rp_world *world;
    rp_scene_info info;
    progress progress;
    control control;
} job;

static int read_options(job *j)
{
    const args *a = j->a;
    bool wrong = false;
    if (args_has(a, "--resume") && args_has(a, "--overwrite")) {
        return say_usage("--resume and --overwrite exclude each other");
    }
    j->mode = args_has(a, "--resume")      ? RP_RUN_RESUME
              : args_has(a, "--overwrite") ? RP_RUN_OVERWRITE
                                           : RP_RUN_NEW;
    j->scene = a->operands > 0 ? a->operand[0] : NULL;
    if (j->scene == NULL && (j->mode != RP_RUN_RESUME || !args_has(a, "-o"))) {
        return say_usage("run: want a SCENE; only --resume -o DIR does without");
    }
    j->frames = args_integer(a, "--frames", 1, 1000000, -1, &wrong);
    j->threads = (int)args_integer(a, "--threads", 1, 1024, 0, &wrong);
    j->save_seconds = args_number(a, "--every", 0.0, INFINITY, 60.0, &wrong);
    j->memory = memory_limit(a, &wrong);
    j->method = args_value(a, "--method");
    j->params = params_of(a, j->param);
    const int fd = (int)args_integer(a, "--control-fd", 0, 1 << 20, -1, &wrong);
    if (wrong || j->params < 0) {
        return EXIT_USAGE;
    }
    j->control.fd = -1;
    if (fd >= 0 && !control_open(&j->control, fd)) {
        return say_usage("--control-fd: descriptor %d is not open", fd);
    }
    if (j->scene != NULL) {
        scene_path(j->scene, j->script);
    }
    if (args_has(a, "-o")) {
        snprintf(j->folder, sizeof j->folder, "%s", args_value(a, "-o"));
    } else {
        char name[256];
        scene_name(j->scene, name);
        snprintf(j->folder, sizeof j->folder, "%s-out", name);
    }
    return 0;
}

// ---- a resumed run is the scene that was started ----

static bool same_file(const char *a, const char *b)
{
    FILE *one = NULL, *two = NULL;
    bool same = rp_file_open(a, &one) == RP_OK && rp_file_open(b, &two) == RP_OK;
    for (int c = 0; same && c != EOF;) {
        c = getc(one);
        same = c == getc(two);
    }
    if (one != NULL) {
        fclose(one);
    }
    if (two != NULL) {
        fclose(two);
    }
    return same;
}

// The recorded --set values take the place of none; other ones would make it another scene.
static int recall_params(job *j)
{
    const char *name;
    json_t *value, *set = json_object_get(j->about, "set");
    for (int i = 0; i < j->params; i++) {
        const char *was = json_string_value(json_object_get(set, j->param[i].name));
        if (was == NULL || strcmp(was, j->param[i].value) != 0) {
            return say_usage(
                "--set %s=%s: the run in %s was started with %s; resume without it, or "
                "start anew with --overwrite",
                j->param[i].name, j->param[i].value, j->folder,
                was != NULL ? was : "the scene's own value");
        }
    }
    j->params = 0;
    json_object_foreach(set, name, value)
    {
        if (json_is_string(value) && j->params < VALUE_MOST) {
            j->param[j->params++] =
                (rp_scene_param){.name = name, .value = json_string_value(value)};
        }
    }
    return 0;
}

static int recall(job *j)
{
    char kept[PATH_SIZE];
    snprintf(kept, sizeof kept, "%.*s/scene.lua", PATH_SIZE - 16, j->folder);
    j->about = json_loads(rp_run_about(j->run), 0, NULL);
    const char *needed[] = {kept, j->scene != NULL ? j->script : kept};
    for (int i = 0; i < 2; i++) {
        if (access(needed[i], R_OK) != 0) {
            say_usage("cannot read %s: %s", needed[i], strerror(errno));
            return EXIT_FILE;
        }
    }
    if (j->scene != NULL && !same_file(j->script, kept)) {
        return say_usage("%s has changed since the run in %s was started: resume without it "
                         "(repose run --resume -o %s), or start anew with --overwrite",
                         j->script, j->folder, j->folder);
    }
    const int status = recall_params(j);
    if (status != 0) {
        return status;
    }
    const char *method = json_string_value(json_object_get(j->about, "method"));
    if (j->method != NULL && (method == NULL || strcmp(j->method, method) != 0)) {
        return say_usage("--method %s: the run in %s was started with %s", j->method, j->folder,
                         method != NULL ? method : "the scene's own");
    }
    j->method = method;
    const json_t *frames = json_object_get(j->about, "frames");
    if (j->frames < 0 && json_is_integer(frames)) {
        j->frames = json_integer_value(frames);
    }
    const char *beside = json_string_value(json_object_get(j->about, "scene_folder"));
    snprintf(j->beside, sizeof j->beside, "%s", beside != NULL ? beside : "");
    if (j->scene != NULL) {
        memcpy(j->given, j->script, sizeof j->given);
    }
    memcpy(j->script, kept, sizeof kept);
    return 0;
}

// The folder of the script, for a resumed run that starts from a copy somewhere else.
static void remember_folder(job *j)
{
    char *path = realpath(j->script, NULL);
    char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash != NULL) {
        *(slash > path ? slash : slash + 1) = '\0';
        snprintf(j->beside, sizeof j->beside, "%s", path);
    }
    free(path);
}

// A path as the record writes it: JSON is UTF-8, and paths may be anything.
static const char *text_of(const char *path, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s", path);
    rp_make_text(out, true);
    return out;
}

// A file's checksum, as the record writes it.
static int sum_of(const char *path, char out[17])
{
    uint64_t sum = 0;
    const rp_result result = rp_checksum_file(path, &sum);
    snprintf(out, 17, "%016llx", (unsigned long long)sum);
    return result == RP_OK ? 0 : say_error(result, false);
}

// The checksum of a file when the run was started; older runs have it under its whole path. NULL:
// not known.
static const char *sum_then(const job *j, int i)
{
    const json_t *files = json_object_get(j->about, "files");
    const json_t *sum = json_object_get(files, rp_scene_file_name(j->scene_loaded, i));
    sum = sum != NULL ? sum : json_object_get(files, rp_scene_file(j->scene_loaded, i));
    return json_string_value(sum);
}

static int compare_file(const job *j, const char *path, const char *was)
{
    char sum[17];
    const int status = sum_of(path, sum);
    if (status == 0 && (was == NULL || strcmp(was, sum) != 0)) {
        return say_usage("%s has changed since the run in %s was started: put it back as it was, "
                         "or start anew with --overwrite",
                         path, j->folder);
    }
    return status;
}

// Meshes and pictures that the scene reads must be those that the run was started with; and so must
// those beside the user's own script, where he gave it.
static int compare_files(const job *j)
{
    int status = 0;
    for (int i = 0; i < rp_scene_files(j->scene_loaded) && status == 0; i++) {
        char own[2 * PATH_SIZE];
        const char *name = rp_scene_file_name(j->scene_loaded, i), *was = sum_then(j, i);
        const char *slash = strrchr(j->given, '/');
        snprintf(own, sizeof own, "%.*s%s",
                 slash != NULL && name[0] != '/' ? (int)(slash + 1 - j->given) : 0, j->given, name);
        status = compare_file(j, rp_scene_file(j->scene_loaded, i), was);
        if (status == 0 && j->given[0] != '\0' && access(own, R_OK) == 0) {
            status = compare_file(j, own, was);
        }
    }
    return status;
}

static json_t *describe_files(const job *j)
{
    json_t *files = json_object();
    for (int i = 0; i < rp_scene_files(j->scene_loaded); i++) {
        char sum[17];
        if (sum_of(rp_scene_file(j->scene_loaded, i), sum) == 0) {
            json_object_set_new(files, rp_scene_file_name(j->scene_loaded, i), json_string(sum));
        }
    }
    return files;
}

static void free_files(rp_run_file *list, int count)
{
    for (int i = 2; i < count; i++) {
        free((char *)(uintptr_t)list[i].name);
    }
    free(list);
}

// The script, what it means, and copies of the files that it reads, each once. @return how many; -1
// without memory
static int list_files(const job *j, rp_run_file **out)
{
    size_t script_size;
    const char *script = rp_scene_text(j->scene_loaded, &script_size);
    const char *resolved = rp_scene_resolved(j->scene_loaded);
    const int most = rp_scene_files(j->scene_loaded);
    rp_run_file *list = *out = calloc((size_t)most + 2, sizeof *list);
    if (list == NULL) {
        return -1;
    }
    list[0] = (rp_run_file){.name = "scene.lua", .data = script, .size = script_size};
    list[1] =
        (rp_run_file){.name = "scene.resolved.json", .data = resolved, .size = strlen(resolved)};
    int count = 2;
    for (int i = 0; i < most; i++) {
        char name[2 * PATH_SIZE];
        snprintf(name, sizeof name, "scene.files/%s", rp_scene_file_copy(j->scene_loaded, i));
        bool known = false;
        for (int k = 2; k < count; k++) {
            known = known || strcmp(list[k].name, name) == 0;
        }
        char *kept = !known ? strdup(name) : NULL;
        if (!known && kept == NULL) {
            free_files(list, count);
            return -1;
        }
        if (!known) {
            list[count++] = (rp_run_file){.name = kept, .from = rp_scene_file(j->scene_loaded, i)};
        }
    }
    return count;
}

// What rp_run_about() will say of this run.
static char *describe(const job *j)
{
    json_t *words = json_array(), *set = json_object(), *about = json_object();
    char path[PATH_SIZE];
    for (int i = 0; i < j->a->argc; i++) {
        json_array_append_new(words, json_string(text_of(j->a->argv[i], path)));
    }
    for (int i = 0; i < j->params; i++) {
        json_object_set_new(set, j->param[i].name, json_string(j->param[i].value));
    }
    const char *scene =
        j->scene != NULL ? j->scene : json_string_value(json_object_get(j->about, "scene"));
    json_object_set_new(about, "scene",
                        scene != NULL ? json_string(text_of(scene, path)) : json_null());
    json_object_set_new(about, "scene_folder",
                        rp_is_text(j->beside, strlen(j->beside)) ? json_string(j->beside)
                                                                 : json_null());
    json_object_set_new(about, "title", json_string(j->info.title));
    json_object_set_new(about, "command", words);
    json_object_set_new(about, "set", set);
    json_object_set_new(about, "files", describe_files(j));
    json_object_set_new(about, "method", j->method != NULL ? json_string(j->method) : json_null());
    json_object_set_new(about, "frames", j->frames >= 0 ? json_integer(j->frames) : json_null());
    if (j->info.has_camera) {
        const double *e = j->info.eye, *l = j->info.look_at;
        json_object_set_new(about, "camera",
                            json_pack("{s:[f,f,f], s:[f,f,f], s:f}", "eye", e[0], e[1], e[2],
                                      "look_at", l[0], l[1], l[2], "fov_degrees",
                                      j->info.fov * (180.0 / M_PI)));
    }
    char *text = json_dumps(about, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(about);
    return text;
}

// ---- the run ----

// Asked while a function of the script runs: it may take long, and whoever wants to stop does not.
static bool stops(void *context)
{
    job *j = context;
    return control_stops(&j->control);
}

static int load(job *j)
{
    rp_scene_def def = rp_default_scene_def();
    if (j->beside[0] == '\0') {
        remember_folder(j);
    }
    def.path = j->script;
    def.folder = j->beside[0] != '\0' ? j->beside : NULL;
    def.param = j->param;
    def.params = j->params;
    def.method = j->method;
    def.stop = stops;
    def.stop_context = j;
    const rp_result result = rp_scene_load(&def, &j->scene_loaded);
    if (result != RP_OK) {
        return say_no_scene(result, j->scene);
    }
    rp_scene_get_info(j->scene_loaded, &j->info);
    // a scene without one is called by its file, which is another one when the run is resumed
    const char *title = json_string_value(json_object_get(j->about, "title"));
    j->info.title = title != NULL ? title : j->info.title;
    return 0;
}

// A world to begin with, or an empty one that a state will fill.
static int make_world(job *j)
{
    const bool again = rp_run_has_state(j->run);
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = j->threads;
    def.memory = j->memory;
    def.empty = again;
    const rp_result result = rp_scene_create_world(j->scene_loaded, &def, &j->world);
    return result == RP_OK ? 0 : say_error(result, false);
}

static rp_run_answer tick(void *context, const rp_run_progress *at)
{
    job *j = context;
    progress_step(&j->progress, at, j->info.fps);
    control_look(&j->control);
    return signal_came() != 0 || j->control.stop ? RP_RUN_STOP : RP_RUN_GO;
}

static int end_well(const job *j, rp_run_end end)
{
    char took[32];
    rp_stats stats;
    print_duration(wall_clock() - j->progress.began, took);
    rp_world_stats(j->world, &stats);
    if (end == RP_RUN_FINISHED) {
        say("%lld frame%s in %s, after %s; for a picture: repose render %s", (long long)stats.frame,
            stats.frame == 1 ? " is" : "s are", j->folder, took, j->folder);
        return EXIT_DONE;
    }
    say("stopped at t = %.6g s and saved; to go on: repose run%s%s -o %s --resume", stats.time,
        j->scene != NULL ? " " : "", j->scene != NULL ? j->scene : "", j->folder);
    return signal_came() != 0 ? 128 + signal_came() : EXIT_DONE;
}

static int go(job *j)
{
    rp_run_file *file = NULL;
    char *about = describe(j);
    const int files = about != NULL ? list_files(j, &file) : -1;
    if (files < 0) {
        free(about);
        say_usage("out of memory: the record of a run");
        return EXIT_FAILED;
    }
    rp_run_def def = rp_default_run_def();
    def.world = j->world;
    def.frames = j->frames >= 0 ? j->frames : j->info.frames;
    def.settle = j->info.settle;
    def.energy_limit = j->info.energy_limit;
    def.save_seconds = j->save_seconds;
    def.latest = j->info.state == RP_STATE_LATEST;
    def.title = j->info.title;
    def.about = about;
    def.file = file;
    def.files = files;
    def.tick = tick;
    def.context = j;
    const progress_style style = args_has(j->a, "--json")    ? PROGRESS_JSON
                                 : args_has(j->a, "--quiet") ? PROGRESS_NONE
                                 : isatty(STDOUT_FILENO)     ? PROGRESS_TERMINAL
                                                             : PROGRESS_LINES;
    rp_run_end end;
    progress_begin(&j->progress, style, stdout);
    signals_catch();
    const rp_result result = rp_run_go(j->run, &def, &end);
    progress_end(&j->progress);
    free(about);
    free_files(file, files);
    if (result == RP_OK) {
        return end_well(j, end);
    }
    char left[PATH_SIZE + 16];
    const int status = say_error(result, true);
    snprintf(left, sizeof left, "%s/failure.hdf", j->folder);
    if (access(left, F_OK) == 0) {
        say_usage("the last state is in %s/failure.hdf, with the guilty particles marked",
                  j->folder);
    }
    return status;
}

// Does it fit into memory and on the disk?
static int look_ahead(const job *j)
{
    rp_plan plan;
    int64_t poured;
    const int64_t frames = j->frames >= 0 ? j->frames : j->info.frames;
    const double seconds = (double)frames / j->info.fps;
    const int status = plan_scene(j->scene_loaded, j->memory, seconds, &plan, &poured);
    const disk_use use = status == 0 ? disk_needed(&plan, poured, frames) : (disk_use){0};
    return status == 0 ? check_disk(j->folder, &use) : status;
}

static int run_job(job *j)
{
    char log[PATH_SIZE + 16];
    int status = 0;
    // a scene that cannot be run must not cost the run that it would overwrite
    if (j->mode != RP_RUN_RESUME) {
        status = load(j);
        status = status == 0 ? look_ahead(j) : status;
        if (status != 0) {
            return status;
        }
    }
    const rp_result opened = rp_run_open(j->folder, j->mode, &j->run);
    if (opened != RP_OK) {
        return say_error(opened, false);
    }
    snprintf(log, sizeof log, "%s/run.log", j->folder);
    if (j->mode == RP_RUN_OVERWRITE) {
        unlink(log);
    }
    say_to(log, j->run);
    if (j->mode == RP_RUN_RESUME) {
        status = recall(j);
        status = status == 0 ? load(j) : status;
        status = status == 0 ? compare_files(j) : status;
    }
    status = status == 0 ? make_world(j) : status;
    return status == 0 ? go(j) : status;
}

static int run_main(const args *a)
{
    job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        say_usage("out of memory: what a run is to do");
        return EXIT_FAILED;
    }
    j->a = a;
    say_quietly(args_has(a, "--quiet"));
    int status = read_options(j);
    status = status == 0 ? run_job(j) : status;
    rp_world_destroy(j->world);
    rp_scene_free(j->scene_loaded);
    say_to(NULL, NULL);
    rp_run_close(j->run);
    json_decref(j->about);
    free(j);
    return status;
}

const command command_run = {
    .name = "run",
    .operands = "SCENE",
    .least = 0,
    .most = 1,
    .operand_words = "SCENE",
    .summary = "simulate a scene and write its frames",
    .text =
        "Simulates SCENE, a Lua file or the name of a scene that comes with Repose (repose list\n"
        "shows them), and writes a folder: frames/frame.000000.hdf and so on, which ParaView\n"
        "opens, stats.csv with a line per frame, and what is needed to go on after a break.\n"
        "\n"
        "  repose run column-collapse                     into column-collapse-out\n"
        "  repose run dunes.lua -o out --set angle=30     with a value for the scene's param\n"
        "  repose run dunes.lua -o out --resume           after Ctrl-C, a crash or a power cut\n"
        "\n"
        "Ctrl-C finishes the step, saves the state and tells how to resume; so does a terminal "
        "that\n"
        "is closed, unless the run was started by nohup.",
    .option = run_options,
    .main = run_main,
};

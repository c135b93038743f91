// repose view: a page that shows a run, and may start one.
#include "child.h"
#include "commands.h"
#include "host.h"
#include "runs.h"
#include "say.h"
#include "setup.h"

#include <repose/repose.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_PORT = 8137 };

static const option view_options[] = {
    {.name = "--port", .value = "N", .help = "where the page is (8137); 0: any port that is free"},
    {.name = "--listen",
     .value = "ADDRESS",
     .help = "also for other machines: an IP address of this one, or 0.0.0.0;\nwhoever opens the "
             "page needs the token in the address that is printed"},
    {.name = "--token", .help = "want a token on this machine too, where others have accounts"},
    {.name = "-o", .value = "DIR", .help = "of a scene: the folder (NAME-out)", .words = "DIR"},
    OPTION_SET,
    OPTION_FRAMES,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_METHOD,
    {.name = "--resume", .help = "of a scene: go on with the run that DIR holds"},
    {.name = "--overwrite", .help = "of a scene: remove the run that DIR holds first"},
    {0},
};

// What is shown, and the run that was started for it.
typedef struct viewing {
    const args *a;
    char scene[PATH_SIZE];  // its path; empty: unknown
    char folder[PATH_SIZE]; // shown now
    char before[PATH_SIZE]; // shown before the last start; empty: the same
    // what the run in a folder was started with; 0 and empty: as the scene says
    int64_t frames;
    char method[32];
    child run;
    int64_t starts;
    bool started;  // the run in `folder` is ours
    bool has_next; // to be started as soon as the present one has ended
    rp_view_order next;
    bool vanished;
    char sentence[1024]; // why the last run failed
    char notice[1024];   // why it could not be started again
} viewing;

// ---- starting runs ----

typedef struct line {
    char *word[2 * VALUE_MOST + 32];
    int words;
    char room[PATH_SIZE + VALUE_MOST * 400];
    size_t used;
    bool full;
} line;

static void add(line *l, const char *format, const char *a, const char *b)
{
    const size_t left = sizeof l->room - l->used;
    const int size = snprintf(l->room + l->used, left, format, a, b);
    l->full = l->full || size < 0 || (size_t)size >= left ||
              l->words == (int)(sizeof l->word / sizeof *l->word) - 1;
    if (!l->full) {
        l->word[l->words++] = l->room + l->used;
        l->used += (size_t)size + 1;
    }
}

static void add_option(line *l, const viewing *s, const char *name)
{
    if (args_has(s->a, name)) {
        add(l, "%s", name, NULL);
        add(l, "%s", args_value(s->a, name), NULL);
    }
}

// @param how "--resume", "--overwrite" or NULL
static bool start(viewing *s, const char *how, const rp_view_order *order)
{
    line *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return false;
    }
    const bool again = how != NULL && strcmp(how, "--resume") == 0;
    add(l, "%s", "repose", NULL);
    add(l, "%s", "run", NULL);
    if (!again) {
        add(l, "%s", s->scene, NULL);
    }
    add(l, "%s", "-o", NULL);
    add(l, "%s", s->folder, NULL);
    add(l, "%s", "--quiet", NULL);
    add(l, "%s", "--control-fd", NULL);
    add(l, "%s", "3", NULL);
    if (how != NULL) {
        add(l, "%s", how, NULL);
    }
    char frames[24];
    snprintf(frames, sizeof frames, "%lld", (long long)s->frames);
    if (s->frames > 0 && !again) {
        add(l, "%s", "--frames", NULL);
        add(l, "%s", frames, NULL);
    }
    if (s->method[0] != '\0' && !again) {
        add(l, "%s", "--method", NULL);
        add(l, "%s", s->method, NULL);
    }
    add_option(l, s, "--frames");
    add_option(l, s, "--threads");
    add_option(l, s, "--memory");
    add_option(l, s, "--method");
    for (int i = 0; order == NULL && !again && i < args_count(s->a, "--set"); i++) {
        add(l, "%s", "--set", NULL);
        add(l, "%s", args_nth(s->a, "--set", i), NULL);
    }
    for (int i = 0; order != NULL && i < order->params; i++) {
        add(l, "%s", "--set", NULL);
        add(l, "%s=%s", order->param[i].name, order->param[i].value);
    }
    bool started = false;
    if (l->full) {
        snprintf(s->run.sentence, sizeof s->run.sentence, "more params than a command line holds");
        s->run.status = EXIT_USAGE;
    } else {
        started = child_start(&s->run, l->word);
    }
    s->started = true;
    s->starts++;
    snprintf(s->sentence, sizeof s->sentence, "%s", s->run.sentence);
    free(l);
    return started;
}

// NAME-out, NAME-out-2, NAME-out-3 ...: the first that is not there.
static void choose_folder(viewing *s)
{
    char base[PATH_SIZE], path[PATH_SIZE];
    snprintf(base, sizeof base, "%s", s->folder);
    size_t length = strlen(base);
    while (length > 1 && base[length - 1] == '/') {
        base[--length] = '\0';
    }
    // a number that we have put there before is counted on
    char *dash = strrchr(base, '-');
    if (dash != NULL && dash[1] >= '1' && dash[1] <= '9' &&
        strspn(dash + 1, "0123456789") == strlen(dash + 1)) {
        *dash = '\0';
    }
    for (int i = 2; i < 100000; i++) {
        snprintf(path, sizeof path, "%.*s-%d", PATH_SIZE - 16, base, i);
        if (access(path, F_OK) != 0) {
            break;
        }
    }
    memcpy(s->folder, path, sizeof path);
}

static void start_again(viewing *s, const rp_view_order *order)
{
    s->before[0] = '\0';
    if (order->keep) {
        memcpy(s->before, s->folder, sizeof s->before);
        choose_folder(s);
    }
    s->sentence[0] = s->notice[0] = '\0';
    start(s, order->keep ? NULL : "--overwrite", order);
    say("started again, into %s", s->folder);
}

// ---- what the server asks ----

// Whoever sees first that the run has ended takes its last words.
static bool lives_on(viewing *s)
{
    const bool lived = s->run.pid != 0, lives = child_lives(&s->run);
    if (lived && !lives && s->run.sentence[0] != '\0') {
        say_usage("%s", s->run.sentence);
        // a start that came to nothing: back to the run that was shown
        if (s->before[0] != '\0' && rp_run_last_frame(s->folder) < 0) {
            memcpy(s->folder, s->before, sizeof s->folder);
            snprintf(s->notice, sizeof s->notice, "It could not be started again: %.980s",
                     s->run.sentence);
        } else {
            memcpy(s->sentence, s->run.sentence, sizeof s->sentence);
        }
    } else if (lived && !lives) {
        json_t *record;
        const bool known = run_record(s->folder, &record) == 0;
        const char *status = known ? json_string_value(json_object_get(record, "status")) : NULL;
        const bool stopped = status != NULL && strcmp(status, "interrupted") == 0;
        say(stopped ? "stopped, and saved in %s: repose run --resume -o %s goes on"
                    : "the run in %s has ended",
            s->folder, s->folder);
        if (known) {
            json_decref(record);
        }
    }
    return lives;
}

static void look(void *context, rp_view_run *out)
{
    viewing *s = context;
    const bool lives = lives_on(s);
    if (!lives && rp_run_is_active(s->folder)) {
        s->sentence[0] = '\0'; // somebody goes on with it elsewhere
    }
    if (signal_came() != 0) {
        s->has_next = false;
        s->run.stopping = s->run.stopping || (lives && child_tell(&s->run, "stop"));
    }
    if (!lives && s->has_next) {
        s->has_next = false;
        start_again(s, &s->next);
    }
    snprintf(out->folder, sizeof out->folder, "%s", s->folder);
    s->vanished = s->run.pid == 0 && access(s->folder, F_OK) != 0;
    out->ours = s->started;
    out->active = s->run.pid != 0;
    out->starts = s->starts;
    out->paused = s->run.paused;
    out->stopping = s->run.stopping;
    out->can_start = s->scene[0] != '\0';
    snprintf(out->sentence, sizeof out->sentence, "%s", s->sentence);
    snprintf(out->notice, sizeof out->notice, "%s", s->notice);
    out->quit = signal_came() != 0 && s->run.pid == 0;
}

// A param that the scene refuses is no reason to stop a run.
static rp_result try_params(const viewing *s, const rp_view_order *order)
{
    rp_scene_param param[RP_VIEW_PARAMS];
    rp_scene_def def = rp_default_scene_def();
    rp_scene *scene;
    for (int i = 0; i < order->params; i++) {
        param[i] = (rp_scene_param){order->param[i].name, order->param[i].value};
    }
    def.path = s->scene;
    def.params = order->params;
    def.param = param;
    RP_TRY(rp_scene_load(&def, &scene));
    rp_scene_free(scene);
    return RP_OK;
}

static rp_result order_start(viewing *s, const rp_view_order *order)
{
    if (s->scene[0] == '\0') {
        return rp_fail(RP_ERR_UNSUPPORTED, "the scene that this run came from was not found");
    }
    if (s->run.pid == 0 && rp_run_is_active(s->folder) && !order->keep) {
        return rp_fail(RP_ERR_UNSUPPORTED, "another process writes to %s", s->folder);
    }
    RP_TRY(try_params(s, order));
    if (s->run.pid != 0) {
        s->run.stopping = child_tell(&s->run, "stop");
        s->has_next = true;
        s->next = *order;
    } else {
        start_again(s, order);
    }
    return RP_OK;
}

static rp_result order(void *context, const rp_view_order *o)
{
    viewing *s = context;
    const bool lives = lives_on(s);
    switch (o->word) {
    case RP_VIEW_START:
        return order_start(s, o);
    case RP_VIEW_RESUME:
        if (!lives) {
            s->sentence[0] = s->notice[0] = '\0';
            return start(s, "--resume", NULL) ? RP_OK : rp_fail(RP_ERR_FILE, "%s", s->run.sentence);
        }
        s->run.paused = !child_tell(&s->run, "resume");
        return RP_OK;
    case RP_VIEW_PAUSE:
    case RP_VIEW_STOP:
        if (!lives) {
            return rp_fail(RP_ERR_UNSUPPORTED,
                           "this run was not started from here: it can only be watched");
        }
        *(o->word == RP_VIEW_STOP ? &s->run.stopping : &s->run.paused) =
            child_tell(&s->run, o->word == RP_VIEW_STOP ? "stop" : "pause");
    }
    return RP_OK;
}

// ---- the command ----

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// The script that the run in a folder came from, or the folder's copy of it, which finds what it
// reads in the folder.
static int find_scene(viewing *s)
{
    json_t *record;
    char name[256], path[PATH_SIZE];
    const int status = run_record(s->folder, &record);
    if (status != 0) {
        return status;
    }
    const json_t *about = json_object_get(record, "about");
    const char *scene = json_string_value(json_object_get(about, "scene"));
    const char *folder = json_string_value(json_object_get(about, "scene_folder"));
    for (int copy = 0; copy < 2 && scene != NULL && s->scene[0] == '\0'; copy++) {
        scene_name(scene, name);
        const int size =
            snprintf(path, sizeof path, "%s/%s.lua", copy || folder == NULL ? s->folder : folder,
                     copy ? "scene" : name);
        if (size < PATH_SIZE && access(path, R_OK) == 0) {
            memcpy(s->scene, path, sizeof path);
        }
    }
    s->frames = json_integer_value(json_object_get(about, "frames")); // 0 where it is null
    const char *method = json_string_value(json_object_get(about, "method"));
    snprintf(s->method, sizeof s->method, "%s", method != NULL ? method : "");
    json_decref(record);
    return 0;
}

// A folder of a run, to be shown as it is.
static int open_folder(viewing *s, const char *path)
{
    static const char *const for_scenes[] = {"-o",       "--set",    "--frames",
                                             "--method", "--resume", "--overwrite"};
    for (size_t i = 0; i < sizeof for_scenes / sizeof for_scenes[0]; i++) {
        if (args_has(s->a, for_scenes[i])) {
            return say_usage("%s is for a scene, and %s is a folder", for_scenes[i], path);
        }
    }
    snprintf(s->folder, sizeof s->folder, "%s", path);
    return find_scene(s);
}

// A scene: what can be said to be wrong with it is said before there is a page.
static int open_scene(viewing *s, const char *name)
{
    char file[PATH_SIZE + 16];
    rp_scene_param param[VALUE_MOST];
    rp_scene_def def = rp_default_scene_def();
    rp_scene *scene;
    bool wrong = false;
    args_integer(s->a, "--frames", 1, 1000000, -1, &wrong);
    args_integer(s->a, "--threads", 1, 1024, 0, &wrong);
    memory_limit(s->a, &wrong);
    if (wrong) {
        return EXIT_USAGE;
    }
    if (args_has(s->a, "--resume") && args_has(s->a, "--overwrite")) {
        return say_usage("--resume and --overwrite exclude each other");
    }
    scene_path(name, s->scene);
    if (args_has(s->a, "-o")) {
        snprintf(s->folder, sizeof s->folder, "%s", args_value(s->a, "-o"));
    } else {
        char base[256];
        scene_name(name, base);
        snprintf(s->folder, sizeof s->folder, "%s-out", base);
    }
    snprintf(file, sizeof file, "%s/run.json", s->folder);
    const bool there = access(file, F_OK) == 0;
    if (there && !args_has(s->a, "--resume") && !args_has(s->a, "--overwrite")) {
        say_usage("%s holds a run already: repose view %s shows it, --resume goes on with it, "
                  "--overwrite removes it",
                  s->folder, s->folder);
        return EXIT_FILE;
    }
    def.path = s->scene;
    def.params = params_of(s->a, param);
    def.param = param;
    def.method = args_value(s->a, "--method");
    if (def.params < 0) {
        return EXIT_USAGE;
    }
    const rp_result result = rp_scene_load(&def, &scene);
    if (result != RP_OK) {
        return say_no_scene(result, name);
    }
    rp_scene_free(scene);
    return 0;
}

static void print_address(const rp_view *view, const char *address, const char *token)
{
    char host[256];
    snprintf(host, sizeof host, strchr(address, ':') != NULL ? "[%s]" : "%s", address);
    if (strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0) {
        gethostname(host, sizeof host - 1);
    }
    printf("http://%s:%d/%s%s\n", host, rp_view_port(view), token[0] != '\0' ? "?token=" : "",
           token);
    fflush(stdout);
}

static int serve(viewing *s, bool is_scene)
{
    bool wrong = false;
    char token[RP_VIEW_TOKEN + 1] = "";
    rp_view_def def = rp_default_view_def();
    rp_view *view;
    def.port = (int)args_integer(s->a, "--port", 0, 65535, DEFAULT_PORT, &wrong);
    if (wrong) {
        return EXIT_USAGE;
    }
    def.address = args_has(s->a, "--listen") ? args_value(s->a, "--listen") : def.address;
    if (args_has(s->a, "--listen") || args_has(s->a, "--token")) {
        const rp_result made = rp_view_token(token);
        if (made != RP_OK) {
            return say_error(made, false);
        }
        def.token = token;
    }
    // what was read is remembered, but not at the cost of the run
    def.cache = available_memory() / 4 < def.cache ? available_memory() / 4 : def.cache;
    def.look = look;
    def.order = order;
    def.context = s;
    const rp_result result = rp_view_open(&def, &view);
    if (result != RP_OK) {
        return say_error(result, false);
    }
    signals_catch();
    print_address(view, def.address, token);
    say("shows %s; open this address in a browser, and end with Ctrl-C", s->folder);
    if (is_scene) {
        const char *how = args_has(s->a, "--resume")      ? "--resume"
                          : args_has(s->a, "--overwrite") ? "--overwrite"
                                                          : NULL;
        start(s, how, NULL);
    }
    const rp_result served = rp_view_serve(view);
    rp_view_close(view);
    if (served != RP_OK) {
        return say_error(served, false);
    }
    if (s->vanished && s->sentence[0] == '\0') {
        say_usage("%s is not there any more", s->folder);
        return EXIT_FILE;
    }
    return s->sentence[0] != '\0' ? s->run.status : EXIT_DONE;
}

static int view_main(const args *a)
{
    viewing *s = calloc(1, sizeof *s);
    if (s == NULL) {
        say_usage("out of memory: a page");
        return EXIT_FAILED;
    }
    s->a = a;
    const char *what = a->operand[0];
    char script[PATH_SIZE];
    scene_path(what, script);
    // the name of a scene is one even where a folder is called so
    const bool folder = is_folder(what) && strcmp(script, what) == 0;
    int status = folder ? open_folder(s, what) : open_scene(s, what);
    status = status == 0 ? serve(s, !folder) : status;
    free(s);
    return status;
}

const command command_view = {
    .name = "view",
    .operands = "DIR|SCENE",
    .least = 1,
    .most = 1,
    .operand_words = "SCENE",
    .summary = "show a run in a browser, while it runs",
    .text =
        "Shows the run in DIR, or starts SCENE and shows it while it runs, on a page in your\n"
        "browser: particles to turn and slice, frames to play, curves of stats.csv, and buttons\n"
        "to pause, stop and start again with other params. Prints the address of the page.\n"
        "\n"
        "  repose view column-collapse-out        a run that is there, finished or not\n"
        "  repose view hourglass --set neck=0.06  start one and watch it\n"
        "\n"
        "Only this machine can open the page, unless --listen is given. Ctrl-C ends the page; a\n"
        "run that was started from it is stopped and saved, to be resumed.",
    .option = view_options,
    .main = view_main,
};

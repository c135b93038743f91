// repose validate: run the checks, each in a process of its own, and report.
#define _GNU_SOURCE // nftw, strverscmp
#include "check_host.h"
#include "commands.h"
#include "host.h"
#include "progress.h"
#include "report.h"
#include "say.h"
#include "scenes.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const option validate_options[] = {
    {.name = "-o", .value = "DIR", .help = "where the report goes (validation)", .words = "DIR"},
    {.name = "--only", .value = "ID[,ID]", .help = "only these checks", .many = true},
    {.name = "--quick", .help = "only what takes minutes, not an hour"},
    {.name = "--list", .help = "name the checks and run none"},
    {.name = "--checks",
     .value = "DIR",
     .help = "the folder of checks (those that come with Repose)",
     .words = "DIR"},
    {.name = "--jobs", .value = "N", .help = "checks at the same time (a core each)"},
    {.name = "--gradient",
     .value = "G",
     .help = "spline or affine gradients, in place of what scenes say",
     .words = "spline affine"},
    {.name = "--keep", .help = "leave the runs of the checks in DIR/runs"},
    {0},
};

typedef struct worker {
    pid_t pid; // 0: idle
    size_t check;
    double began;
} worker;

enum { WORKERS = 64 };

typedef struct session {
    char folder[PATH_SIZE], checks_folder[PATH_SIZE];
    json_t *checks; // in the order of the report
    size_t *order;  // in which they are run: the longest first
    int jobs, threads;
    const rp_gradient *gradient; // for all scenes; NULL: as they say
    bool keep;
    double began;
    char command[1024];
    worker worker[WORKERS];
} session;

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "";
}

// ---- which checks ----

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_lua(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".lua") == 0;
}

// One of a list with commas, in upper or lower case.
static bool is_listed(const char *list, const char *id)
{
    const size_t length = strlen(id);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == length && strncasecmp(at, id, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const args *a, const json_t *check)
{
    bool only = args_count(a, "--only") == 0;
    for (int i = 0; i < args_count(a, "--only"); i++) {
        only = only || is_listed(args_nth(a, "--only", i), text(check, "id"));
    }
    return only && (!args_has(a, "--quick") || strcmp(text(check, "cost"), "quick") == 0);
}

// Every name that --only gives must be one.
static int check_names(const args *a, const json_t *all)
{
    for (int i = 0; i < args_count(a, "--only"); i++) {
        for (const char *at = args_nth(a, "--only", i); *at != '\0';) {
            char name[64];
            const size_t length = strcspn(at, ",");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            rp_nearest near = rp_nearest_start(name);
            const json_t *check;
            size_t k;
            bool found = false;
            json_array_foreach(all, k, check)
            {
                found = found || strcasecmp(text(check, "id"), name) == 0;
                rp_nearest_try(&near, text(check, "id"));
            }
            if (!found) {
                return near.best != NULL
                           ? say_usage("--only: no check '%s'; did you mean %s?", name, near.best)
                           : say_usage("--only: no check '%s'; repose validate --list names them",
                                       name);
            }
            at += length + (at[length] == ',');
        }
    }
    return 0;
}

static int find_checks(const args *a, session *s)
{
    struct dirent **entry;
    const char *given = args_value(a, "--checks");
    if (given != NULL) {
        snprintf(s->checks_folder, sizeof s->checks_folder, "%s", given);
    } else if (!shared_folder("checks", s->checks_folder)) {
        say_usage("the checks that come with Repose are not there; --checks names a folder");
        return EXIT_FILE;
    }
    const int count = scandir(s->checks_folder, &entry, is_lua, by_name);
    if (count <= 0) {
        say_usage("no checks in %s: %s", s->checks_folder,
                  count < 0 ? strerror(errno) : "it has no .lua files");
        return EXIT_FILE;
    }
    json_t *all = json_array();
    int status = 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE + 300];
        snprintf(path, sizeof path, "%s/%s", s->checks_folder, entry[i]->d_name);
        json_t *check = status == 0 ? check_declared(path) : NULL;
        status = check != NULL ? status : EXIT_USAGE;
        if (check != NULL) {
            json_object_set_new(check, "state", json_string("waiting"));
            json_array_append_new(all, check);
        }
        free(entry[i]);
    }
    free(entry);
    status = status == 0 ? check_names(a, all) : status;
    s->checks = json_array();
    json_t *check;
    size_t i;
    json_array_foreach(all, i, check)
    {
        if (status == 0 && is_wanted(a, check)) {
            json_array_append(s->checks, check);
        }
    }
    json_decref(all);
    if (status == 0 && json_array_size(s->checks) == 0) {
        return say_usage("no check is left to run");
    }
    return status;
}

static int list_checks(const session *s)
{
    const json_t *check;
    size_t i;
    json_array_foreach(s->checks, i, check)
    {
        printf("%-10s %-6s %s\n", text(check, "id"), text(check, "cost"), text(check, "title"));
    }
    return EXIT_DONE;
}

// ---- running ----

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static void work_path(const session *s, size_t check, const char *ending, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%.3900s/runs/%.100s%s", s->folder,
             text(json_array_get(s->checks, check), "id"), ending);
}

// In the child: its result goes to a file.
static int run_check(const session *s, size_t index)
{
    char work[PATH_SIZE], result[PATH_SIZE];
    work_path(s, index, "", work);
    work_path(s, index, ".json", result);
    nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    const check_job job = {.file = text(json_array_get(s->checks, index), "file"),
                           .work = work,
                           .threads = s->threads,
                           .gradient = s->gradient};
    json_t *check = check_run(&job);
    const int failed = check == NULL || json_dump_file(check, result, JSON_COMPACT) != 0;
    if (!s->keep) {
        nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    return failed;
}

static void start(session *s, worker *w, size_t index)
{
    char result[PATH_SIZE];
    const pid_t parent = getpid();
    json_t *check = json_array_get(s->checks, index);
    work_path(s, index, ".json", result);
    unlink(result);
    json_object_set_new(check, "state", json_string("running"));
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        // nobody goes on when the parent is gone; Ctrl-C is the parent's
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_DFL);
        _exit(getppid() == parent ? run_check(s, index) : 1);
    }
    *w = (worker){pid > 0 ? pid : 0, index, wall_clock()};
    if (pid < 0) {
        json_object_set_new(check, "error", json_string("no process could be made for it"));
        json_object_del(check, "state");
    }
}

static void say_result(const json_t *check)
{
    const json_t *e;
    size_t i;
    printf("%-10s %-6s %6.1f s  %s\n", text(check, "id"),
           state_of(check) == CHECK_PASSED ? "passed" : "FAILED",
           json_number_value(json_object_get(check, "seconds")), text(check, "title"));
    json_array_foreach(json_object_get(check, "expectations"), i, e)
    {
        if (!json_is_true(json_object_get(e, "pass"))) {
            char *low =
                json_dumps(json_object_get(e, "low"), JSON_ENCODE_ANY | JSON_REAL_PRECISION(5));
            char *high =
                json_dumps(json_object_get(e, "high"), JSON_ENCODE_ANY | JSON_REAL_PRECISION(5));
            char *value =
                json_dumps(json_object_get(e, "value"), JSON_ENCODE_ANY | JSON_REAL_PRECISION(5));
            printf("           %s: %s, want %s to %s\n", text(e, "what"), value, low, high);
            free(low);
            free(high);
            free(value);
        }
    }
    if (text(check, "error")[0] != '\0') {
        printf("           %s\n", text(check, "error"));
    }
    fflush(stdout);
}

// A child has ended: take its result in.
static void finish(session *s, worker *w, int status)
{
    char path[PATH_SIZE], sentence[128];
    work_path(s, w->check, ".json", path);
    json_t *result = status == 0 ? json_load_file(path, 0, NULL) : NULL;
    if (result == NULL) {
        result = json_deep_copy(json_array_get(s->checks, w->check));
        snprintf(sentence, sizeof sentence, "its process ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        json_object_set_new(result, "error", json_string(sentence));
        json_object_set_new(result, "seconds", json_real(wall_clock() - w->began));
        json_object_del(result, "state");
    }
    unlink(path);
    json_array_set_new(s->checks, w->check, result);
    say_result(result);
    w->pid = 0;
}

static worker *worker_of(session *s, pid_t pid)
{
    for (int i = 0; i < s->jobs; i++) {
        if (s->worker[i].pid == pid) {
            return &s->worker[i];
        }
    }
    return NULL;
}

static int report(const session *s)
{
    return report_write(s->folder, s->checks, wall_clock() - s->began, s->command);
}

// @return the exit status when something went wrong, else 0
static int run_all(session *s)
{
    const size_t count = json_array_size(s->checks);
    int status = report(s);
    for (size_t next = 0; status == 0 && signal_came() == 0;) {
        worker *idle = next < count ? worker_of(s, 0) : NULL;
        if (idle != NULL) {
            start(s, idle, s->order[next++]);
            continue;
        }
        int how;
        const pid_t pid = waitpid(-1, &how, 0);
        if (pid < 0 && errno != EINTR) {
            break; // none is left
        }
        worker *w = pid > 0 ? worker_of(s, pid) : NULL;
        if (w != NULL) {
            finish(s, w, how);
            status = report(s);
        }
    }
    for (int i = 0; i < s->jobs; i++) {
        if (s->worker[i].pid > 0) {
            kill(s->worker[i].pid, SIGKILL);
            waitpid(s->worker[i].pid, NULL, 0);
        }
    }
    return status;
}

static void order_checks(session *s)
{
    const size_t count = json_array_size(s->checks);
    for (size_t i = 0; i < count; i++) {
        s->order[i] = i;
    }
    // by insertion; equals stay in their order
    for (size_t i = 1; i < count; i++) {
        for (size_t k = i; k > 0; k--) {
            const double a = json_number_value(
                json_object_get(json_array_get(s->checks, s->order[k - 1]), "minutes"));
            const double b = json_number_value(
                json_object_get(json_array_get(s->checks, s->order[k]), "minutes"));
            if (a >= b) {
                break;
            }
            const size_t swap = s->order[k];
            s->order[k] = s->order[k - 1];
            s->order[k - 1] = swap;
        }
    }
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        say_usage("cannot make %s: %s", path, strerror(errno));
        return EXIT_FILE;
    }
    return 0;
}

static int validate(const args *a, session *s)
{
    char work[PATH_SIZE];
    bool wrong = false;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    s->jobs = (int)args_integer(a, "--jobs", 1, WORKERS, cores < WORKERS ? cores : WORKERS, &wrong);
    s->keep = args_has(a, "--keep");
    static const rp_gradient gradients[] = {RP_GRADIENT_SPLINE, RP_GRADIENT_AFFINE};
    const char *gradient = args_value(a, "--gradient");
    if (gradient != NULL && strcmp(gradient, "spline") != 0 && strcmp(gradient, "affine") != 0) {
        return say_usage("--gradient: want spline or affine, got %s", gradient);
    }
    s->gradient = gradient != NULL ? &gradients[gradient[0] == 'a'] : NULL;
    snprintf(s->folder, sizeof s->folder, "%.3900s",
             args_has(a, "-o") ? args_value(a, "-o") : "validation");
    if (wrong) {
        return EXIT_USAGE;
    }
    int status = find_checks(a, s);
    if (status != 0 || args_has(a, "--list")) {
        return status != 0 ? status : list_checks(s);
    }
    s->threads = cores / s->jobs > 1 ? cores / s->jobs : 1;
    s->began = wall_clock();
    s->order = calloc(json_array_size(s->checks), sizeof *s->order);
    snprintf(work, sizeof work, "%.3900s/runs", s->folder);
    status = s->order == NULL ? say_usage("out of memory: checks") : make_folder(s->folder);
    status = status == 0 ? make_folder(work) : status;
    if (status != 0) {
        return status;
    }
    for (int i = 0, length = 0; i < a->argc && length < (int)sizeof s->command; i++) {
        length += snprintf(s->command + length, sizeof s->command - (size_t)length, "%s%s",
                           i > 0 ? " " : "", i > 0 ? a->argv[i] : "repose");
    }
    order_checks(s);
    signals_catch();
    status = run_all(s);
    if (!s->keep) {
        rmdir(work);
    }
    if (status != 0 || (status = report(s)) != 0) {
        return status;
    }
    const tally t = count_checks(s->checks);
    say("the report is %s/report.html, its numbers are in %s/results.csv", s->folder, s->folder);
    if (t.missing > 0) {
        printf("%d not run\n", t.missing);
    }
    printf("%d passed, %d failed\n", t.passed, t.failed);
    if (signal_came() != 0) {
        return 128 + signal_came();
    }
    return t.failed + t.missing > 0 ? EXIT_FAILED : EXIT_DONE;
}

static int validate_main(const args *a)
{
    session *s = calloc(1, sizeof *s);
    if (s == NULL) {
        say_usage("out of memory: checks");
        return EXIT_FAILED;
    }
    const int status = validate(a, s);
    json_decref(s->checks);
    free(s->order);
    free(s);
    return status;
}

const command command_validate = {
    .name = "validate",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "compare simulations with theory, experiments and other programs",
    .text =
        "Runs small simulations of which the answer is known, and writes report.html and "
        "results.csv:\n"
        "what was expected and by whom, what was measured, and whether it lies within the band of "
        "the\n"
        "source. The report is written anew after every check. The last line counts checks; a "
        "check\n"
        "passes when all it expects is met. The status is 0 when all passed, 3 when some did not.\n"
        "\n"
        "  repose validate --quick                  a few minutes\n"
        "  repose validate --only V-G1c,V-C5        two checks\n"
        "\n"
        "docs/validate.md tells how to write a check.",
    .option = validate_options,
    .main = validate_main,
};

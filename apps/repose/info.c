// repose info: what is in a run folder or a frame.
#include "commands.h"
#include "params.h"
#include "runs.h"
#include "say.h"

#include <repose/repose.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const option info_options[] = {{0}};

// Least and largest value of a column, over all of its components.
static rp_result column_range(const rp_frame *frame, const rp_frame_column_info *column,
                              int64_t particles, double range[2])
{
    enum { ROWS = 65536 };
    double *values = malloc((size_t)ROWS * (size_t)column->comps * sizeof *values);
    rp_result result = values != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: a column");
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int64_t first = 0; first < particles && result == RP_OK; first += ROWS) {
        const int64_t count = particles - first < ROWS ? particles - first : ROWS;
        result = rp_frame_read(frame, column->name, first, count, values);
        for (int64_t i = 0; i < count * column->comps && result == RP_OK; i++) {
            range[0] = fmin(range[0], values[i]);
            range[1] = fmax(range[1], values[i]);
        }
    }
    free(values);
    return result;
}

static int print_frame(const char *path)
{
    rp_frame *frame;
    rp_frame_info info;
    rp_result result = rp_frame_open(path, &frame);
    if (result != RP_OK) {
        say_error(result, false);
        return EXIT_FILE;
    }
    rp_frame_get_info(frame, &info);
    say_print("frame          %s\n", path);
    say_print("title          %s\n", info.title);
    say_print("time           %.9g s, frame %lld, step %lld\n", info.time, (long long)info.frame,
              (long long)info.step);
    say_print("particles      %lld, %dD, %s precision, dx %g m\n", (long long)info.particles,
              info.dimension, info.precision == RP_SINGLE ? "single" : "double", info.dx);
    say_print("can resume     %s\n", !info.whole ? "no: it keeps no state"
                                     : info.format < RP_FRAME_FORMAT
                                         ? "no: it is of an older format"
                                         : "yes");
    if (info.failure[0] != '\0') {
        say_print("failure        %s\n", info.failure);
    }
    say_print("columns\n");
    for (int i = 0; i < info.columns && result == RP_OK; i++) {
        rp_frame_column_info column;
        double range[2];
        result = rp_frame_column(frame, i, &column);
        result = result == RP_OK ? column_range(frame, &column, info.particles, range) : result;
        if (result == RP_OK && info.particles > 0) {
            say_print("  %-14s %d  %-6s %13.6g to %-13.6g %s\n", column.name, column.comps,
                      column.unit, range[0], range[1], column.sentence);
        }
    }
    rp_frame_close(frame);
    return result == RP_OK ? EXIT_DONE : say_error(result, false);
}

static void print_fact(const json_t *record, const char *key, const char *label)
{
    const json_t *value = json_object_get(record, key);
    if (json_is_string(value)) {
        say_print("%-14s %s\n", label, json_string_value(value));
    } else if (json_is_integer(value)) {
        say_print("%-14s %lld\n", label, (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        say_print("%-14s %g\n", label, json_real_value(value));
    }
}

// A run of a program that has no scene has none.
static void print_scene_params(const char *folder)
{
    char path[RUN_PATH];
    snprintf(path, sizeof path, "%s/scene.resolved.json", folder);
    json_error_t error;
    json_t *scene = load_json(path, &error);
    print_params(json_object_get(scene, "params"), "param          ");
    json_decref(scene);
}

static int print_run(const char *folder)
{
    json_t *record, *warning;
    size_t i;
    const int status = run_record(folder, &record);
    if (status != 0) {
        return status;
    }
    static const char *const facts[][2] = {
        {"title", "title"},     {"status", "status"},       {"frames", "frames to do"},
        {"seconds", "seconds"}, {"precision", "precision"}, {"instruction_set", "instructions"},
        {"threads", "threads"}, {"seed", "seed"},           {"host", "host"},
        {"repose", "version"},
    };
    say_print("run            %s\n", folder);
    for (i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        print_fact(record, facts[i][0], facts[i][1]);
    }
    const char *state = json_string_value(json_object_get(record, "status"));
    if (state != NULL && strcmp(state, "running") == 0 && !rp_run_is_active(folder)) {
        say_print("%-14s no process writes to it any more: repose run --resume -o %s goes on\n", "",
                  folder);
    }
    print_fact(json_object_get(record, "about"), "scene", "scene");
    print_scene_params(folder);
    json_array_foreach(json_object_get(record, "warnings"), i, warning)
    {
        say_print("%-14s %s\n", "warning", json_string_value(warning));
    }
    json_decref(record);
    char path[RUN_PATH];
    errno = 0;
    const int64_t last = rp_run_last_frame(folder);
    if (last < 0 && errno != 0 && errno != ENOENT) {
        say_usage("cannot read %s/frames: %s", folder, strerror(errno));
        return EXIT_FILE;
    }
    say_print("%-14s %lld\n", "frames done", (long long)(last > 0 ? last : 0));
    if (last < 0) {
        say_print("no frames yet\n");
        return EXIT_DONE;
    }
    say_print("\n");
    const rp_result result = rp_run_frame_path(folder, last, path, sizeof path);
    return result == RP_OK ? print_frame(path) : say_error(result, false);
}

static int info_main(const args *a)
{
    struct stat about;
    const char *path = a->operand[0];
    if (stat(path, &about) != 0) {
        say_usage("cannot read %s: there is no such file or folder", path);
        return EXIT_FILE;
    }
    return S_ISDIR(about.st_mode) ? print_run(path) : print_frame(path);
}

const command command_info = {
    .name = "info",
    .operands = "DIR|FILE",
    .least = 1,
    .most = 1,
    .operand_words = "FILE",
    .summary = "say what is in a run folder or a frame",
    .text =
        "Says how far a run has come and what its newest frame holds, or what is in one frame:\n"
        "time, particles, and every column with its unit and range.",
    .option = info_options,
    .main = info_main,
};

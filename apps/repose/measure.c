// repose measure: numbers that are read off a run.
#include "commands.h"
#include "say.h"

#include <repose/measure.h>
#include <repose/run.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option measure_options[] = {
    {.name = "--frame", .value = "N", .help = "which frame of the run (the last)"},
    {.name = "--all", .help = "every frame"},
    {.name = "--json", .help = "as JSON: an object with a list per column"},
    {.name = "--csv", .help = "as CSV"},
    {0},
};

static int list_names(void)
{
    for (int i = 0; rp_measurement(i) != NULL; i++) {
        printf("%-10s %s\n", rp_measurement(i), rp_measurement_sentence(i));
    }
    return EXIT_DONE;
}

// The operands behind DIR and NAME: key=value.
static int take_arguments(const args *a, char *copy, rp_measure_argument *out, int *count)
{
    *count = 0;
    for (int i = 2; i < a->operands; i++) {
        const char *equals = strchr(a->operand[i], '=');
        if (equals == NULL || equals == a->operand[i]) {
            return say_usage("measure: want NAME=VALUE, got '%s'", a->operand[i]);
        }
        const size_t length = (size_t)(equals - a->operand[i]);
        memcpy(copy, a->operand[i], length);
        copy[length] = '\0';
        out[(*count)++] = (rp_measure_argument){copy, equals + 1};
        copy += length + 1;
    }
    return 0;
}

static void print_csv(const rp_measured *m)
{
    for (int c = 0; c < m->columns; c++) {
        printf("%s%s", c > 0 ? "," : "", m->name[c]);
    }
    for (int64_t r = 0; r < m->rows; r++) {
        for (int c = 0; c < m->columns; c++) {
            printf("%s%.10g", c > 0 ? "," : "\n", m->value[r * m->columns + c]);
        }
    }
    putchar('\n');
}

static void print_json(const rp_measured *m)
{
    for (int c = 0; c < m->columns; c++) {
        printf("%s\"%s\": [", c > 0 ? ",\n " : "{", m->name[c]);
        for (int64_t r = 0; r < m->rows; r++) {
            const double value = m->value[r * m->columns + c];
            printf(isfinite(value) ? "%s%.17g" : "%snull", r > 0 ? ", " : "", value);
        }
        putchar(']');
    }
    puts("}");
}

static void print_table(const rp_measured *m)
{
    if (m->rows == 1) {
        for (int c = 0; c < m->columns; c++) {
            printf("%-20s %.8g\n", m->name[c], m->value[c]);
        }
        return;
    }
    for (int c = 0; c < m->columns; c++) {
        printf("%*s", c > 0 ? 15 : 6, m->name[c]);
    }
    for (int64_t r = 0; r < m->rows; r++) {
        putchar('\n');
        for (int c = 0; c < m->columns; c++) {
            printf("%*.6g", c > 0 ? 15 : 6, m->value[r * m->columns + c]);
        }
    }
    putchar('\n');
}

static int measure_main(const args *a)
{
    rp_measure_def def = rp_default_measure_def();
    rp_measure_argument argument[VALUE_MOST];
    bool wrong = false;
    if (a->operands == 0) {
        return list_names();
    }
    if (a->operands == 1) {
        return say_usage("measure: want DIR NAME; repose measure lists the names");
    }
    if (args_has(a, "--all") + args_has(a, "--frame") > 1 ||
        args_has(a, "--json") + args_has(a, "--csv") > 1) {
        return say_usage(
            "measure: --all and --frame exclude each other, and so do --json and --csv");
    }
    const int64_t frame = args_integer(a, "--frame", 0, 999999, RP_LAST_FRAME, &wrong);
    size_t bytes = 1;
    for (int i = 0; i < a->operands; i++) {
        bytes += strlen(a->operand[i]) + 1;
    }
    char *copy = malloc(bytes);
    if (copy == NULL) {
        say_usage("out of memory: the arguments of a measurement");
        return EXIT_FAILED;
    }
    if (wrong || take_arguments(a, copy, argument, &def.arguments) != 0) {
        free(copy);
        return EXIT_USAGE;
    }
    def.folder = a->operand[0];
    def.name = a->operand[1];
    def.first = args_has(a, "--all") ? 0 : frame;
    def.last = frame;
    def.argument = argument;
    rp_measured *measured;
    const rp_result result = rp_measure(&def, &measured);
    free(copy);
    if (result != RP_OK) {
        return say_error(result, false);
    }
    (args_has(a, "--json") ? print_json : args_has(a, "--csv") ? print_csv : print_table)(measured);
    rp_measured_free(measured);
    return EXIT_DONE;
}

const command command_measure = {
    .name = "measure",
    .operands = "[DIR NAME [KEY=VALUE...]]",
    .least = 0,
    .most = VALUE_MOST - 1,
    .operand_words = "DIR",
    .summary = "read numbers off a run: run-out, slope, stress, energy",
    .text =
        "Reads the measurement NAME off the run in DIR, of its last frame, of --frame N or of\n"
        "--all, and prints it. Without DIR and NAME it lists the measurements; docs/measure.md\n"
        "tells what each one gives and takes.\n"
        "\n"
        "  repose measure column-collapse-out runout along=r quantile=0.97\n"
        "  repose measure column-collapse-out profile --frame 20 --csv",
    .option = measure_options,
    .main = measure_main,
};

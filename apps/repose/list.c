// repose list: the scenes that come with it.
#include "commands.h"
#include "params.h"
#include "say.h"
#include "scenes.h"

#include <repose/file.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option list_options[] = {
    {.name = "--names", .help = "only the names"},
    {0},
};

// One that cannot be read says why when it is run.
static void print_scene_params(const char *path)
{
    rp_scene_def def = rp_default_scene_def();
    rp_scene *scene;
    def.path = path;
    rp_set_log_hook(NULL, NULL);
    if (rp_scene_load(&def, &scene) == RP_OK) {
        json_t *resolved = json_loads(rp_scene_resolved(scene), 0, NULL);
        print_params(json_object_get(resolved, "params"), "                     ");
        json_decref(resolved);
        rp_scene_free(scene);
    }
}

// A scene says what it shows in its first line, which is a comment.
static void print_scene(const scene_file *scene)
{
    char line[512] = "";
    FILE *file;
    if (rp_file_open(scene->path, &file) != RP_OK) {
        printf("  %-18s%s\n", scene->name, rp_last_error());
        return;
    }
    const bool comment = fgets(line, sizeof line, file) != NULL && strncmp(line, "--", 2) == 0;
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    printf("  %-18s%s\n", scene->name, comment ? line + 2 : "");
    print_scene_params(scene->path);
}

static int list_main(const args *a)
{
    const bool names = args_has(a, "--names");
    scene_file *scenes;
    const int count = scenes_along(&scenes);
    for (int i = 0; i < count; i++) {
        if (names) {
            puts(scenes[i].name);
            continue;
        }
        if (i == 0 || strcmp(scenes[i].theme, scenes[i - 1].theme) != 0) {
            printf("%s%s\n", i > 0 ? "\n" : "", scenes[i].theme);
        }
        print_scene(&scenes[i]);
    }
    free(scenes);
    if (count == 0) {
        say_usage("the scenes that come with Repose were not found beside the program");
        return EXIT_FILE;
    }
    return EXIT_DONE;
}

const command command_list = {
    .name = "list",
    .operands = "",
    .summary = "list the scenes that come with Repose",
    .text =
        "Lists the scenes that come with Repose, by the paper or the theme that they belong to.\n"
        "repose run NAME simulates one; it is quick, unless --set size=paper makes it as fine as "
        "the\n"
        "figure of the paper, or as a final picture asks for. Below each stand its params, which\n"
        "--set NAME=VALUE changes. Copy its file from the folder scenes/THEME to make your own of "
        "it.",
    .option = list_options,
    .main = list_main,
};

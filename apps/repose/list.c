// repose list: the scenes that come with it.
#include "commands.h"
#include "say.h"
#include "scenes.h"

#include <repose/repose.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const option list_options[] = {
    {.name = "--names", .help = "only the names"},
    {0},
};

static int is_scene(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return dot != NULL && dot != e->d_name && strcmp(dot, ".lua") == 0;
}

static void print_scene(const char *folder, const char *file)
{
    char path[2 * PATH_SIZE], name[256];
    rp_scene_def def = rp_default_scene_def();
    rp_scene *scene;
    rp_scene_info info;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    scene_name(file, name);
    def.path = path;
    if (rp_scene_load(&def, &scene) != RP_OK) {
        printf("%-20s cannot be read: %s\n", name, rp_last_error());
        return;
    }
    rp_scene_get_info(scene, &info);
    printf("%-20s %s\n", name, info.title);
    rp_scene_free(scene);
}

static int list_main(const args *a)
{
    char folder[PATH_SIZE];
    struct dirent **entry;
    if (!scenes_folder(folder)) {
        say_usage("the scenes that come with Repose were not found beside the program");
        return EXIT_FILE;
    }
    const int count = scandir(folder, &entry, is_scene, alphasort);
    for (int i = 0; i < count; i++) {
        char name[256];
        if (args_has(a, "--names")) {
            scene_name(entry[i]->d_name, name);
            puts(name);
        } else {
            print_scene(folder, entry[i]->d_name);
        }
        free(entry[i]);
    }
    if (count >= 0) {
        free(entry);
    }
    return EXIT_DONE;
}

const command command_list = {
    .name = "list",
    .operands = "",
    .summary = "list the scenes that come with Repose",
    .text = "Lists the scenes that come with Repose. repose run NAME simulates one; copy its file "
            "from\n"
            "the folder scenes to make your own of it.",
    .option = list_options,
    .main = list_main,
};

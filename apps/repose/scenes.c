#include "scenes.h"

#include <repose/nearest.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool shared_folder(const char *name, char out[PATH_SIZE])
{
    // beside the installed program, or in the source tree of one that was just built
    static const char *const places[] = {"../share/repose", "../../.."};
    char program[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return false;
    }
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_SIZE];
        const int n = snprintf(path, sizeof path, "%s/%s/%s", program, places[i], name);
        // messages name it: without the way back and forth
        char *tidy = n > 0 && n < PATH_SIZE ? realpath(path, NULL) : NULL;
        const bool found = tidy != NULL && strlen(tidy) < PATH_SIZE && access(tidy, R_OK) == 0;
        if (found) {
            strcpy(out, tidy);
        }
        free(tidy);
        if (found) {
            return true;
        }
    }
    return false;
}

static int is_visible(const struct dirent *e) { return e->d_name[0] != '.'; }

static int is_scene(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return is_visible(e) && dot != NULL && strcmp(dot, ".lua") == 0;
}

// Names in order; those of a file that is no folder, or cannot be read, are none.
static int entries_of(const char *folder, int (*wanted)(const struct dirent *),
                      struct dirent ***entry)
{
    *entry = NULL;
    const int count = scandir(folder, entry, wanted, alphasort);
    return count > 0 ? count : 0;
}

static void free_entries(struct dirent **entry, int count)
{
    for (int i = 0; i < count; i++) {
        free(entry[i]);
    }
    free(entry);
}

// Add the scenes of a theme to those that were found.
static void find_theme(const char *scenes, const char *theme, scene_file **files, int *count)
{
    char folder[2 * PATH_SIZE];
    struct dirent **entry;
    snprintf(folder, sizeof folder, "%s/%s", scenes, theme);
    const int found = entries_of(folder, is_scene, &entry);
    for (int i = 0; i < found; i++) {
        scene_file *grown = realloc(*files, ((size_t)*count + 1) * sizeof *grown);
        if (grown == NULL) {
            break;
        }
        *files = grown;
        scene_file *file = &grown[*count];
        snprintf(file->theme, sizeof file->theme, "%s", theme);
        scene_name(entry[i]->d_name, file->name);
        const int n = snprintf(file->path, sizeof file->path, "%s/%s", folder, entry[i]->d_name);
        *count += n > 0 && n < PATH_SIZE;
    }
    free_entries(entry, found);
}

int scenes_along(scene_file **files)
{
    char folder[PATH_SIZE];
    struct dirent **theme;
    int count = 0;
    *files = NULL;
    if (!shared_folder("scenes", folder)) {
        return 0;
    }
    const int themes = entries_of(folder, is_visible, &theme);
    for (int i = 0; i < themes; i++) {
        find_theme(folder, theme[i]->d_name, files, &count);
    }
    free_entries(theme, themes);
    return count;
}

bool scene_along(const char *name, char out[PATH_SIZE])
{
    char wanted[256];
    scene_file *files;
    const int count = scenes_along(&files);
    bool found = false;
    scene_name(name, wanted);
    for (int i = 0; !found && i < count; i++) {
        found = strcmp(files[i].name, wanted) == 0;
        if (found) {
            memcpy(out, files[i].path, PATH_SIZE);
        }
    }
    free(files);
    return found;
}

// A folder of that name, such as that of a run, is no scene.
static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

void scene_path(const char *name, char out[PATH_SIZE])
{
    const bool named = strchr(name, '/') == NULL && !is_file(name);
    if (!named || !scene_along(name, out)) {
        snprintf(out, PATH_SIZE, "%s", name);
    }
}

bool scene_suggestion(const char *name, char out[256])
{
    if (strchr(name, '/') != NULL || is_file(name)) {
        return false;
    }
    char wanted[256];
    scene_file *files;
    const int count = scenes_along(&files);
    scene_name(name, wanted);
    rp_nearest n = rp_nearest_start(wanted);
    for (int i = 0; i < count; i++) {
        rp_nearest_try(&n, files[i].name);
    }
    if (n.best != NULL) {
        snprintf(out, 256, "%s", n.best);
    }
    const bool found = n.best != NULL;
    free(files);
    return found;
}

void scene_name(const char *path, char out[256])
{
    const char *slash = strrchr(path, '/');
    snprintf(out, 256, "%.255s", slash != NULL ? slash + 1 : path);
    char *dot = strrchr(out, '.');
    if (dot != NULL && dot != out && strcmp(dot, ".lua") == 0) {
        *dot = '\0';
    }
}

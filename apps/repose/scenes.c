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

bool scenes_folder(char out[PATH_SIZE]) { return shared_folder("scenes", out); }

// A folder of that name, such as that of a run, is no scene.
static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

void scene_path(const char *name, char out[PATH_SIZE])
{
    char folder[PATH_SIZE];
    snprintf(out, PATH_SIZE, "%s", name);
    if (strchr(name, '/') != NULL || is_file(name) || !scenes_folder(folder)) {
        return;
    }
    const char *dot = strrchr(name, '.');
    const bool lua = dot != NULL && strcmp(dot, ".lua") == 0;
    char path[PATH_SIZE];
    const int n = snprintf(path, sizeof path, "%s/%s%s", folder, name, lua ? "" : ".lua");
    if (n > 0 && n < PATH_SIZE && access(path, R_OK) == 0) {
        memcpy(out, path, PATH_SIZE);
    }
}

bool scene_suggestion(const char *name, char out[256])
{
    char folder[PATH_SIZE];
    out[0] = '\0';
    if (strchr(name, '/') != NULL || is_file(name) || !scenes_folder(folder)) {
        return false;
    }
    char wanted[256], candidate[256];
    scene_name(name, wanted);
    rp_nearest n = rp_nearest_start(wanted);
    DIR *d = opendir(folder);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        const int before = n.distance;
        scene_name(e->d_name, candidate);
        rp_nearest_try(&n, candidate);
        if (n.distance != before) {
            memcpy(out, candidate, sizeof candidate);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    return out[0] != '\0';
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

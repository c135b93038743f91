#define _GNU_SOURCE
#include "repose/plugin.h"

#include "base/result.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *try_path(const char *path, char *why, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && access(path, F_OK) == 0) {
        const char *error = dlerror();
        snprintf(why, size, "%s", error != NULL ? error : "it is no library");
    }
    return library;
}

// Beside the program, in lib/repose as it is installed or built, or where REPOSE_PLUGINS says.
// @param why filled in when there is a file that cannot be opened
static void *open_library(const char *name, char *why, size_t size)
{
    static const char *const places[] = {"", "../lib/repose/", "../lib/x86_64-linux-gnu/repose/"};
    char program[4096], path[8192];
    const char *said = getenv("REPOSE_PLUGINS");
    if (said != NULL) {
        snprintf(path, sizeof path, "%s/%s", said, name);
        return try_path(path, why, size);
    }
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && library == NULL && slash != NULL;
         i++) {
        slash[1] = '\0';
        snprintf(path, sizeof path, "%s%s%s", program, places[i], name);
        library = try_path(path, why, size);
    }
    return library;
}

rp_result rp_plugin_open(const char *name, const char *getter, int version, const char *wanted,
                         const void **table)
{
    char why[512] = "";
    void *library = open_library(name, why, sizeof why);
    const void *(*get)(void) = NULL;
    *table = NULL;
    if (library == NULL && why[0] != '\0') {
        return rp_fail(RP_ERR_UNSUPPORTED, "the plugin %s cannot be opened: %s", name, why);
    }
    if (library == NULL) {
        return rp_fail(RP_ERR_UNSUPPORTED, "the plugin %s is missing: %s", name, wanted);
    }
    *(void **)&get = dlsym(library, getter);
    *table = get != NULL ? get() : NULL;
    if (*table == NULL || *(const int *)*table != version) {
        dlclose(library);
        *table = NULL;
        return rp_fail(RP_ERR_UNSUPPORTED,
                       "the plugin %s is of another version than this program: build both anew",
                       name);
    }
    return RP_OK;
}

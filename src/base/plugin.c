#define _GNU_SOURCE
#include "repose/plugin.h"

#include "base/result.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Beside the program, in lib/repose as it is installed or built, or where REPOSE_PLUGINS says.
static void *open_library(const char *name)
{
    static const char *const places[] = {"", "../lib/repose/", "../lib/x86_64-linux-gnu/repose/"};
    char program[4096], path[8192];
    const char *said = getenv("REPOSE_PLUGINS");
    if (said != NULL) {
        snprintf(path, sizeof path, "%s/%s", said, name);
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    }
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && library == NULL; i++) {
        snprintf(path, sizeof path, "%s%s%s", program, places[i], name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

rp_result rp_plugin_open(const char *name, const char *getter, int version, const char *wanted,
                         const void **table)
{
    void *library = open_library(name);
    const void *(*get)(void) = NULL;
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

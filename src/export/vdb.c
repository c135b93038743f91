#define _GNU_SOURCE
// OpenVDB volumes, by the plugin.
#include "export/vdb.h"

#include "export/job.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "repose-vdb.so";

// Beside the program, in lib/repose as it is installed or built, or where REPOSE_PLUGINS says.
static void *open_plugin(void)
{
    static const char *const places[] = {"", "../lib/repose/", "../lib/x86_64-linux-gnu/repose/"};
    char program[4096], path[8192];
    const char *said = getenv("REPOSE_PLUGINS");
    if (said != NULL) {
        snprintf(path, sizeof path, "%s/%s", said, NAME);
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
        snprintf(path, sizeof path, "%s%s%s", program, places[i], NAME);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static rp_result start(rp_job *job)
{
    void *library = open_plugin();
    const rp_vdb_plugin *(*get)(void) = NULL;
    if (library != NULL) {
        *(void **)&get = dlsym(library, "rp_vdb_plugin_get");
    }
    const rp_vdb_plugin *plugin = get != NULL ? get() : NULL;
    if (plugin == NULL || plugin->version != RP_VDB_VERSION) {
        return rp_fail(RP_ERR_UNSUPPORTED,
                       "vdb needs the plugin %s, which this build lacks (Debian: install "
                       "libopenvdb-dev, then build again)",
                       NAME);
    }
    job->state = (void *)(uintptr_t)plugin;
    return RP_OK;
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    const rp_vdb_plugin *plugin = job->state;
    char path[RP_JOB_PATH], why[512] = "";
    rp_file file;
    const rp_vdb_particles p = {
        .count = c->count,
        .position = c->position,
        .velocity = c->velocity,
        .radius = c->radius,
        .mass = c->mass,
        .voxel = job->def->voxel > 0.0 ? job->def->voxel : 0.5 * c->dx,
        .time = c->time,
        .fps = c->fps,
        .frame = c->frame,
        .z_up = job->def->z_up,
    };
    rp_job_path(job, path, "particles.%04lld.vdb", (long long)job->frame[index]);
    // the plugin writes; that the file is whole and on the disk before it gets its name is up to us
    RP_TRY(rp_file_replace(&file, path));
    const rp_result result = plugin->write(file.tmp, &p, why, sizeof why) == 0
                                 ? RP_OK
                                 : rp_fail(RP_ERR_FILE, "cannot write %s: %s", path, why);
    return rp_file_end(&file, result);
}

static rp_result finish(rp_job *job) { return rp_export_colliders(job); }

const rp_exporter rp_export_vdb = {
    .name = "vdb", .start = start, .frame = write_frame, .finish = finish};

// OpenVDB volumes, by the plugin.
#include "export/vdb.h"

#include "export/job.h"

#include <repose/plugin.h>

static rp_result start(rp_job *job)
{
    const void *table;
    RP_TRY(rp_plugin_open("repose-vdb.so", "rp_vdb_plugin_get", RP_VDB_VERSION,
                          "vdb needs OpenVDB (Debian: install libopenvdb-dev, then build again)",
                          &table));
    job->state = (void *)(uintptr_t)table;
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
